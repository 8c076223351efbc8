#include "tests/support/sim/sim_work.hpp"

#include <cmath>

#include "tests/support/recipes/two_leg.hpp"
#include "tests/support/sim/sim_node.hpp"

namespace troupe::test {

float optimum_of(block_id block) {
  return static_cast<float>(block.value);
}

std::vector<float> pull(const models::visit_input& x,
                        const models::fetched_block& from) {
  std::vector<float> delta;
  for (std::size_t j = 0; j < from.values->size(); ++j) {
    const auto gap = optimum_of(from.block) - (*from.values)[j];
    const auto phase = static_cast<double>(x.seed % 1000 + 7 * j);
    delta.push_back(0.5f * gap + 0.01f * static_cast<float>(std::sin(phase)));
  }
  return delta;
}

sim_method two_leg_method(const scenario& x) {
  const models::tensor_list four{{.name = "w", .shape = {4}}};
  sim_method how{.what = two_leg_recipe(x.state, x.asks),
                 .shapes = {{"base", four}, {"tally", four}, {"expert", four}},
                 .make_trainer = {}};
  if (x.finishes)
    how.what.finish = {"pull"};
  how.make_trainer = [method = how.what](const models::layout& blocks) {
    return std::make_unique<pull_trainer>(blocks, method);
  };
  return how;
}

result<models::choice> pull_trainer::choose(const models::visit_input& x) {
  const auto experts = blocks_.family("expert");
  random_stream draw{derive_seed(x.seed, "pick")};
  std::set<block_id> chosen;
  // An anchor has its own expert; others pick one or two.
  if (x.role == 0) {
    chosen.insert(experts[(x.visit.client.value - 1) % experts.size()]);
  } else {
    chosen.insert(experts[draw.below(experts.size())]);
    chosen.insert(experts[draw.below(experts.size())]);
  }
  models::choice result{.chosen = {chosen.begin(), chosen.end()},
                        .disclosures = {}};
  for (const auto& block : result.chosen)
    result.disclosures["picked"].push_back(blocks_.find(block)->instance);
  return result;
}

result<models::trained> pull_trainer::train_one(const models::visit_input& x) {
  models::trained out{
    .parts = {}, .disclosures = {}, .next = *x.state, .loss = 0, .steps = 1};
  ++out.next.visits;
  if (is_last_visit(method_, x.role)) {
    ++out.next.counters[last_visits];
    return out;
  }
  for (const auto& from : x.fetched) {
    const auto& block = *blocks_.find(from.block);
    for (const float v : *from.values)
      out.loss += std::pow(static_cast<double>(optimum_of(from.block) - v), 2);
    const bool counts_examples = block.weight == weight_rule::examples;
    out.parts.push_back(
      {.block = from.block,
       .rank = 0,
       .weight =
         counts_examples ? static_cast<double>(examples(x.visit.client)) : 1.0,
       .delta = share(pull(x, from))});
  }
  return out;
}

result<models::evaluated>
pull_trainer::evaluate(const models::evaluation_input& x) {
  models::evaluated out;
  for (const auto& from : x.versions) {
    for (const float v : *from.values)
      out.global.loss += std::abs(optimum_of(from.block) - v);
    out.global.count += from.values->size();
  }
  return out;
}

void sim_workshop::submit(key when, work what, deliver to) {
  auto done = what(*trainer_);
  auto& draw = luck_.devices;
  if (luck_.happens(draw, luck_.active.job_failure, "job failed"))
    done.outcome = error{errc::device_failure, "a fault of the simulation"};
  auto delay = std::chrono::milliseconds{10 + draw.below(200)};
  if (luck_.happens(draw, luck_.active.job_slowness, "job slow"))
    delay *= 40;
  const auto wait = std::max<instant>(delay, when.due - world_.now());
  world_.later(wait,
               [to = std::move(to), done = std::move(done)] { to(done); });
}

} // namespace troupe::test
