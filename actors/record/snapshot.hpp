#pragma once

// Where a simulated run stands, between two instants: the state of each of its
// actors. Under the virtual clock server and clients live and die together, so
// personal blocks may stand in it; it never travels.

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/assert.hpp"
#include "core/bf16.hpp"
#include "core/ids.hpp"
#include "core/values.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// Parts by who they belong to. Values stand beside them once each, however
/// many hold them.
struct snapshot {
  std::map<std::string, std::vector<std::byte>> parts;
  std::map<models::digest, shared_values> values;
};

/// A struct that names its fields.
template <class T>
concept with_fields = requires(T& x) {
  T::fields(x);
};

/// As what a handle holds values, if it does: how they are sent hangs on it.
enum class kept_as : std::uint8_t { none, f32, bf16 };

/// What a range of anything looks like: vector, deque, set, map.
template <class T>
concept collection = requires(T& x) {
  typename T::value_type;
  x.insert(x.end(), std::declval<typename T::value_type>());
  x.clear();
};

/// Writes state into one part. Integers as they are in memory: a snapshot is
/// read by the build that wrote it, on the same machine.
class packer {
public:
  explicit packer(std::map<models::digest, shared_values>& values)
    : values_(values) {
    // nop
  }

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& x) {
    bytes(&x, sizeof x);
  }

  template <class Tag>
  void operator()(const id<Tag>& x) {
    (*this)(x.value);
  }

  template <class Rep, class Period>
  void operator()(const std::chrono::duration<Rep, Period>& x) {
    (*this)(x.count());
  }

  template <class T, std::size_t N>
  void operator()(const std::array<T, N>& xs) {
    for (const auto& x : xs)
      (*this)(x);
  }

  void operator()(const std::string& x) {
    (*this)(x.size());
    bytes(x.data(), x.size());
  }

  void operator()(const shared_values& x) {
    (*this)(x ? x.is_bf16() ? kept_as::bf16 : kept_as::f32 : kept_as::none);
    if (x)
      (*this)(place(x));
  }

  void operator()(const shared_moments& x) {
    const auto view = x.view();
    (*this)(std::vector<double>{view.begin(), view.end()});
  }

  void operator()(const personal_values& x) {
    const auto view = x.own_view();
    (*this)(place(share({view.begin(), view.end()})));
  }

  template <class T>
  void operator()(const std::shared_ptr<const T>& x) {
    (*this)(x != nullptr);
    if (x)
      (*this)(*x);
  }

  template <class T>
  void operator()(const std::optional<T>& x) {
    (*this)(x.has_value());
    if (x)
      (*this)(*x);
  }

  template <class A, class B>
  void operator()(const std::pair<A, B>& x) {
    (*this)(x.first);
    (*this)(x.second);
  }

  template <class... Ts>
  void operator()(const std::variant<Ts...>& x) {
    (*this)(x.index());
    std::visit(*this, x);
  }

  template <collection T>
  void operator()(const T& xs) {
    (*this)(xs.size());
    for (const auto& x : xs)
      (*this)(x);
  }

  template <with_fields T>
  void operator()(const T& x) {
    std::apply([this](const auto&... field) { ((*this)(field), ...); },
               T::fields(x));
  }

  std::vector<std::byte> take() {
    return std::move(out_);
  }

private:
  void bytes(const void* first, std::size_t size) {
    const auto* p = static_cast<const std::byte*>(first);
    out_.insert(out_.end(), p, p + size);
  }

  models::digest place(const shared_values& x);

  std::map<models::digest, shared_values>& values_;
  std::vector<std::byte> out_;
};

/// Reads what `packer` wrote, and remembers whether anything was wrong.
class unpacker {
public:
  unpacker(std::span<const std::byte> in,
           const std::map<models::digest, shared_values>& values)
    : in_(in),
      values_(values) {
    // nop
  }

