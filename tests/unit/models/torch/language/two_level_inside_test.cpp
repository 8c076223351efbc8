// PF2LoRA over language models: factors inside the layers learn what those do
// that are composed into whole weights, and what torch says in double of the
// function that they are of.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/language_levels.hpp"

namespace troupe::test::two_levels::inside_test {

namespace {

struct variant {
  const char* method;
  options said = {};
};

const variant variants[] = {{"homlora"},
                            {"per_fedavg_lora"},
                            {"per_fedavg_lora", {{"first_order", 1}}},
                            {"pf2lora"},
                            {"pf2lora", {{"four_batches", 1}}},
                            {"pf2lora", {{"joint", 1}}}};

/// Keeps no gradient, and is another model in nothing else.
class forgetful final : public models::objective {
public:
  explicit forgetful(std::unique_ptr<models::objective> x) : x_(std::move(x)) {
    // nop
  }

  const models::tensor_list& parameter_list() const noexcept override {
    return x_->parameter_list();
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return x_->buffer_list();
  }

  std::span<float> parameters() noexcept override {
    return x_->parameters();
  }

  std::span<float> gradient() noexcept override {
    return x_->gradient();
  }

  std::span<float> buffers() noexcept override {
    return x_->buffers();
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override {
    return x_->backward(rows, seed);
  }

  result<void> curve(std::span<const std::uint32_t> rows, std::uint64_t seed,
                     std::span<const float> direction) override {
    return x_->curve(rows, seed, direction);
  }

  result<models::scores>
  evaluate(models::split part, std::span<const std::uint32_t> rows) override {
    return x_->evaluate(part, rows);
  }

  models::inner_adapters* inside() noexcept override {
    return x_->inside();
  }

  std::vector<float> initial_parameters(std::uint64_t seed) override {
    return x_->initial_parameters(seed);
  }

  std::vector<float> initial_buffers() override {
    return x_->initial_buffers();
  }

private:
  std::unique_ptr<models::objective> x_;
};

/// Everything that a visit comes to, as one.
at::Tensor all_of(const models::trained& x) {
  std::vector<at::Tensor> all{
    in_double(x.next.moments.at("adapter.first").own_view())};
  for (const auto& [name, values] : x.next.blocks)
    all.push_back(in_double(values.own_view()));
  return at::cat(all);
}

} // namespace

TEST(two_levels_inside, step_as_those_that_are_composed) {
  for (const auto config : test::tiny_models) {
    const language_case c{config};
    for (const auto& x : variants) {
      SCOPED_TRACE(std::string{models::name_of(c.spec.kind)} + ", " + x.method);
      const auto composed =
        c.trained(c.site(x.method, x.said, {.trained = true}));
      const auto inside = c.trained(c.site(x.method, x.said, {}));
      EXPECT_NEAR(inside.loss, composed.loss, 1e-5 * composed.loss);
      const auto of = [](const models::trained& y) {
        return in_double(y.next.moments.at("adapter.first").own_view());
      };
      EXPECT_LT(relative_error(of(inside), of(composed)), 1e-5);
      for (const auto* name : {"left_adapter", "own_adapter"})
        if (composed.next.blocks.contains(name)) {
          EXPECT_LT(
            relative_error(in_double(inside.next.blocks.at(name).own_view()),
                           in_double(composed.next.blocks.at(name).own_view())),
            1e-5)
            << name;
        }
    }
  }
}

TEST(two_levels_inside, step_along_the_gradient_through_the_inner_step) {
  for (const auto config : test::tiny_models) {
    const language_case c{config};
    SCOPED_TRACE(models::name_of(c.spec.kind));
    const unrolled reference{c};
    const auto x = in_double(c.common).requires_grad_();
    const auto y = in_double(c.own).requires_grad_();
    const auto along_y = unrolled::slope(reference.loss(x, y, inner), y);
    const auto through =
      unrolled::slope(reference.loss(x, y - inner_rate * along_y, outer), x);
    // Specification, 2.1: first ones at the new y, the mixed one at the old.
    const auto moved = (y - inner_rate * along_y).detach().requires_grad_();
    const auto at_moved = reference.loss(x, moved, outer);
    const auto first = unrolled::slope(at_moved, x).detach();
    const auto v = unrolled::slope(at_moved, moved).detach();
    const auto mixed = unrolled::slope((along_y * v).sum(), x).detach();
    EXPECT_LT(relative_error(first - inner_rate * mixed, through), 1e-10);
    EXPECT_GT(relative_error(first, through), 1e-4)
      << "the second order matters";
    const auto error = relative_error(c.direction("pf2lora", {}, {}), through);
    RecordProperty("relative_error_in_float", ::testing::PrintToString(error));
    EXPECT_LT(error, 1e-5);
    EXPECT_LT(
      relative_error(c.direction("pf2lora", {{"first_order", 1}}, {}), first),
      1e-5);
  }
}

// Two batches go on from the inner gradient, whose sums are then rounded
// otherwise. All else is the same to the bit.
TEST(two_levels_inside, step_as_those_that_keep_nothing) {
  std::vector<variant> all{std::begin(variants), std::end(variants)};
  all.push_back({"pf2lora", {{"first_order", 1}}});
  for (const auto config : test::tiny_models) {
    const language_case c{config};
    for (const auto& x : all) {
      SCOPED_TRACE(std::string{models::name_of(c.spec.kind)} + ", " + x.method);
      const auto kept = c.trained(c.site(x.method, x.said, {}));
      const auto again = c.trained(c.site_of(
        x.method, x.said,
        std::make_unique<forgetful>(
          models::make_language_objective({}, c.base, c.rows).value())));
      const bool bends =
        x.method == std::string_view{"pf2lora"} && x.said.empty();
      EXPECT_NEAR(kept.loss, again.loss, bends ? 1e-6 * again.loss : 0);
      EXPECT_LE(relative_error(all_of(kept), all_of(again)), bends ? 1e-5 : 0);
    }
  }
}

TEST(two_levels_inside, step_the_same_in_any_passes) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const language_case c{config};
    for (const auto& x : variants) {
      SCOPED_TRACE(x.method);
      const auto whole = c.direction(x.method, x.said, {});
      const auto some =
        c.direction(x.method, x.said, {.micro_batch = 1, .chunk = 3});
      // Through an inner step, in floats.
      EXPECT_LT(relative_error(some, whole), 3e-6);
    }
  }
}

