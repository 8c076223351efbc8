#pragma once

// Fields in, bytes out, and back. Numbers are little-endian and fixed in size;
// lists have a 32-bit count in front. A count is the peer's claim and is
// checked against the bytes that are there before anything is allocated.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/messages/schema.hpp"
#include "core/bf16.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"
#include "core/values.hpp"

namespace troupe::transport {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian; write the swaps before porting");

using buffer = std::vector<std::byte>;

/// In the count before values: they are bf16, and their upper halves follow. No
/// reader of before finds so many values behind a count.
inline constexpr std::uint32_t of_bf16 = std::uint32_t{1} << 31;

/// Any bit pattern is a value. (A bool is not one of these: send an enum.)
template <class T>
concept number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Not every bit pattern is a value: `known` says which.
template <class T>
concept enumeration = std::is_enum_v<T> && requires(T x) {
  { known(x) } -> std::same_as<bool>;
};

/// Writes fields in wire order to a `Sink`, a callable that takes (pointer,
/// size), and may take values as they are.
template <class Sink>
class writer {
public:
  explicit writer(Sink& sink) : sink_(sink) {
    // nop
  }

  void operator()(const number auto& x) {
    sink_(&x, sizeof x);
  }

  void operator()(const enumeration auto& x) {
    sink_(&x, sizeof x);
  }

  template <class Tag>
  void operator()(const id<Tag>& x) {
    (*this)(x.value);
  }

  template <std::size_t N>
  void operator()(const std::array<std::uint8_t, N>& x) {
    sink_(x.data(), N);
  }

  void operator()(const std::string& x) {
    count(x.size());
    sink_(x.data(), x.size());
  }

  void operator()(const shared_values& x) {
    const auto n = static_cast<std::uint32_t>(x ? x->size() : 0);
    (*this)(x.is_bf16() ? n | of_bf16 : n);
    if constexpr (requires { sink_(x); }) {
      if (x)
        sink_(x);
    } else if (x.is_bf16()) {
      halves(*x);
    } else if (x) {
      sink_(x->data(), x->size() * sizeof(float));
    }
  }

  template <class T>
  void operator()(const std::vector<T>& xs) {
    count(xs.size());
    for (const auto& x : xs)
      (*this)(x);
  }

  void operator()(const messages::composite auto& x) {
    using type = std::remove_cvref_t<decltype(x)>;
    std::apply([this](const auto&... field) { ((*this)(field), ...); },
               type::fields(x));
  }

private:
  void count(std::size_t n) {
    (*this)(static_cast<std::uint32_t>(n));
  }

  /// A tile at a time: they lie nowhere.
  void halves(std::span<const float> xs) {
    std::array<std::uint16_t, 1024> tile;
    for (std::size_t n = 0; !xs.empty(); xs = xs.subspan(n)) {
      n = std::min(xs.size(), tile.size());
      to_bf16(xs.first(n), tile);
      sink_(tile.data(), n * sizeof(std::uint16_t));
    }
  }

  Sink& sink_;
};

/// Reads what `writer` wrote, and remembers the first thing that was wrong.
/// Where the bytes have an owner, what is read may be handles on them.
class reader {
public:
  explicit reader(std::span<const std::byte> in,
                  std::shared_ptr<const void> owner = {})
    : in_(in),
      owner_(std::move(owner)) {
    // nop
  }

  bool empty() const noexcept {
    return in_.empty();
  }

  bool failed() const noexcept {
    return failed_;
  }

  void operator()(number auto& x) {
    bytes(&x, sizeof x);
  }

  template <enumeration T>
  void operator()(T& x) {
    std::underlying_type_t<T> raw{};
    bytes(&raw, sizeof raw);
    if (known(static_cast<T>(raw)))
      x = static_cast<T>(raw);
    else
      failed_ = true;
  }

  template <class Tag>
  void operator()(id<Tag>& x) {
    (*this)(x.value);
  }

  template <std::size_t N>
  void operator()(std::array<std::uint8_t, N>& x) {
    bytes(x.data(), N);
  }

  void operator()(std::string& x) {
    const auto n = count(1);
    failed_ = failed_ || n > limits::text_bytes_max;
    x.resize(failed_ ? 0 : n);
    bytes(x.data(), x.size());
  }

  void operator()(shared_values& x) {
    std::uint32_t said = 0;
    (*this)(said);
    if ((said & of_bf16) != 0) {
      const auto n = held(said & ~of_bf16, sizeof(std::uint16_t));
      x = failed_ ? nullptr : rounded_to_bf16(share(from_halves(n)));
      return;
    }
    const auto n = held(said, sizeof(float));
    x = failed_                       ? nullptr
        : may_stay(n * sizeof(float)) ? stay(n)
                                      : share(floats(n));
  }

  template <class T>
  void operator()(std::vector<T>& xs) {
    // No element is smaller than a byte, so the list never outgrows its bytes
    // by more than the size of a struct.
    const auto n = count(1);
    xs.clear();
    for (std::size_t i = 0; i < n && !failed_; ++i)
      (*this)(xs.emplace_back());
  }

  void operator()(messages::composite auto& x) {
    using type = std::remove_cvref_t<decltype(x)>;
    std::apply([this](auto&... field) { ((*this)(field), ...); },
               type::fields(x));
  }

private:
  std::size_t count(std::size_t element_bytes) {
    std::uint32_t n = 0;
    (*this)(n);
    return held(n, element_bytes);
  }

