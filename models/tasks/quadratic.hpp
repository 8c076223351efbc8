#pragma once

// A federation that can be solved with pencil and paper: client k has
//
//   f_k(w) = 1/2 (w - c_k)^T A_k (w - c_k),   A_k diagonal and positive.
//
// Clients differ in c_k and in A_k, so plain averaging after several local
// steps stops beside the optimum, at a point that is known in closed form.
// Whoever has a sign or a weight wrong does not arrive at either.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/aligned.hpp"
#include "models/data/example_set.hpp"
#include "models/embeddings.hpp"
#include "models/objective.hpp"
#include "models/outputs.hpp"

namespace troupe::models {

struct quadratic_options {
  std::uint64_t seed = 1;
  std::size_t dimension = 10;
  std::size_t clients = 10;
  std::size_t rows_per_client = 1;
  double heterogeneity = 1; ///< Standard deviation of c_k's coordinates.
  double conditioning = 10; ///< Curvatures are log-uniform in [1 / this, 1].
  double noise = 0; ///< Standard deviation of a training row around its c_k.
};

/// What all clients hold together, drawn from a seed. Training row r belongs to
/// client r / rows_per_client and pulls towards its own centre, c_k with noise.
/// The test set has one row per client: f_k itself.
struct quadratic_problem {
  quadratic_options how;
  std::vector<double> curvature;  ///< Client-major: A_k's diagonal.
  std::vector<double> centre;     ///< Client-major: c_k.
  std::vector<double> row_centre; ///< Row-major, of the training set.

  std::size_t rows() const noexcept {
    return how.clients * how.rows_per_client;
  }

  /// The mean centre of a client's training rows: the minimum of what it trains
  /// on.
  std::vector<double> mean_centre(std::size_t client) const;
};

/// @pre dimension, clients and rows_per_client are positive, conditioning is at
///      least 1, heterogeneity and noise are not negative.
std::shared_ptr<const quadratic_problem>
make_quadratic_problem(const quadratic_options& how);

/// Each client holds its own rows of both sets.
partition partition_of(const quadratic_problem& x);

/// The minimum of the sum of p_k f_k over the training rows. Setting the
/// gradient, the sum of p_k A_k (w - c_k), to zero gives per coordinate
///   w = (sum of p_k a_k c_k) / (sum of p_k a_k).
/// @pre one positive weight per client
std::vector<double> optimum(const quadratic_problem& x,
                            std::span<const double> weights);

struct local_descent {
  double rate = 0.1;
  std::uint64_t steps = 1; ///< Full-batch gradient steps of a visit.
};

/// Where FedAvg with all clients in each round stops. A step maps w - c_k to
/// (1 - rate a_k)(w - c_k), so a visit ends in c_k + q_k (w - c_k) with
/// q_k = (1 - rate a_k)^steps. That the mean of these is w again means
///   w = (sum of p_k (1 - q_k) c_k) / (sum of p_k (1 - q_k)).
/// With one step this is the optimum; with more it is biased towards the
/// clients whose curvature is small. @pre one positive weight per client; rate
/// a_k < 2
std::vector<double> fixed_point_of_averaging(const quadratic_problem& x,
                                             std::span<const double> weights,
                                             const local_descent& how);

/// The quadratic as an objective without buffers, whose coordinates are two
/// tensors where there are two. What it says of any row is its point, and a
/// row's embedding is where it pulls to, whatever the point.
class quadratic : public objective,
                  public model_outputs,
                  public model_embeddings {
public:
  explicit quadratic(std::shared_ptr<const quadratic_problem> problem);

  const tensor_list& parameter_list() const noexcept override;
  const tensor_list& buffer_list() const noexcept override;
  std::span<float> parameters() noexcept override;
  std::span<float> gradient() noexcept override;
  std::span<float> buffers() noexcept override;
  result<double> backward(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override;
  result<void> curve(std::span<const std::uint32_t> rows, std::uint64_t seed,
                     std::span<const float> direction) override;
  result<scores> evaluate(split part,
                          std::span<const std::uint32_t> rows) override;
  std::vector<float> initial_parameters(std::uint64_t seed) override;
  std::vector<float> initial_buffers() override;

  model_outputs* outputs() noexcept override {
    return this;
  }

  output_kind kind() const noexcept override {
    return output_kind::numbers;
  }

  std::size_t size() const noexcept override {
    return parameters_.size();
  }

  result<void> say(split part, std::span<const std::uint32_t> rows,
                   std::span<float> out) override;
  result<utterance> speak(std::span<const std::uint32_t> rows,
                          std::uint64_t seed) override;
  judgement judge(split part, std::span<const std::uint32_t> rows,
                  std::span<const float> outputs,
                  std::span<float> slopes) const override;

  model_embeddings* embeddings() noexcept override {
    return this;
  }

  std::size_t width() const noexcept override {
    return parameters_.size();
  }

  result<void> embed(split part, std::uint32_t row,
                     std::span<float> out) override;

private:
  std::shared_ptr<const quadratic_problem> problem_;
  tensor_list parameter_list_;
  tensor_list buffer_list_;
  aligned_floats parameters_;
  aligned_floats gradient_;
  std::vector<double> sum_; // Of the gradients of a batch.
};

} // namespace troupe::models