TEST(two_levels_inside, with_nothing_of_its_own_are_homlora) {
  language_case c{test::tiny_gpt2};
  std::ranges::fill(c.own, 0.f);
  // One batch is all there is of what HOMLoRA looks at.
  const auto site = [&](std::string_view method) {
    return c.trained(c.site(method, {}, {}));
  };
  const auto two = site("pf2lora");
  const auto kept = two.next.blocks.at("own_adapter").own_view();
  EXPECT_EQ(floats(kept.begin(), kept.end()), c.own);
  // PF2LoRA's common adapter learns on the second batch of a step.
  auto swapped = c;
  swapped.rows = [] {
    const auto all = eight_rows();
    std::vector<listed_rows::row> rows;
    for (std::size_t r = 0; r < 8; ++r)
      rows.push_back(all->at((r + 4) % 8));
    return std::make_shared<const listed_rows>(6, 13, std::move(rows));
  }();
  const auto one = swapped.trained(swapped.site("homlora", {}, {}));
  const auto of = [](const models::trained& x) {
    return in_double(x.next.moments.at("adapter.first").own_view());
  };
  EXPECT_LT(relative_error(of(two), of(one)), 1e-6);
}

// With all rows in each batch both look at the same ones. After each step, with
// momentum, which has seen all before; sums may be rounded otherwise where
// there is a second product, of zeros.
TEST(two_levels_inside, with_nothing_of_their_own_are_homlora_step_for_step) {
  for (const auto config : test::tiny_models) {
    language_case c{config};
    SCOPED_TRACE(models::name_of(c.spec.kind));
    std::ranges::fill(c.own, 0.f);
    c.batch_rows = 0;
    at::Tensor before = in_double(c.common);
    for (std::uint32_t steps = 1; steps <= 5; ++steps) {
      SCOPED_TRACE(steps);
      c.steps = steps;
      const auto two = c.trained(c.site("pf2lora", {}, {}));
      const auto one = c.trained(c.site("homlora", {}, {}));
      const auto kept = two.next.blocks.at("own_adapter").own_view();
      EXPECT_EQ(floats(kept.begin(), kept.end()), c.own);
      EXPECT_LT(relative_error(language_case::direction_of(two),
                               language_case::direction_of(one)),
                1e-6);
      const auto left = [](const models::trained& x) {
        return in_double(x.next.blocks.at("left_adapter").own_view());
      };
      EXPECT_LT(relative_error(left(two), left(one)), 1e-6);
      EXPECT_NEAR(two.loss, one.loss, 1e-6 * one.loss);
      EXPECT_FALSE(at::equal(left(one), before)) << "it has moved on";
      before = left(one);
    }
  }
}

