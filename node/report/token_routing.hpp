#pragma once

// Where tokens of clients' texts go among the experts of their models, as
// `troupe eval --routing` has left it in the run's folder, or with the clients.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "node/report/figures.hpp"

namespace troupe::node {

inline constexpr std::string_view routing_file = "routing.json";

/// The first, the middle and the last of so many layers, by their places.
/// @pre there is one
std::vector<std::size_t> layers_shown(std::size_t layers);

/// Empty where nobody has looked.
/// @param x says who the clients are; none: they have numbers alone
std::vector<drawn_figure> figures_of_tokens(const std::filesystem::path& folder,
                                            const std::optional<experiment>& x);

} // namespace troupe::node
