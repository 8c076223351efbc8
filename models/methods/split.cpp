// FedRep and FedPer: the body of the model is shared, its last layer stays with
// the client. With `head_passes` above 0 the head learns first, so many times
// the planned steps, before a body that stands still, and then the body alone;
// at 0 both learn together.

#include <algorithm>

#include "core/assert.hpp"
#include "models/families.hpp"
#include "models/methods/built_in.hpp"
#include "models/methods/local_loop.hpp"
#include "models/methods/split_model.hpp"
#include "models/methods/visit_blocks.hpp"

namespace troupe::models {

namespace {

std::size_t body_size(const objective& model) {
  const auto& all = model.parameter_list();
  return size_of({all.begin(), head_of(all)});
}

/// Makes the client's whole model live.
result<void> join(std::span<const float> body, const client_state* state,
                  std::uint64_t seed, objective& model) {
  const auto live = model.parameters();
  const auto fresh = model.initial_parameters(seed);
  const auto head =
    own_or(state, head_family, std::span{fresh}.subspan(body.size()));
  if (!head)
    return tl::unexpected{head.error()};
  const auto rest = std::ranges::copy(body, live.begin()).out;
  std::ranges::copy(*head, rest);
  return {};
}

/// Head and body learn, in the order of the method. Returns the mean loss of
/// the body's steps.
result<double> learn(local_problem& on, std::size_t body, std::uint64_t steps,
                     std::uint64_t seed) {
  const auto size = on.model.parameters().size();
  const auto head_steps =
    static_cast<std::uint64_t>(option_or(on.how, "head_passes", 0)) * steps;
  if (head_steps == 0)
    return run_steps(on, steps, seed);
  const auto first = run_steps(on, head_steps, derive_seed(seed, "head"),
                               {.still_from = 0, .still_to = body});
  return first.and_then([&](double) {
    return run_steps(on, steps, seed, {.still_from = body, .still_to = size});
  });
}

} // namespace

result<trained> split_sgd(const visit_input& x, local_problem& on) {
  if (auto ok = check_plain_sgd(on); !ok)
    return tl::unexpected{ok.error()};
  auto out = begin_result(x);
  const auto plan = plan_visit(on.how, on.rows.size(), x.seed);
  out.steps = plan.steps;
  if (plan.idle())
    return out;
  const auto size = body_size(on.model);
  const auto base = base_of(x, on, body_family, size);
  if (!base)
    return tl::unexpected{base.error()};
  const auto begun =
    join(base->values, x.state.get(), derive_seed(x.seed, "head"), on.model)
      .and_then([&] { return load_buffers(x, on, buffers_family); });
  if (!begun)
    return tl::unexpected{begun.error()};
  const auto loss = learn(on, size, plan.steps, x.seed);
  if (!loss)
    return tl::unexpected{loss.error()};
  out.loss = *loss;
  const auto live = on.model.parameters();
  const auto done = offer_difference(*base, live.first(size), on, out)
                      .and_then([&] { return offer_buffers(x, on, out); })
                      .and_then([&] {
                        return keep(head_family, live.subspan(size), out.next);
                      });
  if (!done)
    return tl::unexpected{done.error()};
  return out;
}

result<void> split_home(const home& x, local_problem& on) {
  const auto id = on.blocks.family(body_family).front();
  const auto found = std::ranges::find(x.versions, id, &fetched_block::block);
  TROUPE_ASSERT(found != x.versions.end());
  return join(*found->values, x.state, 0, on.model);
}

std::uint64_t split_passes(const training_options& how) {
  return 1 + static_cast<std::uint64_t>(option_or(how, "head_passes", 0));
}

} // namespace troupe::models
