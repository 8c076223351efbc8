#include "models/methods/local_loop.hpp"

#include <algorithm>
#include <string>

#include "core/assert.hpp"
#include "models/aligned.hpp"

namespace troupe::models {

namespace {

std::size_t batch_of(std::size_t examples, std::uint32_t batch_size) {
  return batch_size == 0 ? examples
                         : std::min<std::size_t>(examples, batch_size);
}

/// The moments of one visit's optimiser. They begin at zero with each visit.
class optimiser {
public:
  optimiser(local_problem& on, const step_terms& terms)
    : on_(on),
      terms_(terms) {
    const auto size = on.model.parameters().size();
    const bool adamw = on.how.optimiser == optimiser_kind::adamw;
    if (adamw || on.how.momentum != 0)
      first_.resize(size);
    if (adamw)
      second_.resize(size);
  }

  result<void> step() {
    ++count_;
    const kernels::step_buffers buffers{.weights = on_.model.parameters(),
                                        .gradient = on_.model.gradient(),
                                        .first_moment = first_,
                                        .second_moment = second_,
                                        .anchor = terms_.anchor,
                                        .correction = terms_.correction};
    const auto& how = on_.how;
    if (how.optimiser == optimiser_kind::adamw)
      return on_.arithmetic.step(
        kernels::adamw_step{.rate = static_cast<float>(on_.rate),
                            .decay = static_cast<float>(how.weight_decay),
                            .count = count_},
        buffers);
    return on_.arithmetic.step(
      kernels::sgd_step{.rate = static_cast<float>(on_.rate),
                        .momentum = static_cast<float>(how.momentum),
                        .decay = static_cast<float>(how.weight_decay),
                        .proximal = static_cast<float>(terms_.proximal),
                        .first = count_ == 1},
      buffers);
  }

private:
  local_problem& on_;
  const step_terms& terms_;
  aligned_floats first_;
  aligned_floats second_;
  std::uint64_t count_ = 0;
};

} // namespace

double option_or(const training_options& how, std::string_view name,
                 double otherwise) {
  const auto found = how.method.find(std::string{name});
  return found == how.method.end() ? otherwise : found->second;
}

result<void> check_plain_sgd(const recipe& method,
                             const training_options& how) {
  if (how.optimiser != optimiser_kind::sgd || how.momentum != 0
      || how.weight_decay != 0)
    return fail(errc::invalid_config,
                "method '" + method.name
                  + "' learns by plain SGD: optimiser = \"sgd\", momentum = 0 "
                    "and weight_decay = 0 would do");
  return {};
}

result<void> check_plain_sgd(const local_problem& on) {
  return check_plain_sgd(on.method, on.how);
}

result<void> check_sgd(const recipe&, const training_options& how) {
  if (how.optimiser != optimiser_kind::sgd)
    return fail(errc::invalid_config,
                "optimiser \"adamw\": control variates are means of gradients, "
                "which only \"sgd\" leaves behind");
  return {};
}

result<void> check_terms(const training_options& how) {
  if (how.optimiser != optimiser_kind::sgd)
    return fail(errc::invalid_config,
                "optimiser \"adamw\" has no proximal term and no correction of "
                "its gradient; this method needs \"sgd\"");
  return {};
}

visit_plan plan_visit(const training_options& how, std::size_t examples,
                      std::uint64_t seed) {
  if (examples == 0)
    return {};
  const auto batch = batch_of(examples, how.batch_size);
  const std::uint64_t per_epoch = (examples + batch - 1) / batch;
  const bool by_epoch = how.local_steps == 0;
  visit_plan plan{.steps =
                    by_epoch ? how.local_epochs * per_epoch : how.local_steps};
  random_stream random{derive_seed(seed, "straggler")};
  plan.straggler = random.chance(how.stragglers);
  if (!plan.straggler)
    return plan;
  plan.dropped = how.drop_stragglers;
  if (by_epoch && how.local_epochs > 1)
    plan.steps = (1 + random.below(how.local_epochs - 1)) * per_epoch;
  else if (plan.steps > 1)
    plan.steps = 1 + random.below(plan.steps - 1);
  return plan;
}

visit_plan plan_visit(const training_options& how, std::size_t examples,
                      const visit_input& x) {
  auto plan = plan_visit(how, examples, x.seed);
  const bool first = x.state == nullptr || x.state->visits == 0;
  if (first && option_or(how, "printed_schedule", 0) > 0)
    plan.steps = std::min<std::uint64_t>(plan.steps, 1);
  return plan;
}

batch_sequence::batch_sequence(std::span<const std::uint32_t> rows,
                               const training_options& how, std::uint64_t seed)
  : rows_(rows.begin(), rows.end()),
    batch_(batch_of(rows.size(), how.batch_size)),
    used_(rows.size()),
    shuffles_(how.shuffle && batch_ < rows.size()),
    random_(derive_seed(seed, "batches")) {
  TROUPE_ASSERT(!rows_.empty());
}

std::span<const std::uint32_t> batch_sequence::next() {
  if (used_ == rows_.size()) {
    used_ = 0;
    if (shuffles_)
      random_.shuffle(rows_);
  }
  const auto size = std::min(batch_, rows_.size() - used_);
  used_ += size;
  return {rows_.data() + used_ - size, size};
}

result<double> run_steps(local_problem& on, std::uint64_t steps,
                         std::uint64_t seed, const step_terms& terms) {
  const bool has_terms = terms.proximal != 0 || !terms.correction.empty();
  if (has_terms)
    if (auto ok = check_terms(on.how); !ok)
      return tl::make_unexpected(ok.error());
  // The next visit finds the gradient that a step leaves: zeros.
  const auto give_up = [&](const error& why) {
    std::ranges::fill(on.model.gradient(), 0.f);
    return tl::unexpected{why};
  };
  batch_sequence batches{on.rows, on.how, seed};
  optimiser by{on, terms};
  double total = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const auto loss =
      on.model.backward(batches.next(), derive_seed(seed, "operators", i));
    if (!loss)
      return give_up(loss.error());
    total += *loss;
    const auto still = on.model.gradient().subspan(
      terms.still_from, terms.still_to - terms.still_from);
    std::ranges::fill(still, 0.f);
    if (const auto done = by.step(); !done)
      return give_up(done.error());
  }
  return steps == 0 ? 0 : total / static_cast<double>(steps);
}

} // namespace troupe::models
