#include "node/run/virtual_loop.hpp"

#include <gtest/gtest.h>

#include <thread>

#include <caf/all.hpp>

#include "models/trainer.hpp"

namespace troupe::node {

using namespace actors;

namespace {

using namespace std::chrono_literals;

models::trainer_factory idle_trainers() {
  class idle final : public models::one_by_one_trainer {
    result<models::choice> choose(const models::visit_input&) override {
      return models::choice{};
    }
    result<models::trained> train_one(const models::visit_input&) override {
      return models::trained{};
    }
    result<models::evaluated>
    evaluate(const models::evaluation_input&) override {
      return models::evaluated{};
    }
    std::uint64_t examples(client_id) const override {
      return 1;
    }
    std::uint64_t steps(const models::visit_input&) const override {
      return 1;
    }
  };
  return []() -> result<std::unique_ptr<models::trainer>> {
    return std::make_unique<idle>();
  };
}

class virtual_loop_run : public ::testing::Test {
protected:
  virtual_loop_run() : workers_(std::move(*crew::hire(2, idle_trainers()))) {
    use_virtual_time(config_);
    system_ = std::make_unique<caf::actor_system>(config_);
    loop_ = std::make_unique<virtual_loop>(
      *system_, jobs_, virtual_loop::options{.stall_after = 1h});
    // CAF forms a reference to nothing where a function has no argument.
    ear_ = system_->spawn(
      [](caf::event_based_actor*, virtual_loop_run* test) -> caf::behavior {
        return {
          [test](int x) { test->heard_.emplace_back(test->loop_->now(), x); }};
      },
      this);
  }

  ~virtual_loop_run() override {
    caf::anon_send_exit(ear_, caf::exit_reason::user_shutdown);
    loop_->settle();
    ear_ = nullptr;
  }

  /// A result that is due then; its computation takes real time.
  void work(instant due, std::uint64_t client, int says) {
    jobs_.submit(
      {due, {{client}, {1}}},
      [=](models::trainer&) {
        std::this_thread::sleep_for(instant{due.count() % 7});
        return messages::job_finished{{{client}, {1}}, models::trained{}};
      },
      [this, says](messages::job_finished) { caf::anon_send(ear_, says); });
  }

  void later(instant when, int says) {
    caf::delayed_anon_send(ear_, when, says);
  }

  virtual_loop::outcome run(std::size_t until_heard) {
    return loop_->run([=, this] { return heard_.size() >= until_heard; });
  }

  using record = std::vector<std::pair<instant, int>>;

  std::shared_ptr<crew> workers_;
  due_workshop jobs_{workers_};
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<virtual_loop> loop_;
  caf::actor ear_;
  record heard_;
};

} // namespace

TEST_F(virtual_loop_run, takes_what_is_due_first_and_results_before_timers) {
  later(2s, 2);
  work(3s, 1, 3);
  later(1s, 1);
  work(2s, 9, 20);
  work(2s, 4, 21);
  EXPECT_EQ(run(5), virtual_loop::outcome::over);
  EXPECT_EQ(heard_, (record{{1s, 1}, {2s, 21}, {2s, 20}, {2s, 2}, {3s, 3}}));
}

TEST_F(virtual_loop_run, stands_still_when_nothing_is_left) {
  work(3s, 1, 3);
  EXPECT_EQ(run(2), virtual_loop::outcome::stalled);
  EXPECT_EQ(loop_->now(), 3s);
}

TEST_F(virtual_loop_run, does_not_take_timers_alone_for_progress) {
  const auto clock = system_->spawn(
    [](caf::event_based_actor* self, instant pause) -> caf::behavior {
      self->send(self, caf::tick_atom_v);
      return {[self, pause](caf::tick_atom) {
        self->delayed_send(self, pause, caf::tick_atom_v);
      }};
    },
    instant{60s});
  EXPECT_EQ(run(1), virtual_loop::outcome::stalled);
  EXPECT_EQ(loop_->now(), 1h);
  caf::anon_send_exit(clock, caf::exit_reason::user_shutdown);
}

} // namespace troupe::node
