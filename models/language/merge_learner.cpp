#include "models/language/merge_learner.hpp"

#include <algorithm>
#include <tuple>

namespace troupe::models {

namespace {

constexpr std::size_t single_bytes = 256;

} // namespace

merge_learner::merge_learner(const piece_counts& pieces, options how)
  : how_(std::move(how)) {
  how_.least = std::max<std::uint64_t>(how_.least, 1);
  for (std::size_t i = 0; i < single_bytes; ++i)
    token_for(std::string(1, static_cast<char>(static_cast<unsigned char>(i))));
  for (const auto& [piece, count] : pieces) {
    if (piece.size() < 2)
      continue;
    auto& x = words_.emplace_back();
    x.count = count;
    for (const char byte : piece)
      x.ids.push_back(static_cast<unsigned char>(byte));
    const auto at = static_cast<std::uint32_t>(words_.size() - 1);
    for (std::size_t i = 1; i < x.ids.size(); ++i) {
      auto& pair = pairs_[{x.ids[i - 1], x.ids[i]}];
      pair.count += count;
      pair.words.push_back(at);
    }
  }
  for (const auto& [pair, known] : pairs_)
    push(pair);
}

// Later tokens may spell what an earlier one does: they are one.
token_id merge_learner::token_for(const std::string& spelled) {
  const auto [at, is_new] =
    ids_.try_emplace(spelled, static_cast<token_id>(tokens_.size()));
  if (is_new)
    tokens_.push_back(spelled);
  return at->second;
}

void merge_learner::learn() {
  while (tokens_.size() < how_.size && !heap_.empty()) {
    const auto said = heap_.front().count;
    const auto best = pop();
    const auto known = pairs_.find(best);
    if (known == pairs_.end())
      continue;
    if (known->second.count != said) {
      push(best); // It had been counted before others were merged.
      continue;
    }
    const auto spelled = tokens_[best.first] + tokens_[best.second];
    if (how_.forbidden.contains(spelled))
      continue;
    const auto made = token_for(spelled);
    // One that comes to be again, by a token that was spelled anew, has its
    // place already.
    if (merged_.insert(best).second)
      merges_.push_back(best);
    apply(best, made);
  }
}

// Of equals the one that is less as bytes is the better.
bool merge_learner::is_worse(const candidate& x, const candidate& than) const {
  if (x.count != than.count)
    return x.count < than.count;
  return std::tie(tokens_[than.pair.first], tokens_[than.pair.second])
         < std::tie(tokens_[x.pair.first], tokens_[x.pair.second]);
}

void merge_learner::push(merge x) {
  const auto count = pairs_[x].count;
  if (count < how_.least)
    return;
  heap_.push_back({count, x});
  std::ranges::push_heap(
    heap_, [this](const auto& a, const auto& b) { return is_worse(a, b); });
}

merge_learner::merge merge_learner::pop() {
  std::ranges::pop_heap(
    heap_, [this](const auto& a, const auto& b) { return is_worse(a, b); });
  const auto best = heap_.back().pair;
  heap_.pop_back();
  return best;
}

void merge_learner::apply(merge x, token_id made) {
  auto where = std::move(pairs_[x].words);
  std::ranges::sort(where);
  where.erase(std::unique(where.begin(), where.end()), where.end());
  grown_.clear();
  for (const auto at : where)
    rewrite(at, x, made);
  pairs_.erase(x);
  for (const auto& pair : grown_)
    push(pair);
}

// Of a long word little changes at a time: only pairs beside what merges are
// counted anew.
void merge_learner::rewrite(std::uint32_t at, merge x, token_id made) {
  auto& ids = words_[at].ids;
  const auto count = words_[at].count;
  std::size_t kept = 0;
  token_id last = 0;     // What stood before, as it was.
  bool was_made = false; // What stands there now.
  for (std::size_t i = 0; i < ids.size(); ++kept) {
    const auto first = ids[i];
    const bool is_pair =
      i + 1 < ids.size() && first == x.first && ids[i + 1] == x.second;
    const auto now = is_pair ? made : first;
    if (i > 0 && (is_pair || was_made)) {
      pairs_[{last, first}].count -= count;
      const merge pair{ids[kept - 1], now};
      auto& known = pairs_[pair];
      known.count += count;
      known.words.push_back(at);
      grown_.insert(pair);
    }
    if (is_pair)
      pairs_[x].count -= count;
    last = is_pair ? x.second : first;
    ids[kept] = now;
    was_made = is_pair;
    i += is_pair ? 2 : 1;
  }
  ids.resize(kept);
}

} // namespace troupe::models
