#pragma once

// The text that one client brings to a run that is served elsewhere.

#include <filesystem>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "node/config/experiment.hpp"
#include "node/task/materials.hpp"
#include "node/task/own_data.hpp"

namespace troupe::node {

/// One user of docs/language.md: a folder of texts, a .txt or a .jsonl. Returns
/// `invalid_data`, with what would do. @pre x.data.is_language()
[[nodiscard]] result<own_data> read_own_text(const experiment& x,
                                             const std::filesystem::path& path,
                                             const example_shape& wanted);

/// A task in which this client alone has text. @pre mine.text is there
[[nodiscard]] result<materials>
materials_of_text(const experiment& x, const own_data& mine, client_id me,
                  const example_shape& shape, const language_maker& make);

} // namespace troupe::node
