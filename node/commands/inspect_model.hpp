#pragma once

#include <string>

#include "node/commands/command.hpp"

namespace troupe::node {

/// What a model's folder or file is: its shape, its tensors by type, its
/// tokenizer, and the digest by which a run knows it.
exit_code inspect_model(const std::string& path, bool json, streams io);

} // namespace troupe::node
