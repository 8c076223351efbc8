#pragma once

// What reads files that strangers may have made, each as one function of bytes:
// for the table of damages and for the fuzzers.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"

namespace troupe::damage {

enum class verdict {
  refused,
  accepted,
  wrong, ///< Accepted, and something else came out than what was put in.
};

struct reader {
  std::string name;
  std::string counts_as_wrong; ///< Of what is accepted.
  bool text = true;
  std::vector<std::string> originals = {}; ///< Valid, each.
  std::function<verdict(const std::string& bytes)> read;
  /// In place of damages to an original's bytes.
  std::function<std::string(random_stream& draw)> alter = {};
  /// A snapshot's reader looks at all of it: half as many are tried.
  bool slow = false;
};

/// A valid file, damaged in one to three ways.
std::string altered(std::string original, bool is_text, random_stream& draw);

/// Readers of data and weights.
std::vector<reader> data_readers();

/// Readers of what people write: configurations, sweeps, scenarios, traces.
std::vector<reader> text_readers();

/// Readers of a run's folder, each with one in `scratch`.
std::vector<reader> run_readers(const std::filesystem::path& scratch);

/// Readers of a ledger and its snapshot, likewise.
std::vector<reader> ledger_readers(const std::filesystem::path& scratch);

/// Readers of what a joining process keeps, likewise.
std::vector<reader> store_readers(const std::filesystem::path& scratch);

/// Of scripted modules; none where there is no torch.
std::vector<reader> script_readers(const std::filesystem::path& scratch);

/// The one of that name. @pre it is among them
reader reader_of(std::vector<reader> all, std::string_view name);

/// A folder of this process, gone with it.
std::filesystem::path own_folder();

/// Puts these bytes where a reader looks for them.
void write(const std::filesystem::path& path, std::string_view bytes);
std::string contents(const std::filesystem::path& path);

} // namespace troupe::damage
