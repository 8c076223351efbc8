#pragma once

// The values of a GGUF file's header, one after the other.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/limits.hpp"
#include "models/language/gguf.hpp"

namespace troupe::models {

/// Takes one value after the other. After the first that is not there it gives
/// zeros and empty texts.
class header_reader {
public:
  explicit header_reader(std::span<const std::byte> all) : all_(all) {
    // nop
  }

  template <class T>
  T number() {
    T x{};
    if (left() < sizeof x) {
      refuse("it ends within its header; fetch the file again");
      return x;
    }
    std::memcpy(&x, all_.data() + at_, sizeof x);
    at_ += sizeof x;
    return x;
  }

  std::string_view text() {
    const auto size = number<std::uint64_t>();
    if (size > left()) {
      refuse("a text claims " + std::to_string(size) + " bytes, and "
             + std::to_string(left()) + " are left; fetch the file again");
      return {};
    }
    text_bytes_ += size;
    if (text_bytes_ > limits::gguf_text_bytes_max) {
      refuse("its texts have " + std::to_string(text_bytes_)
             + " bytes up to here, and at most "
             + std::to_string(limits::gguf_text_bytes_max)
             + " are read of a file; one with a smaller vocabulary would do");
      return {};
    }
    const auto* begin = reinterpret_cast<const char*>(all_.data()) + at_;
    at_ += static_cast<std::size_t>(size);
    return {begin, static_cast<std::size_t>(size)};
  }

  /// Before so many items of a list are taken: all lists of a file are bounded
  /// together.
  void expect_items(std::uint64_t count) {
    items_ += count;
    if (items_ > limits::gguf_items_together_max)
      refuse("its lists claim " + std::to_string(items_)
             + " items up to here, and at most "
             + std::to_string(limits::gguf_items_together_max)
             + " are read of a file; one with a smaller vocabulary would do");
  }

  /// The first is what counts.
  void refuse(std::string what) {
    refuse_at(at_, std::move(what));
  }

  void refuse_at(std::uint64_t at, std::string what) {
    if (!wrong_)
      wrong_ = "at byte " + std::to_string(at) + ": " + std::move(what);
  }

  const std::optional<std::string>& wrong() const noexcept {
    return wrong_;
  }

  std::uint64_t at() const noexcept {
    return at_;
  }

  std::uint64_t size() const noexcept {
    return all_.size();
  }

  std::uint64_t left() const noexcept {
    return wrong_ ? 0 : all_.size() - at_;
  }

private:
  std::span<const std::byte> all_;
  std::size_t at_ = 0;
  std::uint64_t items_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::optional<std::string> wrong_;
};

/// So many keys with what they say.
void take_values(header_reader& in, std::uint64_t count, gguf_header& to);

} // namespace troupe::models
