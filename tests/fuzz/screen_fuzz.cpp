// The gateway's side: a server that invites and withdraws, clients that fetch,
// offer and decline anything in any order. What is served is of the recipe,
// four times a line at most; what passes the screen is whole and can be added;
// of a ticket there is one offer, and none once it was declined.

#include "actors/gateway/screen.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "actors/gateway/grants.hpp"
#include "core/assert.hpp"
#include "core/limits.hpp"
#include "tests/fuzz/whim.hpp"

namespace {

using namespace troupe;
using namespace troupe::actors;
using policies::verdict;

constexpr std::uint64_t examples = 50;

recipe two_legs() {
  return {.name = "two_legs",
          .summary = "",
          .blocks = {{.name = "gate"},
                     {.name = "expert", .where = scope::expert, .count = 3},
                     {.name = "head", .where = scope::shared}},
          .legs = {{.fetch = {{.family = "gate"}}, .choice = {"best"}},
                   {.fetch =
                      {{.family = "expert", .chosen = true, .chosen_max = 2}}}},
          .disclosures = {{.name = "shares", .count_max = 3, .sum = 1.0},
                          {.name = "rank", .min = 1, .max = 8}}};
}

models::layout layout_of(const recipe& method) {
  auto x = *models::make_layout(method,
                                {{"gate", {{.name = "w", .shape = {2}}}},
                                 {"expert", {{.name = "u", .shape = {2, 2}}}},
                                 {"head", {{.name = "w", .shape = {3}}}}},
                                {});
  for (auto& block : x.blocks) {
    block.grid = kernels::grid_for(100, 8);
    if (block.family == "expert") {
      block.rank = 2;
      block.merge.kind = merge_kind::padded;
    }
  }
  return x;
}

class gate {
public:
  explicit gate(fuzz::whim luck)
    : luck_(luck),
      method_(two_legs()),
      blocks_(layout_of(method_)),
      testee_(method_, blocks_) {}

