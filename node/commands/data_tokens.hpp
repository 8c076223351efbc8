#pragma once

#include <string>

#include "node/commands/command.hpp"

namespace troupe::node {

/// `data tokens FILE --tokenizer PATH`: how many tokens a text has, which come
/// most often, and whether they give its bytes back. Of a .jsonl it is the
/// texts of its lines.
/// @param ids says those of each line of the text, a line each
exit_code data_tokens(const std::string& file, const std::string& tokenizer,
                      bool ids, bool json, streams io);

} // namespace troupe::node
