#pragma once

// What a run was: collected while it goes on, for the screen, metrics.jsonl and
// the result.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/kernel_worker/workshop.hpp"
#include "actors/metrics/status.hpp"
#include "actors/publisher/audience.hpp"
#include "models/watched.hpp"
#include "node/watch/spread.hpp"
#include "policies/pacing.hpp"
#include "policies/visit_window.hpp"

namespace troupe::node {

/// A version that was the best when it was evaluated.
struct best_version {
  version head;
  double metric = 0; ///< On validation data.
  actors::version_heads lines;

  static constexpr auto fields(auto& x) {
    return std::tie(x.head, x.metric, x.lines);
  }
};

/// Of one client.
struct failed_visits {
  std::uint64_t count = 0;
  std::string why; ///< Of the last.

  static constexpr auto fields(auto& x) {
    return std::tie(x.count, x.why);
  }
};

/// Where a run stands, or how it ended.
struct progress_report {
  actors::version_heads lines; ///< The heads.
  std::uint64_t visits = 0;    ///< Trained, and delivered.
  std::uint64_t updates = 0;   ///< Visits of which a line merged a part.
  std::uint64_t rounds = 0;    ///< Over, and something came of them.
  std::optional<double> training_loss; ///< Of the visits in the last version.
  std::optional<messages::evaluation_finished> evaluation; ///< The last.
  std::uint64_t left_out = 0; ///< Evaluations that were due and not made.
  std::optional<best_version> best;
  std::optional<messages::run_finished> finished;
  std::string first_error; ///< Of a visit.
  std::map<client_id, failed_visits> failures;
  instant at{}; ///< Of the last that is in here.
  /// The last that was, where nothing is merged. In no snapshot: of that the
  /// node knows how many are over.
  std::uint64_t rounds_scored = 0;

  /// Of a run that goes on.
  static constexpr auto fields(auto& x) {
    return std::tie(x.lines, x.visits, x.updates, x.rounds, x.training_loss,
                    x.evaluation, x.left_out, x.best, x.first_error, x.failures,
                    x.at);
  }
};

class chronicle final : public actors::audience {
public:
  struct options {
    std::shared_ptr<const models::layout> blocks;
    progress_report begin = {}; ///< Where the run stands at the start.
    /// Visits of which lines had merged parts by then; they are counted.
    policies::visit_windows merged = {};
    std::size_t held_out = 0;
    std::uint64_t clients = 0;
    bool has_labels = true;
    bool counts_tokens = false; ///< Scores are of tokens.
    /// What the best version is by; none: no version is called the best.
    std::optional<models::watched> best_by = {};
    std::optional<double> target = {}; ///< Of that; none: nothing ends by it.
    std::function<void(const std::string& line)>
      metrics; ///< One JSON object each.
    /// After each version, round and visit.
    std::function<void(const progress_report&)> show;
    std::function<void(const std::string& line)> log = {}; ///< May be empty.
  };

  explicit chronicle(options opts);

  void published(const messages::version_published& x, instant at) override;
  void failed(const messages::client_failed& x, instant at) override;
  void counted(const messages::round_counted& x, instant at) override;
  void evaluated(const messages::evaluation_finished& x,
                 const actors::version_heads& scored, instant at) override;
  void left_out(version head, instant at) override;
  std::uint64_t rounds_scored() const override;
  void finished(const messages::run_finished& x,
                const std::optional<messages::evaluation_finished>& last,
                instant at) override;

  /// A client that is trained elsewhere offered what it has.
  void offered(visit_id visit, double loss);

  /// A client's work was delivered.
  void delivered(const messages::job_finished& x);

  /// Ends the run from outside of the actors.
  void fail(std::string reason);

  bool over() const;

  /// Waits until it is over, or for so long.
  bool wait(instant at_most);

  progress_report report() const;

  /// Adds what it knows to a status.
  void describe(actors::run_status& to) const;

  /// The clients' scores of the last evaluation that has them.
  std::optional<spread> accuracies() const;

  /// Those of the clients that were never invited.
  std::optional<spread> held_out_accuracies() const;

  /// Of the last evaluation, where scores are of tokens: on the test data, and
  /// the mean over clients of each one's own.
  std::optional<double> perplexity() const;
  std::optional<double> clients_perplexity() const;

  /// How those of clients are spread.
  std::optional<spread> perplexities() const;

  /// The mean over clients of the mean loss of each on its own test rows.
  std::optional<double> clients_loss() const;

  /// How many clients have a score in the last evaluation, beside those.
  std::size_t clients_scored() const;

  /// What a snapshot keeps. Only while nobody calls anything else.
  static constexpr auto fields(auto& x) {
    return std::tie(x.report_, x.losses_, x.errors_, x.merged_);
  }

private:
  void count(visit_id visit, double loss);
  bool
  misses_target(const std::optional<messages::evaluation_finished>& last) const;
  void judge(const messages::evaluation_finished& x,
             const actors::version_heads& scored);
  std::optional<double> loss_of(const std::vector<visit_id>& visits);
  enum class whose : std::uint8_t { invited, strangers };

  bool is_stranger(client_id x) const;
  std::vector<double> accuracies_of(whose who) const;
  std::optional<spread> spread_of_all() const;
  std::optional<spread> spread_of_strangers() const;
  std::size_t invited_with_scores() const;
  std::optional<spread> spread_of_perplexities() const;
  std::optional<double> perplexity_of_test() const;
  std::optional<double> perplexity_of_clients() const;
  void keep(messages::evaluation_finished x);
  void note(const messages::evaluation_finished& x, bool last, instant at);

  options options_;
  std::optional<line_id> lead_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  progress_report report_;
  std::map<visit_id, double> losses_; ///< Of visits that no version holds yet.
  std::map<client_id, std::string> errors_; ///< What each met last.
  policies::visit_windows merged_;
};

/// Tells a chronicle what a workshop delivers.
class watched_workshop final : public actors::workshop {
public:
  watched_workshop(std::shared_ptr<actors::workshop> behind,
                   std::shared_ptr<chronicle> watching)
    : behind_(std::move(behind)),
      watching_(std::move(watching)) {
    // nop
  }

  void submit(key when, work what, deliver to) override;

private:
  std::shared_ptr<actors::workshop> behind_;
  std::shared_ptr<chronicle> watching_;
};

} // namespace troupe::node
