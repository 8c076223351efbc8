#pragma once

// What is seen of a run while it goes on: a bar on a terminal, lines in a pipe.

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "node/config/experiment.hpp"
#include "node/watch/chronicle.hpp"

namespace troupe::node {

/// Any thread may call it.
class progress_display {
public:
  struct options {
    bool terminal = false;
    length_options length = {};
    bool has_labels = true;
    bool counts_tokens = false; ///< Scores are of tokens.
    bool personal = false;      ///< Clients' own scores are what counts.
    bool has_last_visits = false; ///< Each client comes once more at the end.
    std::optional<line_id> lead = {};
    instant every =
      std::chrono::seconds{2};  ///< In a pipe; a tenth on a terminal.
    std::uint64_t clients = 0;  ///< Of the partition.
    std::uint64_t held_out = 0; ///< The last so many are never invited.
  };

  /// `out` outlives this.
  progress_display(std::ostream& out, options opts);

  /// Where a run stands that goes on: a line of its own, that stays.
  void begin(const progress_report& x);

  /// Draws, unless it did so a moment ago, or there would be the same line
  /// again.
  void show(const progress_report& x);

  /// A line of its own, that stays.
  void say(const std::string& line);

  /// Ends the bar.
  void finish();

private:
  struct seen {
    double share = 0;
    instant at{};
  };

  double share_of(const progress_report& x) const;
  void look(double share, instant now);
  std::string describe(const progress_report& x, instant now) const;
  void end_bar();

  std::mutex mutex_;
  std::ostream& out_;
  options options_;
  instant shown_{};
  std::string text_;          ///< Of the last line.
  std::optional<seen> first_; ///< Of its work.
  bool drawn_ = false;
};

} // namespace troupe::node
