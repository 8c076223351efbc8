#include "models/torch/language/chunked_loss.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/assert.hpp"
#include "models/torch/language/second_slopes.hpp"

namespace troupe::models {

namespace {

/// Calls f(some targets with their states) until all had their turn.
template <class Function>
void for_chunks(const chunked_head& head, const foretold_tokens& x,
                Function f) {
  TROUPE_ASSERT(head.chunk > 0 && x.states.size(0) == x.targets.size(0));
  const auto count = x.targets.size(0);
  for (std::int64_t first = 0; first < count; first += head.chunk) {
    const auto n = std::min(head.chunk, count - first);
    f(foretold_tokens{.states = x.states.narrow(0, first, n),
                      .targets = x.targets.narrow(0, first, n)});
  }
}

at::Tensor logits_of(const chunked_head& head, const foretold_tokens& x) {
  return head.network.logits(head.parts, x.states);
}

scores score_rows(const at::Tensor& logits, const at::Tensor& targets) {
  const auto table = at::log_softmax(logits, 1).contiguous();
  const auto wanted = targets.contiguous();
  const auto width = static_cast<std::size_t>(table.size(1));
  const auto count = static_cast<std::size_t>(table.size(0));
  scores result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span chances{table.data_ptr<float>() + i * width, width};
    const auto target =
      static_cast<std::size_t>(wanted.data_ptr<std::int64_t>()[i]);
    TROUPE_ASSERT(target < width);
    const auto chance = chances[target];
    result.loss -= static_cast<double>(chance);
    // What is not a number is no answer.
    bool right = true;
    for (std::size_t j = 0; j < width; ++j)
      right =
        right && (j < target ? chances[j] < chance : chances[j] <= chance);
    result.correct += right;
  }
  result.count = count;
  return result;
}

} // namespace

double descend(const chunked_head& head, const foretold_tokens& x, double share,
               const at::Tensor& beside) {
  double sum = 0;
  std::vector<at::Tensor> slopes;
  for_chunks(head, x, [&](const foretold_tokens& some) {
    // A leaf of its own: on the way back nothing goes beyond it.
    const foretold_tokens cut{.states = some.states.detach(),
                              .targets = some.targets};
    cut.states.requires_grad_(x.states.requires_grad());
    const auto loss = at::cross_entropy_loss(logits_of(head, cut), cut.targets,
                                             {}, at::Reduction::Sum);
    sum += loss.item<double>();
    if (!loss.requires_grad())
      return;
    (loss * share).backward();
    if (cut.states.requires_grad())
      slopes.push_back(cut.states.grad());
  });
  // What the states and the term were computed from is gone through once.
  std::vector<at::Tensor> ends, along;
  if (!slopes.empty()) {
    ends.push_back(x.states);
    along.push_back(at::cat(slopes));
  }
  if (beside.defined() && beside.requires_grad()) {
    ends.push_back(beside);
    along.push_back(at::ones_like(beside));
  }
  if (!ends.empty())
    torch::autograd::backward(ends, along);
  return sum;
}

at::Tensor loss_to_bend(const chunked_head& head, const foretold_tokens& x) {
  return summed_cross_entropy(head.network.open_logits(head.parts, x.states),
                              x.targets, head.chunk);
}

scores score_tokens(const chunked_head& head, const foretold_tokens& x) {
  scores sum;
  for_chunks(head, x, [&](const foretold_tokens& some) {
    sum += score_rows(logits_of(head, some), some.targets);
  });
  return sum;
}

} // namespace troupe::models
