#pragma once

// What the bytes at a socket are, for people: values of models, or all the
// rest; how much of it crossed before, and how long visits' values took. Knows
// neither sockets nor clocks.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "actors/transport/piece.hpp"
#include "core/clock.hpp"
#include "core/duration_counts.hpp"

namespace troupe::transport {

enum class crossing : std::uint8_t {
  values,     ///< Messages with values of a model, in one piece or in many.
  small,      ///< All other messages.
  said_again, ///< Of the first, what was said before.
  link,       ///< What both ends of a link say to each other of it.
  unheard     ///< What is no piece, or of nobody who may be heard.
};

/// By which metrics know them.
inline constexpr std::array crossing_names{"values", "small", "said_again",
                                           "link", "unheard"};
inline constexpr std::size_t crossing_kinds = crossing_names.size();

/// The pieces that cross a socket in one direction.
class crossings {
public:
  /// What was fetched and offered, to the last byte: of what was asked for
  /// from the question on, of all else from the first byte, so that what
  /// crosses in one piece takes no time.
  struct carried {
    duration_counts values = {};
    std::uint64_t transfers = 0; ///< Of these, in more than one piece.
  };

  /// @param link names the memory of who says it
  crossing sort(std::uint64_t link, const piece& x, instant now = {});

  /// What has crossed whole since this was asked last; nothing: nothing has.
  std::optional<carried> take_carried();

  /// Somebody fetches.
  struct question {
    channel_id channel;
    std::uint64_t words = 0; ///< The same when it is said again.
  };

  /// Those that crossed since this was asked last; their answers cross in the
  /// other direction.
  std::vector<question> take_questions();

  /// What crosses here for this channel, until the next one, was asked for now.
  /// One that is said again was asked the first time.
  void was_asked(std::uint64_t link, const question& x, instant now);

private:
  struct transfer {
    transfer_id id;
    channel_id channel;
    std::uint16_t kind = 0;
    std::uint64_t size = 0;
    instant began{};
    bool again = false;         ///< It is about what was said before.
    std::uint64_t furthest = 0; ///< What crossed of it.
  };

  /// What a message begins with names it: its ticket, its visit, its checksum.
  struct opening_words {
    std::uint64_t link;
    std::uint16_t kind;
    channel_id channel;
    std::span<const std::byte> bytes;
  };

  /// The last one of a channel.
  struct known_question {
    std::uint64_t name = 0; ///< Of link and channel.
    std::uint64_t words = 0;
    instant at{};
  };

  void begin(std::uint64_t link, const piece& x, instant now);
  crossing sort_frame(std::uint64_t link, channel_id channel,
                      std::span<const std::byte> frame);
  crossing sort_bundle(std::uint64_t link, const piece& x, instant now);
  void count(std::uint64_t link, channel_id channel,
             std::span<const std::byte> frame, instant now);
  void count(std::uint64_t link, channel_id channel, std::uint16_t kind,
             instant began, instant now);
  crossing sort_chunk(std::uint64_t link, const piece& x, instant now);
  bool was_said(const opening_words& x);

  std::map<std::uint64_t, transfer> transfers_; ///< The last one of each link.
  std::vector<std::uint64_t> said_; ///< A newer one may take another's place.
  std::vector<known_question> answers_to_; ///< Likewise.
  std::vector<question> questions_;
  carried carried_;
};

} // namespace troupe::transport
