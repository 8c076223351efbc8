// A whole node and its clients, with a recipe of two legs, on a network that
// loses, doubles, damages and cuts, with workers and a disk that fail, and
// crashes of everything. Then the world is kind, and the run must reach its
// end: every version is the merge of its offers to the bit, and nothing was
// merged twice.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/sim/sim_node.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// In some runs the network is kind and clients hardly ever say a thing again:
/// a resend wakes up a server that has forgotten to look, and so would hide it.
bool is_patient(std::uint64_t seed) {
  return seed % 10 == 5;
}

scenario scenario_of(std::uint64_t seed) {
  random_stream draw{derive_seed(seed, "scenario")};
  scenario x;
  x.mode = static_cast<pace_kind>(seed % 4);
  x.state = seed % 3 == 0 ? state_rule::on_accept : state_rule::on_offer;
  x.clients = 10 + draw.below(4);
  x.versions = 5 + draw.below(4);
  x.concurrency = static_cast<std::uint32_t>(4 + draw.below(3));
  x.buffer_size = 2 + draw.below(3);
  x.refill_by_version = draw.chance(0.3);
  x.staleness_max = 1 + draw.below(4);
  x.pending_max = 4 + draw.below(6);
  if (x.mode == pace_kind::fedasync) {
    x.buffer_size = 1;
    x.target_is_model = true;
  }
  if (is_patient(seed))
    x.resend_after = 1h;
  if (seed % 5 == 2) // Between beats, and after a few that were lost.
    x.silence_max = seed % 2 == 0 ? 2s : 7s;
  if (seed % 7 == 3) // Before slow work is done, or an answer is lost.
    x.visit_timeout = seed % 2 == 0 ? 3s : 8s;
  x.clock_anew = seed / 4 % 2 == 1;
  x.slow_disks = seed % 6 == 4;
  if (seed % 9 == 1 && !is_patient(seed))
    x.haste = 0.02;
  x.asks = random_stream{derive_seed(seed, "asks")}.chance(0.5);
  x.finishes = random_stream{derive_seed(seed, "finishes")}.chance(0.5);
  random_stream spool{derive_seed(seed, "spool")};
  x.durable = spool.chance(0.25);
  x.spools = x.durable || spool.chance(0.25);
  if (x.spools)
    x.values_bytes_max = 64 * spool.below(4);
  return x;
}

faults faults_of(std::uint64_t seed) {
  random_stream draw{derive_seed(seed, "faults")};
  faults x{.loss = 0.15 * draw.uniform(),
           .duplication = 0.1 * draw.uniform(),
           .corruption = 0.03,
           .truncation = 0.02,
           .partition = 0.01 * draw.uniform(),
           .job_failure = 0.05,
           .job_slowness = 0.03,
           .failure = 0.3 * draw.uniform(),
           .silence = 0.05,
           .node_crash = 0,
           .actor_crash = 0,
           .client_crash = 0,
           .client_leave = seed % 3 == 0 ? 0.003 : 0,
           .delay_ms_max = 1 + draw.below(100)};
  if (is_patient(seed))
    x.loss = x.corruption = x.truncation = x.partition = 0;
  // Who hears that an offer was refused forgets the visit, and a server that
  // forgets it as well would ask for it again: hence never with crashes.
  if (seed % 14 == 13 || seed % 14 == 6)
    x.forgery = 0.02;
  // Not in every run: a restart forgets, and so would hide, what was wrong in
  // memory.
  const bool durable = scenario_of(seed).durable;
  if (seed % 2 == 0 || (durable && x.forgery == 0 && !is_patient(seed))) {
    x.node_crash = 0.0008;
    x.actor_crash = 0.0008;
    x.client_crash = 0.002;
  }
  if (random_stream{derive_seed(seed, "another key")}.chance(0.25))
    x.key_change = 0.001;
  return x;
}

/// Where clients are: in the node's process, or in some of their own.
enum class place : std::uint8_t { here, elsewhere };

scenario scenario_of(std::uint64_t seed, place where) {
  auto x = scenario_of(seed);
  if (where == place::here)
    return x;
  x.processes = 1 + random_stream{derive_seed(seed, "processes")}.below(4);
  x.scored_at_home = random_stream{derive_seed(seed, "scores")}.chance(0.5);
  // Over one link, in small pieces, it takes longer than the shortest.
  if (x.visit_timeout > instant{})
    x.visit_timeout = std::max(x.visit_timeout, instant{8s}) * 3 / 2;
  return x;
}