  void run() {
    for (int i = 0; i < 4'000 && !luck_.done(); ++i)
      step();
  }

private:
  struct life {
    std::map<line_id, std::uint32_t> served;
    bool was_offered = false;
    bool is_over = false;
    bool earlier = false;
  };

  void step() {
    switch (luck_.below(8)) {
      case 0:
        return invite();
      case 1:
        now_ += std::chrono::seconds{luck_.below(30)};
        return;
      case 2:
        return end();
      case 3:
        return fetch();
      case 4: {
        const visit_id x{some_client(), {luck_.number()}};
        const auto& line = blocks_.lines[luck_.below(blocks_.lines.size())];
        testee_.answered(
          x, line.id,
          static_cast<verdict>(luck_.below(policies::verdict_count)));
        return;
      }
      case 5:
        return testee_.came_back(some_client());
      default:
        return offer();
    }
  }

  client_id some_client() {
    return {luck_.below(3)};
  }

  visit_id some_visit() {
    const auto who = some_client();
    const auto newest = newest_[who];
    return {who, {luck_.below(8) == 0 ? luck_.number() : newest}};
  }

  void invite() {
    const auto who = some_client();
    auto& newest = newest_[who];
    const auto number =
      luck_.below(8) == 0 ? newest : newest + 1 + luck_.below(3);
    // After a restart what was before it is said first.
    const bool earlier = !is_known_.contains(who) && luck_.coin();
    if (!earlier)
      is_known_.insert(who);
    const visit_id x{who, {number}};
    testee_.invited(x, earlier);
    if (number > newest)
      lives_[x] = {.served = {},
                   .was_offered = false,
                   .is_over = false,
                   .earlier = earlier};
    newest = std::max(newest, number);
  }

  /// Null for what nobody was invited to in this life.
  life* known(visit_id x) {
    const auto at = lives_.find(x);
    return at == lives_.end() || at->second.earlier ? nullptr : &at->second;
  }

  void end() {
    const auto x = some_visit();
    auto* own = known(x);
    const auto how = luck_.below(3);
    if (how == 0)
      testee_.withdrawn(x);
    else if (how == 1)
      testee_.ended(x);
    else
      testee_.decline(x);
    if (own && how != 0)
      own->is_over = true;
  }

  void fetch() {
    messages::fetch_requested x{
      .pass = {},
      .leg = static_cast<std::uint32_t>(luck_.below(8) == 0 ? luck_.number()
                                                            : luck_.below(2)),
      .wanted = {}};
    x.pass.visit = some_visit();
    for (auto n = luck_.below(6); n > 0; --n)
      x.wanted.push_back(
        {.line = {luck_.below(16) == 0 ? luck_.number() : 1 + luck_.below(5)},
         .held = {luck_.number()},
         .exact = {luck_.number()},
         .rank = static_cast<std::uint32_t>(luck_.below(4) == 0 ? luck_.number()
                                                                : 0)});
    const auto asked = x.wanted.size();
    if (testee_.fetch(x, now_))
      return;
    TROUPE_ASSERT(x.wanted.size() <= asked);
    auto* own = known(x.pass.visit);
    std::set<line_id> once;
    for (const auto& want : x.wanted) {
      const auto* line = blocks_.find(want.line);
      TROUPE_ASSERT(line && once.insert(want.line).second);
      const auto& block = *blocks_.find(line->blocks.front());
      TROUPE_ASSERT(want.rank <= block.rank);
      TROUPE_ASSERT(block.family == (x.leg == 0 ? "gate" : "expert"));
      TROUPE_ASSERT(!own || !own->is_over);
      TROUPE_ASSERT(!own || ++own->served[want.line] <= grants::serves_max);
    }
    // The gate and two experts, and none of these before it.
    TROUPE_ASSERT(!own || own->served.size() <= 3);
    TROUPE_ASSERT(!own || own->served.empty()
                  || own->served.contains(blocks_.find("gate")->line));
  }

  shared_values some_delta(std::size_t size) {
    std::vector<float> x(size, 0.5f);
    if (!x.empty() && luck_.below(8) == 0)
      x.back() = static_cast<float>(luck_.real());
    return share(std::move(x));
  }

  messages::offer_made some_offer() {
    messages::offer_made x;
    x.pass.visit = some_visit();
    x.loss = luck_.coin() ? 0.5 : luck_.real();
    for (const auto& block : blocks_.blocks) {
      if (luck_.coin())
        continue;
      messages::offer_block part;
      part.block = block.id;
      part.base = {luck_.below(16) == 0 ? luck_.number() : 4};
      part.rank = luck_.below(4) == 0
                    ? static_cast<std::uint32_t>(luck_.below(4))
                    : block.rank;
      part.weight = luck_.below(4) == 0 ? luck_.real() : 10;
      const auto size =
        part.rank <= 2 && block.rank > 0 ? part.rank * 2UL : block.size;
      part.delta = luck_.below(16) == 0
                     ? nullptr
                     : some_delta(size + luck_.below(16) / 15);
      x.blocks.push_back(std::move(part));
    }
    if (luck_.below(16) == 0)
      x.blocks.emplace_back().block = {luck_.number()};
    if (luck_.below(16) == 0)
      std::ranges::reverse(x.blocks);
    for (auto n = luck_.below(4); n > 0; --n)
      x.disclosures.push_back({static_cast<std::uint32_t>(luck_.number()),
                               {luck_.real(), luck_.real()}});
    return x;
  }

  void offer() {
    const auto x = some_offer();
    const screening_rules rules{.blocks = &blocks_,
                                .disclosures = method_.disclosures,
                                .norm_max = luck_.below(4) == 0 ? 5.0 : 0};
    const auto found = testee_.offer(x);
    if (found && *found == grants::standing::first)
      if (auto* own = known(x.pass.visit)) {
        TROUPE_ASSERT(!own->was_offered && !own->is_over);
        own->was_offered = own->is_over = true;
      }
    if (screen(x, examples, rules))
      return;
    const auto parts = split(x, examples, rules);
    TROUPE_ASSERT(!parts.empty());
    std::set<line_id> once;
    for (const auto& part : parts) {
      TROUPE_ASSERT(once.insert(part.line).second);
      TROUPE_ASSERT(part.lines_total == parts.size());
      TROUPE_ASSERT(part.loss <= limits::loss_max
                    && part.loss >= -limits::loss_max);
      const auto* line = blocks_.find(part.line);
      TROUPE_ASSERT(line && part.blocks.size() == line->blocks.size());
      for (const auto& block : part.blocks) {
        TROUPE_ASSERT(block.weight > 0 && block.weight <= examples);
        TROUPE_ASSERT(block.share >= 0 && block.share <= 1);
        TROUPE_ASSERT(std::ranges::all_of(
          *block.delta, [](float y) { return y >= -100 && y <= 100; }));
      }
    }
  }

  fuzz::whim luck_;
  recipe method_;
  models::layout blocks_;
  grants testee_;
  instant now_{};
  std::map<client_id, std::uint64_t> newest_;
  std::set<client_id> is_known_; ///< Was invited in this life.
  std::map<visit_id, life> lives_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  gate{fuzz::whim{{data, size}}}.run();
  return 0;
}
