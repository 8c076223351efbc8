#pragma once

// One description of all keys. Reading, writing, look-up of plain keys and the
// list of keys for people are four visitors of it, so they cannot disagree.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/config/experiment.hpp"

namespace troupe::node {

struct key {
  std::string_view name;
  std::string_view says = {};  ///< For people.
  bool used = true;            ///< False: other keys make this one meaningless,
  std::string_view needs = {}; ///< which would need to be this.
  /// A method or a model has bounds of its own for what it may be.
  bool bounded_elsewhere = false;
};

/// Of a list. No model has more layers that a person writes down.
inline constexpr std::size_t items_max = 64;

struct count_range {
  std::uint64_t min = 0;
  std::uint64_t max = 1'000'000'000;
};

inline constexpr count_range positive{.min = 1};

/// From which a clock can tell an instant from the next, to thirty years.
inline constexpr number_range a_duration{.min = 1e-6, .max = 1e9};
inline constexpr number_range a_pause{.max = 1e9};

using troupe::describe; // Of ranges of numbers, and of names.
std::string describe(count_range x);
std::string describe_list(const std::string& item);

class schema_visitor {
public:
  virtual ~schema_visitor() = default;

  virtual void begin(const key& section) = 0;
  virtual void end() = 0;
  virtual void flag(const key& k, bool& x) = 0;
  virtual void text(const key& k, std::string& x) = 0;
  virtual void number(const key& k, double& x, number_range range) = 0;
  virtual void numbers(const key& section, options& x) = 0;
  virtual void counts(const key& k, std::vector<std::uint32_t>& x,
                      count_range range) = 0;
  virtual void texts(const key& k, std::vector<std::string>& x) = 0;
  virtual void reals(const key& k, std::vector<double>& x,
                     number_range range) = 0;

  /// Whether to visit a key that may be absent; `now` says whether it is there.
  virtual bool has(const key& k, bool now) = 0;

  template <class Integer>
  void count(const key& k, Integer& x, count_range range) {
    std::uint64_t wide = x;
    range.max =
      std::min<std::uint64_t>(range.max, std::numeric_limits<Integer>::max());
    visit_count(k, wide, range);
    x = static_cast<Integer>(wide);
  }

  /// @pre the enumerators of `x` count up from 0 in the order of `names`.
  template <class Enum>
  void choice(const key& k, Enum& x,
              std::initializer_list<std::string_view> names) {
    auto index = static_cast<std::size_t>(x);
    visit_choice(k, index, {names.begin(), names.size()});
    x = static_cast<Enum>(index);
  }

protected:
  virtual void visit_count(const key& k, std::uint64_t& x,
                           count_range range) = 0;
  virtual void visit_choice(const key& k, std::size_t& index,
                            std::span<const std::string_view> names) = 0;
};

/// The part of `visit_keys` about where virtual clients live.
void visit_life(schema_visitor& v, experiment& x);

/// About who holds which examples.
void visit_partition(schema_visitor& v, partition_options& x);

/// About data and models.
void visit_materials(schema_visitor& v, experiment& x);

/// Visits every key of `x` once, those that others depend on first.
void visit_keys(schema_visitor& v, experiment& x);

} // namespace troupe::node