/// What a link carries is not damaged, but its connection is cut.
faults faults_of(std::uint64_t seed, place where) {
  auto x = faults_of(seed);
  if (where == place::here)
    return x;
  random_stream draw{derive_seed(seed, "cuts")};
  x.corruption = x.truncation = 0;
  x.connection_cut = 0.01 * draw.uniform();
  if (seed % 2 == 0) {
    x.client_crash = 0.0005;
    x.process_crash = 0.0008;
  }
  return x;
}

void tell(const tally& happened) {
  for (const auto& [what, times] : happened)
    std::cout << "  " << what << ": " << times << '\n';
}

/// Runs to the end, kind from some step on. Returns the hash of what happened.
std::uint64_t simulate(std::uint64_t seed, tally& happened,
                       place where = place::here) {
  SCOPED_TRACE("reproduce with TROUPE_SEED=" + std::to_string(seed)
               + (where == place::here ? "" : ", of processes"));
  sim_node testee{seed, scenario_of(seed, where), faults_of(seed, where),
                  happened};
  const auto run = [&](int steps) {
    while (steps-- > 0 && !testee.finished() && !testing::Test::HasFailure()
           && testee.step())
      ;
  };
  // Until it is over, where last visits are to meet faults.
  run(scenario_of(seed, where).finishes && seed % 4 < 2 ? 20'000 : 6'000);
  testee.heal();
  // Liveness: once the world is kind, everything gets through.
  const auto healed = testee.now();
  run(1'000'000); // A large frame in small pieces takes many.
  if (testing::Test::HasFailure())
    return testee.trace(); // What else would be said is not worth reading.
  EXPECT_TRUE(testee.finished())
    << "the run does not end: a livelock or a stall";
  EXPECT_LT(seconds(testee.now() - healed), 600) << "the run ends too late";
  if (testee.finished())
    testee.check_end();
  return testee.trace();
}

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text)
    return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

/// Seeds that found a bug once.
std::vector<std::uint64_t> past_failures() {
  std::vector<std::uint64_t> seeds;
  std::ifstream file{TROUPE_SOURCE_DIR "/tests/sim/seeds.txt"};
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#')
      seeds.push_back(std::stoull(line));
  return seeds;
}

/// What never happens is not tested: a zero is red.
constexpr std::array must_happen{
  "frame lost", "frame doubled", "frame delayed", "frame damaged",
  "frame truncated", "link cut", "frame lost in a cut", "offer forged",
  "request forged", "grant forged", "job failed", "job slow", "save failed",
  "save unanswered",
  // Rollbacks.
  "merge failed", "merge unanswered", "commit failed",
  "commit stored, answered as failed", "commit stored, unanswered",
  // Crashes, in each phase of a version and of a visit.
  "node crashed", "actor crashed", "client crashed", "server rebuilt",
  "load failed", "clock began anew", "a file was kept late",
  "client crash before its file is kept", "timer before mail",
  "older version read", "read failed", "visit expired at work",
  "key of tickets changed", "a fetch by a key that is over",
  "an offer by a key that is over", "a question by a key that is over",
  "visit expired in a line", "crash while collecting", "crash while merging",
  "crash while merged, not stored", "crash while stored, not announced",
  // When no more versions come.
  "a last visit", "crash before the first last visit is over",
  "crash between last visits",
  // Offers that wait on disk.
  "keep failed", "kept, answered as failed", "kept, unanswered", "drop failed",
  "drop unanswered", "an offer is held durably", "values were let go of",
  "a client asks after its offer", "an offer is read from the disk",
  "a node finds an offer on the disk", "an offer that a node found is merged",
  "client crash before its hello", "client crash on a visit",
  "client crash waiting for a verdict", "client crash at rest",
  "client dies on a visit", "client dies waiting for a verdict",
  "client leaves on a visit", "client leaves at rest",
  "client drains on a visit", "client drains at rest", "client came back",
  // Verdicts; the last three are on a visit as a whole.
  "verdict accepted", "verdict duplicate", "verdict too_stale",
  "verdict overloaded", "verdict withdrawn", "visit ended withdrawn",
  "visit ended malformed", "visit ended unknown_expert",
  "visit ended not_invited"};

constexpr std::array must_happen_to_links{
  "frame lost",
  // Of connections.
  "connection cut", "connection vanished", "dialled anew after silence",
  "process came back on another connection", "a link goes on",
  "a link meets another server", "link came to its end",
  // Of what is under way.
  "credit lost in a cut", "chunk lost in a cut",
  "frame lost with its connection", "piece said into a lost connection",
  "piece of a lost connection comes late", "piece of nobody",
  "a small frame overtakes a transfer", "a transfer goes on where it was",
  "a transfer waits for room", "a transfer is given up by its receiver",
  "a transfer is kept for who is gone", "what was kept for who is back goes on",
  "who held room was forgotten",
  // Of processes.
  "process crashed", "many clients died at once", "process began anew",
  "server died over a connection", "server rebuilt", "client crashed",
  "client crash before its file is kept", "client crash on a visit",
  "client crash waiting for a verdict", "client dies on a visit",
  "client leaves on a visit", "client drains on a visit",
  "a node forgets an offer that it held", "verdict accepted",
  "verdict duplicate", "verdict withdrawn"};

