// FedRep (Collins et al. 2021) and FedPer: the body of the model is shared, its
// last layer stays with the client. With `head_passes` above 0 the head learns
// first, so many times the planned steps, before a body that stands still, and
// then the body alone; at 0 both learn together.

#include "models/methods/built_in.hpp"
#include "models/methods/split_model.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

std::size_t body_size(const objective& model) {
  const auto& all = model.parameter_list();
  return size_of({all.begin(), head_of(all)});
}

/// Makes the client's whole model live: what was fetched, and its own head.
task<base_block> join(visit& v, std::uint64_t seed) {
  const auto base = co_await v.base(body_family, body_size(v.on.model));
  const auto body = base.values.size();
  const auto live = v.parameters(), head = live.part(body, live.size() - body);
  const auto fresh = v.on.model.initial_parameters(seed);
  const auto own =
    co_await v.own_or(head_family, const_array{fresh}.part(body, head.size()));
  co_await v.copy(base.values, live.part(0, body));
  co_await v.copy(own, head);
  co_return base;
}

task<done> train_split(visit& v) {
  const auto base = co_await join(v, derive_seed(v.in.seed, "head"));
  co_await v.load_buffers(buffers_family);
  const auto body = base.values.size();
  const auto live = v.parameters();
  const auto steps = v.plan.steps;
  const auto head_passes = static_cast<std::uint64_t>(v.option("head_passes"));
  step_terms terms;
  if (head_passes > 0) {
    co_await v.descend(head_passes * steps, derive_seed(v.in.seed, "head"),
                       {.still_from = 0, .still_to = body});
    terms = {.still_from = body, .still_to = live.size()};
  }
  v.out.loss = co_await v.descend(steps, v.in.seed, terms);
  co_await v.offer(base, live.part(0, body));
  co_await v.offer_buffers();
  co_await v.keep(head_family, live.part(body, live.size() - body));
  co_return {};
}

task<done> split_home(visit& v) {
  co_await join(v, 0);
  co_return {};
}

std::uint64_t split_passes(const training_options& how) {
  return 1 + static_cast<std::uint64_t>(option_of(how, "head_passes"));
}

} // namespace

const local_method split_sgd{.train = train_split,
                             .home = split_home,
                             .passes = split_passes,
                             .needs = check_plain_sgd};

} // namespace troupe::models
