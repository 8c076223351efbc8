// PF2LoRA's step over a language model that computes in double: the procedure
// is that of every run, and single precision is only what it asks and hears. So
// it is held closer to the gradient through the inner step than a model could
// be that computes in single precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/aligned.hpp"
#include "models/inner_adapters.hpp"
#include "tests/support/language_levels.hpp"

namespace troupe::test::two_levels::double_test {

namespace {

/// Both adapters inside a model, which are always on.
class model_in_double final : public models::objective,
                              public models::inner_adapters {
public:
  explicit model_in_double(const language_case& of) : of_(of), reference_(of) {
    // nop
  }

  // -- the objective --

  const models::tensor_list& parameter_list() const noexcept override {
    return none_;
  }

  const models::tensor_list& buffer_list() const noexcept override {
    return none_;
  }

  std::span<float> parameters() noexcept override {
    return values_;
  }

  std::span<float> gradient() noexcept override {
    return slopes_;
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t /*seed*/) override {
    const auto at = factors();
    const auto loss = reference_.loss(at[0], at[1], {rows.begin(), rows.end()});
    add(torch::autograd::grad({loss}, at));
    return loss.item<double>();
  }

  result<void> curve(std::span<const std::uint32_t> rows,
                     std::uint64_t /*seed*/,
                     std::span<const float> direction) override {
    const auto at = factors();
    const auto loss = reference_.loss(at[0], at[1], {rows.begin(), rows.end()});
    const auto slopes = torch::autograd::grad({loss}, at, {}, true, true);
    const auto size = of_.common.size();
    const auto along = (slopes[0] * in_double(direction.first(size))).sum()
                       + (slopes[1] * in_double(direction.subspan(size))).sum();
    add(torch::autograd::grad({along}, at));
    return {};
  }

  result<models::scores> evaluate(models::split,
                                  std::span<const std::uint32_t>) override {
    return fail(errc::unsupported, "nobody is scored here");
  }

  models::inner_adapters* inside() noexcept override {
    return this;
  }

  std::vector<float> initial_parameters(std::uint64_t) override {
    return {};
  }

  std::vector<float> initial_buffers() override {
    return {};
  }

  // -- what stands inside it --

  const models::tensor_list& base_list() const noexcept override {
    return of_.base->tensors();
  }

  const models::digest& base_content() const noexcept override {
    return of_.base->content();
  }

  result<void> attach(std::vector<models::inner_group> groups,
                      kernels::backend*) override {
    groups_ = std::move(groups);
    const auto size = of_.common.size() + of_.own.size();
    values_.assign(size, 0.f);
    slopes_.assign(size, 0.f);
    return {};
  }

  const std::vector<models::inner_group>& groups() const noexcept override {
    return groups_;
  }

  std::span<float> values_of(std::size_t group) noexcept override {
    return part(values_, group);
  }

  std::span<float> gradient_of(std::size_t group) noexcept override {
    return part(slopes_, group);
  }

  void switch_on(std::size_t, bool) noexcept override {
    // nop
  }

  void leave_out(std::size_t, bool out) noexcept override {
    EXPECT_FALSE(out);
  }

  void mix(std::span<const double> shares) override {
    EXPECT_TRUE(shares.empty());
  }

  std::vector<double> share_slopes() override {
    return {};
  }

  result<void> route(const models::routing_options&) override {
    return fail(errc::unsupported, "there is one block for all tokens");
  }

  routing_seen take_routing() override {
    return {};
  }

  result<std::vector<std::uint32_t>> routes(models::split,
                                            std::uint32_t) override {
    return fail(errc::unsupported, "there is one block for all tokens");
  }

private:
  /// The common adapter's, and then the client's own.
  std::span<float> part(models::aligned_floats& of, std::size_t group) const {
    const std::span all{of};
    const auto size = of_.common.size();
    return group == 0 ? all.first(size) : all.subspan(size);
  }

  std::vector<at::Tensor> factors() {
    std::vector<at::Tensor> all;
    for (std::size_t group = 0; group < 2; ++group)
      all.push_back(in_double(part(values_, group)).requires_grad_());
    return all;
  }

  void add(const std::vector<at::Tensor>& slopes) {
    for (std::size_t group = 0; group < 2; ++group) {
      const auto from = slopes[group].detach().contiguous();
      auto to = part(slopes_, group);
      for (std::size_t j = 0; j < to.size(); ++j)
        to[j] += static_cast<float>(from.data_ptr<double>()[j]);
    }
  }

  const language_case& of_;
  unrolled reference_;
  models::tensor_list none_;
  std::vector<models::inner_group> groups_;
  models::aligned_floats values_, slopes_;
};

/// What its step of the common adapter is along.
at::Tensor direction_in_double(const language_case& c, const options& said) {
  return language_case::direction_of(c.trained(
    c.site_of("pf2lora", said, std::make_unique<model_in_double>(c))));
}

} // namespace

TEST(two_levels_in_double, step_along_the_gradient_through_the_inner_step) {
  for (const auto config : test::tiny_models) {
    const language_case c{config};
    SCOPED_TRACE(models::name_of(c.spec.kind));
    const unrolled reference{c};
    const auto x = in_double(c.common).requires_grad_();
    const auto y = in_double(c.own).requires_grad_();
    const auto along_y = unrolled::slope(reference.loss(x, y, inner), y);
    const auto there = y - inner_rate * along_y;
    const auto through = unrolled::slope(reference.loss(x, there, outer), x);
    EXPECT_LT(relative_error(direction_in_double(c, {}), through), 1e-6);
    // Of the first order it is the slope where the inner step has ended.
    const auto moved = there.detach().requires_grad_();
    const auto first = unrolled::slope(reference.loss(x, moved, outer), x);
    const auto found = direction_in_double(c, {{"first_order", 1}});
    EXPECT_LT(relative_error(found, first), 1e-6);
    EXPECT_GT(relative_error(found, through), 1e-4);
  }
}

} // namespace troupe::test::two_levels::double_test
