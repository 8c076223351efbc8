// What a joining process says of its clients when it is asked for scores.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "node/join/home_scores.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

class listener final : public transport::endpoint {
public:
  std::size_t send(peer_id to, messages::any_message x) override {
    const std::lock_guard guard{mutex_};
    EXPECT_EQ(to, peer_id{});
    auto told = std::get<messages::scores_told>(std::move(x));
    (told.scores.empty() ? at_work_ : heard_).push_back(std::move(told));
    changed_.notify_all();
    return 1;
  }

  messages::scores_told wait_for(std::uint64_t question) {
    std::unique_lock guard{mutex_};
    const auto is_here = [&] {
      return !heard_.empty() && heard_.back().question == question;
    };
    EXPECT_TRUE(changed_.wait_for(guard, 60s, is_here));
    return heard_.empty() ? messages::scores_told{} : heard_.back();
  }

  /// Questions of which it was said that they are worked on.
  std::vector<std::uint64_t> at_work() const {
    const std::lock_guard guard{mutex_};
    std::vector<std::uint64_t> out;
    for (const auto& x : at_work_)
      out.push_back(x.question);
    return out;
  }

  std::size_t count() const {
    const std::lock_guard guard{mutex_};
    return heard_.size();
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<messages::scores_told> heard_;
  std::vector<messages::scores_told> at_work_;
};

struct home_scores : ::testing::Test {
  home_scores()
    : work(*node::prepare(configured(quadratic_run, {}, {}), no_model)) {
    for (const auto& block : work.blocks->blocks)
      blocks.push_back({block.id, work.initial.at(block.id)});
    options.blocks = work.blocks;
    options.mine = {{2}, {3}, {5}};
    options.make_trainer = node::scorers_of(work, options.mine);
    options.files = std::make_shared<actors::memory_vault>();
    options.network = network;
    options.say = [this](const std::string& x) {
      const std::lock_guard guard{mutex};
      said = x;
    };
  }

  node::workload work;
  std::vector<messages::block_values> blocks;
  std::shared_ptr<listener> network = std::make_shared<listener>();
  node::home_scores::options options;
  std::mutex mutex;
  std::string said;
};

/// One whose method has something to say of all of them.
class with_a_figure final : public models::one_by_one_trainer {
public:
  result<models::choice> choose(const models::visit_input&) override {
    return models::choice{};
  }

  result<models::trained> train_one(const models::visit_input&) override {
    return models::trained{};
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    models::evaluated out;
    out.method_results["asked_for_clients"] = x.per_client ? 1 : 0;
    out.per_client[{3}] = {.loss = 0.5, .correct = 9, .count = 10};
    if (x.aside)
      out.own_validation[{3}] = {.loss = 0.25, .correct = 3, .count = 4};
    return out;
  }

  std::uint64_t examples(client_id) const override {
    return 1;
  }

  std::uint64_t steps(const models::visit_input&) const override {
    return 1;
  }
};

} // namespace

TEST_F(home_scores, are_of_the_clients_here_that_were_asked_for) {
  models::evaluation_input all{
    .versions = {}, .per_client = true, .states = {}};
  for (const auto& x : blocks)
    all.versions.push_back({x.block, {}, x.values});
  const auto wanted = (*work.make_trainer())->evaluate(all);
  ASSERT_TRUE(wanted);
  node::home_scores at_home{options};
  at_home.hear(
    {.question = 7, .clients = {{1}, {3}, {5}, {5}}, .blocks = blocks}, 0s);
  const auto told = network->wait_for(7);
  ASSERT_EQ(told.scores.size(), 2U);
  EXPECT_EQ(told.scores[0].client, client_id{3});
  EXPECT_EQ(told.scores[1].client, client_id{5});
  for (const auto& x : told.scores) {
    const auto& own = wanted->per_client.at(x.client);
    EXPECT_GT(x.count, 0U);
    EXPECT_EQ(x.count, own.count);
    EXPECT_EQ(x.loss, own.loss);
  }
}

TEST_F(home_scores, come_with_the_method_s_own_figures_for_this_process) {
  std::map<std::string, double> figures;
  options.make_trainer = []() -> result<std::unique_ptr<models::trainer>> {
    return std::make_unique<with_a_figure>();
  };
  options.figures = [&](const std::map<std::string, double>& x) {
    const std::lock_guard guard{mutex};
    figures = x;
  };
  node::home_scores at_home{options};
  at_home.hear({.question = 8, .clients = {{3}}, .blocks = blocks}, 0s);
  (void)network->wait_for(8);
  const std::lock_guard guard{mutex};
  const std::map<std::string, double> wanted{{"asked_for_clients", 1}};
  EXPECT_EQ(figures, wanted);
}

TEST_F(home_scores, are_of_what_is_set_aside_where_the_run_stops_by_it_alone) {
  options.make_trainer = []() -> result<std::unique_ptr<models::trainer>> {
    return std::make_unique<with_a_figure>();
  };
  for (const bool watched : {false, true}) {
    options.aside = watched;
    node::home_scores at_home{options};
    const std::uint64_t question = watched ? 2 : 1;
    at_home.hear({.question = question, .clients = {{3}}, .blocks = blocks},
                 0s);
    const auto told = network->wait_for(question);
    ASSERT_EQ(told.scores.size(), 1U);
    const auto& x = told.scores.front();
    EXPECT_EQ(x.count, 10U);
    EXPECT_EQ(x.aside_count, watched ? 4U : 0U);
    EXPECT_EQ(x.aside_correct, watched ? 3U : 0U);
    EXPECT_EQ(x.aside_loss, watched ? 0.25 : 0);
  }
}

TEST_F(home_scores, of_values_of_another_model_are_none) {
  node::home_scores at_home{options};
  auto other = blocks;
  other.back().values = share({1.0f});
  const auto is_refused = [this] {
    const std::lock_guard guard{mutex};
    return std::exchange(said, {}).find("not those of this model")
           != std::string::npos;
  };
  const std::vector<std::vector<messages::block_values>> wrong{other, {}};
  for (const auto& x : wrong) {
    at_home.hear({.question = 1, .clients = {{3}}, .blocks = x}, 0s);
    while (!is_refused())
      std::this_thread::yield();
  }
  EXPECT_EQ(network->count(), 0U);
}

TEST_F(home_scores, look_at_no_rows_of_others) {
  const auto scorer = options.make_trainer();
  ASSERT_TRUE(scorer);
  models::evaluation_input all{
    .versions = {}, .per_client = true, .states = {}};
  for (const auto& x : blocks)
    all.versions.push_back({x.block, {}, x.values});
  const auto found = (*scorer)->evaluate(all);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->per_client.size(), 3U);
  EXPECT_EQ(found->global.count, 0U);
}

// Who says nothing is not waited for.
TEST_F(home_scores, that_take_long_are_said_to_be_under_way) {
  std::mutex held;
  std::unique_lock until_told{held};
  options.make_trainer = [&held, make = options.make_trainer] {
    const std::lock_guard waits{held};
    return make();
  };
  node::home_scores at_home{options};
  at_home.tell(9s); // Nobody has asked.
  at_home.hear({.question = 7, .clients = {{3}}, .blocks = blocks}, 10s);
  at_home.tell(10'999ms);
  EXPECT_EQ(network->at_work(), (std::vector<std::uint64_t>{7}));
  at_home.tell(11s);
  at_home.tell(11'001ms);
  EXPECT_EQ(network->at_work(), (std::vector<std::uint64_t>{7, 7}));
  until_told.unlock();
  EXPECT_EQ(network->wait_for(7).scores.size(), 1U);
}

} // namespace troupe::test
