#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "node/commands/command_line.hpp"
#include "node/watch/http/server.hpp"

namespace troupe::node {

/// --http and --http-hosts: where readers may look at a process.
struct watching_options {
  std::string address;
  std::vector<std::string> hosts;

  void add_to(command_line& line);

  /// How the command ends already, if one needs the other.
  std::optional<exit_code> refused(bool json, streams io) const;

  /// Answers there from now on, and counts who reads; null if nobody asked for
  /// it.
  [[nodiscard]] result<std::unique_ptr<http::server>>
  open(std::map<std::string, http::page> pages,
       const std::shared_ptr<http::tally>& readers, streams io) const;
};

} // namespace troupe::node
