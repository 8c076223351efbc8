// What leaves a client does not depend on what it keeps: two runs that differ
// in the personal values of one client alone, whose trainer makes nothing of
// them, say the same in every field, in the same order and at the same times. A
// leak that is planted in a field is seen.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/sim/sim_node.hpp"

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// A frame as a client says it.
struct spoken {
  instant at{};
  client_id from;
  std::uint32_t correlation = 0;
  messages::any_message what;
};

/// Whose secret it is.
constexpr client_id whose{4};

using leak = std::function<void(models::trained& to, float secret)>;

/// Keeps a secret in a block of its own, and lets no more of it out than a leak
/// does.
class keeper final : public models::one_by_one_trainer {
public:
  keeper(const models::layout& blocks, float secret, leak hole)
    : inner_(blocks),
      secret_(secret),
      hole_(std::move(hole)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input& x) override {
    return inner_.choose(x);
  }

  result<models::trained> train_one(const models::visit_input& x) override {
    auto out = inner_.train(x);
    if (out && x.visit.client == whose) {
      out->next.blocks["own"] = personal_values{{secret_, 2 * secret_}};
      out->next.counters["kept"] = static_cast<std::uint64_t>(secret_);
      if (hole_)
        hole_(*out, secret_);
    }
    return out;
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    return inner_.evaluate(x);
  }

  std::uint64_t examples(client_id x) const override {
    return inner_.examples(x);
  }

  std::uint64_t steps(const models::visit_input& x) const override {
    return inner_.steps(x);
  }

private:
  pull_trainer inner_;
  float secret_;
  leak hole_;
};

struct talk {
  std::vector<spoken> all;
  bool kept = false; ///< There was a secret.
};

talk talk_of(std::uint64_t seed, float secret, const leak& hole) {
  scenario what;
  what.mode = static_cast<pace_kind>(seed % 4);
  what.state = seed % 3 == 0 ? state_rule::on_accept : state_rule::on_offer;
  if (what.mode == pace_kind::fedasync) {
    what.buffer_size = 1;
    what.target_is_model = true;
  }
  auto method = two_leg_method(what);
  method.lead_is_pulled = false;
  method.make_trainer = [&](const models::layout& blocks) {
    return std::make_unique<keeper>(blocks, secret, hole);
  };
  std::vector<spoken> all;
  sim_node* run = nullptr;
  tally happened;
  sim_node testee{
    seed,
    what,
    method,
    faults{},
    happened,
    {.server_said = {},
     .client_said =
       [&](client_id from, const messages::any_message& x) {
         all.push_back({run ? run->now() : instant{}, from, 0, x});
       },
     .server_heard = {}}};
  run = &testee;
  for (int steps = 0; steps < 300'000 && !testee.finished() && testee.step();
       ++steps)
    ;
  EXPECT_TRUE(testee.finished());
  bool kept = false;
  for (const auto& [client, state] : testee.states())
    kept |= client == whose && state->blocks.contains("own");
  return {std::move(all), kept};
}

/// Where what is said differs; empty if it does not.
std::string difference(const std::vector<spoken>& a,
                       const std::vector<spoken>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto where = "frame " + std::to_string(i);
    if (a[i].from != b[i].from || a[i].what.index() != b[i].what.index())
      return where + ": another order";
    if (a[i].at != b[i].at)
      return where + ": another time";
    const auto one = transport::encode(a[i].what, a[i].correlation);
    const auto two = transport::encode(b[i].what, b[i].correlation);
    if (one.size() != two.size())
      return where + ": another size";
    // But for the checksum.
    for (std::size_t j = 0; j < one.size(); ++j)
      if (one[j] != two[j] && (j < 20 || j >= 24))
        return where + ": another byte " + std::to_string(j);
  }
  return a.size() == b.size() ? "" : "another number of frames";
}

constexpr float secrets[]{3, 5};

std::vector<spoken> all_that_is_said(float secret, const leak& hole) {
  return talk_of(1, secret, hole).all;
}

} // namespace

TEST(leaks, what_a_client_says_does_not_depend_on_what_it_keeps) {
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const auto one = talk_of(seed, secrets[0], {});
    const auto two = talk_of(seed, secrets[1], {});
    EXPECT_EQ(difference(one.all, two.all), "") << "seed " << seed;
    EXPECT_GT(one.all.size(), 30u);
    kept += one.kept && two.kept;
  }
  EXPECT_GT(kept, 12) << "there was nothing to keep";
}

TEST(leaks, one_that_a_trainer_makes_is_seen_in_each_field_of_an_offer) {
  const std::map<std::string, leak> holes{
    {"loss", [](auto& to, float x) { to.loss += x; }},
    {"low bits of a weight",
     [](auto& to, float x) {
       to.parts.front().weight *= 1 - static_cast<double>(x) * 1e-15;
     }},
    {"a delta",
     [](auto& to, float x) {
       auto delta = to.parts.front().delta.copy();
       delta.front() += 1e-6f * x;
       to.parts.front().delta = share(std::move(delta));
     }},
    {"what it makes no offer of",
     [](auto& to, float x) {
       if (x > 4)
         to.parts.clear();
     }},
  };
  for (const auto& [name, hole] : holes)
    EXPECT_NE(difference(all_that_is_said(secrets[0], hole),
                         all_that_is_said(secrets[1], hole)),
              "")
      << name;
}

TEST(leaks, one_in_any_other_field_is_seen_too) {
  const auto all = all_that_is_said(secrets[0], {});
  const auto after = [&](const auto& hole) {
    auto changed = all;
    hole(changed);
    return difference(all, changed);
  };
  const auto first = [&]<class T>(std::vector<spoken>& of, const T*) -> T& {
    for (auto& x : of)
      if (auto* found = std::get_if<T>(&x.what))
        return *found;
    std::abort();
  };
  const messages::hello* hello = nullptr;
  const messages::fetch_requested* fetch = nullptr;
  const messages::offer_made* offer = nullptr;
  using frames = std::vector<spoken>;
  const std::map<std::string, std::function<void(frames&)>> holes{
    {"nonce", [&](frames& x) { first(x, hello).nonce ^= 1; }},
    {"incarnation", [&](frames& x) { ++first(x, hello).incarnation; }},
    {"examples", [&](frames& x) { ++first(x, hello).examples; }},
    {"newest visit", [&](frames& x) { ++first(x, hello).last.value; }},
    {"correlation", [&](frames& x) { x.back().correlation = 1; }},
    {"ticket", [&](frames& x) { first(x, fetch).pass.mac[3] ^= 1; }},
    {"held", [&](frames& x) { first(x, fetch).wanted[0].held = {77}; }},
    {"rank", [&](frames& x) { ++first(x, fetch).wanted[0].rank; }},
    {"number of wants",
     [&](frames& x) {
       auto& wanted = first(x, fetch).wanted;
       wanted.push_back(wanted.front());
     }},
    {"disclosure",
     [&](frames& x) {
       first(x, offer).disclosures.push_back({0, {1}});
     }},
    {"base", [&](frames& x) { ++first(x, offer).blocks[0].base.value; }},
    {"size",
     [&](frames& x) {
       first(x, offer).blocks[0].delta = share({1, 2, 3});
     }},
    {"order", [&](frames& x) { std::swap(x.front(), x.back()); }},
    {"number", [&](frames& x) { x.pop_back(); }},
    {"time", [&](frames& x) { x.back().at += 1ns; }}};
  for (const auto& [name, hole] : holes)
    EXPECT_NE(after(hole), "") << name;
}

} // namespace troupe::test
