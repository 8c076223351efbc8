#include "actors/assessor/inquest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/assert.hpp"
#include "core/limits.hpp"

namespace troupe::actors {

namespace {

/// So many are kept until it is known who was asked, in some MB.
constexpr std::size_t early_scores_max = std::size_t{1} << 16;

bool is_credible(const models::scores& x) noexcept {
  return x.correct <= x.count && x.count <= messages::told_score::rows_max
         && std::abs(x.loss) <= limits::loss_max * static_cast<double>(x.count);
}

models::scores of_test(const messages::told_score& x) {
  return {.loss = x.loss, .correct = x.correct, .count = x.count};
}

models::scores of_aside(const messages::told_score& x) {
  return {
    .loss = x.aside_loss, .correct = x.aside_correct, .count = x.aside_count};
}

} // namespace

bool is_credible(const messages::told_score& x) noexcept {
  return is_credible(of_test(x)) && is_credible(of_aside(x));
}

void inquest::asked(const messages::scores_under_way& x) {
  if (x.question != question_)
    return;
  for (const auto& process : x.asked)
    for (const auto client : process.clients)
      missing_.emplace(client, process.peer);
  count_ = missing_.size();
  asked_ = true;
  for (const auto& [from, all] : std::exchange(early_, {}))
    for (const auto& early : all.what)
      heard(early);
}

void inquest::scored(models::evaluated x) {
  scores_ = std::move(x);
  scores_.own_validation.clear();
  scored_ = true;
}

// The connection that says most loses all of it where there is no room, and no
// other does.
void inquest::keep(const messages::scores_heard& x) {
  if (x.what.scores.empty())
    return;
  auto& own = early_[x.from];
  own.what.push_back(x);
  own.scores += x.what.scores.size();
  early_scores_ += x.what.scores.size();
  if (early_scores_ <= early_scores_max)
    return;
  const auto most = std::ranges::max_element(
    early_, {}, [](const auto& y) { return y.second.scores; });
  early_scores_ -= most->second.scores;
  early_.erase(most);
}

std::size_t inquest::heard(const messages::scores_heard& x) {
  std::size_t taken = 0;
  if (x.what.question != question_)
    return taken;
  if (!asked_) {
    keep(x);
    return taken;
  }
  for (const auto& one : x.what.scores) {
    const auto found = missing_.find(one.client);
    if (found == missing_.end() || found->second != x.from || !is_credible(one))
      continue;
    missing_.erase(found);
    ++taken;
    // A client may have no rows of a kind.
    if (one.count > 0)
      told_[one.client] = of_test(one);
    if (one.aside_count > 0)
      aside_[one.client] = of_aside(one);
  }
  return taken;
}

bool inquest::waits_for_somebody() const {
  return std::ranges::any_of(missing_, [this](const auto& x) {
    return !speaking_ || speaking_->contains(x.second);
  });
}

messages::evaluation_finished inquest::take(line_id line, version head) {
  TROUPE_ASSERT(scored_ && asked_);
  for (const auto& [client, told] : told_)
    scores_.per_client[client] = told;
  scores_.own_validation = std::move(aside_);
  return {.line = line,
          .head = head,
          .scores = std::move(scores_),
          .problem = {},
          .asked = count_};
}

} // namespace troupe::actors
