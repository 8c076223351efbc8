#include "node/commands/inspect_asked.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iomanip>
#include <map>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

namespace troupe::node {

namespace {

using models::labelled_rows;
using models::split;

/// Rows of one client for one thing.
struct asked_rows {
  std::size_t rows = 0;
  std::size_t without = 0; ///< Of spans: there is no answer.
  std::size_t beyond = 0;  ///< Of spans: it is beyond the context.
  std::size_t cut = 0;     ///< Some of the text is.
  std::size_t tokens = 0;  ///< That are asked for, in all rows.
  std::size_t most = 0;    ///< In one.
  std::size_t things = 0;  ///< Of descriptions: how many are described.
  std::size_t texts = 0;   ///< The most of one thing.

  std::size_t asked() const noexcept {
    return rows - without - beyond;
  }
};

double mean(std::size_t sum, std::size_t of) noexcept {
  return of == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(of);
}

struct part_of_rows {
  const char* name;
  split in;
  const std::vector<std::vector<std::uint32_t>>& clients;
};

std::array<part_of_rows, 3> parts_of(const labelled_rows& data) {
  const auto& all = data.clients();
  return {part_of_rows{"training", split::train, all.train},
          part_of_rows{"validation", split::train, all.own_validation},
          part_of_rows{"test", split::test, all.test}};
}

asked_rows count(const labelled_rows& data, const part_of_rows& part,
                 std::size_t k) {
  asked_rows sum;
  std::map<std::vector<std::int32_t>, std::size_t> things;
  std::vector<std::int32_t> ids(data.context()), targets(data.context());
  for (const auto row : part.clients.at(k)) {
    const auto asked = data.asked_of(part.in, row);
    ++sum.rows;
    sum.cut += data.is_cut(part.in, row) ? 1 : 0;
    if (data.task() == models::text_task::span) {
      sum.without += asked.is_none() ? 1 : 0;
      sum.beyond += asked.is_beyond() ? 1 : 0;
      if (asked.is_none() || asked.is_beyond())
        continue;
    } else {
      data.read(part.in, row, ids, targets);
      const std::vector thing(
        ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(asked.first));
      sum.texts = std::max(sum.texts, ++things[thing]);
    }
    sum.tokens += asked.size();
    sum.most = std::max(sum.most, asked.size());
  }
  sum.things = things.size();
  return sum;
}

void print_row(const asked_rows& x, bool is_span, std::ostream& out) {
  const auto number = [&](int wide, std::size_t value) {
    out << std::setw(wide) << value;
  };
  const auto share = [&](int wide, double value) {
    out << std::setw(wide) << std::fixed << std::setprecision(1) << value;
  };
  if (is_span) {
    number(11, x.asked());
    number(9, x.without);
    number(8, x.beyond);
  } else {
    number(11, x.things);
    share(13, mean(x.rows, x.things));
    number(6, x.texts);
  }
  share(14, mean(x.tokens, x.asked()));
  number(6, x.most);
  number(9, x.cut);
  out << '\n';
}

} // namespace

void print_asked(const labelled_rows& data, std::ostream& out) {
  if (data.task() == models::text_task::classify)
    return;
  const bool is_span = data.task() == models::text_task::span;
  out << "\nclient  rows of     "
      << (is_span ? "answered  without  beyond"
                  : "described  texts, mean  most")
      << "  tokens, mean  most  cut off\n";
  for (std::size_t k = 0; k < data.clients().train.size(); ++k)
    for (const auto& part : parts_of(data)) {
      out << std::setw(6) << k + 1 << "  " << std::left << std::setw(10)
          << part.name << std::right;
      print_row(count(data, part, k), is_span, out);
    }
}

json asked_of_client(const labelled_rows& data, std::size_t k) {
  auto all = json::object();
  for (const auto& part : parts_of(data)) {
    const auto x = count(data, part, k);
    json found{{"rows", x.rows},
               {"tokens_mean", mean(x.tokens, x.asked())},
               {"tokens_most", x.most},
               {"cut_off", x.cut}};
    if (data.task() == models::text_task::span) {
      found["answered"] = x.asked();
      found["without_answer"] = x.without;
      found["answers_beyond"] = x.beyond;
    } else {
      found["described"] = x.things;
      found["texts_mean"] = mean(x.rows, x.things);
      found["texts_most"] = x.texts;
    }
    all[part.name] = std::move(found);
  }
  return all;
}

} // namespace troupe::node
