#pragma once

// What others say of the same models, as tests/golden/language has it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "models/files.hpp"

namespace troupe::test {

/// It is committed, so a test fails where it is not there.
inline json reference_values(const std::string& name) {
  const auto path =
    std::filesystem::path{TROUPE_SOURCE_DIR} / "tests/golden/language" / name;
  const auto text = models::read_text(path, errc::invalid_data);
  EXPECT_TRUE(text) << text.error().context;
  const auto read = json::parse(text.value_or("null"));
  EXPECT_TRUE(read) << read.error().context;
  return read.value_or(json{});
}

/// Empty: there is none of this name.
inline const json::list& list_in(const json& x, std::string_view key) {
  static const json::list none;
  const auto* found = x.find(key);
  return found != nullptr && found->items() != nullptr ? *found->items() : none;
}

/// @pre a list
inline std::vector<double> numbers_in(const json& x) {
  std::vector<double> all;
  for (const auto& one : *x.items())
    all.push_back(one.number().value_or(std::nan("")));
  return all;
}

/// @pre a list
inline std::vector<std::int64_t> ids_in(const json& x) {
  std::vector<std::int64_t> all;
  for (const auto& one : *x.items())
    all.push_back(static_cast<std::int64_t>(one.count().value_or(0)));
  return all;
}

/// Each within a share of its size and of what is typical of them.
inline void expect_near_reference(std::span<const double> ours,
                                  std::span<const double> theirs,
                                  double share) {
  ASSERT_EQ(ours.size(), theirs.size());
  ASSERT_FALSE(theirs.empty());
  double squares = 0;
  for (const auto x : theirs)
    squares += x * x;
  const auto typical = std::sqrt(squares / static_cast<double>(theirs.size()));
  for (std::size_t i = 0; i < ours.size(); ++i)
    ASSERT_NEAR(ours[i], theirs[i],
                share * std::max(typical, std::abs(theirs[i])))
      << "value " << i;
}

} // namespace troupe::test
