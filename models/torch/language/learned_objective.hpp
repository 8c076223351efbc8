#pragma once

// What objectives over rows of tokens have in common: a base with what is
// learned of it, passes of rows, gradients that are kept, and the edge of
// torch's room. What their loss is they say themselves.

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"
#include "models/torch/language/learned_parts.hpp"
#include "models/torch/language/network.hpp"
#include "models/torch/language/passes.hpp"
#include "models/torch/network.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

class learned_objective : public objective {
public:
  using row_numbers = std::span<const std::uint32_t>;

  /// @pre the rows fit the base
  learned_objective(const language_config& config,
                    std::shared_ptr<const language_base> base,
                    std::shared_ptr<const token_rows> from);

  const tensor_list& parameter_list() const noexcept override {
    return learned_->list();
  }

  const tensor_list& buffer_list() const noexcept override {
    return no_buffers_;
  }

  std::span<float> parameters() noexcept override {
    return learned_->values();
  }

  std::span<float> gradient() noexcept override {
    return learned_->slopes();
  }

  std::span<float> buffers() noexcept override {
    return {};
  }

  inner_adapters* inside() noexcept override {
    return learned_->inside();
  }

  std::vector<float> initial_parameters(std::uint64_t seed) override {
    return learned_->initial(seed);
  }

  std::vector<float> initial_buffers() override {
    return {};
  }

protected:
  const language_config& config() const noexcept {
    return config_;
  }

  const language_network& network() const noexcept {
    return *network_;
  }

  learned_parts& learned() noexcept {
    return *learned_;
  }

  const token_rows& rows() const noexcept {
    return *rows_;
  }

  /// In training: so many go forward together.
  std::vector<language_pass> passes(row_numbers which) const {
    return passes_of(*rows_, split::train, which, rows_at_once(which));
  }

  /// Several passes would be as many graphs, all of them at once.
  bool can_keep(row_numbers which) const noexcept {
    return which.size() <= rows_at_once(which) && learned_->can_be_kept();
  }

  /// Adds the slopes of a loss of so many rows.
  std::unique_ptr<kept_gradient> keep(const at::Tensor& loss, std::size_t rows);

  /// Adds what the slopes of a loss change by along a direction.
  void bend(const at::Tensor& loss, std::span<const float> direction);

  /// Slopes that were added lie where the gradient is read.
  void check_places();

  /// Rows of a pass of scoring, at most.
  std::size_t scored_at_once() const noexcept {
    return config_.micro_batch > 0 ? config_.micro_batch : rows_of_scoring;
  }

  /// Calls f(some of the rows) until all had their turn, as scoring does.
  template <class Function>
  result<void> for_scoring(row_numbers which, Function f) {
    while (!which.empty()) {
      const auto some = which.first(std::min(which.size(), scored_at_once()));
      which = which.subspan(some.size());
      if (auto done = guarded(some.size(), [&] { return f(some); }); !done)
        return done;
    }
    return {};
  }

  /// As below, and a step after an error starts from nothing.
  template <class Function>
  auto guarded_step(std::size_t count, Function f) -> decltype(f()) {
    auto done = guarded(count, std::move(f));
    if (!done)
      forget();
    return done;
  }

  /// The edge of torch's room: what it throws becomes an error.
  template <class Function>
  auto guarded(std::size_t count, Function f) -> decltype(f()) {
    use_one_thread_per_worker();
    try {
      return f();
    } catch (const std::exception& x) {
      return fail(errc::invalid_config, "the language model fails on a batch "
                                        "of "
                                          + std::to_string(count)
                                          + " rows: " + first_line(x));
    }
  }

private:
  static constexpr std::size_t rows_of_scoring = 8;

  std::size_t rows_at_once(row_numbers which) const noexcept {
    return config_.micro_batch > 0 ? config_.micro_batch : which.size();
  }

  void forget();

  language_config config_;
  std::unique_ptr<language_network> network_;
  std::unique_ptr<learned_parts> learned_;
  std::shared_ptr<const token_rows> rows_;
  tensor_list no_buffers_;
};

} // namespace troupe::models
