#include "models/guarded_trainer.hpp"

#include <utility>

#include "models/thrown.hpp"

namespace troupe::models {

namespace {

template <class F>
auto caught(F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return tl::unexpected{what_was_thrown()};
  }
}

class guarded_trainer final : public trainer {
public:
  explicit guarded_trainer(std::unique_ptr<trainer> behind)
    : behind_(std::move(behind)) {
    // nop
  }

  result<choice> choose(const visit_input& x) override {
    return caught([&] { return behind_->choose(x); });
  }

  std::vector<result<trained>> train(std::span<const visit_input> xs) override {
    auto done = caught([&]() -> result<std::vector<result<trained>>> {
      return behind_->train(xs);
    });
    if (done)
      return std::move(*done);
    return {xs.size(), tl::unexpected{done.error()}};
  }

  result<evaluated> evaluate(const evaluation_input& x) override {
    return caught([&] { return behind_->evaluate(x); });
  }

  std::uint64_t examples(client_id x) const override {
    return behind_->examples(x);
  }

  std::uint64_t steps(const visit_input& x) const override {
    return behind_->steps(x);
  }

  void dismiss() noexcept override {
    behind_->dismiss();
  }

private:
  std::unique_ptr<trainer> behind_;
};

} // namespace

trainer_factory guarded(trainer_factory behind) {
  return [behind = std::move(behind)]() -> result<std::unique_ptr<trainer>> {
    return caught(behind).map([](std::unique_ptr<trainer> x) {
      return std::unique_ptr<trainer>{
        std::make_unique<guarded_trainer>(std::move(x))};
    });
  };
}

} // namespace troupe::models
