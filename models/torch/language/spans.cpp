#include "models/torch/language/spans.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/labels.hpp"
#include "models/language/headed_base.hpp"
#include "models/language/row_answers.hpp"
#include "models/language/scores/spans.hpp"
#include "models/language/token_span.hpp"
#include "models/torch/language/labelled_objective.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t answer_max = 30; ///< Tokens.

/// Of one window.
struct window_answer {
  std::uint32_t row = 0;
  token_span said;
  token_span is;
  double chance = 0; ///< Its logarithm, of what is said.
  double loss = 0;
};

/// Of all windows of a text the surest answer is what is said, if any has one;
/// it is right where its window has it.
window_answer of_windows(const std::vector<window_answer>& all) {
  const window_answer* said = nullptr;
  const window_answer* with_answer = &all.front();
  double loss = 0;
  for (const auto& x : all) {
    loss += x.loss;
    if (!x.said.is_none() && (said == nullptr || x.chance > said->chance))
      said = &x;
    if (!x.is.is_none())
      with_answer = &x;
  }
  auto out = said != nullptr ? *said : *with_answer;
  out.loss = loss / static_cast<double>(all.size());
  return out;
}

class span_finder final : public labelled_objective, public model_labels {
public:
  using labelled_objective::labelled_objective;

  model_labels* labels() noexcept override {
    return this;
  }

  std::size_t classes() const noexcept override {
    return 0;
  }

  std::size_t class_of(split, std::uint32_t) const override {
    return 0;
  }

  label_tally take_tally() override {
    return std::exchange(tally_, {});
  }

protected:
  /// [rows x tokens x 2]: logarithms of chances. Where no token is, nothing
  /// begins or ends.
  at::Tensor say_pass(const language_pass& x) override {
    auto said = head(states_of(x));
    if (x.x.there.defined())
      said = said.masked_fill(x.x.there.logical_not().unsqueeze(2), -1e9);
    return at::log_softmax(said, 1);
  }

  at::Tensor losses(const at::Tensor& said,
                    const language_pass& x) const override {
    const auto rows = said.size(0);
    TROUPE_ASSERT(x.targets.numel() == 2 * rows);
    // Of each row both chances behind each other, as its targets are. Within a
    // row whose answer is beyond it there is none.
    const auto ends = x.targets.view({rows, 1, 2});
    const auto beyond = ends.select(2, 1).lt(ends.select(2, 0)).unsqueeze(2);
    return said.gather(1, ends.masked_fill(beyond, 0))
      .view({rows, 2})
      .mean({1})
      .neg();
  }

  scores score(split part, row_numbers which, const at::Tensor& said,
               const language_pass& x) override {
    const auto first = answers_in(said, x, which);
    scores sum{.count = which.size()};
    for (std::size_t i = 0; i < which.size(); ++i) {
      std::vector<window_answer> windows{first[i]};
      add_later(part, which[i], windows);
      const auto own = of_windows(windows);
      sum.loss += own.loss;
      sum.correct += own.said == own.is;
      if (part == split::test) {
        ++tally_.rows;
        tally_.overlap += f1_of(own.said, own.is);
        judge(which[i], own);
      }
    }
    return sum;
  }

private:
  /// As texts, if anybody knows those.
  void judge(std::uint32_t row, const window_answer& own) {
    const auto* answers = rows().answers();
    if (answers == nullptr)
      return;
    const auto meant = answers->meant(row);
    const said_and_meant x{.said = answers->said(own.row, own.said),
                           .meant = {meant.begin(), meant.end()}};
    ++tally_.told;
    tally_.exact += best_match(x);
    tally_.f1 += best_f1(x);
  }

  std::vector<window_answer> answers_in(const at::Tensor& said,
                                        const language_pass& x,
                                        row_numbers which) const {
    const auto flat = said.contiguous();
    const auto own = losses(said, x).contiguous();
    const auto wanted = x.targets.contiguous();
    const auto width = static_cast<std::size_t>(2 * flat.size(1));
    std::vector<window_answer> all(static_cast<std::size_t>(flat.size(0)));
    TROUPE_ASSERT(all.size() == which.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto* answer = wanted.data_ptr<std::int64_t>() + 2 * i;
      const std::span ends{flat.data_ptr<float>() + width * i, width};
      const auto best = best_span(ends, answer_max);
      all[i] = {.row = which[i],
                .said = best,
                .is = {static_cast<std::size_t>(answer[0]),
                       static_cast<std::size_t>(answer[1])},
                .chance = double{ends[2 * best.first]}
                          + double{ends[2 * best.last + 1]},
                .loss = static_cast<double>(own.data_ptr<float>()[i])};
    }
    return all;
  }

  void add_later(split part, std::uint32_t row,
                 std::vector<window_answer>& to) {
    const auto later = rows().later_of(part, row);
    std::vector<std::uint32_t> numbers(later.count);
    std::iota(numbers.begin(), numbers.end(), later.first);
    for (row_numbers left{numbers}; !left.empty();) {
      const auto some = left.first(std::min(left.size(), scored_at_once()));
      left = left.subspan(some.size());
      const auto pass = read_pass(rows(), part, some);
      const auto more = answers_in(say_pass(pass), pass, some);
      to.insert(to.end(), more.begin(), more.end());
    }
  }

  label_tally tally_;
};

} // namespace

std::unique_ptr<objective>
make_span_finder(const language_config& config,
                 std::shared_ptr<const language_base> base,
                 std::shared_ptr<const token_rows> rows) {
  const auto head = head_of(*base);
  TROUPE_ASSERT(head && *head == (row_head{head_kind::ends, 2}));
  return std::make_unique<span_finder>(config, std::move(base),
                                       std::move(rows));
}

} // namespace troupe::models
