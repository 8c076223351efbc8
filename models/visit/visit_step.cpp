#include <algorithm>

#include "models/visit/visit.hpp"

namespace troupe::models {

step_question::step_question(cohort& with, std::size_t place, visit& of,
                             batch on, optimiser& by, const step_terms& terms,
                             array weights)
  : question(with, place),
    visit_(of),
    batch_(on),
    by_(by),
    terms_(terms),
    named_(weights) {
  // nop
}

question::shape step_question::of() const noexcept {
  return {"step", visit_.parameters().size(), batch_.rows.size()};
}

array step_question::weights() const noexcept {
  return named_.empty() ? visit_.parameters() : named_;
}

result<void> step_question::differentiate() {
  visit_.make_live({.parameters = named_});
  return visit_.gradient_of(batch_).and_then([&](double loss) {
    loss_ = loss;
    const auto count = terms_.still_to - terms_.still_from;
    std::ranges::fill(visit_.gradient().part(terms_.still_from, count).host(),
                      0.f);
    return result<void>{};
  });
}

result<void> step_question::answer() {
  return differentiate().and_then([&] {
    return by_.step(weights(), visit_.gradient(), terms_).map([&] {
      visit_.has_gradient_ = false;
    });
  });
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
    if (!one.attempt([&] { return one.differentiate(); }))
      continue;
    const auto next =
      one.by_.next(one.weights(), one.visit_.gradient(), one.terms_);
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
    x->visit_.has_gradient_ = !x->attempt([&] { return made; });
}

} // namespace troupe::models
