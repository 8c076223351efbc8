#include "models/guarded_trainer.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace troupe::models {

namespace {

template <class F>
auto caught(F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(errc::device_failure,
                "there is not enough memory for this visit's arithmetic");
  } catch (const std::exception& x) {
    return fail(errc::device_failure, x.what());
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

  result<trained> train(const visit_input& x) override {
    return caught([&] { return behind_->train(x); });
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
