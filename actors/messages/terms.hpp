#pragma once

// What a process must know before its clients can say hello, and which clients
// it is. Said on channel 0, which is no client's.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "actors/messages/schema.hpp"
#include "actors/messages/session.hpp"
#include "core/values.hpp"

namespace troupe::messages {

using store_id = std::array<std::uint8_t, 16>;

/// "What is this run?"
struct terms_asked {
  static constexpr schema wire{
    .kind = 0x0007, .readable_since = 1, .field_counts = {3}};

  std::uint16_t protocol_min = protocol_version;
  std::uint16_t protocol_max = protocol_version;
  std::uint64_t nonce = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.protocol_min, x.protocol_max, x.nonce);
  }
};

/// A block that does not travel, and what it must be.
struct frozen_digest {
  std::string name;
  std::array<std::uint8_t, 32> content{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.name, x.content);
  }
};

/// No path in these terms is opened by who reads them, and nothing is run.
struct terms_given {
  static constexpr schema wire{
    .kind = 0x0008, .readable_since = 1, .field_counts = {6, 10, 11}};

  std::uint16_t protocol = protocol_version; ///< 0: none that both speak.
  std::uint64_t nonce = 0;                   ///< Of the question.
  run_id run{};
  std::array<std::uint8_t, 32> layout{};
  std::array<std::uint8_t, 32> data{}; ///< Zeros: this run has none.
  std::vector<std::string> config;     ///< Lines of TOML.
  /// What an example must be that a client brings: extents, labels below
  /// `classes`, and so many of them at most. No extents: the run takes none.
  std::vector<std::uint32_t> inputs = {};
  std::uint32_t classes = 0;
  std::uint64_t examples_max = 0;
  std::vector<frozen_digest> frozen = {};
  /// Of the file of a scripted model, as it lies, or of a language model and
  /// its tokenizer; zeros: there is none, or the server is too old to say.
  std::array<std::uint8_t, 32> model = {};

  static constexpr auto fields(auto& x) {
    return std::tie(x.protocol, x.nonce, x.run, x.layout, x.data, x.config,
                    x.inputs, x.classes, x.examples_max, x.frozen, x.model);
  }
};

/// "So many clients of the run's own partition are to be mine", or one of this
/// name, with data of its own.
struct places_asked {
  static constexpr schema wire{
    .kind = 0x0009, .readable_since = 1, .field_counts = {3, 4}};

  std::uint64_t nonce = 0;
  store_id store{}; ///< The same one has the same clients again.
  std::uint32_t count = 0;
  std::string name = {}; ///< Empty: of the partition.

  static constexpr auto fields(auto& x) {
    return std::tie(x.nonce, x.store, x.count, x.name);
  }
};

struct places_given {
  static constexpr schema wire{
    .kind = 0x000a, .readable_since = 1, .field_counts = {3}};

  std::uint64_t nonce = 0;        ///< Of the question.
  std::vector<client_id> clients; ///< None: refused.
  std::string why;                ///< For people, where it is refused.

  static constexpr auto fields(auto& x) {
    return std::tie(x.nonce, x.clients, x.why);
  }
};

/// "What are the values of this frozen block, from this one on?"
struct frozen_asked {
  static constexpr schema wire{
    .kind = 0x0011, .readable_since = 1, .field_counts = {3}};

  std::uint64_t nonce = 0;
  std::array<std::uint8_t, 32> content{};
  std::uint64_t first = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.nonce, x.content, x.first);
  }
};

/// So many at a time, and none only where it is refused.
struct frozen_given {
  static constexpr schema wire{
    .kind = 0x0012, .readable_since = 1, .field_counts = {4}};
  static constexpr std::size_t values_max = 1 << 17;

  std::uint64_t nonce = 0; ///< Of the question.
  std::uint64_t total = 0; ///< Values of the block.
  shared_values values = nullptr;
  std::string why; ///< For people, where it is refused.

  static constexpr auto fields(auto& x) {
    return std::tie(x.nonce, x.total, x.values, x.why);
  }
};

enum class parting : std::uint8_t {
  for_now, ///< A server that will be back; a process that may be.
  over,    ///< The run has ended; of a process: its clients have heard so.
};

constexpr bool known(parting x) noexcept {
  return x <= parting::over;
}

/// The last word of a process, of either side.
struct process_parted {
  static constexpr schema wire{
    .kind = 0x000b, .readable_since = 1, .field_counts = {2}};

  parting what = parting::for_now;
  std::string text; ///< For people.

  static constexpr auto fields(auto& x) {
    return std::tie(x.what, x.text);
  }
};

} // namespace troupe::messages
