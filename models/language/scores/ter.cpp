#include "models/language/scores/ter.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/language/scores/edit_path.hpp"
#include "models/language/scores/words.hpp"
#include "models/language/unicode.hpp"

namespace troupe::models {

namespace {

// As Tercom bounds what it looks at, and how much in all.
constexpr std::size_t words_moved_max = 10;
constexpr std::size_t distance_max = 50;
constexpr std::size_t moves_tried_max = 1000;

/// Words that stand elsewhere in what was meant.
struct common_run {
  std::size_t said = 0, meant = 0, length = 0;
};

struct move_made {
  std::size_t gain = 0;
  std::size_t length = 0, from = 0, to = 0;
  word_list words;

  /// The greatest gain, of equals the longest run, then the earliest.
  bool is_better_than(const move_made& x) const {
    return std::tuple{gain, length, x.from, x.to}
           > std::tuple{x.gain, x.length, from, to};
  }
};

std::vector<common_run> common_runs(const word_list& said,
                                    const word_list& meant) {
  std::vector<common_run> all;
  for (std::size_t i = 0; i < said.size(); ++i)
    for (std::size_t j = 0; j < meant.size(); ++j) {
      if ((i > j ? i - j : j - i) > distance_max)
        continue;
      for (std::size_t n = 0;
           n < words_moved_max && i + n < said.size() && j + n < meant.size()
           && said[i + n] == meant[j + n];
           ++n)
        all.push_back({.said = i, .meant = j, .length = n + 1});
    }
  return all;
}

bool any(const std::vector<bool>& xs, std::size_t first, std::size_t count) {
  const auto begin = xs.begin() + static_cast<std::ptrdiff_t>(first);
  return std::find(begin, begin + static_cast<std::ptrdiff_t>(count), true)
         != begin + static_cast<std::ptrdiff_t>(count);
}

/// Before the word at `to`, as it is counted before the move. Within itself and
/// right behind, it goes on by as many words as it would have to.
word_list moved(const word_list& words, std::size_t from, std::size_t length,
                std::size_t to) {
  const auto at = [&](std::size_t i) {
    return words.begin()
           + static_cast<std::ptrdiff_t>(std::min(i, words.size()));
  };
  word_list made;
  const auto add = [&](std::size_t first, std::size_t end) {
    made.insert(made.end(), at(first), at(end));
  };
  if (to < from) {
    add(0, to);
    add(from, from + length);
    add(to, from);
    add(from + length, words.size());
    return made;
  }
  const auto end = to > from + length ? to : to + length;
  add(0, from);
  add(from + length, end);
  add(from, from + length);
  add(end, words.size());
  return made;
}

/// Moves what stands elsewhere, as long as that leaves fewer edits.
class edits_with_moves {
public:
  edits_with_moves(word_list said, const word_list& meant)
    : said_(std::move(said)),
      meant_(meant) {
    // nop
  }

  std::size_t count() {
    std::size_t moves = 0;
    for (;;) {
      auto best = best_move();
      // Who has tried so much makes no move of what it found last.
      if (tried_ >= moves_tried_max || !best || best->gain == 0)
        break;
      said_ = std::move(best->words);
      ++moves;
    }
    return moves + edit_path_of(said_, meant_).edits;
  }

private:
  std::optional<move_made> best_move() {
    const auto path = edit_path_of(said_, meant_);
    std::optional<move_made> best;
    for (const auto& run : common_runs(said_, meant_)) {
      // Both sides are wrong as they are, and it is no part of itself.
      if (!any(path.is_wrong_said, run.said, run.length)
          || !any(path.is_wrong_meant, run.meant, run.length))
        continue;
      const auto reached = path.reached[run.meant];
      if (run.said < reached && reached <= run.said + run.length)
        continue;
      try_targets(path, run, best);
      if (tried_ >= moves_tried_max)
        break;
    }
    return best;
  }

  /// Before the run's words that should be, and behind each of them.
  void try_targets(const edit_path& path, const common_run& run,
                   std::optional<move_made>& best) {
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i <= run.length; ++i) {
      const auto place = run.meant + i;
      const auto to = place == 0 ? 0 : path.reached[place - 1];
      if (to == last)
        continue;
      last = to;
      move_made made{.length = run.length,
                     .from = run.said,
                     .to = to,
                     .words = moved(said_, run.said, run.length, to)};
      const auto edits = edit_path_of(made.words, meant_).edits;
      ++tried_;
      if (edits > path.edits)
        continue;
      made.gain = path.edits - edits;
      if (!best || made.is_better_than(*best))
        best = std::move(made);
    }
  }

  word_list said_;
  const word_list& meant_;
  std::size_t tried_ = 0;
};

word_list words_of_ter(std::string_view text) {
  return words_between_spaces(lowercased(text));
}

} // namespace

double corpus_ter(std::span<const said_and_meant> xs) {
  std::size_t edits = 0;
  double words = 0;
  for (const auto& x : xs) {
    const auto said = words_of_ter(x.said);
    std::optional<std::size_t> fewest;
    std::size_t lengths = 0;
    for (const auto& text : x.meant) {
      const auto meant = words_of_ter(text);
      const auto n =
        meant.empty() ? said.size() : edits_with_moves{said, meant}.count();
      fewest = std::min(n, fewest.value_or(n));
      lengths += meant.size();
    }
    edits += fewest.value_or(0);
    if (!x.meant.empty())
      words +=
        static_cast<double>(lengths) / static_cast<double>(x.meant.size());
  }
  if (words > 0)
    return 100 * static_cast<double>(edits) / words;
  return edits > 0 ? 100 : 0;
}

} // namespace troupe::models
