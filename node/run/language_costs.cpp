#include "node/run/language_costs.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/bf16.hpp"
#include "models/inner_setup.hpp"
#include "models/language/costs.hpp"

namespace troupe::node {

namespace {

using models::published_value_bytes;

/// What is sent, beside what averaging all experts would send.
json beside(std::uint64_t sent, std::uint64_t averaged) {
  return {
    {"bytes", sent * published_value_bytes},
    {"averaged", averaged * published_value_bytes},
    {"saved", 1 - static_cast<double>(sent) / static_cast<double>(averaged)}};
}

json to_json(const models::routed_costs& x, std::uint64_t tokens) {
  return {
    {"experts", x.experts},
    {"values",
     {{"expert", x.expert}, {"attention", x.attention}, {"router", x.router}}},
    {"router",
     {{"bytes", x.router * published_value_bytes},
      {"operations", x.router_operations(tokens)},
      {"share", x.router_share()}}},
    {"sent", beside(x.sent, x.averaged)},
    {"sent_with_attention", beside(x.all_sent(), x.all_averaged())}};
}

json to_json(const models::adapter_costs& x) {
  return {{"sent", x.common},
          {"kept", x.own},
          {"head", x.head},
          {"total", x.total()}};
}

json measured_of(const run_summary& x) {
  const auto visits = static_cast<double>(std::max(x.visits, std::uint64_t{1}));
  return {{"bytes_up_per_visit", static_cast<double>(x.bytes_up) / visits},
          {"bytes_down_per_visit", static_cast<double>(x.bytes_down) / visits},
          {"peak_memory_bytes", x.peak_memory_bytes}};
}

/// What went by beside values, where each visit takes and offers all that
/// travels: envelopes, tickets, hellos and beats. Nothing where some did not.
void add_frames(const workload& of, json& to) {
  std::uint64_t values = 0;
  for (const auto& block : of.blocks->blocks)
    values += block.size * bytes_each(block.sent);
  for (const std::string way : {"up", "down"}) {
    const auto all = to.find("bytes_" + way + "_per_visit")->number();
    const auto frames = *all - static_cast<double>(values);
    if (frames >= 0)
      to.add("frame_bytes_" + way + "_per_visit", frames);
  }
}

/// How many experts clients have, each number once.
std::set<std::uint32_t> numbers_of_experts(const models::local_task& task) {
  if (task.experts.empty())
    return {models::experts_otherwise};
  return {task.experts.begin(), task.experts.end()};
}

} // namespace

std::optional<json> language_costs_in(const workload& of,
                                      const run_summary& measured) {
  const auto& plans = of.task->inside;
  if (!of.language || !plans)
    return std::nullopt;
  json all{{"bytes_per_value", published_value_bytes}};
  auto by_visit = measured_of(measured);
  if (plans->feed_forward) {
    if (plans->routing.even)
      return std::nullopt;
    auto clients = json::array();
    for (const auto experts : numbers_of_experts(*of.task))
      clients.push_back(to_json(
        models::routed_costs_of(*of.language, *plans, of.method, experts),
        of.window));
    all.add("tokens", of.window);
    all.add("clients", std::move(clients));
    add_frames(of, by_visit);
  } else {
    all.add("adapters", to_json(models::adapter_costs_of(*plans)));
  }
  all.add("measured", std::move(by_visit));
  return all;
}

} // namespace troupe::node
