#pragma once

// The work of one visit, without actors and without torch: what a kernel worker
// is asked for and what it gives back.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/offered_block.hpp"
#include "core/recipe.hpp"
#include "core/result.hpp"
#include "core/values.hpp"
#include "models/client_state.hpp"
#include "models/objective.hpp"

namespace troupe::models {

struct fetched_block {
  block_id block;
  version base;
  shared_values values;

  static constexpr auto fields(auto& x) {
    return std::tie(x.block, x.base, x.values);
  }
};

/// Values that a message discloses, by the name that the recipe declares.
using disclosed = std::map<std::string, std::vector<double>>;

/// One leg's choice, or one visit's training. Owns or shares all that it names,
/// so that it can be computed on another thread while its client is at rest.
struct visit_input {
  visit_id visit;
  std::uint64_t seed = 0;
  double progress = 0; ///< In [0, 1]: drives every schedule.
  std::uint32_t role = 0;
  std::uint32_t leg = 0;              ///< Of `choose`.
  std::vector<fetched_block> fetched; ///< Of all legs so far, sorted by block.
  std::vector<block_id> chosen;       ///< By the last choice; empty: all.
  std::shared_ptr<const client_state> state;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit, x.seed, x.progress, x.role, x.leg, x.fetched,
                    x.chosen, x.state);
  }

  const fetched_block* find(block_id x) const noexcept {
    for (const auto& y : fetched)
      if (y.block == x)
        return &y;
    return nullptr;
  }
};

struct choice {
  std::vector<block_id> chosen; ///< Fetched by the next leg, or offered.
  disclosed disclosures;
};

struct trained {
  std::vector<offered_block> parts; ///< Sorted by block.
  disclosed disclosures;
  client_state next;
  double loss = 0; ///< Mean over the visit's steps; what selection may record.
  std::uint64_t steps = 0;
};

/// Scores of one fixed set of versions.
struct evaluated {
  scores global;     ///< On the whole test set.
  scores validation; ///< On rows that nobody trains on: for `stop`.
  std::map<client_id, scores> per_client; ///< On each client's own test rows.
  /// Likewise on what was set aside of its training rows: for `stop`.
  std::map<client_id, scores> own_validation;
  std::map<std::string, double> method_results;

  static constexpr auto fields(auto& x) {
    return std::tie(x.global, x.validation, x.per_client, x.own_validation,
                    x.method_results);
  }
};

struct evaluation_input {
  std::vector<fetched_block> versions;
  bool per_client = false;
  /// Current states, where personal blocks are to be scored at home.
  std::map<client_id, std::shared_ptr<const client_state>> states;
  bool held_out = false; ///< Those who are never invited, in any case.
  bool aside = true;     ///< What was set aside, too: for `stop`.
  /// What was found of the same versions before; null: nothing. It is not
  /// scored again.
  std::shared_ptr<const evaluated> known = {};
  bool clients_are_known = false; ///< In there: their states are the same.
};

/// What a client that nobody trained on says of its rows, in their order.
struct answers {
  std::vector<std::int64_t> classes;
  /// Which instance of the family `model` said so; empty: there is but one.
  std::vector<std::uint32_t> instances;
};

/// Does the arithmetic of visits. One thread at a time uses an instance, but
/// for `dismiss`; equal inputs give equal bits on every instance of one host.
class trainer {
public:
  virtual ~trainer() = default;

  [[nodiscard]] virtual result<choice> choose(const visit_input& x) = 0;

  /// Several visits in step: of each what it would have come to alone, to the
  /// bit, in the same order. One that fails ends by itself.
  [[nodiscard]] virtual std::vector<result<trained>>
  train(std::span<const visit_input> xs) = 0;

  [[nodiscard]] result<trained> train(const visit_input& x) {
    return std::move(train(std::span{&x, 1}).front());
  }

  [[nodiscard]] virtual result<evaluated>
  evaluate(const evaluation_input& x) = 0;

  /// Examples of a client, and the local steps that a visit of it takes: known
  /// without computing, since the virtual clock asks before the work is done.
  virtual std::uint64_t examples(client_id x) const = 0;
  virtual std::uint64_t steps(const visit_input& x) const = 0;

  /// From any thread, at the end: what is under way is not wanted any more. Who
  /// computes for long stops where it can, with an error.
  virtual void dismiss() noexcept {
    // nop
  }
};

/// One that gains nothing from several.
class one_by_one_trainer : public trainer {
public:
  using trainer::train;

  std::vector<result<trained>> train(std::span<const visit_input> xs) override {
    std::vector<result<trained>> all;
    for (const auto& x : xs)
      all.push_back(train_one(x));
    return all;
  }

  [[nodiscard]] virtual result<trained> train_one(const visit_input& x) = 0;
};

/// Makes one trainer per worker thread; called from several threads.
using trainer_factory = std::function<result<std::unique_ptr<trainer>>()>;

} // namespace troupe::models
