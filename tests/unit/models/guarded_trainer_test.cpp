#include "models/guarded_trainer.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace troupe::models {

namespace {

class throwing final : public one_by_one_trainer {
public:
  result<choice> choose(const visit_input&) override {
    throw std::runtime_error{"no layer 'query'"};
  }

  result<trained> train_one(const visit_input&) override {
    throw std::bad_alloc{};
  }

  result<evaluated> evaluate(const evaluation_input&) override {
    throw std::runtime_error{"no rows"};
  }

  std::uint64_t examples(client_id x) const override {
    return x.value;
  }

  std::uint64_t steps(const visit_input& x) const override {
    return x.leg;
  }
};

} // namespace

TEST(guarded_trainer, fails_where_a_library_throws) {
  const auto make = guarded([]() -> result<std::unique_ptr<trainer>> {
    return std::make_unique<throwing>();
  });
  const auto testee = make().value();
  EXPECT_EQ(testee->choose({}).error().context, "no layer 'query'");
  EXPECT_NE(testee->train(visit_input{}).error().context.find("enough memory"),
            std::string::npos);
  EXPECT_EQ(testee->evaluate({}).error().context, "no rows");
  EXPECT_EQ(testee->examples({7}), 7u);
}

TEST(guarded_trainer, that_cannot_be_made_is_none) {
  const auto make = guarded([]() -> result<std::unique_ptr<trainer>> {
    throw std::runtime_error{"no device"};
  });
  EXPECT_EQ(make().error().context, "no device");
}

} // namespace troupe::models