TEST(two_levels_inside, are_of_first_order_where_the_rate_is_none) {
  for (const auto config : test::tiny_models) {
    language_case c{config};
    c.steps = 5;
    for (const auto* method : {"pf2lora", "per_fedavg_lora"}) {
      SCOPED_TRACE(std::string{models::name_of(c.spec.kind)} + ", " + method);
      const auto of = [&](double rate, bool first_order) {
        return all_of(c.trained(c.site(
          method,
          {{"inner_rate", rate}, {"first_order", first_order ? 1. : 0.}}, {})));
      };
      const auto still = of(0, false);
      EXPECT_TRUE(at::equal(still, of(0, true)));
      // Else nothing of this would be a law.
      EXPECT_FALSE(at::equal(of(inner_rate, false), of(inner_rate, true)));
      EXPECT_FALSE(at::equal(still, of(inner_rate, true)));
    }
    // What is left of the step through a step is a step.
    SCOPED_TRACE(models::name_of(c.spec.kind));
    c.batch_rows = 0;
    const auto meta =
      c.trained(c.site("per_fedavg_lora", {{"inner_rate", 0.}}, {}));
    const auto plain = c.trained(c.site("homlora", {}, {}));
    EXPECT_TRUE(at::equal(language_case::direction_of(meta),
                          language_case::direction_of(plain)));
  }
}

// Specification, 10.1.
TEST(two_levels_inside, say_what_merged_weights_do) {
  for (const auto config : test::tiny_models) {
    SCOPED_TRACE(config);
    const language_case c{config};
    const auto scored = [&](const models::language_config& how, bool any) {
      const auto by = c.site("pf2lora", {}, how);
      const floats nothing(c.common.size()), of_own(c.own.size());
      const auto found = by.trainer->evaluate(
        {.versions = by.visit(any ? c.common : nothing).fetched,
         .per_client = true,
         .states = {{{1}, keeping(any ? c.own : of_own)}}});
      EXPECT_TRUE(found) << found.error().context;
      return found ? found->per_client.at({1}).mean_loss() : 0;
    };
    const auto merged = scored({.trained = true}, true);
    EXPECT_NEAR(scored({}, true), merged, 1e-5 * merged);
    const auto bare = models::make_language_objective({}, c.base, c.rows)
                        .value()
                        ->evaluate(models::split::test, inner);
    ASSERT_TRUE(bare);
    EXPECT_EQ(scored({}, false), bare->mean_loss());
    EXPECT_GT(std::abs(merged - bare->mean_loss()), 1e-4);
  }
}

} // namespace troupe::test::two_levels::inside_test
