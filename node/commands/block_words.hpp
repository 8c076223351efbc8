#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "models/objective.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

/// What stands beside the tensors of one block, for who uses them: `scale`, by
/// which products of factors count, of each product by itself ("scale.NAME")
/// where they differ; and `labels`, a JSON list, by which row of a head says
/// which. They are texts, as all of a file's metadata. The names of labels are
/// those of the run's summary.json; without it there are none.
std::map<std::string, std::string>
words_of_block(const experiment& x, const std::filesystem::path& folder,
               const models::tensor_list& block);

} // namespace troupe::node
