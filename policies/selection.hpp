#pragma once

// Which clients a window of invitations holds. Each kind of selection is a
// function of its arguments alone, so that an invitation depends on the seed,
// its number, the roster and the recorded scores, and on nothing that a queue
// happens to hold.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/ids.hpp"

namespace troupe::policies {

/// One client of the roster, with what its earlier visits recorded.
struct candidate {
  client_id client;
  std::uint64_t examples = 0;
  double utility = 0; ///< Of its last visit; see `statistical_utility`.
  double loss = 0;    ///< Of its last visit.
  std::uint64_t times_chosen = 0;
  bool scored = false; ///< False: `utility` and `loss` say nothing yet.

  static constexpr auto fields(auto& x) {
    return std::tie(x.client, x.examples, x.utility, x.loss, x.times_chosen,
                    x.scored);
  }

  friend bool operator==(const candidate&, const candidate&) = default;
};

/// Every client with the same probability.
struct uniform_selection {};

/// In the order of their ids, window after window, around and around.
struct round_robin_selection {};

/// A client's probability is proportional to its number of examples.
struct by_size_selection {};

/// Power of choice (Cho et al. 2020): draws `considered` candidates by size and
/// keeps those with the highest recorded loss. Who has none yet comes first.
struct power_of_choice_selection {
  std::uint32_t considered = 0; ///< The paper's d; 0: twice the window.
};

/// Guided selection in the manner of Oort (Lai et al. 2021), from recorded
/// scores only. A share of the window explores clients without a score,
/// uniformly; the rest is drawn in proportion to utility among those near the
/// best. The share begins at `exploration` and shrinks with every window down
/// to `exploration_min`.
struct oort_selection {
  double exploration = 0.9;
  double exploration_decay = 0.98;
  double exploration_min = 0.2;
  double cut_off = 0.95; ///< Share of the last place's utility that suffices.
  double clip_quantile =
    0.95; ///< Outliers count as this quantile of utilities.
  std::uint64_t times_max =
    0; ///< Who was chosen as often is left out; 0: nobody.
};

/// Those that were chosen least often, by lot among equals. Who is seldom here
/// is chosen when it is, so that in the end a model has not learned most from
/// those who are always here.
struct least_chosen_selection {};

/// The closed set that a configuration can name.
using selection = std::variant<uniform_selection, round_robin_selection,
                               by_size_selection, power_of_choice_selection,
                               oort_selection, least_chosen_selection>;

/// What a visit shows about a client, in Oort's form.
struct visit_score {
  std::uint64_t examples = 0;
  double loss = 0;
  double seconds = 0;           ///< That the visit took.
  double seconds_preferred = 0; ///< 0: no visit is too slow.
  double penalty = 2;           ///< The paper's alpha.
};

/// n * |loss|, times (preferred / taken)^penalty if the visit was too slow.
double statistical_utility(const visit_score& x) noexcept;

class size_tree;

/// The clients of a window, in the order of their invitations: at most `count`,
/// none twice, all of them candidates. Fewer only if there are fewer.
/// @param sizes of the candidates; null: they are added up for this draw
/// @pre `candidates` are sorted by client, without repetition; `window` is not
/// 0
std::vector<client_id> draw_window(const selection& how, std::uint64_t seed,
                                   round_number window,
                                   std::span<const candidate> candidates,
                                   std::size_t count,
                                   size_tree* sizes = nullptr);

} // namespace troupe::policies
