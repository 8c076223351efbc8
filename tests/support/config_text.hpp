#pragma once

// Short ways to read a configuration in a test, with methods of its own.

#include <string>
#include <vector>

#include "node/config/config.hpp"

namespace troupe::node {

inline const method_list& sample_methods() {
  static const recipe plain{.name = "fedavg", .summary = "the mean"};
  static const recipe pulled{.name = "fedprox",
                             .summary = "with a pull",
                             .options = {{.name = "proximal",
                                          .says = "the pull",
                                          .value = 0.01,
                                          .unit = "times the way"}}};
  static const recipe rounds{.name = "scaffold",
                             .summary = "in rounds only",
                             .asynchronous = standing::refused};
  static const recipe alone{
    .name = "local", .summary = "alone", .offers = false};
  static const method_list all{{&plain, &pulled, &rounds, &alone}, {"floral"}};
  return all;
}

inline result<loaded_config> read(std::string_view text,
                                  std::vector<std::string> overrides = {}) {
  return parse_config({text, "a.toml"}, overrides, sample_methods());
}

/// The refusal, or an empty text.
inline std::string refusal(std::string_view text,
                           std::vector<std::string> overrides = {}) {
  const auto x = read(text, std::move(overrides));
  return x ? std::string{} : x.error().context;
}

} // namespace troupe::node
