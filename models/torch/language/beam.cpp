#include "models/torch/language/beam.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "models/language/beam_search.hpp"
#include "models/torch/network.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

namespace {

using text_list = std::vector<std::vector<std::uint32_t>>;

class beam final : public model_continuations {
public:
  beam(const language_network& network, learned_parts& learned)
    : network_(network),
      learned_(learned) {
    // nop
  }

  std::size_t tokens_max() const noexcept override {
    return network_.spec().context;
  }

  result<continuation> go_on(std::span<const std::uint32_t> prompt,
                             const continuation_rule& how) override {
    if (auto ok = check(prompt); !ok)
      return tl::make_unexpected(ok.error());
    auto bounded = how;
    bounded.tokens_max =
      std::min(how.tokens_max, network_.spec().context
                                 - static_cast<std::uint32_t>(prompt.size()));
    use_one_thread_per_worker();
    return search_beam(
      prompt, bounded, network_.spec().vocabulary,
      [this](const text_list& texts) { return chances_after(texts); });
  }

private:
  result<void> check(std::span<const std::uint32_t> prompt) const {
    const auto& spec = network_.spec();
    if (prompt.empty())
      return fail(errc::invalid_data,
                  "the prompt is empty, and a text goes on from a token; one "
                  "word would do");
    if (prompt.size() >= spec.context)
      return fail(errc::invalid_data,
                  "the prompt has " + std::to_string(prompt.size())
                    + " tokens, and the model has places for "
                    + std::to_string(spec.context) + "; "
                    + std::to_string(spec.context - 1)
                    + " at most leave room for one more");
    const auto largest = std::ranges::max(prompt);
    if (largest >= spec.vocabulary)
      return fail(errc::invalid_data,
                  "the prompt has token " + std::to_string(largest)
                    + ", and the model has " + std::to_string(spec.vocabulary)
                    + "; a tokenizer of the same model would do");
    return {};
  }

  /// The edge of torch's room: what it throws becomes an error.
  result<std::vector<float>> chances_after(const text_list& texts) {
    try {
      const c10::NoGradGuard no_grad;
      const auto rows = static_cast<std::int64_t>(texts.size());
      const auto tokens = static_cast<std::int64_t>(texts.front().size());
      const auto ids = at::empty({rows, tokens}, at::kLong);
      auto* to = ids.data_ptr<std::int64_t>();
      for (const auto& text : texts)
        to = std::ranges::copy(text, to).out;
      auto& parts = learned_.parts();
      parts.begin({}); // Of the rows before nothing is left.
      const auto hidden = network_.hidden(parts, {.ids = ids});
      const auto table =
        at::log_softmax(network_.logits(parts, hidden.select(1, tokens - 1)), 1)
          .to(at::kFloat)
          .contiguous();
      const auto* first = table.data_ptr<float>();
      return std::vector<float>(first, first + table.numel());
    } catch (const std::exception& x) {
      return fail(errc::invalid_config,
                  "the language model fails on " + std::to_string(texts.size())
                    + " texts of " + std::to_string(texts.front().size())
                    + " tokens: " + first_line(x));
    }
  }

  const language_network& network_;
  learned_parts& learned_;
};

} // namespace

std::unique_ptr<model_continuations>
make_continuations(const language_network& network, learned_parts& learned) {
  if (!network.spec().is_causal() || !network.spec().has_head)
    return nullptr;
  return std::make_unique<beam>(network, learned);
}

} // namespace troupe::models
