#pragma once

#include <filesystem>
#include <string>

#include "core/result.hpp"
#include "node/report/run_record.hpp"

namespace troupe::node {

/// A page that needs nothing but itself: no script, no other file, no network.
std::string page_of(const run_record& x);

/// The same of where tokens go alone, as a folder says it.
std::string page_of_tokens(const std::string& title,
                           const std::filesystem::path& folder);

/// Reads a run's folder and writes its page to `to`, or to report.html in the
/// folder if that is empty. Returns where it is, `invalid_data` if the folder
/// holds no run, or `storage_failure`.
[[nodiscard]] result<std::filesystem::path>
write_report(const std::filesystem::path& folder,
             const std::filesystem::path& to = {});

} // namespace troupe::node
