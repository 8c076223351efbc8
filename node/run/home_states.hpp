#pragma once

#include <memory>

#include "actors/client/client_file.hpp"
#include "models/trainer.hpp"

namespace troupe::node {

/// Scores clients at home: with what their files in this process hold. The
/// publisher asks for clients' scores without knowing what clients keep to
/// themselves.
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
    if (!x.per_client)
      return behind_->evaluate(x);
    auto at_home = x;
    if (!files_) {
      at_home.per_client = false;
      return behind_->evaluate(at_home);
    }
    at_home.states = files_->states();
    return behind_->evaluate(at_home);
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
};

} // namespace troupe::node
