#pragma once

// What models of labelled rows have in common: a base with a head, passes of
// rows, and a loss of each row. What the head says, and what is right, they say
// themselves.

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "models/language/base.hpp"
#include "models/language/language_config.hpp"
#include "models/language/token_rows.hpp"
#include "models/objective.hpp"
#include "models/torch/curvature.hpp"
#include "models/torch/language/learned_parts.hpp"
#include "models/torch/language/network.hpp"
#include "models/torch/language/passes.hpp"
#include "models/torch/network.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

class labelled_objective : public objective {
public:
  using row_numbers = std::span<const std::uint32_t>;

  /// @pre the base has a head, and the rows fit it
  labelled_objective(const language_config& config,
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

  result<double> backward(row_numbers which, std::uint64_t seed) override;
  result<void> curve(row_numbers which, std::uint64_t seed,
                     std::span<const float> direction) override;
  result<kept_loss> backward_and_keep(row_numbers which,
                                      std::uint64_t seed) override;
  result<scores> evaluate(split part, row_numbers which) override;

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
  /// What the head says of a pass, the first extent its rows.
  virtual at::Tensor say_pass(const language_pass& x) = 0;

  /// Of each row.
  virtual at::Tensor losses(const at::Tensor& said,
                            const language_pass& x) const = 0;

  /// Rows of a pass, without a graph.
  virtual scores score(split part, row_numbers which, const at::Tensor& said,
                       const language_pass& x) = 0;

  /// What goes into the head: [rows x tokens x width].
  at::Tensor states_of(const language_pass& x) {
    learned_->parts().begin({.there = x.x.there, .is_kept = x.is_kept});
    return network_->hidden(learned_->parts(), x.x);
  }

  at::Tensor head(const at::Tensor& states) {
    return learned_->parts().product(head_at_, head_at_ + 1, states);
  }

  const language_spec& spec() const noexcept {
    return network_->spec();
  }

  const token_rows& rows() const noexcept {
    return *rows_;
  }

  bool learns() const noexcept {
    return learned_->learns();
  }

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

  /// In training: so many go forward together.
  std::vector<language_pass> passes(row_numbers which) const {
    return passes_of(*rows_, split::train, which, rows_at_once(which));
  }

  /// A step after an error starts from nothing.
  void forget();

  /// The edge of torch's room: what it throws becomes an error.
  template <class Function>
  auto guarded(std::size_t count, Function f) -> decltype(f()) {
    use_one_thread_per_worker();
    try {
      return f();
    } catch (const std::exception& x) {
      return fail(errc::invalid_config, "the model of labelled rows fails on a "
                                        "batch of "
                                          + std::to_string(count)
                                          + " rows: " + first_line(x));
    }
  }

private:
  static constexpr std::size_t rows_of_scoring = 8;

  std::size_t rows_at_once(row_numbers which) const noexcept {
    return config_.micro_batch > 0 ? config_.micro_batch : which.size();
  }

  /// Of a gradient that was kept of so many rows.
  result<void> bend(slope_graph& slopes, std::size_t rows,
                    std::span<const float> direction);

  language_config config_;
  std::unique_ptr<language_network> network_;
  std::unique_ptr<learned_parts> learned_;
  std::shared_ptr<const token_rows> rows_;
  std::size_t head_at_; ///< Its matrix; behind it are the biases.
  tensor_list no_buffers_;
};

} // namespace troupe::models
