// Clients whose data is elsewhere: what they offered is taken as it was kept.

#include <algorithm>
#include <variant>
#include <vector>

#include "actors/record/event_reader.hpp"
#include "actors/record/kept_offers.hpp"
#include "node/replay/outlook.hpp"
#include "node/replay/replayer.hpp"
#include "node/task/workload.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test {

namespace {

using actors::recorded_event;
using events = std::vector<recorded_event>;

constexpr std::uint64_t beyond = 100; ///< No client of the run's own data.

void move_elsewhere(visit_id& x) {
  x.client.value += beyond;
}

void move_elsewhere(recorded_event& event) {
  std::visit(
    [](auto& x) {
      if constexpr (requires { x.visit; })
        move_elsewhere(x.visit);
      if constexpr (requires { x.pass.visit; })
        move_elsewhere(x.pass.visit);
      if constexpr (requires { x.merged; })
        std::ranges::for_each(x.merged, [](auto& y) { move_elsewhere(y); });
      if constexpr (requires { x.visits; })
        std::ranges::for_each(x.visits, [](auto& y) { move_elsewhere(y); });
    },
    event);
}

class others_test : public recorded_run {
protected:
  /// A run's events and kept offers, as if its clients had data of their own.
  void record_elsewhere(overrides changes) {
    changes.emplace_back("keep_offers=true");
    folder_ = record(std::move(changes));
    const auto loaded = node::load_config(folder_ / "config.toml");
    ASSERT_TRUE(loaded) << loaded.error().context;
    x_ = loaded->x;
    auto work = node::prepare(x_, no_model);
    ASSERT_TRUE(work) << work.error().context;
    work_ = std::move(*work);
    work_.shape.inputs = {1};
    const actors::kept_offers book{folder_ / "offers"};
    for (const auto& line : read_lines(folder_ / "events.jsonl")) {
      auto event = actors::read_event(line);
      ASSERT_TRUE(event) << event.error().context;
      if (const auto* made = std::get_if<actors::offer_recorded>(&*event)) {
        auto kept = book.find(made->visit, made->checksum);
        ASSERT_TRUE(kept && *kept);
        move_elsewhere((*kept)->offer.pass.visit);
        ASSERT_TRUE(book.keep(**kept));
      }
      move_elsewhere(*event);
      all_.push_back(std::move(*event));
    }
  }

  result<node::comparison> replay_all() {
    node::outlook ahead;
    for (const auto& x : all_)
      ahead.note(x);
    auto story = node::replayer::make(x_, work_, std::move(ahead),
                                      actors::kept_offers{folder_ / "offers"});
    if (!story)
      return tl::make_unexpected(story.error());
    node::comparison sum;
    for (const auto& x : all_) {
      auto heard = (*story)->hear(x);
      if (!heard || heard->first)
        return heard;
      sum.equal += heard->equal;
      sum.total += heard->total;
    }
    return sum;
  }

  fs::path folder_;
  node::experiment x_;
  node::workload work_;
  events all_;
};

} // namespace

TEST_F(others_test, are_computed_again_from_what_they_offered) {
  for (const auto* mode : {"sync", "fedbuff", "fedasync"}) {
    all_.clear();
    record_elsewhere(under(mode));
    const auto done = replay_all();
    ASSERT_TRUE(done) << mode << done.error().context;
    EXPECT_FALSE(done->first) << mode << done->first->what;
    EXPECT_GT(done->total, 6U);
  }
}

TEST_F(others_test, stop_a_replay_where_nobody_kept_their_offers) {
  record_elsewhere(under("sync"));
  fs::remove_all(folder_ / "offers");
  const auto done = replay_all();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unsupported);
  EXPECT_THAT(done.error().context,
              HasSubstr("on data of its own, and neither that nor the offer is "
                        "here"));
}

// The line mixes models: of an offer that crossed with the withdrawal of its
// visit it needs the version that this began with, however old it is by then.
TEST_F(others_test, whose_offers_crossed_with_a_withdrawal_have_their_bases) {
  record_elsewhere(
    {"mode=fedasync", "async_target=model", "versions=40", "concurrency=6"});
  events crossed;
  for (const auto& x : all_) {
    crossed.push_back(x);
    if (const auto* served = std::get_if<messages::line_served>(&x))
      crossed.emplace_back(
        messages::visit_withdrawn{served->visit, policies::verdict::withdrawn});
  }
  EXPECT_GT(crossed.size(), all_.size() + 40);
  all_ = std::move(crossed);
  const auto done = replay_all();
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_FALSE(done->first) << done->first->what;
  EXPECT_GE(done->equal, 80U) << "offers and versions";
}

} // namespace troupe::test
