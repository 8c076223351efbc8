#pragma once

// status.json: what a run waits for, for whoever asks from outside.

#include <cstdint>
#include <filesystem>
#include <string>

#include "actors/metrics/process_status.hpp"
#include "actors/metrics/why.hpp"

namespace troupe::node {

/// What is told of a run, or of a process with clients of one.
struct status_facts {
  actors::wait found;
  std::int64_t now_ms = 0;
  bool over = false;
  std::uint64_t visits = 0;
  double run_seconds = 0; ///< Of its clock, or of the process.
  std::string goes_on;    ///< What goes on with it once the process is gone.
};

status_facts facts_of(const actors::seen_run& x);
status_facts facts_of(const actors::process_status& x);

/// A file of one fixed size that is written over in place: it has its room from
/// the start, so it still speaks when the disk is full. Of two processes that
/// have it the first one writes.
class status_file {
public:
  explicit status_file(const std::filesystem::path& path);
  ~status_file();

  status_file(const status_file&) = delete;
  status_file& operator=(const status_file&) = delete;

  /// Nothing is said about a failure: this is where it would be said.
  void write(const status_facts& x, const std::string& http);

private:
  int fd_ = -1;
};

/// The machine that a file of status speaks of.
std::string host_name();

/// What `/why` answers, and what the file holds beside its own facts.
std::string why_as_json(const status_facts& x);
std::string why_as_text(const status_facts& x);

} // namespace troupe::node
