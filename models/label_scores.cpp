#include "models/label_scores.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/assert.hpp"

namespace troupe::models {

double matthews(std::span<const std::uint64_t> taken_for, std::size_t classes) {
  TROUPE_ASSERT(taken_for.size() == classes * classes);
  std::vector<double> are(classes), said(classes);
  double all = 0, right = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = 0; j < classes; ++j) {
      const auto count = static_cast<double>(taken_for[i * classes + j]);
      are[i] += count;
      said[j] += count;
      all += count;
      right += i == j ? count : 0;
    }
  double together = 0, squares_are = 0, squares_said = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    together += are[i] * said[i];
    squares_are += are[i] * are[i];
    squares_said += said[i] * said[i];
  }
  const auto below = (all * all - squares_are) * (all * all - squares_said);
  return below > 0 ? (right * all - together) / std::sqrt(below) : 0;
}

void label_report::forget() {
  of_.take_tally();
}

void label_report::add(client_id who) {
  const auto k = who.value - 1;
  TROUPE_ASSERT(k < clients_.test.size());
  const auto& test = clients_.test[k];
  const auto tally = of_.take_tally();
  if (test.empty())
    return;
  ++added_;
  const auto classes = of_.classes();
  // Who mixes what several say may have judged a row twice, or none.
  const auto rows = static_cast<double>(test.size());
  if (tally.rows == test.size()) {
    if (classes > 0)
      found_["matthews"][who] = matthews(tally.taken_for, classes);
    else
      found_["span_f1"][who] = tally.overlap / rows;
  }
  if (tally.told == test.size()) {
    found_["answer_exact"][who] = tally.exact / rows;
    found_["answer_f1"][who] = tally.f1 / rows;
  }
  if (classes > 0)
    add_control(who, clients_.train[k], test);
}

void label_report::add_control(client_id who,
                               std::span<const std::uint32_t> train,
                               std::span<const std::uint32_t> test) {
  const auto counts_of = [this](split part,
                                std::span<const std::uint32_t> rows) {
    std::vector<std::uint64_t> counts(of_.classes());
    for (const auto row : rows)
      ++counts[of_.class_of(part, row)];
    return counts;
  };
  const auto tested = counts_of(split::test, test);
  of_one_class_ += std::ranges::count(tested, std::uint64_t{0}) + 1
                   == static_cast<std::ptrdiff_t>(tested.size());
  if (train.empty()) // Held out: there is nothing that it could know.
    return;
  const auto learned = counts_of(split::train, train);
  const auto most = std::ranges::max_element(learned) - learned.begin();
  found_["majority_accuracy"][who] =
    static_cast<double>(tested[static_cast<std::size_t>(most)])
    / static_cast<double>(test.size());
}

void label_report::put(std::map<std::string, double>& to) const {
  for (const auto& [name, clients] : found_) {
    double sum = 0;
    for (const auto& [client, value] : clients) {
      to[name + '.' + std::to_string(client.value)] = value;
      sum += value;
    }
    to[name] = sum / static_cast<double>(clients.size());
  }
  if (of_.classes() > 0 && added_ > 0)
    to["clients_of_one_class"] = static_cast<double>(of_one_class_);
}

} // namespace troupe::models
