#include "node/commands/inspect_labelled.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/labelled_rows.hpp"
#include "node/commands/inspect_asked.hpp"
#include "node/task/labelled.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

using models::labelled_rows;

std::vector<std::uint64_t> label_counts(const labelled_rows& data,
                                        models::split part,
                                        std::span<const std::uint32_t> rows) {
  std::vector<std::uint64_t> counts(data.labels().size());
  for (const auto row : rows)
    ++counts[data.label_of(part, row)];
  return counts;
}

/// One client's rows.
struct client_labels {
  std::vector<std::uint64_t> train;
  std::vector<std::uint64_t> test;
  std::size_t validation = 0;
  std::size_t most = 0; ///< The label that most of its training rows have.
  /// Of its test rows, those with that label.
  double majority = 0;
};

client_labels labels_of(const labelled_rows& data, std::size_t k) {
  const auto& clients = data.clients();
  client_labels x{
    .train = label_counts(data, models::split::train, clients.train[k]),
    .test = label_counts(data, models::split::test, clients.test[k]),
    .validation = clients.own_validation[k].size()};
  x.most = static_cast<std::size_t>(std::ranges::max_element(x.train)
                                    - x.train.begin());
  if (const auto all = clients.test[k].size(); all > 0)
    x.majority = static_cast<double>(x.test[x.most]) / static_cast<double>(all);
  return x;
}

std::size_t labels_in(const std::vector<std::uint64_t>& counts) {
  return counts.size()
         - static_cast<std::size_t>(
           std::ranges::count(counts, std::uint64_t{0}));
}

/// Of all clients, what they validate and are tested with among it; the most
/// frequent first, and only so many.
void print_labels(const labelled_rows& data, std::ostream& out) {
  constexpr std::size_t shown_max = 20;
  const auto& clients = data.clients();
  std::vector<std::uint64_t> counts(data.labels().size());
  const auto add = [&](models::split part, const auto& lists) {
    for (const auto& rows : lists) {
      const auto more = label_counts(data, part, rows);
      for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] += more[i];
    }
  };
  add(models::split::train, clients.train);
  add(models::split::train, clients.own_validation);
  add(models::split::test, clients.test);
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return counts[i]; });
  out << "\nrows by label: ";
  for (std::size_t i = 0; i < std::min(shown_max, order.size()); ++i)
    out << (i > 0 ? ", " : "")
        << in_quotes(printable(shortened(data.labels()[order[i]]))) << ' '
        << counts[order[i]];
  if (order.size() > shown_max)
    out << ", and " << so_many(order.size() - shown_max, "other label");
  out << '\n';
}

/// @param aside files of nobody
void print(const labelled_rows& data, const std::vector<std::string>& aside,
           std::ostream& out) {
  const auto& clients = data.clients();
  out << clients.train.size()
      << (clients.train.size() == 1 ? " client, " : " clients, ")
      << data.labels().size() << " labels, rows of " << data.context()
      << " tokens out of " << data.vocabulary() << "; "
      << data.dropped_paragraphs() << " repeated paragraphs and "
      << data.left_out() << " rows are left out";
  if (data.beyond() > 0)
    out << ", " << data.beyond()
        << (data.task() == models::text_task::span
              ? " of them with an answer that is not wholly within the "
                "context, or no token of the text there"
              : " of them without a token of the text within the context");
  if (data.in_pairs() > 0)
    out << ", " << data.in_pairs() << " rows are of two texts";
  for (const auto& [user, count] : data.emptied())
    out << "; of user " << in_quotes(printable(shortened(user))) << ' ' << count
        << (count == 1 ? " text is" : " texts are")
        << " blank, or repeated as a whole, and left out";
  if (!aside.empty())
    out << '\n' << about_files(aside);
  out << "\n\nclient     rows  labels  validation     test  "
         "majority  of\n";
  for (std::size_t k = 0; k < clients.train.size(); ++k) {
    const auto x = labels_of(data, k);
    out << std::setw(6) << k + 1 << std::setw(9) << clients.train[k].size()
        << std::setw(8) << labels_in(x.train) << std::setw(12) << x.validation
        << std::setw(9) << clients.test[k].size() << std::setw(9) << std::fixed
        << std::setprecision(1) << 100 * x.majority << "%  "
        << printable(shortened(data.labels()[x.most])) << '\n';
  }
  if (data.task() == models::text_task::classify)
    print_labels(data, out);
  print_asked(data, out);
}

json described(const labelled_rows& data,
               const std::vector<std::string>& aside) {
  auto clients = json::array();
  for (std::size_t k = 0; k < data.clients().train.size(); ++k) {
    const auto x = labels_of(data, k);
    json client{{"client", k + 1},
                {"rows", data.clients().train[k].size()},
                {"validation_rows", x.validation},
                {"test_rows", data.clients().test[k].size()},
                {"train_labels", x.train},
                {"test_labels", x.test},
                {"majority", data.labels()[x.most]},
                {"majority_accuracy", x.majority}};
    if (data.task() != models::text_task::classify)
      client["asked"] = asked_of_client(data, k);
    clients.push_back(std::move(client));
  }
  auto emptied = json::object();
  for (const auto& [user, count] : data.emptied())
    emptied.add(user, count);
  return {{"success", true},
          {"context", data.context()},
          {"vocabulary", data.vocabulary()},
          {"labels", data.labels()},
          {"dropped_paragraphs", data.dropped_paragraphs()},
          {"rows_left_out", data.left_out()},
          {"texts_emptied", std::move(emptied)},
          {"rows_beyond_context", data.beyond()},
          {"rows_in_pairs", data.in_pairs()},
          {"files_of_nobody", aside},
          {"digest", models::to_hex(data.content())},
          {"clients", std::move(clients)}};
}

} // namespace

exit_code inspect_labelled(const experiment& x, bool json, streams io) {
  const auto data = told_while(io.err, "reading the texts",
                               [&](const auto&) { return load_labelled(x); });
  if (!data)
    return report(data.error(), json, io);
  const auto aside = files_left_out(x.data);
  if (json)
    io.out << described(**data, aside).dump(2) << '\n';
  else
    print(**data, aside, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
