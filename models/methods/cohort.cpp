#include "models/methods/cohort.hpp"

#include <algorithm>

#include "models/thrown.hpp"

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

std::size_t cohort::answer() {
  std::ranges::sort(open_, {}, [](const question* x) {
    return std::pair{x->of(), x->place_};
  });
  answered_.swap(open_);
  for (std::size_t i = 0; i < answered_.size(); ++i) {
    auto& x = *answered_[i];
    groups_ += i == 0 || answered_[i - 1]->of() != x.of();
    try {
      if (auto done = x.answer(); !done)
        x.root_->problem = std::move(done.error());
    } catch (...) {
      x.root_->problem = what_was_thrown();
    }
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
