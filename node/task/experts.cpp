#include "node/task/experts.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.hpp"
#include "models/families.hpp"
#include "models/own_validation.hpp"

namespace troupe::node {

namespace {

constexpr double bytes_of_mib = 1 << 20;

using counts = std::vector<std::uint32_t>;

/// Of the size of what is learned: it, its gradient, and what the optimiser
/// keeps.
std::size_t buffers_of(const models::training_options& how) {
  return how.optimiser == models::optimiser_kind::adamw ? 4
         : how.momentum != 0                            ? 3
                                                        : 2;
}

result<counts> by_memory(const experiment& x, const models::inner_plans& inside,
                         std::uint32_t most) {
  counts found;
  for (const auto room : x.training.expert_memory) {
    const auto fit = models::experts_within(inside, room * bytes_of_mib,
                                            buffers_of(x.training), most);
    if (fit == 0)
      return fail(errc::invalid_config,
                  x.places.of("training.expert_memory")
                    + "'training.expert_memory' has " + std::to_string(room)
                    + " MiB, which hold no expert with its moments and its "
                      "gradient beside what attention has; more, or a smaller "
                      "'rank', would do");
    found.push_back(fit);
  }
  return found;
}

result<counts> said_of(const experiment& x, const recipe& method,
                       const models::inner_plans& inside) {
  const auto most = models::experts_max(method);
  if (most == 0)
    return counts{};
  if (!x.training.expert_memory.empty())
    return by_memory(x, inside, most);
  const auto& said = x.training.experts;
  const auto bad = std::ranges::find_if(
    said, [&](std::uint32_t n) { return n == 0 || n > most; });
  if (bad != said.end())
    return fail(
      errc::invalid_config,
      x.places.of("training.experts") + "'training.experts' has "
        + std::to_string(*bad) + ", and a client of method "
        + in_quotes(method.name) + " has 1 to " + std::to_string(most)
        + " experts; "
        + (*bad == 0 ? "1 or more" : std::to_string(most) + " or fewer")
        + " would do");
  return said;
}

/// Of clients that have ranks in the place of experts.
result<counts> for_ranks(const experiment& x, const recipe& method) {
  const auto all = with_defaults(method, x.training.method);
  const auto each = all.at("rank_per_expert"), most = all.at("rank");
  const auto& said = x.training.experts;
  if (each == 0 && !said.empty())
    return fail(errc::invalid_config,
                x.places.of("training.experts")
                  + "'training.experts' says ranks of method "
                  + in_quotes(method.name)
                  + " where 'options.rank_per_expert' is above 0, and it is 0; "
                    "1 or more there, or no 'experts', would do");
  const auto whole = [](double x) {
    return std::to_string(static_cast<std::uint64_t>(x));
  };
  for (const auto n : said)
    if (each * n > most)
      return fail(
        errc::invalid_config,
        x.places.of("training.experts") + "'training.experts' has "
          + std::to_string(n) + ", which is rank " + whole(each * n)
          + " by 'options.rank_per_expert', and 'options.rank' is "
          + whole(most) + "; 'rank' = " + whole(each * n)
          + (each <= most
               ? ", or at most " + whole(std::floor(most / each)) + " here,"
               : std::string{})
          + " would do");
  return said;
}

result<void> check_validation(const experiment& x, const recipe& method,
                              const counts& experts,
                              const models::partition& clients,
                              const std::vector<std::string>& users) {
  const auto is_routed = [&](std::size_t k) {
    return experts.empty() || experts[k % experts.size()] > 1;
  };
  for (std::size_t k = 0; k < clients.train.size(); ++k)
    if (!clients.train[k].empty() && is_routed(k)
        && (k >= clients.own_validation.size()
            || clients.own_validation[k].empty()))
      return fail(errc::invalid_config,
                  x.places.of("method") + "method " + in_quotes(method.name)
                    + " trains routers on validation rows, and "
                    + models::client_named(k, users)
                    + " has none; a larger 'validation_share', or "
                      "options.router_data = \"training\", would do");
  return {};
}

} // namespace

result<counts> experts_for(const experiment& x, const recipe& method,
                           const std::optional<models::inner_plans>& inside,
                           const models::partition& clients,
                           const std::vector<std::string>& users) {
  if (find_option(method, "rank_per_expert") != nullptr)
    return for_ranks(x, method);
  if (!inside || !models::is_routed(method))
    return counts{};
  auto found = said_of(x, method, *inside);
  if (!found || !models::needs_validation(method, x.training.method))
    return found;
  if (auto ok = check_validation(x, method, *found, clients, users); !ok)
    return tl::make_unexpected(ok.error());
  return found;
}

std::string about_routers(const experiment& x, const recipe& method,
                          const counts& experts) {
  const bool all_alone =
    !experts.empty()
    && std::ranges::all_of(experts, [](std::uint32_t n) { return n == 1; });
  // Clients who bring their texts say how many experts they have.
  if (!all_alone || !models::is_routed(method) || x.data.brought)
    return {};
  const bool by_memory = x.training.experts.empty();
  const bool shares = models::count_of(method, models::generalist_family) > 0;
  return std::string{"no client has a router: by '"}
         + (by_memory ? "training.expert_memory" : "training.experts")
         + "' each has one expert, "
         + (shares ? "the generalist that all have in common"
                   : "a specialist of its own")
         + ", and all tokens go there; two experts, "
         + (by_memory ? "by more MiB or a smaller 'rank'," : "or more,")
         + " would do";
}

} // namespace troupe::node
