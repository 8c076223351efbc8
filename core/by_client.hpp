#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"

namespace troupe {

/// A map from clients, whose ids are small numbers: what is found costs the
/// same however many there are. In the order of ids.
template <class T>
class by_client {
public:
  using key_type = client_id;
  using mapped_type = T;
  using value_type = std::pair<client_id, T>;

private:
  static constexpr std::size_t page_size = 64;
  using slot = std::optional<value_type>;
  using page = std::array<slot, page_size>;

public:
  template <class Map, class Value>
  class cursor {
  public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;

    cursor() = default;
    cursor(Map* of, std::size_t at) : of_(of), at_(at) {
      skip();
    }

    Value& operator*() const {
      return *of_->slot_at(at_);
    }

    Value* operator->() const {
      return &**this;
    }

    cursor& operator++() {
      ++at_;
      skip();
      return *this;
    }

    cursor operator++(int) {
      auto before = *this;
      ++*this;
      return before;
    }

    friend bool operator==(const cursor& a, const cursor& b) {
      return a.at_ == b.at_;
    }

  private:
    void skip() {
      while (at_ < of_->end_place() && !of_->slot_at(at_))
        at_ += of_->pages_[at_ / page_size] ? 1 : page_size - at_ % page_size;
    }

    Map* of_ = nullptr;
    std::size_t at_ = 0;
  };

  using iterator = cursor<by_client, value_type>;
  using const_iterator = cursor<const by_client, const value_type>;

  std::size_t size() const noexcept {
    return size_;
  }

  bool empty() const noexcept {
    return size_ == 0;
  }

  iterator begin() {
    return {this, 0};
  }

  iterator end() {
    return {this, end_place()};
  }

  const_iterator begin() const {
    return {this, 0};
  }

  const_iterator end() const {
    return {this, end_place()};
  }

  iterator find(client_id x) {
    return slot_of(x) ? iterator{this, place(x)} : end();
  }

  const_iterator find(client_id x) const {
    return slot_of(x) ? const_iterator{this, place(x)} : end();
  }

  bool contains(client_id x) const {
    return slot_of(x) != nullptr;
  }

  /// @pre it is there
  T& at(client_id x) {
    auto* found = slot_of(x);
    TROUPE_ASSERT(found != nullptr);
    return (*found)->second;
  }

  const T& at(client_id x) const {
    const auto* found = slot_of(x);
    TROUPE_ASSERT(found != nullptr);
    return (*found)->second;
  }

  /// @pre 1 <= x <= `limits::clients_max`
  T& operator[](client_id x) {
    TROUPE_ASSERT(x.value > 0 && x.value <= limits::clients_max);
    const auto at = place(x);
    if (pages_.size() <= at / page_size)
      pages_.resize(at / page_size + 1);
    auto& own = pages_[at / page_size];
    if (!own)
      own = std::make_unique<page>();
    auto& slot = (*own)[at % page_size];
    if (!slot) {
      slot.emplace(x, T{});
      ++size_;
    }
    return slot->second;
  }

  /// For whoever reads it back.
  iterator insert(iterator, value_type x) {
    (*this)[x.first] = std::move(x.second);
    return find(x.first);
  }

  void clear() {
    pages_.clear();
    size_ = 0;
  }

private:
  static std::size_t place(client_id x) {
    return static_cast<std::size_t>(x.value - 1);
  }

  std::size_t end_place() const noexcept {
    return pages_.size() * page_size;
  }

  slot& slot_at(std::size_t at) {
    return const_cast<slot&>(std::as_const(*this).slot_at(at));
  }

  const slot& slot_at(std::size_t at) const {
    static const slot none;
    const auto& own = pages_[at / page_size];
    return own ? (*own)[at % page_size] : none;
  }

  const slot* slot_of(client_id x) const {
    if (x.value == 0 || place(x) >= end_place())
      return nullptr;
    const auto& found = slot_at(place(x));
    return found ? &found : nullptr;
  }

  slot* slot_of(client_id x) {
    return const_cast<slot*>(std::as_const(*this).slot_of(x));
  }

  std::vector<std::unique_ptr<page>> pages_;
  std::size_t size_ = 0;
};

} // namespace troupe
