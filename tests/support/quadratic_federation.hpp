#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/embedder.hpp"
#include "models/local_trainer.hpp"
#include "models/tasks/quadratic.hpp"
#include "tests/support/reference_loop.hpp"

namespace troupe::test {

struct quadratic_setting {
  recipe method;
  models::training_options how = {};
  models::quadratic_options problem = {};
  kernels::server_step server = {};
  models::attack attackers = {};
  std::size_t in_step = 1; ///< Visits.
  std::size_t bytes_in_step = std::size_t{1} << 30;
  /// The training rows of each client, whose others are for validation; empty:
  /// as many as the problem has.
  std::vector<std::size_t> rows = {};
  /// Makes another objective of the problem; null: the quadratic itself.
  std::function<std::unique_ptr<models::objective>(
    std::shared_ptr<const models::quadratic_problem>)>
    make_model = {};
  /// Makes another backend; null: the one on the CPU.
  std::function<std::unique_ptr<kernels::backend>()> make_arithmetic = {};
  models::method_table methods = {}; ///< Beside those that are built in.
  /// First values of families that only the test knows, each of one tensor.
  std::map<std::string, std::vector<float>> families = {};
  std::map<std::string, std::vector<float>> frozen = {};
  /// First values of blocks, by name, in the place of those that are drawn.
  std::map<std::string, std::vector<float>> initial = {};
};

/// Clients on quadratics, in the plain loop. Where the method has a common
/// model that is a quadratic of the same problem, whose embeddings are the
/// centres of rows, unless the test brings a gate of its own.
class quadratic_federation {
public:
  explicit quadratic_federation(quadratic_setting how);

  /// One round with all clients, in order.
  void round();

  /// One round with these, in this order.
  void round(const std::vector<std::uint64_t>& clients);

  void rounds(int count) {
    for (int i = 0; i < count; ++i)
      round();
  }

  /// The largest distance of a coordinate of the shared model to `w`.
  double distance_to(const std::vector<double>& w) const;

  const value_view& model() const {
    return loop_->values("model");
  }

  const models::quadratic_problem& problem() const {
    return *problem_;
  }

  models::trainer& trainer() {
    return *trainer_;
  }

  reference_loop& loop() {
    return *loop_;
  }

  const models::layout& blocks() const {
    return task_->blocks;
  }

  const std::shared_ptr<const models::local_task>& task() const {
    return task_;
  }

  /// Null if the method has none.
  std::unique_ptr<models::embedder> common_model() const;

  /// A visit to the heads, ready to train.
  models::visit_input visit(std::uint64_t client, std::uint64_t seed) const;

  /// Equal weights of all clients.
  std::vector<double> ones() const {
    return std::vector<double>(problem_->how.clients, 1.0);
  }

private:
  std::shared_ptr<const models::quadratic_problem> problem_;
  std::shared_ptr<const models::local_task> task_;
  std::unique_ptr<models::trainer> trainer_;
  std::unique_ptr<reference_loop> loop_;
  std::uint64_t round_ = 0;
};

} // namespace troupe::test
