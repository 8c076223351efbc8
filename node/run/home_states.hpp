#pragma once

#include <memory>

#include "actors/client/client_file.hpp"
#include "models/known_scores.hpp"
#include "models/trainer.hpp"

namespace troupe::node {

/// Scores clients at home: with what their files in this process hold. The
/// publisher asks for clients' scores without knowing what clients keep to
/// themselves. What is as it was the last time is not scored again.
class home_states final : public models::one_by_one_trainer {
public:
  home_states(std::unique_ptr<models::trainer> behind,
              std::shared_ptr<const actors::vault> files)
    : behind_(std::move(behind)),
      files_(std::move(files)) {
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
    auto at_home = x;
    at_home.per_client = x.per_client && files_;
    if (at_home.per_client)
      at_home.states = files_->states();
    known_.add_to(at_home);
    if (known_.answers(at_home))
      return *at_home.known;
    auto found = behind_->evaluate(at_home);
    if (found)
      known_.keep(at_home, *found);
    return found;
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
  std::shared_ptr<const actors::vault> files_;
  models::known_scores known_;
};

} // namespace troupe::node
