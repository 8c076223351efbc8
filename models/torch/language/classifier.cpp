#include "models/torch/language/classifier.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/embeddings.hpp"
#include "models/labels.hpp"
#include "models/language/headed_base.hpp"
#include "models/outputs.hpp"
#include "models/torch/language/labelled_objective.hpp"

namespace troupe::models {

namespace {

std::span<const float> numbers_of(const at::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}

/// [rows x width] of [rows x tokens x width]. What stands where there is no
/// token may be anything.
at::Tensor mean_of_present(const at::Tensor& states, const at::Tensor& there) {
  if (!there.defined())
    return states.mean({1});
  const auto counts = there.to(states.scalar_type()).sum({1}, true);
  return states.masked_fill(there.logical_not().unsqueeze(2), 0).sum({1})
         / counts.clamp_min(1);
}

at::Tensor last_of_present(const at::Tensor& states, const at::Tensor& there) {
  if (!there.defined())
    return states.select(1, states.size(1) - 1);
  const auto last = there.sum({1}).sub(1).clamp_min(0);
  const auto places = last.view({-1, 1, 1}).expand({-1, 1, states.size(2)});
  return states.gather(1, places).squeeze(1);
}

class text_classifier final : public labelled_objective,
                              public model_outputs,
                              public model_embeddings,
                              public model_labels {
public:
  text_classifier(const language_config& config,
                  std::shared_ptr<const language_base> base,
                  std::shared_ptr<const token_rows> from, std::size_t classes)
    : labelled_objective(config, std::move(base), std::move(from)),
      classes_(classes) {
    begin_tally();
  }

  model_outputs* outputs() noexcept override {
    return this;
  }

  model_embeddings* embeddings() noexcept override {
    return this;
  }

  model_labels* labels() noexcept override {
    return this;
  }

  output_kind kind() const noexcept override {
    return output_kind::logits;
  }

  std::size_t size() const noexcept override {
    return classes_;
  }

  result<void> say(split part, row_numbers which,
                   std::span<float> out) override {
    TROUPE_ASSERT(out.size() == which.size() * classes_);
    return for_scoring(which, [&](row_numbers some) -> result<void> {
      const c10::NoGradGuard no_grad;
      const auto said = say_pass(read_pass(rows(), part, some)).contiguous();
      std::ranges::copy(numbers_of(said), out.begin());
      out = out.subspan(static_cast<std::size_t>(said.numel()));
      return {};
    });
  }

  // The graph looks at the live parameters, it does not own them: that is why
  // they must be back in their place.
  result<utterance> speak(row_numbers which, std::uint64_t /*seed*/) override {
    return guarded(which.size(), [&]() -> result<utterance> {
      const c10::AutoGradMode with_graph{learned().learns()};
      std::vector<at::Tensor> all;
      for (const auto& pass : passes(which))
        all.push_back(say_pass(pass));
      const auto said = at::cat(all);
      const auto flat = said.detach().contiguous();
      const auto values = numbers_of(flat);
      return utterance{
        .values = {values.begin(), values.end()},
        .pull_back = [this, said](std::span<const float> slopes) {
          return pull_back(said, slopes);
        }};
    });
  }

  judgement judge(split part, row_numbers which, std::span<const float> outputs,
                  std::span<float> slopes) const override {
    std::vector<std::int64_t> are;
    are.reserve(which.size());
    for (const auto row : which)
      are.push_back(static_cast<std::int64_t>(class_of(part, row)));
    // Whoever asks for slopes learns.
    if (part == split::test && slopes.empty())
      count(outputs, are);
    return judge_logits(outputs, are, classes_, slopes);
  }

  std::size_t width() const noexcept override {
    return spec().width;
  }

  // One row at a time: how torch adds up depends on how many there are.
  result<void> embed(split part, std::uint32_t row,
                     std::span<float> out) override {
    TROUPE_ASSERT(out.size() == width());
    return guarded(1, [&]() -> result<void> {
      const c10::NoGradGuard no_grad;
      const auto pass = read_pass(rows(), part, row_numbers{&row, 1});
      const auto values =
        mean_of_tokens(states_of(pass), pass.x.there).contiguous();
      std::ranges::copy(numbers_of(values), out.begin());
      return {};
    });
  }

  std::size_t classes() const noexcept override {
    return classes_;
  }

  std::size_t class_of(split part, std::uint32_t row) const override {
    std::vector<std::int32_t> ids(rows().context()), targets(rows().context());
    rows().read(part, row, ids, targets);
    TROUPE_ASSERT(targets[0] >= 0
                  && static_cast<std::size_t>(targets[0]) < classes_);
    return static_cast<std::size_t>(targets[0]);
  }

  label_tally take_tally() override {
    auto taken = std::move(tally_);
    begin_tally();
    return taken;
  }

protected:
  at::Tensor say_pass(const language_pass& x) override {
    TROUPE_ASSERT(x.targets.numel() == x.x.ids.size(0));
    const auto states = states_of(x);
    return head(spec().is_causal() ? last_of_present(states, x.x.there)
                                   : mean_of_present(states, x.x.there));
  }

  at::Tensor losses(const at::Tensor& said,
                    const language_pass& x) const override {
    return at::cross_entropy_loss(said, x.targets, {}, at::Reduction::None);
  }

  scores score(split part, row_numbers /*which*/, const at::Tensor& said,
               const language_pass& x) override {
    const auto flat = said.contiguous();
    const auto wanted = x.targets.contiguous();
    const std::span are{wanted.data_ptr<std::int64_t>(),
                        static_cast<std::size_t>(wanted.numel())};
    if (part == split::test)
      count(numbers_of(flat), are);
    const auto judged = judge_logits(numbers_of(flat), are, classes_, {});
    scores sum{.correct = judged.correct, .count = are.size()};
    for (const auto loss : judged.losses)
      sum.loss += loss;
    return sum;
  }

private:
  void begin_tally() const {
    tally_ = {.taken_for = std::vector<std::uint64_t>(classes_ * classes_)};
  }

  /// The first of equals is the answer.
  void count(std::span<const float> outputs,
             std::span<const std::int64_t> are) const {
    for (std::size_t i = 0; i < are.size(); ++i) {
      const auto row = outputs.subspan(i * classes_, classes_);
      const auto said =
        static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
      ++tally_.taken_for[static_cast<std::size_t>(are[i]) * classes_ + said];
    }
    tally_.rows += are.size();
  }

  result<void> pull_back(const at::Tensor& said,
                         std::span<const float> slopes) {
    TROUPE_ASSERT(slopes.size() == static_cast<std::size_t>(said.numel()));
    return guarded_step(slopes.size() / classes_, [&]() -> result<void> {
      auto along = at::empty_like(said, at::MemoryFormat::Contiguous);
      std::ranges::copy(slopes, along.data_ptr<float>());
      if (said.requires_grad())
        said.backward(along);
      return {};
    });
  }

  std::size_t classes_;
  mutable label_tally tally_; ///< Who judges changes nothing else.
};

} // namespace

std::unique_ptr<objective>
make_classifier(const language_config& config,
                std::shared_ptr<const language_base> base,
                std::shared_ptr<const token_rows> rows) {
  const auto head = head_of(*base);
  TROUPE_ASSERT(head && head->kind == head_kind::classes);
  return std::make_unique<text_classifier>(config, std::move(base),
                                           std::move(rows), head->outputs);
}

} // namespace troupe::models
