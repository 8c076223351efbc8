#pragma once

// What clients are worth at another moment than the one at which they are
// scored: before what they share is merged with others', or after.

#include <map>
#include <string>
#include <string_view>

#include "models/methods/local_method.hpp"
#include "models/objective.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

/// What each client is worth on rows of its own, and in the mean.
class worth_of_clients {
public:
  /// @param moment `left`, `merged`, or `validation` of other rows
  explicit worth_of_clients(std::string_view moment) : moment_(moment) {
    // nop
  }

  void add(client_id client, const scores& x) {
    all_[client] = x;
  }

  /// Writes `loss_MOMENT`, the mean over clients of their mean losses, and of a
  /// model of tokens `perplexity_MOMENT`, of one whose rows are right or wrong
  /// `accuracy_MOMENT`, also where none is right; the last of these also of
  /// each client, as `accuracy_MOMENT.K`. Nothing where nobody was added.
  void put(objective& model, std::map<std::string, double>& to) const;

private:
  std::string moment_;
  std::map<client_id, scores> all_;
};

/// The same of methods whose clients are scored as a visit left them, with what
/// was merged since, as `merged`: of those that have trained.
/// @param home makes live what a client would have with what is merged
void score_merged(const evaluation_input& x, const local_problem& on,
                  task<done> (*home)(visit& v), evaluated& to);

/// Whether its scores are of tokens: other models that take adapters inside
/// have outputs, or labels.
bool foretells_tokens(objective& model) noexcept;

/// Which stays a number whatever the loss is.
double finite_perplexity(const scores& x) noexcept;

} // namespace troupe::models
