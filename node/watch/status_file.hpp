#pragma once

// status.json: what a run waits for, for whoever asks from outside.

#include <filesystem>
#include <string>

#include "actors/metrics/status.hpp"

namespace troupe::node {

/// A file of one fixed size that is written over in place: it has its room from
/// the start, so it still speaks when the disk is full.
class status_file {
public:
  explicit status_file(const std::filesystem::path& path);
  ~status_file();

  status_file(const status_file&) = delete;
  status_file& operator=(const status_file&) = delete;

  /// Nothing is said about a failure: this is where it would be said.
  void write(const actors::run_status& x, const std::string& http);

private:
  int fd_ = -1;
};

/// The machine that a file of status speaks of.
std::string host_name();

/// What `/why` answers, and what the file holds beside its own facts.
std::string why_as_json(const actors::run_status& x);
std::string why_as_text(const actors::run_status& x);

} // namespace troupe::node
