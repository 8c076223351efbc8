#pragma once

// For laws of clients with experts over each architecture that has them: of
// GPT-2's shape, and of Llama's, whose blocks have a gate and whose queries
// share keys.

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/routed_federation.hpp"

namespace troupe::test {

struct routed_shape {
  std::string_view name;
  std::string_view config;
  std::size_t width;
  std::size_t products; ///< Of a layer, that have factors beside them.

  friend std::ostream& operator<<(std::ostream& to, const routed_shape& x) {
    return to << x.name;
  }
};

inline constexpr routed_shape routed_shapes[] = {
  {.name = "gpt2", .config = tiny_gpt2, .width = 8, .products = 4},
  {.name = "llama", .config = tiny_llama, .width = 16, .products = 7}};

inline std::string
name_of_shape(const ::testing::TestParamInfo<routed_shape>& x) {
  return std::string{x.param.name};
}

/// Says the same as for GPT-2's shape of another one.
class over_shapes : public ::testing::TestWithParam<routed_shape> {
protected:
  static routed_setting routed_setting_of(const std::string& method,
                                          options said = {}) {
    auto how = test::routed_setting_of(method, std::move(said));
    how.config = GetParam().config;
    return how;
  }

  static std::size_t routers_of(std::size_t experts) {
    return test::routers_of(experts, GetParam().width);
  }
};

} // namespace troupe::test