  bool done() const noexcept {
    return !failed_ && in_.empty();
  }

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& x) {
    if constexpr (std::is_same_v<T, bool>)
      x = is_there();
    else
      bytes(&x, sizeof x);
  }

  template <class Tag>
  void operator()(id<Tag>& x) {
    (*this)(x.value);
  }

  template <class Rep, class Period>
  void operator()(std::chrono::duration<Rep, Period>& x) {
    Rep count{};
    (*this)(count);
    x = std::chrono::duration<Rep, Period>{count};
  }

  template <class T, std::size_t N>
  void operator()(std::array<T, N>& xs) {
    for (auto& x : xs)
      (*this)(x);
  }

  void operator()(std::string& x) {
    x.resize(count());
    bytes(x.data(), x.size());
  }

  void operator()(shared_values& x) {
    auto as = kept_as::none;
    (*this)(as);
    failed_ |= as > kept_as::bf16;
    x = failed_ || as == kept_as::none ? nullptr : named();
    if (as == kept_as::bf16)
      x = rounded_to_bf16(x);
  }

  void operator()(shared_moments& x) {
    std::vector<double> values;
    (*this)(values);
    x = shared_moments{std::move(values)};
  }

  void operator()(personal_values& x) {
    if (const auto found = named())
      x = personal_values{found.copy()};
  }

  template <class T>
  void operator()(std::shared_ptr<const T>& x) {
    x.reset();
    if (!is_there())
      return;
    auto made = std::make_shared<T>();
    (*this)(*made);
    x = std::move(made);
  }

  template <class T>
  void operator()(std::optional<T>& x) {
    x.reset();
    if (is_there())
      (*this)(x.emplace());
  }

  template <class A, class B>
  void operator()(std::pair<A, B>& x) {
    (*this)(const_cast<std::remove_const_t<A>&>(x.first));
    (*this)(x.second);
  }

  template <class... Ts>
  void operator()(std::variant<Ts...>& x) {
    std::size_t index = 0;
    (*this)(index);
    std::size_t i = 0;
    ((i++ == index ? (*this)(x.template emplace<Ts>()) : void()), ...);
    failed_ |= index >= sizeof...(Ts);
  }

  template <collection T>
  void operator()(T& xs) {
    xs.clear();
    for (auto n = count(); n > 0 && !failed_; --n) {
      if constexpr (requires { typename T::mapped_type; }) {
        std::pair<typename T::key_type, typename T::mapped_type> x;
        (*this)(x);
        xs.insert(xs.end(), std::move(x));
      } else {
        typename T::value_type x{};
        (*this)(x);
        xs.insert(xs.end(), std::move(x));
      }
    }
  }

  template <with_fields T>
  void operator()(T& x) {
    std::apply([this](auto&... field) { ((*this)(field), ...); }, T::fields(x));
  }

private:
  void bytes(void* to, std::size_t size) {
    if (failed_ || in_.size() < size) {
      failed_ = true;
      return;
    }
    if (size > 0)
      std::memcpy(to, in_.data(), size);
    in_ = in_.subspan(size);
  }

  // No element is smaller than a byte.
  std::size_t count() {
    std::size_t n = 0;
    (*this)(n);
    failed_ |= n > in_.size();
    return failed_ ? 0 : n;
  }

  bool is_there() {
    std::uint8_t x = 0;
    bytes(&x, sizeof x);
    failed_ |= x > 1;
    return !failed_ && x == 1;
  }

  shared_values named();

  std::span<const std::byte> in_;
  const std::map<models::digest, shared_values>& values_;
  bool failed_ = false;
};

/// A snapshot that is being taken. Under the virtual clock one thread runs all
/// actors, so that each may add its part in its turn.
class snapshot_draft {
public:
  template <class... Ts>
  void add(const std::string& name, const Ts&... state) {
    packer pack{taken_.values};
    (pack(state), ...);
    taken_.parts[name] = pack.take();
  }

  /// Some request is under way, so this is no instant to go on from.
  void refuse() noexcept {
    refused_ = true;
  }

  bool refused() const noexcept {
    return refused_;
  }

  const snapshot& taken() const noexcept {
    return taken_;
  }

private:
  snapshot taken_;
  bool refused_ = false;
};

/// Gives state back what the part of that name says. @pre the part is there and
/// was written from the same types: whoever opens a snapshot checks its digest
template <class... Ts>
void restore(const snapshot& from, const std::string& name, Ts&... state) {
  const auto& part = from.parts.at(name);
  unpacker unpack{part, from.values};
  (unpack(state), ...);
  TROUPE_ASSERT(unpack.done());
}

} // namespace troupe::actors
