#pragma once

// What versions are worth to the clients of this process: computed here, on a
// thread of its own, so that clients who train answer as well.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actors/client/client_file.hpp"
#include "actors/messages/scores.hpp"
#include "actors/transport/endpoint.hpp"
#include "core/clock.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Scores on the rows of these clients alone. Null where the workload makes no
/// trainers of other tasks.
models::trainer_factory scorers_of(const workload& work,
                                   const std::vector<client_id>& mine);

class home_scores {
public:
  struct options {
    std::shared_ptr<const models::layout> blocks;
    models::trainer_factory make_trainer; ///< Called when first asked.
    std::vector<client_id> mine;
    std::shared_ptr<const actors::vault> files;
    std::shared_ptr<transport::endpoint> network;
    /// What they set aside is scored and told, too: the run stops by it.
    bool aside = false;
    std::function<void(const std::string&)> say = {}; ///< May be empty.
    /// Told what the method says of all of these clients, each time. Nobody
    /// else hears it. May be empty.
    std::function<void(const std::map<std::string, double>&)> figures = {};
  };

  explicit home_scores(options opts);

  /// Waits for what is being scored.
  ~home_scores();

  home_scores(const home_scores&) = delete;
  home_scores& operator=(const home_scores&) = delete;

  /// The newest question is answered; one that has not begun gives way.
  void hear(messages::scores_asked x, instant now);

  /// Says now and then that it is at work, or nobody waits for it. To be called
  /// often.
  void tell(instant now);

private:
  void work();
  void say_at_work(instant now);
  void answer(const messages::scores_asked& x);
  result<models::evaluated> score(const messages::scores_asked& x);
  bool fits(const messages::scores_asked& x) const;

  options options_;
  std::set<client_id> mine_;
  std::unique_ptr<models::trainer> trainer_; ///< Of the thread alone.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<messages::scores_asked> next_;
  std::optional<std::uint64_t> open_; ///< The newest question, until answered.
  instant said_{};                    ///< That it is at work on it.
  bool ends_ = false;
  std::thread thread_;
};

} // namespace troupe::node
