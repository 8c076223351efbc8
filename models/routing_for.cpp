#include "models/routing_for.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "models/families.hpp"

namespace troupe::models {

namespace {

double said_of(const options& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

/// What is of the other gate's balance alone.
result<void> check_noisy(const recipe& method, const options& all) {
  for (const std::string name :
       {"balance_scale", "favoured", "balance_of", "balance_chances"}) {
    const auto* known = find_option(method, name);
    if (known != nullptr && said_of(all, name) != known->value)
      return fail(errc::invalid_config,
                  "options.gate = \"noisy\" balances by variation, where "
                    + in_quotes(name)
                    + " says nothing; options.gate = \"linear\", or no "
                    + in_quotes(name) + ", would do");
  }
  // Nor does it have what the other's weights may be.
  for (const std::string name : {"top_weights", "router_bias"})
    if (said_of(all, name) != 0)
      return fail(errc::invalid_config,
                  "options.gate = \"noisy\" lets chosen experts count one "
                  "together, by maps without biases, which "
                    + in_quotes(name)
                    + " changes; options.gate = \"linear\", or no "
                    + in_quotes(name) + ", would do");
  return {};
}

} // namespace

result<routing_options> routing_for(const recipe& method, const options& all) {
  routing_options how{.balance = said_of(all, "balance"),
                      .printed_scale = said_of(all, "balance_scale") != 0,
                      .even = std::ranges::none_of(method.blocks,
                                                   [](const block_spec& x) {
                                                     return x.name
                                                            == router_family;
                                                   }),
                      .favoured = said_of(all, "favoured")};
  how.of_all = said_of(all, "top_weights") != 0;
  how.deviation = said_of(all, "router_deviation");
  how.bias = said_of(all, "router_bias") != 0;
  how.balance_on_output = said_of(all, "balance_of") != 0;
  how.balance_of_kept = said_of(all, "balance_chances") != 0;
  if (said_of(all, "gate") == 0)
    return how;
  how.gate = gate_kind::noisy;
  if (auto ok = check_noisy(method, all); !ok)
    return tl::unexpected{std::move(ok.error())};
  return how;
}

} // namespace troupe::models
