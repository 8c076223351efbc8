#include "node/run/first_look.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace troupe::node {

namespace {

bool nobody_has_learned(const models::evaluation_input& x) {
  return std::ranges::all_of(x.versions,
                             [](const auto& y) { return y.base.value == 0; })
         && std::ranges::all_of(x.states, [](const auto& y) {
              return !y.second || y.second->visits == 0;
            });
}

/// The first loss that is not finite; 0: all are.
double worst_of(const models::evaluated& x) {
  double out = 0;
  const auto look = [&out](const models::scores& y) {
    if (out == 0 && y.count > 0 && !std::isfinite(y.loss))
      out = y.loss;
  };
  look(x.global);
  for (const auto& [client, y] : x.per_client)
    look(y);
  return out;
}

class first_look final : public models::one_by_one_trainer {
public:
  first_look(std::unique_ptr<models::trainer> behind, std::string file)
    : behind_(std::move(behind)),
      file_(std::move(file)) {
    // nop
  }

  result<models::choice> choose(const models::visit_input& x) override {
    return behind_->choose(x);
  }

  result<models::trained> train_one(const models::visit_input& x) override {
    return behind_->train(x);
  }

  result<models::evaluated>
  evaluate(const models::evaluation_input& x) override {
    auto found = behind_->evaluate(x);
    const bool is_first = std::exchange(is_first_, false);
    if (!found || !is_first || !nobody_has_learned(x))
      return found;
    const auto bad = worst_of(*found);
    if (bad == 0)
      return found;
    return fail(errc::invalid_data,
                file_ + ": the loss before anything is learned is "
                  + (std::isnan(bad) ? "no number" : "beyond all numbers")
                  + "; weights of a model that has not diverged would do");
  }

  std::uint64_t examples(client_id x) const override {
    return behind_->examples(x);
  }

  std::uint64_t steps(const models::visit_input& x) const override {
    return behind_->steps(x);
  }

  void dismiss() noexcept override {
    behind_->dismiss();
  }

private:
  std::unique_ptr<models::trainer> behind_;
  std::string file_;
  bool is_first_ = true;
};

} // namespace

std::unique_ptr<models::trainer>
looking_first(std::unique_ptr<models::trainer> behind, const experiment& x) {
  const auto& file = x.model.path.empty() ? x.init : x.model.path;
  if (file.empty())
    return behind;
  return std::make_unique<first_look>(std::move(behind), file);
}

} // namespace troupe::node
