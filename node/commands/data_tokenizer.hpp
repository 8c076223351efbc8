#pragma once

#include <cstddef>
#include <string>

#include "node/commands/command.hpp"

namespace troupe::node {

/// `data tokenizer PATH --size N --to FOLDER`: learns a byte-level BPE of so
/// many tokens from a text, the lines of a .jsonl, or the texts of users in a
/// folder, and writes FOLDER/tokenizer.json. One that is there and says
/// something else stays.
exit_code data_tokenizer(const std::string& path, std::size_t size,
                         const std::string& to, bool json, streams io);

} // namespace troupe::node
