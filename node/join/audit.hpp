#pragma once

// What leaves a joining process, as a person can read it: a line of JSON for
// each piece, written before the socket has it, and so before it is encrypted.
// Where it can't be written nothing leaves any more.

#include <filesystem>
#include <memory>
#include <string>

#include "actors/transport/codec.hpp"
#include "actors/transport/piece.hpp"
#include "core/json.hpp"
#include "core/result.hpp"

namespace troupe::node {

/// The message in a payload: what it is called, and each of its fields with its
/// size or, of a number or a text, its value.
json message_facts(std::uint16_t kind, messages::written_as writer,
                   std::span<const std::byte> payload);

class audit {
public:
  /// Goes on behind what is there.
  [[nodiscard]] static result<std::shared_ptr<audit>>
  open(const std::filesystem::path& path);

  ~audit();

  audit(const audit&) = delete;
  audit& operator=(const audit&) = delete;

  /// False: it was not written, and must not leave; `problem` says why.
  bool leaves(const transport::piece& x);

  const std::string& problem() const noexcept {
    return problem_;
  }

private:
  audit(int fd, std::filesystem::path path);

  /// A large message that leaves in chunks.
  struct transfer {
    transport::transfer_id id;
    transport::beginning what;
    transport::buffer payload;
  };

  void add_transfer(const transport::piece& x, json& to);
  void add_chunk(const transport::piece& x, json& to);

  int fd_;
  std::filesystem::path path_;
  transfer now_; ///< They go one after the other.
  std::string problem_;
};

} // namespace troupe::node
