// FedAvg; FedProx (Li et al. 2020), which adds `proximal` / 2 |w - fetched w|^2
// to the loss and at 0 has the bits of FedAvg; and a client that trains alone,
// begun from the fetched model, and offers nothing.

#include "models/methods/plain.hpp"

#include "models/methods/built_in.hpp"

namespace troupe::models {

namespace {

step_terms pulled(double pull, const base_block& towards) {
  return pull != 0 ? step_terms{.proximal = pull, .anchor = towards.values}
                   : step_terms{};
}

} // namespace

task<done> train_shared_model(visit& v, std::string_view block, double pull) {
  const auto base = co_await v.take(block);
  v.out.loss = co_await v.descend(v.plan.steps, v.in.seed, pulled(pull, base));
  co_await v.offer_model(base);
  co_return {};
}

task<double> train_own_model(visit& v, double pull) {
  const auto base = co_await v.base(model_family, v.parameters().size());
  v.load(co_await v.own_or(own_model_family, base.values));
  co_await v.load_buffers(own_buffers_family);
  const auto loss =
    co_await v.descend(v.plan.steps, v.in.seed, pulled(pull, base));
  co_await v.keep(own_model_family, v.parameters());
  co_await v.keep_buffers(own_buffers_family);
  co_return loss;
}

namespace {

task<done> train_plain(visit& v) {
  return train_shared_model(v);
}

task<done> train_pulled(visit& v) {
  return train_shared_model(v, model_family, v.option("proximal"));
}

task<done> train_alone(visit& v) {
  v.out.loss = co_await train_own_model(v);
  co_return {};
}

constexpr char proximal[] = "proximal";

} // namespace

const local_method sgd{.train = train_plain};
const local_method proximal_sgd{.train = train_pulled,
                                .needs = check_pulled<proximal>};
const local_method own_sgd{.train = train_alone};

} // namespace troupe::models
