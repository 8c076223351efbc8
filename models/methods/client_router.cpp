#include "models/methods/client_router.hpp"

#include <algorithm>

#include "models/families.hpp"
#include "models/visit/local_loop.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

client_router even_router(std::size_t count) {
  return {.logits = {},
          .shares =
            std::vector<double>(count, 1.0 / static_cast<double>(count))};
}

client_router tied_router(client_id client, std::size_t count) {
  if (client.value == 0)
    return even_router(count);
  client_router x{.logits = {}, .shares = std::vector<double>(count)};
  x.shares[(client.value - 1) % count] = 1;
  return x;
}

result<client_router> kept_router(const client_state* state,
                                  std::size_t count) {
  const std::vector<float> even(count);
  return kept_or(state, mixture_family, even)
    .map([](std::span<const float> kept) {
      client_router x{.logits = {kept.begin(), kept.end()}, .shares = {}};
      x.shares = softmax(x.logits);
      return x;
    });
}

} // namespace

std::vector<double> client_router::noisy_shares(random_stream& noise,
                                                double most) const {
  if (most == 0 || logits.empty())
    return shares;
  auto moved = logits;
  for (auto& x : moved)
    x += most * noise.uniform();
  return softmax(moved);
}

void client_router::descend(std::span<const double> at,
                            std::span<const double> slopes, double rate) {
  if (logits.empty())
    return;
  const auto along = logit_slopes(at, slopes);
  for (std::size_t c = 0; c < logits.size(); ++c)
    logits[c] -= rate * along[c];
  shares = softmax(logits);
}

result<client_router> router_of(const visit& v, mixing how, std::size_t count) {
  return how == mixing::tied ? tied_router(v.in.visit.client, count)
                             : kept_router(v.in.state.get(), count);
}

result<void> keep_router(const client_router& x, visit& v) {
  v.out.disclosures["pi"] = x.shares;
  return x.logits.empty() ? result<void>{} : keep_logits(x, v);
}

result<void> keep_logits(const client_router& x, visit& v) {
  const std::vector<float> logits(x.logits.begin(), x.logits.end());
  return v.keep(mixture_family, logits);
}

shares_by_client kept_shares(const evaluation_input& x, std::size_t count) {
  shares_by_client shares;
  for (const auto& [client, state] : x.states)
    if (auto by = kept_router(state.get(), count))
      shares[client] = std::move(by->shares);
  return shares;
}

void summarise_routers(const shares_by_client& shares, const local_problem& on,
                       evaluated& to) {
  for (const auto& [name, value] : router_figures(shares, on.groups))
    to.method_results[name] = value;
}

void summarise_ensembles(const evaluation_input& x, const local_problem& on,
                         evaluated& to) {
  summarise_routers(kept_shares(x, on.blocks.family(model_family).size()), on,
                    to);
}

std::uint64_t as_many_as_models(const training_options& how) {
  return static_cast<std::uint64_t>(option_of(how, "components"));
}

double rate_or(const visit& v, std::string_view name) {
  const auto said = v.option(name);
  return said > 0 ? said * v.on.rate / v.on.how.learning_rate : v.on.rate;
}

} // namespace troupe::models
