// What a configuration asks for that comes to nothing by its numbers.

#include <algorithm>
#include <cstdint>
#include <string>

#include "models/inner_setup.hpp"
#include "node/config/reader.hpp"

namespace troupe::node {

namespace {

/// That a client makes in the whole run, at most. 0: nobody knows, since only
/// rounds of `sync` have a client once, and epochs are as long as its rows.
std::uint64_t own_steps_max(const experiment& x) {
  return x.pace.mode == pace_kind::sync
           ? x.length.rounds * x.training.local_steps
           : 0;
}

/// Why the routers of a recipe with bursts learn nothing; empty: they may.
std::string why_no_router_learns(const experiment& x) {
  const auto& said = x.training.method;
  if (said.at("router_steps") == 0)
    return "no router learns: 'options.router_steps' is 0, and a burst has no "
           "step; 1 or more would do";
  if (said.at("router_rate") == 0)
    return "no router learns: 'options.router_rate' is 0; one above 0 would do";
  const auto every = static_cast<std::uint64_t>(said.at("router_every"));
  const auto most = own_steps_max(x);
  if (most == 0 || most >= every)
    return {};
  return "no router learns: its burst comes after " + std::to_string(every)
         + " steps of a client's own ("
         + "'options.router_every'), and none comes to more than "
         + std::to_string(most) + "; router_every = " + std::to_string(most)
         + ", or more 'rounds' or 'local_steps', would do";
}

void remark_on_bursts(loaded_config& loaded, const recipe& method) {
  const auto& experts = loaded.x.training.experts;
  const bool has_routers =
    experts.empty() || *std::ranges::max_element(experts) > 1;
  if (!models::is_routed(method) || !has_routers
      || find_option(method, "router_every") == nullptr)
    return;
  if (auto why = why_no_router_learns(loaded.x); !why.empty())
    loaded.notes.push_back(std::move(why));
}

/// Of two levels the inner one is a client's own.
void remark_on_levels(loaded_config& loaded, const recipe& method) {
  const bool has_levels = std::ranges::any_of(
    method.roles, [](const role& x) { return x.procedure.value == "two_level_sgd"; });
  if (has_levels && loaded.x.training.method.at("inner_rate") == 0)
    loaded.notes.push_back("no adapter of a client's own learns: "
                           "'options.inner_rate' is 0; one above 0 would do");
}

/// Where all clients are anchors, each trains its own expert and nobody asks
/// for those of others.
void remark_on_anchors(loaded_config& loaded, const recipe& method) {
  if (find_option(method, "anchors") == nullptr
      || find_option(method, "experts") == nullptr)
    return;
  const auto& said = loaded.x.training.method;
  const auto anchors = static_cast<std::uint64_t>(said.at("anchors"));
  const auto experts = static_cast<std::uint64_t>(said.at("experts"));
  const std::uint64_t clients = loaded.x.clients.invitable();
  if (clients == 0 || clients > anchors || clients >= experts)
    return;
  const std::string anchored =
    clients > 1 ? "options.anchors = " + std::to_string(clients - 1) + ", or "
                : "";
  loaded.notes.push_back(
    std::to_string(experts - clients) + " of " + std::to_string(experts)
    + " experts keep the values of the seed: all of the "
    + std::to_string(clients) + " clients that can be invited are among the "
    + std::to_string(anchors)
    + " anchors ('options.anchors'), each of which trains its own, and no "
      "other client asks for the rest; "
    + anchored + "more than " + std::to_string(anchors)
    + " clients, would do");
}

/// The grid of merges has no finer bound.
void remark_on_bounds(loaded_config& loaded, const entries& said) {
  const auto at = said.find("merge.delta_max");
  if (at != said.end() && loaded.x.merge.delta_max < 1)
    loaded.notes.push_back(at->second.where + ": '" + at->second.typed
                           + "' counts as 1: bounds of a delta are powers of "
                             "two from 1 on; 'merge.clip_norm' bounds "
                             "smaller ones");
}

/// Texts alone may have no part for it: of other data some is set aside always.
void remark_on_tests(loaded_config& loaded) {
  const auto& data = loaded.x.data;
  if (data.is_language() && data.test_share == 0 && data.part.empty())
    loaded.notes.push_back(
      "nothing is tested: 'data.test_share' is 0, and no client has rows to "
      "test with, so the run ends without a loss of them; a share above 0 "
      "would do");
}

} // namespace

void remark_on_idle(loaded_config& loaded, const entries& said,
                    const recipe& method) {
  remark_on_bursts(loaded, method);
  remark_on_levels(loaded, method);
  remark_on_anchors(loaded, method);
  remark_on_bounds(loaded, said);
  remark_on_tests(loaded);
}

} // namespace troupe::node
