#include "actors/record/event_reader.hpp"

#include <gtest/gtest.h>

namespace troupe::actors {

namespace {

using policies::verdict;

const visit_id visit{{3}, {7}};

/// What is read of what was written.
template <class T>
T again(const auto& x, auto... how) {
  const auto read = read_event(event_of(x, std::chrono::seconds{1}, how...));
  EXPECT_TRUE(read) << read.error().context;
  return std::get<T>(*read);
}

messages::offer_made small_offer() {
  messages::offer_made x;
  x.blocks = {{{.block = {1}, .weight = 3, .delta = share({4, 5})}, {2}}};
  x.disclosures = {{.index = 0, .values = {0.5}}};
  x.loss = 6;
  return x;
}

} // namespace

TEST(event_reader, reads_what_was_written) {
  EXPECT_EQ(again<process_began>(process_began{"a b"}).fingerprint, "a b");
  messages::ticket pass;
  pass.visit = visit;
  pass.index = 5;
  pass.seed = ~std::uint64_t{0};
  pass.role = 1;
  pass.progress = 1.0 / 3;
  const messages::invitation_made invited{pass};
  EXPECT_EQ(again<messages::invitation_made>(invited).pass, pass);
  const messages::line_served served{
    .visit = visit, .leg = 1, .line = {2}, .base = {9}, .blocks = {}};
  const auto fetched = again<messages::line_served>(served);
  EXPECT_EQ(std::tuple(fetched.visit, fetched.leg, fetched.line, fetched.base),
            std::tuple(visit, 1u, line_id{2}, version{9}));
  const messages::visit_withdrawn withdrawn{visit};
  EXPECT_EQ(again<messages::visit_withdrawn>(withdrawn).visit, visit);
  const messages::part_answered refused{
    visit, {2}, verdict::too_stale, version{9}};
  EXPECT_EQ(again<messages::part_answered>(refused).verdict,
            verdict::too_stale);
  messages::merged_block block;
  block.block = {1};
  const messages::commit_requested committed{.line = {2},
                                             .head = {9},
                                             .round = {},
                                             .blocks = {block},
                                             .merged = {visit}};
  const auto made = again<version_recorded>(committed);
  EXPECT_EQ(made.merged, std::vector{visit});
  const messages::clients_admitted admitted{12};
  EXPECT_EQ(again<messages::clients_admitted>(admitted).count, 12u);
  const messages::client_began_anew anew{{4}};
  EXPECT_EQ(again<messages::client_began_anew>(anew).client, client_id{4});
  EXPECT_EQ(made.digests, std::vector{std::string(64, '0')});
}

TEST(event, of_an_offer_has_what_is_disclosed_as_is_declared) {
  const auto offer = small_offer();
  const auto text = event_of(offer, std::chrono::seconds{1}, true);
  EXPECT_NE(text.find(R"("disclosed":[{"index":0,"values":[0.5]}])"),
            std::string::npos)
    << text;
  EXPECT_EQ(event_of(offer, instant{}, false).find("disclosed"),
            std::string::npos);
  for (const bool sound : {true, false})
    EXPECT_EQ(again<offer_recorded>(offer, sound).checksum, checksum_of(offer));
}

TEST(event_reader, knows_each_reason_why_a_visit_failed) {
  using messages::decline_reason;
  for (const auto why : {decline_reason::busy, decline_reason::failed,
                         decline_reason::no_offer, decline_reason::dropped}) {
    const messages::visit_failed x{visit, why};
    EXPECT_EQ(again<messages::visit_failed>(x).why, x.why);
  }
  for (std::size_t i = 0; i < policies::verdict_count; ++i) {
    const messages::visit_failed x{visit, static_cast<verdict>(i)};
    EXPECT_EQ(again<messages::visit_failed>(x).why, x.why);
  }
}

TEST(event_reader, passes_over_what_says_nothing_of_arithmetic) {
  again<other_event>(policies::skip{});
}

TEST(event_reader, reads_what_bounds_a_record) {
  messages::round_closed round{.round = {3}, .visits = {}};
  EXPECT_TRUE(again<round_recorded>(round).visits.empty());
  round.visits.push_back({{{4}, {5}}, {}});
  const auto read = again<round_recorded>(round);
  EXPECT_EQ(read.round, round.round);
  ASSERT_EQ(read.visits.size(), 1u);
  EXPECT_EQ(read.visits[0], (visit_id{{4}, {5}}));
  round.visits[0].lines = {line_id{8}, line_id{9}};
  EXPECT_TRUE(again<round_recorded>(round).parts.empty());
  round.again = true;
  const auto parts = again<round_recorded>(round).parts;
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], std::pair(visit_id{{4}, {5}}, line_id{8}));
  EXPECT_EQ(parts[1], std::pair(visit_id{{4}, {5}}, line_id{9}));
  const auto end = again<end_recorded>(
    messages::run_finished{"done", false, {{{1}, {7}}, {{2}, {9}}}});
  EXPECT_EQ(end.reason, "done");
  EXPECT_EQ(end.heads, (std::map<line_id, version>{{{1}, {7}}, {{2}, {9}}}));
}

TEST(checksum, differs_where_anything_in_an_offer_does) {
  std::set<std::string> seen{checksum_of(small_offer())};
  EXPECT_EQ(checksum_of(small_offer()), *seen.begin());
  EXPECT_EQ(seen.begin()->size(), 16u);
  const auto add = [&](auto change) {
    auto x = small_offer();
    change(x, x.blocks[0]);
    EXPECT_TRUE(seen.insert(checksum_of(x)).second) << seen.size();
  };
  add([](auto&, auto& part) { part.block = {2}; });
  add([](auto&, auto& part) { part.base = {3}; });
  add([](auto&, auto& part) { part.rank = 1; });
  add([](auto&, auto& part) { part.weight = 4; });
  add([](auto&, auto& part) { part.delta = share({5, 4}); });
  add([](auto&, auto& part) { part.delta = share({4, -5}); });
  add([](auto&, auto& part) { part.delta = share({4, 5, 0}); });
  add([](auto&, auto& part) { part.delta = share({4}); });
  add([](auto&, auto& part) { part.delta = nullptr; });
  add([](auto& x, auto&) { x.loss = 7; });
  add([](auto& x, auto&) { x.disclosures[0].values[0] = 1; });
  // What depends on the run's key does not count.
  auto x = small_offer();
  x.pass.mac[0] = 1;
  EXPECT_FALSE(seen.insert(checksum_of(x)).second);
}

TEST(checksum, does_not_lose_signs_that_change_in_pairs) {
  std::vector<float> values(64, 1);
  auto x = small_offer();
  x.blocks[0].delta = share(values);
  const auto before = checksum_of(x);
  values[1] = values[9] = -1; // The top bits of two words of one sum.
  x.blocks[0].delta = share(values);
  EXPECT_NE(checksum_of(x), before);
}

} // namespace troupe::actors
