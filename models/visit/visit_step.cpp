#include <algorithm>

#include "models/visit/visit.hpp"

namespace troupe::models {

step_question::step_question(cohort& with, std::size_t place, visit& of,
                             batch on, optimiser& by, const step_terms& terms,
                             array weights)
  : question(with, place),
    visit_(of),
    what_(along_batch{on, by, terms, weights}) {
  // nop
}

step_question::step_question(cohort& with, std::size_t place, visit& of,
                             const optimiser::call& what)
  : question(with, place),
    visit_(of),
    what_(what) {
  // nop
}

question::shape step_question::of() const noexcept {
  if (const auto* x = std::get_if<along_batch>(&what_))
    return {"step", visit_.parameters().size(), x->on.rows.size()};
  const auto size_of = [](const auto& x) { return x.on.weights.size(); };
  return {"update", std::visit(size_of, std::get<optimiser::call>(what_)), 0};
}

result<void> step_question::prepare() {
  const auto* x = std::get_if<along_batch>(&what_);
  if (x == nullptr)
    return {};
  visit_.make_live({.parameters = x->weights});
  return visit_.gradient_of(x->on).map([&](double loss) {
    loss_ = loss;
    const auto count = x->terms.still_to - x->terms.still_from;
    std::ranges::fill(visit_.gradient().part(x->terms.still_from, count).host(),
                      0.f);
  });
}

optimiser::call step_question::next() {
  if (const auto* x = std::get_if<along_batch>(&what_))
    return x->by.next(x->weights.empty() ? visit_.parameters() : x->weights,
                      visit_.gradient(), x->terms);
  return std::get<optimiser::call>(what_);
}

void step_question::is_made() {
  if (std::holds_alternative<along_batch>(what_))
    visit_.has_gradient_ = false;
}

result<void> step_question::answer() {
  return prepare()
    .and_then([&] {
      return std::visit(
        [&](const auto& x) {
          return visit_.on.arithmetic.step(std::span{&x, 1});
        },
        next());
    })
    .map([&] { is_made(); });
}

void step_question::answer_all(std::span<question* const> group) {
  if (group.size() == 1) {
    attempt([&] { return answer(); });
    return;
  }
  std::vector<step_question*> ready;
  std::vector<kernels::sgd_call> sgd;
  std::vector<kernels::adamw_call> adamw;
  for (auto* x : group) {
    auto& one = static_cast<step_question&>(*x);
    if (!one.attempt([&] { return one.prepare(); }))
      continue;
    const auto next = one.next();
    if (const auto* call = std::get_if<kernels::sgd_call>(&next))
      sgd.push_back(*call);
    else
      adamw.push_back(std::get<kernels::adamw_call>(next));
    ready.push_back(&one);
  }
  auto& arithmetic = visit_.on.arithmetic;
  const auto make = [&]() -> result<void> {
    try {
      if (!sgd.empty())
        if (auto ok = arithmetic.step(sgd); !ok)
          return ok;
      return adamw.empty() ? result<void>{} : arithmetic.step(adamw);
    } catch (...) {
      return tl::unexpected{what_was_thrown()};
    }
  };
  const auto made = make();
  for (auto* x : ready)
    if (x->attempt([&] { return made; }))
      x->is_made();
}

} // namespace troupe::models
