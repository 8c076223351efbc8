#include "models/language/scores/edit_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t beside_diagonal = 25;

enum class edit : std::uint8_t { none, keep, replace, leave_out, put_in };

struct edit_cell {
  std::size_t cost = std::numeric_limits<std::size_t>::max();
  edit last = edit::none;
};

/// Rows are words that are there, columns those that should be.
class edit_table {
public:
  edit_table(const word_list& said, const word_list& meant)
    : columns_(meant.size() + 1),
      cells_((said.size() + 1) * columns_) {
    for (std::size_t j = 0; j < columns_; ++j)
      cells_[j] = {.cost = j, .last = edit::put_in};
    const auto steep = said.empty() ? 1.0
                                    : static_cast<double>(meant.size())
                                        / static_cast<double>(said.size());
    // Rows must overlap, however unequal the lengths are.
    const auto beside = static_cast<double>(beside_diagonal) < steep / 2
                          ? static_cast<std::size_t>(std::ceil(
                            steep / 2 + static_cast<double>(beside_diagonal)))
                          : beside_diagonal;
    for (std::size_t i = 1; i <= said.size(); ++i) {
      const auto middle =
        static_cast<std::size_t>(std::floor(static_cast<double>(i) * steep));
      const auto first = middle > beside ? middle - beside : 0;
      const auto end =
        i == said.size() ? columns_ : std::min(columns_, middle + beside);
      for (auto j = first; j < end; ++j)
        fill(i, j, j > 0 && said[i - 1] == meant[j - 1]);
    }
  }

  const edit_cell& at(std::size_t i, std::size_t j) const {
    return cells_[i * columns_ + j];
  }

private:
  void fill(std::size_t i, std::size_t j, bool are_equal) {
    if (j > 0) {
      improve(i, j, at(i - 1, j - 1).cost, are_equal ? 0 : 1,
              are_equal ? edit::keep : edit::replace);
      improve(i, j, at(i - 1, j).cost, 1, edit::leave_out);
      improve(i, j, at(i, j - 1).cost, 1, edit::put_in);
    } else {
      improve(i, j, at(i - 1, j).cost, 1, edit::leave_out);
    }
  }

  /// Of equals the one that was there first.
  void improve(std::size_t i, std::size_t j, std::size_t before,
               std::size_t more, edit by) {
    auto& x = cells_[i * columns_ + j];
    if (before != edit_cell{}.cost && before + more < x.cost)
      x = {.cost = before + more, .last = by};
  }

  std::size_t columns_;
  std::vector<edit_cell> cells_;
};

std::vector<edit> edits_of(const edit_table& table, std::size_t i,
                           std::size_t j) {
  std::vector<edit> backwards;
  while (i > 0 || j > 0) {
    const auto last = table.at(i, j).last;
    TROUPE_ASSERT(last != edit::none);
    backwards.push_back(last);
    i -= last != edit::put_in;
    j -= last != edit::leave_out;
  }
  std::ranges::reverse(backwards);
  return backwards;
}

} // namespace

edit_path edit_path_of(const word_list& said, const word_list& meant) {
  TROUPE_ASSERT(!meant.empty());
  const edit_table table{said, meant};
  edit_path path{.edits = table.at(said.size(), meant.size()).cost};
  std::size_t i = 0;
  for (const auto x : edits_of(table, said.size(), meant.size())) {
    if (x != edit::put_in) {
      ++i;
      path.is_wrong_said.push_back(x != edit::keep);
    }
    if (x != edit::leave_out) {
      path.is_wrong_meant.push_back(x != edit::keep);
      path.reached.push_back(i);
    }
  }
  return path;
}

} // namespace troupe::models
