// One key says hello without end. What the others have of a run, and what the
// server holds and writes, is what it would be without.

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actors/record/snapshot.hpp"
#include "actors/roster/attendance.hpp"
#include "tests/unit/actors/director/course_fixture.hpp"
#include "tests/unit/actors/gateway/gateway_fixture.hpp"

namespace troupe::actors::many_hellos_test {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t hellos = 20'000;

std::size_t bytes_of(const auto& x) {
  std::map<models::digest, shared_values> values;
  packer pack{values};
  pack(x);
  return pack.take().size();
}

/// A roster and a director, with four clients of others and two of the key.
class small_federation {
public:
  static constexpr std::uint64_t honest = 4;
  static constexpr std::uint64_t of_key = 2;

  small_federation() {
    for (std::uint64_t i = 1; i <= honest + of_key; ++i)
      hello({i}, 1);
  }

  /// Returns whether it is let in.
  bool hello(client_id who, std::uint64_t incarnation) {
    const auto judged = book.judge({{9},
                                    {.client = who,
                                     .incarnation = incarnation,
                                     .layout = {4, 2},
                                     .nonce = incarnation,
                                     .examples = 10}},
                                   run.now);
    if (judged.refusal)
      return false;
    run.did(run.testee.joined({.client = who,
                               .examples = judged.what.examples,
                               .last = judged.what.last},
                              run.now));
    return true;
  }

  /// The next visit that is there ends with its offer.
  void train() {
    const auto all = visits();
    ASSERT_GT(all.size(), trained_);
    run.take(all[trained_++].visit);
  }

  /// Each invitation once, in their order.
  std::vector<messages::ticket> visits() const {
    std::set<visit_id> seen;
    std::vector<messages::ticket> all;
    for (const auto& x : run.all<invitation_made>())
      if (seen.insert(x.pass.visit).second)
        all.push_back(x.pass);
    return all;
  }

  /// Beside visits.
  std::size_t for_the_record() const {
    return run.all<messages::clients_admitted>().size()
           + run.all<messages::client_began_anew>().size()
           + run.all<messages::client_failed>().size()
           + run.all<course::skipped>().size();
  }

  std::size_t bytes() const {
    return bytes_of(book) + bytes_of(run.testee);
  }

  attendance book{{.layout = {4, 2}}};
  run_of run{options()};

private:
  static course::options options() {
    auto x = slots_of(3);
    x.clients_expected = honest + of_key;
    return x;
  }

  std::size_t trained_ = 0;
};

} // namespace

TEST(many_hellos, of_one_key_leave_shares_and_memory_as_they_were) {
  constexpr std::uint64_t trained = 40;
  small_federation without, with;
  std::uint64_t incarnation = 1;
  for (std::uint64_t i = 0; i < trained; ++i) {
    without.train();
    with.train();
    for (std::uint64_t k = 0; k < hellos / trained; ++k) {
      const client_id who{small_federation::honest + 1
                          + k % small_federation::of_key};
      // Sometimes a new life, sometimes the same, sometimes an old one.
      incarnation += k % 3 == 0;
      EXPECT_EQ(with.hello(who, k % 7 == 6 ? 1 : incarnation), k % 7 != 6);
    }
  }
  EXPECT_GT(without.visits().size(), trained);
  EXPECT_EQ(with.visits(), without.visits());
  EXPECT_EQ(with.for_the_record(), without.for_the_record());
  EXPECT_LE(with.bytes(), without.bytes() + 2048);
}

namespace {

/// What a gateway holds, by its snapshot.
std::size_t state_of(const gateway_actor& x, test::world& w) {
  const messages::state_asked question{std::make_shared<snapshot_draft>()};
  caf::anon_send(x, question);
  w.settle();
  std::size_t bytes = 0;
  for (const auto& [name, part] : question.draft->taken().parts)
    bytes += part.size();
  return bytes;
}

} // namespace

// It answers each, and writes none of them down.
TEST_F(gateway_test, keeps_nothing_of_hellos_that_their_key_may_not_say) {
  test::world::kill(caf::actor_cast<caf::actor>(testee));
  may_speak = [](peer_id from, client_id as) {
    return from != second || as == ben;
  };
  std::size_t log = 0;
  refused->say_to([&log](const std::string&) { ++log; });
  start();
  open(ann, first);
  open(ben, second);
  roster.clear();
  archivist.clear();
  const auto before = state_of(testee, w);
  messages::hello x;
  x.examples = 10;
  for (std::uint64_t i = 0; i < hellos; ++i) {
    x.client = {3 + i};
    x.incarnation = x.nonce = i + 1;
    const auto answer = say(second, x);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_TRUE(
      std::holds_alternative<messages::farewell>(answer.front().second));
  }
  EXPECT_EQ(state_of(testee, w), before);
  EXPECT_TRUE(roster.empty());
  EXPECT_TRUE(archivist.empty());
  EXPECT_LE(log, 2U);
  EXPECT_EQ(
    refused
      ->all()[static_cast<std::size_t>(transport::refusal::client_of_another)],
    hellos);
}

// As many channels as there are numbers may be on one connection.
TEST_F(gateway_test, knows_a_client_on_one_of_its_channels) {
  open(ann, first);
  open(ben, second);
  archivist.clear();
  const auto before = state_of(testee, w);
  for (std::uint64_t i = 0; i < hellos; ++i)
    open(ben, {100 + i});
  EXPECT_EQ(state_of(testee, w), before);
  EXPECT_EQ(count<messages::hello_heard>(roster), 2 + hellos);
  EXPECT_TRUE(archivist.empty());
}

} // namespace troupe::actors::many_hellos_test
