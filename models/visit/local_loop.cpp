#include "models/visit/local_loop.hpp"

#include <algorithm>
#include <string>

#include "core/assert.hpp"
#include "models/aligned.hpp"
#include "models/families.hpp"

namespace troupe::models {

namespace {

std::size_t batch_of(std::size_t examples, std::uint32_t batch_size) {
  return batch_size == 0 ? examples
                         : std::min<std::size_t>(examples, batch_size);
}

/// @param of_visit what rules otherwise
double rate_after(const training_options& how, double of_visit,
                  std::uint64_t steps) {
  if (how.own_steps == 0)
    return of_visit;
  if (steps < how.warmup_steps)
    return how.learning_rate * static_cast<double>(steps + 1)
           / static_cast<double>(how.warmup_steps);
  return how.learning_rate
         * policies::rate_factor(
           how.schedule,
           static_cast<double>(steps - how.warmup_steps)
             / static_cast<double>(how.own_steps - how.warmup_steps));
}

/// What the client kept of a moment, or zeros.
aligned_floats moment_of(const client_state* state, const std::string& name,
                         std::size_t size) {
  if (state != nullptr)
    if (const auto found = state->moments.find(name);
        found != state->moments.end()
        && found->second.own_view().size() == size) {
      const auto kept = found->second.own_view();
      return {kept.begin(), kept.end()};
    }
  return aligned_floats(size);
}

} // namespace

double option_of(const training_options& how, std::string_view name) {
  const auto found = how.method.find(std::string{name});
  return found == how.method.end() ? 0 : found->second;
}

result<void> check_plain_sgd(const recipe& method,
                             const training_options& how) {
  if (how.optimiser != optimiser_kind::sgd || how.momentum != 0
      || how.weight_decay != 0)
    return fail(errc::invalid_config,
                "method '" + method.name
                  + "' learns by plain SGD: training.optimiser = \"sgd\", "
                    "training.momentum = 0 and training.weight_decay = 0 would "
                    "do");
  return {};
}

result<void> check_sgd(const recipe&, const training_options& how) {
  if (how.optimiser != optimiser_kind::sgd)
    return fail(errc::invalid_config,
                "control variates are means of gradients, which \"adamw\" does "
                "not leave behind; training.optimiser = \"sgd\" would do");
  return {};
}

result<void> check_terms(const training_options& how) {
  if (how.optimiser != optimiser_kind::sgd)
    return fail(errc::invalid_config,
                "\"adamw\" has no proximal term and no correction of its "
                "gradient; training.optimiser = \"sgd\" would do");
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
  if (first && option_of(how, "printed_schedule") > 0)
    plan.steps = std::min<std::uint64_t>(plan.steps, 1);
  return plan;
}

double rate_at(const local_problem& on, std::uint64_t ahead) {
  return rate_after(on.how, on.rate, on.steps_before + ahead);
}

batch_sequence::batch_sequence(std::span<const std::uint32_t> rows,
                               const training_options& how, std::uint64_t seed)
  : rows_(rows.begin(), rows.end()),
    rule_(how.batches),
    batch_(batch_of(rows.size(), how.batch_size)),
    used_(rows.size()),
    shuffles_(how.shuffle && batch_ < rows.size()),
    random_(derive_seed(seed, "batches")),
    seed_(seed) {
  TROUPE_ASSERT(!rows_.empty());
  if (rule_ == batch_rule::epochs)
    return;
  if (how.batch_size > 0)
    batch_ = how.batch_size;
  first_ = *std::ranges::min_element(rows_);
  last_ = *std::ranges::max_element(rows_);
}

std::span<const std::uint32_t> batch_sequence::drawn_rows() {
  const std::uint64_t places = std::uint64_t{last_} - first_ + 1;
  batch_rows_.resize(batch_);
  for (auto& x : batch_rows_)
    x = rule_ == batch_rule::drawn
          ? rows_[random_.below(rows_.size())]
          : first_ + static_cast<std::uint32_t>(random_.below(places));
  return batch_rows_;
}

std::span<const std::uint32_t> batch_sequence::next() {
  if (rule_ != batch_rule::epochs)
    return drawn_rows();
  if (used_ == rows_.size()) {
    used_ = 0;
    if (shuffles_)
      random_.shuffle(rows_);
  }
  const auto size = std::min(batch_, rows_.size() - used_);
  used_ += size;
  return {rows_.data() + used_ - size, size};
}

std::uint64_t batch_sequence::draw() {
  return derive_seed(seed_, "operators", drawn_++);
}

optimiser::optimiser(const local_problem& on, std::size_t size)
  : optimiser(on, size, nullptr, {}) {
  // nop
}

optimiser::optimiser(const local_problem& on, std::size_t size,
                     const client_state* state, const std::string& name)
  : how_(on.how),
    rate_(on.rate),
    before_(on.steps_before),
    name_(name) {
  const bool adamw = how_.optimiser == optimiser_kind::adamw;
  if (adamw || how_.momentum != 0)
    first_ = moment_of(state, name_ + ".first", size);
  if (adamw)
    second_ = moment_of(state, name_ + ".second", size);
  if (state != nullptr)
    if (const auto found = state->counters.find(steps_counter_of(name_));
        found != state->counters.end())
      count_ = found->second;
}

optimiser::call optimiser::next(array weights, array gradient,
                                const step_terms& terms) {
  ++count_;
  const auto rate = static_cast<float>(
    is_held_ ? rate_ : rate_after(how_, rate_, before_ + made_));
  ++made_;
  const kernels::step_buffers buffers{.weights = weights,
                                      .gradient = gradient,
                                      .first_moment = first_,
                                      .second_moment = second_,
                                      .anchor = terms.anchor,
                                      .correction = terms.correction};
  if (how_.optimiser == optimiser_kind::adamw)
    return kernels::adamw_call{{.rate = rate,
                                .beta1 = static_cast<float>(how_.beta1),
                                .beta2 = static_cast<float>(how_.beta2),
                                .decay = static_cast<float>(how_.weight_decay),
                                .count = count_},
                               buffers};
  return kernels::sgd_call{{.rate = rate,
                            .momentum = static_cast<float>(how_.momentum),
                            .decay = static_cast<float>(how_.weight_decay),
                            .proximal = static_cast<float>(terms.proximal),
                            .first = count_ == 1},
                           buffers};
}

void optimiser::keep(client_state& next) const {
  const auto put = [&](const char* which, const aligned_floats& x) {
    if (!x.empty())
      next.moments[name_ + which] = personal_values{{x.begin(), x.end()}};
  };
  put(".first", first_);
  put(".second", second_);
  next.counters[steps_counter_of(name_)] = count_;
}

} // namespace troupe::models
