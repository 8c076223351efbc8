#include "models/visit/cohort.hpp"

#include <algorithm>

namespace troupe::models {

question::~question() {
  if (!is_open_)
    return;
  std::erase(with_.open_, this);
  std::ranges::replace(with_.answered_, this, nullptr);
}

void question::ask() {
  is_open_ = true;
  with_.open_.push_back(this);
}

void question::answer_all(std::span<question* const> group) {
  for (auto* x : group)
    x->attempt([&] { return x->answer(); });
}

void question::answer_group(std::span<question* const> group) noexcept {
  try {
    group.front()->answer_all(group);
  } catch (...) {
    for (auto* x : group)
      x->root_->problem = what_was_thrown();
  }
}

std::size_t cohort::answer() {
  std::ranges::sort(open_, {}, [](const question* x) {
    return std::pair{x->of(), x->place_};
  });
  answered_.swap(open_);
  for (std::span<question* const> rest{answered_}; !rest.empty();) {
    const auto end = std::ranges::find_if(
      rest, [&](const question* x) { return x->of() != rest.front()->of(); });
    const auto group = rest.first(static_cast<std::size_t>(end - rest.begin()));
    question::answer_group(group);
    rest = rest.subspan(group.size());
  }
  std::ranges::sort(answered_, {}, &question::place_);
  const auto count = answered_.size();
  // Who goes on may give up another, whose question then leaves.
  for (std::size_t i = 0; i < count; ++i)
    if (auto* x = answered_[i]) {
      answered_[i] = nullptr;
      x->is_open_ = false;
      if (!x->root_->problem)
        x->asker_.resume();
    }
  answered_.clear();
  return count;
}

} // namespace troupe::models
