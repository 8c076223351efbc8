#pragma once

// What visits and scores of one task have in common: who has data here, and
// which method plays which part.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "models/embedder.hpp"
#include "models/local_trainer.hpp"
#include "policies/invitations.hpp"

namespace troupe::models {

/// Null where there is no method of this name, or it has no such part.
template <class Part>
auto part_of(const method_table& xs, const std::string& name, Part part) {
  const auto found = xs.find(name);
  return found == xs.end() ? nullptr : found->second.*part;
}

/// The common model, live with its values; null where the task has none.
/// Returns `invalid_config` if it has no embeddings, and `invalid_argument` if
/// its values are not here, or others than it has.
result<std::unique_ptr<embedder>> embedder_of(const local_task& task);

class local_site {
public:
  /// @param common null: the recipe has no common model
  local_site(std::shared_ptr<const local_task> task,
             std::unique_ptr<kernels::backend> arithmetic,
             std::unique_ptr<embedder> common = nullptr)
    : task_(std::move(task)),
      arithmetic_(std::move(arithmetic)),
      common_(std::move(common)) {
    // nop
  }

  const local_task& task() const noexcept {
    return *task_;
  }

  kernels::backend& arithmetic() const noexcept {
    return *arithmetic_;
  }

  bool knows(client_id x) const noexcept {
    return x.value >= 1 && x.value <= task_->clients.train.size();
  }

  /// A client's training examples. Nobody has none.
  std::span<const std::uint32_t> rows_of(client_id x) const {
    using rows = std::span<const std::uint32_t>;
    return knows(x) ? rows{task_->clients.train[x.value - 1]} : rows{};
  }

  /// @param progress of the run, in [0, 1]
  /// @param state the client's; null: none yet
  local_problem problem(objective& model, double progress,
                        std::span<const std::uint32_t> rows, double weight,
                        const client_state* state = nullptr) const;

  /// A part of the method of a client's role; null: it has none. Nobody has the
  /// role of those who are no members of any.
  template <class Part>
  Part of_role(client_id x, Part local_method::*part) const {
    const auto role = policies::role_of(x, task_->method.roles);
    if (!role || *role >= task_->method.roles.size())
      return nullptr;
    return part_of(task_->table, task_->method.roles[*role].procedure.value,
                   part);
  }

  /// Those of all roles together, each once.
  template <class Part>
  std::vector<Part> of_roles(Part local_method::*part) const {
    std::vector<Part> all;
    for (const auto& role : task_->method.roles)
      if (const auto found = part_of(task_->table, role.procedure.value, part);
          found && std::ranges::find(all, found) == all.end())
        all.push_back(found);
    return all;
  }

private:
  std::shared_ptr<const local_task> task_;
  std::unique_ptr<kernels::backend> arithmetic_;
  std::unique_ptr<embedder> common_;
};

} // namespace troupe::models