/// Of what versions are worth to clients, as their processes say it.
constexpr std::array must_happen_at_home{
  "home: a process is asked", "home: an answer", "home: no answer at all",
  "home: two answers", "home: an answer of half its clients, one by one",
  "home: an answer comes too late", "home: says that it is at work",
  "home: an answer over another connection",
  "home: a process died with a question",
  "home: a process that began anew answers",
  "home: a client is dead, and has no score",
  // What nobody believes.
  "home: hits beyond rows", "home: a loss that is no number",
  "home: a loss beyond all", "home: rows without end",
  "home: of another question", "home: of another process's client",
  "home: of a client that is none", "home: wrong of what is set aside",
  // What comes of it.
  "home: a client is counted", "home: all are counted",
  "home: not all are counted", "home: nobody is here to be asked",
  "home: an evaluation does not wait for the silent"};

/// What this program says of a seed when it runs as another process.
std::string said_of(std::uint64_t seed) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = "TROUPE_SEED=" + std::to_string(seed) + " '" + self
                       + "' --gtest_filter=node_sim.every_version*";
  std::string text;
  auto* pipe = popen(command.c_str(), "r");
  std::array<char, 256> part{};
  while (pipe && std::fgets(part.data(), part.size(), pipe))
    text += part.data();
  EXPECT_TRUE(pipe && pclose(pipe) == 0) << text;
  const auto from = text.find("trace ");
  return from == std::string::npos
           ? ""
           : text.substr(from, text.find('\n', from) - from);
}

} // namespace

using counts = std::span<const char* const>;

void simulate_all(place where, std::initializer_list<counts> must) {
  tally happened;
  if (const auto seed = number_from("TROUPE_SEED")) {
    std::cout << "trace " << simulate(*seed, happened, where) << '\n';
    return tell(happened);
  }
  const auto limited = number_from("TROUPE_SEEDS");
  const auto seeds = limited.value_or(2000);
  const auto failed = [] { return testing::Test::HasFailure(); };
  for (std::uint64_t seed = 1; seed <= seeds && !failed(); ++seed) {
    const auto trace = simulate(seed, happened, where);
    if (seed % 50 == 0 && !failed()) {
      tally again;
      EXPECT_EQ(simulate(seed, again, where), trace)
        << "one seed, two runs: " << seed;
    }
  }
  tell(happened);
  if (limited || failed())
    return; // Few seeds reach little.
  for (const auto& some : must)
    for (const auto* what : some)
      EXPECT_GT(happened[what], 0u) << "it never happened: " << what;
}

TEST(node_sim, every_version_is_the_merge_of_its_offers) {
  simulate_all(place::here, {must_happen});
}

TEST(node_sim, processes_of_clients_come_and_go_with_their_connections) {
  simulate_all(place::elsewhere, {must_happen_to_links, must_happen_at_home});
}

TEST(node_sim, what_failed_once_is_run_again) {
  tally happened;
  const auto seeds = past_failures();
  EXPECT_GE(seeds.size(), 4u);
  for (const auto seed : seeds) {
    simulate(seed, happened);
    simulate(seed, happened, place::elsewhere);
  }
}

// For .ci/long: beyond the seeds of every gate, for as long as there is time.
TEST(node_sim, fresh_seeds) {
  const auto first = number_from("TROUPE_FIRST_SEED");
  const auto limit = number_from("TROUPE_SEED_SECONDS");
  if (!first || !limit)
    GTEST_SKIP() << "TROUPE_FIRST_SEED and TROUPE_SEED_SECONDS are not set";
  tally happened;
  const auto began = std::chrono::steady_clock::now();
  auto seed = *first;
  while (!HasFailure()
         && std::chrono::steady_clock::now() - began
              < std::chrono::seconds{*limit}) {
    simulate(seed, happened, place::here);
    simulate(seed++, happened, place::elsewhere);
  }
  std::cout << "seeds " << *first << " to " << seed - 1 << '\n';
  tell(happened);
}

TEST(node_sim, another_seed_is_another_run) {
  tally happened;
  EXPECT_NE(simulate(7, happened), simulate(8, happened));
}

TEST(node_sim, two_processes_with_one_seed_do_the_same) {
  const auto first = said_of(8); // With crashes.
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(said_of(8), first);
}

} // namespace troupe::test
