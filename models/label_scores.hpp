#pragma once

// What is said of clients whose rows have classes, beside how many are right: a
// number that is no better for knowing which class is frequent, and what one
// would reach who knows nothing else.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/ids.hpp"
#include "models/data/example_set.hpp"
#include "models/labels.hpp"

namespace troupe::models {

/// The correlation of what rows are with what they were taken for: Matthews',
/// and of more than two classes Gorodkin's. 0 where all are of one class, or
/// were taken for one: then there is nothing to correlate.
/// @pre taken_for.size() == classes * classes
double matthews(std::span<const std::uint64_t> taken_for, std::size_t classes);

/// Collects what becomes of each client's test rows, one client after another.
class label_report {
public:
  /// Both outlive it.
  label_report(model_labels& of, const partition& clients)
    : of_(of),
      clients_(clients) {
    // nop
  }

  /// What was judged so far is of nobody here.
  void forget();

  /// All that was judged since is of this client.
  void add(client_id who);

  /// Of each client by its number, and their means:
  ///   matthews, span_f1, answer_exact, answer_f1: not of a client whose method
  ///     judges rows otherwise;
  ///   majority_accuracy: of who always says the class that most of the
  ///     client's training rows have;
  ///   clients_of_one_class: whose test rows have but one.
  void put(std::map<std::string, double>& to) const;

private:
  void add_control(client_id who, std::span<const std::uint32_t> train,
                   std::span<const std::uint32_t> test);

  model_labels& of_;
  const partition& clients_;
  std::map<std::string, std::map<client_id, double>> found_; ///< By figure.
  std::uint64_t added_ = 0; ///< Clients that have test rows.
  std::uint64_t of_one_class_ = 0;
};

} // namespace troupe::models
