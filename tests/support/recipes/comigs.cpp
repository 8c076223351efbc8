#include "tests/support/recipes/skeleton.hpp"

namespace troupe::test {

namespace {

constexpr std::uint64_t router_every = 2;

std::string specialist(std::uint32_t i) {
  return "specialist." + std::to_string(i);
}

} // namespace

std::uint32_t specialists_of(client_id x) {
  return 1 + static_cast<std::uint32_t>(x.value % 3);
}

/// The generalist is shared; specialists, as many as the client has room for,
/// and the router over all of them stay at home. The router learns at every
/// second visit only, on validation rows and after the experts.
sim_method comigs_skeleton() {
  recipe what{
    .name = "comigs",
    .summary = "a generalist for all, specialists and a router at home",
    .blocks = {{.name = "pretrained", .where = scope::frozen},
               {.name = "generalist", .weight = weight_rule::one},
               {.name = "specialist", .where = scope::personal, .count = 3},
               {.name = "router", .where = scope::personal}},
    .legs = {{.fetch = {{"generalist"}}}},
    .roles = {{.procedure = {"alternating"}}},
    .options = {{.name = "router_every",
                 .says = "when the router learns",
                 .value = router_every,
                 .unit = "visits"}}};
  const auto keep = [](const models::visit_input& x, models::trained& out) {
    const auto count = specialists_of(x.visit.client);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto own = own_values(*x.state, specialist(i), 3);
      for (auto& v : own)
        v += 0.5f * (static_cast<float>(x.visit.client.value + i) - v);
      out.next.blocks[specialist(i)] = marked(std::move(own));
    }
    auto router = own_values(*x.state, "router", count + 1);
    if (out.next.visits % router_every == 0) {
      router.front() += 1;
      ++out.next.counters["routed"];
    }
    out.next.blocks["router"] = marked(std::move(router));
  };
  return {.what = std::move(what),
          .shapes = {{"generalist", vector_of(4)}},
          .make_trainer =
            played({.choose = {}, .share_of = {}, .step = {}, .keep = keep})};
}

} // namespace troupe::test
