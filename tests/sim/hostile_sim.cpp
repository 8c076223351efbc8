// A production node, honest clients, and peers that say whatever decodes. What
// the run comes to must be what it comes to without them.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "tests/support/sim/hostile.hpp"
#include "tests/support/sim/sim_node.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// What a run came to.
struct outcome {
  std::string why;
  std::uint64_t versions = 0; ///< Of the lead line.
  std::uint64_t visits = 0;   ///< Invitations, all clients together.
  std::map<client_id, std::set<visit_id>> invited;
  std::set<visit_id> useful; ///< Of strangers: some line merges what they gave.
  std::uint64_t lines = 0;   ///< Of the record.
  std::size_t state_bytes = 0; ///< That the server holds at the end.
  std::map<client_id, std::size_t> bytes_to;
};

/// Honest work takes 0.4 to 8 s, or a fortieth of that.
bool is_slow(std::uint64_t seed) {
  return seed / 48 % 2 == 0;
}

scenario scenario_of(std::uint64_t seed, std::uint64_t strangers) {
  scenario x;
  x.mode = static_cast<pace_kind>(seed % 4);
  x.state = seed % 3 == 0 ? state_rule::on_accept : state_rule::on_offer;
  x.clients = 10;
  x.versions = 24;
  // Half the seeds: as many slots as clients, who are slow, so that a stranger
  // who is quick has one to itself; and rounds that wait for all.
  const bool slow = is_slow(seed);
  x.concurrency = slow ? x.clients + 1 : 6;
  // Who is silent until the deadline stops those.
  if (slow && x.mode == pace_kind::sync && hostile::answers(seed)) {
    x.quorum = 0;
    x.over_selection = 1;
    x.concurrency = x.clients;
  }
  x.as_in_production = true;
  x.buffer_size = 4;
  x.client_most = 1; // pace.client_share of 1/K.
  x.staleness_max = 4;
  x.pending_max = 24;
  if (x.mode == pace_kind::fedasync) {
    x.versions = 96;
    x.buffer_size = 1;
    x.target_is_model = true;
  }
  x.hostile = strangers;
  x.asks = seed / 2 % 2 == 1;
  x.events = true;
  return x;
}

outcome simulate(std::uint64_t seed, std::uint64_t strangers, tally& happened) {
  outcome all;
  const auto what = scenario_of(seed, strangers);
  auto method = two_leg_method(what);
  method.lead_is_pulled = false; // They offer what they like, within bounds.
  sim_node testee{
    seed,
    what,
    method,
    faults{.job_slowness = is_slow(seed) ? 1.0 : 0.0, .delay_ms_max = 20},
    happened,
    {.server_said =
       [&](client_id to, const messages::any_message& x) {
         all.bytes_to[to] += transport::encoded_size(x);
         if (const auto* i = std::get_if<messages::invited>(&x))
           all.invited[to].insert(i->pass.visit);
         if (const auto* i = std::get_if<messages::offer_answered>(&x);
             i && to.value > what.clients
             && i->verdict == policies::verdict::accepted)
           all.useful.insert(i->visit);
       },
     .client_said = {},
     .server_heard = {}}};
  for (int steps = 0; steps < 3'000'000 && !testee.finished()
                      && !testing::Test::HasFailure() && testee.step();
       ++steps)
    ;
  EXPECT_TRUE(testee.finished()) << "the run does not end";
  if (!testee.finished())
    return all;
  all.why = testee.reason();
  all.versions = testee.store().head(*testee.blocks().lead()).value;
  all.lines = testee.lines_noted();
  for (const auto& [client, visits] : all.invited)
    all.visits += visits.size();
  testee.check_end();
  all.state_bytes = testee.state_bytes();
  return all;
}

/// Invitations of each honest client, all runs together: who is invited is
/// drawn.
struct shares {
  std::map<client_id, double> has;
  std::map<client_id, double> due;
};