  /// So many are claimed, and may be there.
  std::size_t held(std::uint32_t n, std::size_t element_bytes) {
    if (failed_ || in_.size() / element_bytes < n) {
      failed_ = true;
      return 0;
    }
    return n;
  }

  /// Values below that are copied: they would keep more than themselves.
  static constexpr std::size_t stay_bytes_min = 1024;

  bool may_stay(std::size_t size) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(in_.data());
    return owner_ && size >= stay_bytes_min && at % alignof(float) == 0;
  }

  /// Values that stay where they are.
  shared_values stay(std::size_t n) {
    const std::span found{reinterpret_cast<const float*>(in_.data()), n};
    in_ = in_.subspan(n * sizeof(float));
    return {owner_, found};
  }

  /// A tile at a time: a vector that begins as zeros would be written twice.
  std::vector<float> floats(std::size_t n) {
    std::vector<float> values;
    values.reserve(n);
    std::array<float, 1024> tile;
    while (values.size() < n && !failed_) {
      const auto some = std::min(tile.size(), n - values.size());
      bytes(tile.data(), some * sizeof(float));
      values.insert(values.end(), tile.begin(),
                    tile.begin() + static_cast<std::ptrdiff_t>(some));
    }
    return values;
  }

  /// They take twice the room of their halves, which are here.
  std::vector<float> from_halves(std::size_t n) {
    std::vector<float> values;
    values.reserve(n);
    std::array<std::uint16_t, 1024> tile;
    while (values.size() < n && !failed_) {
      const auto some = std::min(tile.size(), n - values.size());
      bytes(tile.data(), some * sizeof(std::uint16_t));
      for (std::size_t i = 0; i < some; ++i)
        values.push_back(from_bf16(tile[i]));
    }
    return values;
  }

  void bytes(void* to, std::size_t size) {
    if (failed_ || in_.size() < size) {
      failed_ = true;
      return;
    }
    if (size > 0)
      std::memcpy(to, in_.data(), size);
    in_ = in_.subspan(size);
  }

  std::span<const std::byte> in_;
  std::shared_ptr<const void> owner_;
  bool failed_ = false;
};

namespace detail {

inline auto appender(buffer& out) {
  return [&out](const void* first, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(first);
    out.insert(out.end(), p, p + size);
  };
}

/// Values need not be made for it.
struct size_sink {
  std::size_t total = 0;

  void operator()(const void*, std::size_t size) {
    total += size;
  }

  void operator()(const shared_values& x) {
    total += sent_bytes(x);
  }
};

template <class T>
auto fields_of(T& x) {
  return std::remove_cv_t<T>::fields(x);
}

} // namespace detail

/// Appends the fields of `x`, a message or a composite.
template <class T>
void encode_into(buffer& out, const T& x) {
  auto sink = detail::appender(out);
  writer write{sink};
  std::apply([&](const auto&... field) { (write(field), ...); },
             detail::fields_of(x));
}

template <class T>
buffer encode_payload(const T& x) {
  buffer out;
  encode_into(out, x);
  return out;
}

/// What `encode_payload` would take, without writing it.
template <class T>
std::size_t payload_size(const T& x) {
  detail::size_sink sink;
  writer write{sink};
  std::apply([&](const auto&... field) { (write(field), ...); },
             detail::fields_of(x));
  return sink.total;
}

/// Decodes a payload of which the envelope claims `peer`. The schema says how
/// many fields that version has, and exactly these must be there: an older
/// peer's message leaves the fields after them at their defaults, and only a
/// newer peer's may have a tail, which stays unread. Its values are handles on
/// the bytes, if these have an owner and no tail, which would stay with them.
template <messages::message T>
result<T> decode_payload(std::span<const std::byte> in,
                         messages::written_as peer,
                         const std::shared_ptr<const void>& owner = {}) {
  constexpr auto ours = T::wire.current();
  if (peer.readable_since > ours)
    return fail(errc::version_mismatch, "the peer's schema is too new for us");
  if (peer.version == 0 || peer.readable_since > peer.version)
    return fail(errc::malformed_message, "the envelope claims no version");
  const auto present = T::wire.fields_in(std::min(peer.version, ours));
  T x;
  reader read{in, peer.version <= ours ? owner : nullptr};
  std::size_t index = 0;
  const auto read_field = [&](auto& field) {
    if (index++ < present)
      read(field);
  };
  std::apply([&](auto&... field) { (read_field(field), ...); }, T::fields(x));
  if (read.failed())
    return fail(errc::malformed_message, "the payload is not what version "
                                           + std::to_string(peer.version)
                                           + " looks like");
  if (peer.version <= ours && !read.empty())
    return fail(errc::malformed_message, "the payload has a tail");
  return x;
}

/// Decodes a composite of our own making, such as a record of the ledger.
template <class T>
result<T> decode_record(std::span<const std::byte> in) {
  T x;
  reader read{in};
  std::apply([&](auto&... field) { (read(field), ...); }, detail::fields_of(x));
  if (read.failed() || !read.empty())
    return fail(errc::storage_failure, "a stored record is damaged");
  return x;
}

} // namespace troupe::transport
