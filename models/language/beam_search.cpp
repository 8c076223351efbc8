#include "models/language/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

struct live_text {
  std::vector<std::uint32_t> tokens; ///< With the prompt.
  double log_chance = 0;
};

/// A text that goes on by a token.
struct next_step {
  double log_chance = 0;
  std::size_t text = 0;
  std::uint32_t token = 0;

  bool is_before(const next_step& x) const noexcept {
    if (log_chance != x.log_chance)
      return log_chance > x.log_chance;
    return text != x.text ? text < x.text : token < x.token;
  }
};

struct ended_text {
  continuation what;
  double worth = 0;
};

class beam_of_texts {
public:
  beam_of_texts(std::span<const std::uint32_t> prompt,
                const continuation_rule& how, std::uint32_t vocabulary)
    : prompt_(prompt.size()),
      how_(how),
      vocabulary_(vocabulary) {
    live_.push_back({.tokens = {prompt.begin(), prompt.end()}});
  }

  result<continuation> run(const next_chances& ask) {
    for (std::uint32_t i = 0; i < how_.tokens_max && !is_done(); ++i) {
      const auto chances = ask(texts());
      if (!chances)
        return tl::make_unexpected(chances.error());
      TROUPE_ASSERT(chances->size() == live_.size() * vocabulary_);
      const auto steps = best_steps(*chances);
      if (steps.empty())
        return fail(errc::invalid_data,
                    "of no token after "
                      + std::to_string(live_.front().tokens.size())
                      + " the model says a chance that is a number; weights "
                        "that are finite would do");
      take(steps);
    }
    // Who was followed in vain when the others had ended is nothing.
    if (!is_done())
      for (const auto& x : live_)
        set_aside(x, false);
    return std::move(ended_.front().what);
  }

private:
  std::vector<std::vector<std::uint32_t>> texts() const {
    std::vector<std::vector<std::uint32_t>> all;
    for (const auto& x : live_)
      all.push_back(x.tokens);
    return all;
  }

  /// Twice as many as are followed: each text may end one way alone, so enough
  /// are left that go on.
  std::vector<next_step> best_steps(const std::vector<float>& chances) const {
    std::vector<next_step> best;
    const auto is_before = [](const next_step& x, const next_step& y) {
      return x.is_before(y);
    };
    const std::size_t most = 2 * std::size_t{how_.beam};
    for (std::size_t text = 0; text < live_.size(); ++text)
      for (std::uint32_t token = 0; token < vocabulary_; ++token) {
        const auto chance =
          static_cast<double>(chances[text * vocabulary_ + token]);
        if (std::isnan(chance))
          continue;
        const next_step x{.log_chance = live_[text].log_chance + chance,
                          .text = text,
                          .token = token};
        if (best.size() == most && !x.is_before(best.back()))
          continue;
        if (best.size() == most)
          best.pop_back();
        best.insert(std::upper_bound(best.begin(), best.end(), x, is_before),
                    x);
      }
    return best;
  }

  void take(const std::vector<next_step>& steps) {
    std::vector<live_text> next;
    for (std::size_t rank = 0; rank < steps.size() && next.size() < how_.beam;
         ++rank) {
      const auto& x = steps[rank];
      live_text to{.tokens = live_[x.text].tokens, .log_chance = x.log_chance};
      if (how_.end && x.token == *how_.end) {
        // An end that is not among the best is none.
        if (rank < how_.beam)
          set_aside(to, true);
        continue;
      }
      to.tokens.push_back(x.token);
      next.push_back(std::move(to));
    }
    live_ = std::move(next);
  }

  /// @param length with the end
  double worth_of(double log_chance, std::size_t length) const {
    return log_chance
           / std::pow(static_cast<double>(std::max<std::size_t>(length, 1)),
                      how_.length_power);
  }

  /// Keeps the best, of equals the first.
  void set_aside(const live_text& x, bool has_ended) {
    const auto length = x.tokens.size() - prompt_;
    ended_text to{.what = {.tokens = {x.tokens.begin()
                                        + static_cast<std::ptrdiff_t>(prompt_),
                                      x.tokens.end()},
                           .log_chance = x.log_chance,
                           .has_ended = has_ended},
                  .worth =
                    worth_of(x.log_chance, length + (has_ended ? 1 : 0))};
    const auto at =
      std::upper_bound(ended_.begin(), ended_.end(), to,
                       [](const ended_text& one, const ended_text& other) {
                         return one.worth > other.worth;
                       });
    ended_.insert(at, std::move(to));
    if (ended_.size() > how_.beam)
      ended_.pop_back();
  }

  bool is_done() const {
    if (live_.empty())
      return true;
    if (ended_.size() < how_.beam)
      return false;
    if (how_.beam == 1)
      return true;
    const auto& best = live_.front();
    return worth_of(best.log_chance, best.tokens.size() - prompt_)
           <= ended_.back().worth;
  }

  std::size_t prompt_;
  continuation_rule how_;
  std::uint32_t vocabulary_;
  std::vector<live_text> live_;
  std::vector<ended_text> ended_; ///< The best first, as many as are followed.
};

} // namespace

result<continuation> search_beam(std::span<const std::uint32_t> prompt,
                                 const continuation_rule& how,
                                 std::uint32_t vocabulary,
                                 const next_chances& ask) {
  TROUPE_ASSERT(how.beam > 0 && !prompt.empty() && vocabulary > 0);
  return beam_of_texts{prompt, how, vocabulary}.run(ask);
}

} // namespace troupe::models