void compare(std::uint64_t seed, shares& seen, tally& happened) {
  SCOPED_TRACE("reproduce with TROUPE_SEED=" + std::to_string(seed));
  const auto strangers = 1 + seed % 3;
  tally none;
  const auto without = simulate(seed, 0, none);
  const auto with = simulate(seed, strangers, happened);
  if (testing::Test::HasFailure())
    return;
  EXPECT_EQ(with.why, without.why);
  // Where work takes longer than a window, some have nothing for the lead line.
  if (is_slow(seed) && scenario_of(seed, 0).mode == pace_kind::semisync)
    EXPECT_GE(5 * with.versions, 4 * without.versions);
  else
    EXPECT_EQ(with.versions, without.versions);
  // Whose offers are merged is no burden, however quick it is beside clients
  // who are slow: it has the visits that it works for.
  const auto visits_max = 2 * without.visits + with.useful.size();
  EXPECT_LE(with.visits, visits_max);
  EXPECT_LE(with.lines * without.visits, without.lines * visits_max);
  // Who would have had how much among so many: roles differ.
  const auto clients = scenario_of(seed, 0).clients;
  const auto of_all =
    static_cast<double>(clients + strangers) / static_cast<double>(clients);
  EXPECT_GT(without.state_bytes, 0u);
  EXPECT_LE(static_cast<double>(with.state_bytes),
            1.2 * of_all * static_cast<double>(without.state_bytes));
  const auto more =
    static_cast<double>(with.visits * clients)
    / static_cast<double>(without.visits * (clients + strangers));
  for (const auto& [client, visits] : without.invited) {
    seen.has[client] += static_cast<double>(with.invited.at(client).size());
    seen.due[client] += more * static_cast<double>(visits.size());
  }
}

/// A kind of harm that is never done is not tested.
constexpr std::array kinds{"hello",
                           "incarnation without end",
                           "another protocol",
                           "another layout",
                           "no client's id",
                           "a connection speaks for many",
                           "examples without end",
                           "an old incarnation",
                           "at work on everything",
                           "fetches",
                           "fetches what is not there",
                           "fetches one line 4,096 times",
                           "fetches a leg that is not there",
                           "fetches a rank that is not there",
                           "fetches a version that is not there",
                           "fetches with a forged seal",
                           "fetches on some ticket",
                           "fetches as another",
                           "fetches without end",
                           "says nothing of its request",
                           "says a request for nobody",
                           "says a request for one expert twice",
                           "says a request for half an expert",
                           "says another request",
                           "asks for too many experts",
                           "asks for no expert",
                           "asks for one expert twice",
                           "asks as an anchor",
                           "asks for experts first",
                           "asks for one expert",
                           "asks for one expert after the other",
                           "offers",
                           "offers NaN",
                           "offers what is too large",
                           "offers to a block that is not there",
                           "offers with a strange weight",
                           "offers with a weight that is no number",
                           "offers on a version to come",
                           "offers half a group",
                           "offers a block twice",
                           "offers a wrong size",
                           "discloses what is not asked",
                           "discloses too much",
                           "discloses nothing 10,000 times",
                           "says a strange loss",
                           "offers a rank that is not there",
                           "many offers on one ticket",
                           "offers on some ticket",
                           "offers with a forged seal",
                           "declines",
                           "declines with a forged seal",
                           "offers what it declined",
                           "asks after its offer",
                           "asks after its offer before it says it",
                           "asks after its offer without end",
                           "asks after what is merged",
                           "asks after some offer",
                           "asks after another's offer",
                           "asks after an offer with a forged seal",
                           "asks a line that is not there",
                           "asks one line 4,096 times",
                           "leaves",
                           "leaves as another",
                           "a server's words",
                           "beats as another",
                           "garbage",
                           "silence",
                           "flood",
                           "answers each invitation with NaN",
                           "answers each invitation with a wish for line 99",
                           "fails each time",
                           "has nothing to offer each time",
                           "drops out each time",
                           "leaves each time, and comes back",
                           "is busy each time, and says hello",
                           "offers on a version to come each time",
                           "offers on the first version each time",
                           "says hello fifty times a second"};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace

TEST(hostile_sim, a_run_comes_to_the_same_whatever_strangers_say) {
  tally happened;
  shares seen;
  if (const auto seed = number_from("TROUPE_SEED", 0))
    return compare(seed, seen, happened);
  const auto seeds = number_from("TROUPE_SEEDS", 96);
  for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed)
    compare(seed, seen, happened);
  // Strangers take part for five windows, five times as fast as the others, and
  // have 65 visits of 162 by that.
  shares of_the_quick;
  if (!HasFailure())
    compare(233, of_the_quick, happened);
  for (const auto& [what, times] : happened)
    std::cout << "  " << what << ": " << times << '\n';
  for (const auto& [client, due] : seen.due)
    EXPECT_GE(seen.has[client], 0.9 * due) << "client " << client.value;
  for (const auto* what : kinds)
    EXPECT_GT(happened[std::string{"hostile: "} + what], 0u)
      << "it never happened: " << what;
}

} // namespace troupe::test
