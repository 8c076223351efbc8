#include "node/watch/chronicle.hpp"

#include <algorithm>
#include <cmath>

#include "core/json.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "node/watch/metric_lines.hpp"
#include "node/watch/perplexity.hpp"
#include "policies/refusal.hpp"

namespace troupe::node {

namespace {

bool came_to_its_end(messages::course_end x) {
  return x == messages::course_end::length
         || x == messages::course_end::patience;
}

} // namespace

chronicle::chronicle(options opts)
  : options_(std::move(opts)),
    lead_(options_.blocks->lead()) {
  report_ = std::move(options_.begin);
  merged_ = std::move(options_.merged);
}

void chronicle::published(const messages::version_published& x, instant at) {
  const std::lock_guard guard{mutex_};
  auto& head = report_.lines[x.line];
  if (x.head <= head.head)
    return; // Of a node that began again.
  head = x;
  report_.at = at;
  const bool leads = !lead_ || *lead_ == x.line;
  for (const auto& visit : x.merged)
    report_.updates += policies::insert_once(merged_, visit) ? 1 : 0;
  std::optional<double> loss;
  if (leads) {
    loss = report_.training_loss = loss_of(x.merged);
  }
  options_.metrics(record_of(x, *options_.blocks, loss, at));
  if (leads)
    options_.show(report_);
}

// Visits that no version will hold are forgotten with the next one of their
// client.
std::optional<double> chronicle::loss_of(const std::vector<visit_id>& visits) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& visit : visits) {
    if (const auto found = losses_.find(visit); found != losses_.end()) {
      sum += found->second;
      ++count;
    }
    losses_.erase(losses_.lower_bound({visit.client, {}}),
                  losses_.upper_bound(visit));
  }
  if (count == 0)
    return std::nullopt;
  return sum / static_cast<double>(count);
}

void chronicle::failed(const messages::client_failed& x, instant at) {
  const std::lock_guard guard{mutex_};
  const auto who = x.last.visit.client;
  auto& known = report_.failures[who];
  ++known.count;
  if (const auto* why = std::get_if<policies::verdict>(&x.last.why))
    known.why = "its offer was " + policies::about_refused(*why);
  else if (const auto met = errors_.find(who); met != errors_.end())
    known.why = met->second;
  else
    known.why = "it said so, and no more";
  if (!options_.log || (known.count > 1 && !x.alone_until))
    return;
  options_.log("client " + std::to_string(who.value) + " failed in visit "
               + std::to_string(x.last.visit.number.value) + ", "
               + std::to_string(x.failures) + " in a row: " + known.why
               + (x.alone_until ? "; it is left alone for "
                                    + std::to_string(static_cast<std::uint64_t>(
                                      seconds(*x.alone_until - at)))
                                    + " s"
                                : std::string{}));
}

void chronicle::counted(const messages::round_counted& x, instant at) {
  const std::lock_guard guard{mutex_};
  report_.rounds = x.rounds;
  report_.at = at;
  options_.show(report_);
}

void chronicle::evaluated(const messages::evaluation_finished& x,
                          const actors::version_heads& scored, instant at) {
  const std::lock_guard guard{mutex_};
  if (x.problem)
    return;
  keep(x);
  judge(x, scored);
  note(*report_.evaluation, false, at);
  options_.show(report_);
}

// With what follows from it and those before.
void chronicle::keep(messages::evaluation_finished x) {
  if (options_.counts_tokens) {
    const auto at = x.rounds > 0 ? x.rounds : x.head.value;
    put_perplexities(x.scores, static_cast<double>(at),
                     report_.evaluation ? &report_.evaluation->scores
                                        : nullptr);
  }
  report_.evaluation = std::move(x);
}

// Of the last evaluation.
void chronicle::note(const messages::evaluation_finished& x, bool last,
                     instant at) {
  report_.rounds_scored = std::max(report_.rounds_scored, x.rounds);
  const auto all = spread_of_all();
  const auto strangers = spread_of_strangers();
  options_.metrics(record_of(
    x, options_.has_labels,
    {.clients = all,
     .zero_shot = strangers,
     .told = invited_with_scores(),
     .accuracies = last ? accuracies_of(whose::invited) : std::vector<double>{},
     .perplexity = perplexity_of_test(),
     .clients_perplexity = perplexity_of_clients()},
    at));
}

void chronicle::left_out(version, instant) {
  const std::lock_guard guard{mutex_};
  ++report_.left_out;
}

std::uint64_t chronicle::rounds_scored() const {
  const std::lock_guard guard{mutex_};
  return report_.rounds_scored;
}

void chronicle::judge(const messages::evaluation_finished& x,
                      const actors::version_heads& scored) {
  if (!options_.best_by)
    return;
  const auto metric = models::metric_of(*options_.best_by, x.scores);
  const auto& best = report_.best;
  const bool better =
    !best
    || (models::less_is_better(*options_.best_by) ? metric < best->metric
                                                  : metric > best->metric);
  if (std::isfinite(metric) && better)
    report_.best = {x.head, metric, scored};
}

// Of a run that came to its end without it; the last version may have it still.
bool chronicle::misses_target(
  const std::optional<messages::evaluation_finished>& last) const {
  if (!options_.best_by || !options_.target
      || !came_to_its_end(report_.finished->end))
    return false;
  const auto reaches = [&](double x) {
    return models::less_is_better(*options_.best_by) ? x <= *options_.target
                                                     : x >= *options_.target;
  };
  if (report_.best && reaches(report_.best->metric))
    return false;
  return !last || last->problem
         || !reaches(models::metric_of(*options_.best_by, last->scores));
}

void chronicle::finished(
  const messages::run_finished& x,
  const std::optional<messages::evaluation_finished>& last, instant at) {
  const std::lock_guard guard{mutex_};
  if (last && !last->problem) {
    keep(*last);
    note(*report_.evaluation, true, at);
  }
  report_.at = at;
  report_.finished = x;
  if (misses_target(last))
    report_.finished->reason +=
      "; the target, " + json(*options_.target).dump() + ", was not reached";
  options_.show(report_);
  changed_.notify_all();
}

void chronicle::count(visit_id visit, double loss) {
  ++report_.visits;
  losses_[visit] = loss;
  // Of a client whose visits no version ever holds, the newest few stay.
  if (const auto number = visit.number.value;
      number > limits::outbox_offers_max)
    losses_.erase(losses_.lower_bound({visit.client, {}}),
                  losses_.upper_bound(
                    {visit.client, {number - limits::outbox_offers_max}}));
}

void chronicle::offered(visit_id visit, double loss) {
  const std::lock_guard guard{mutex_};
  count(visit, loss);
  if (!report_.finished)
    options_.show(report_);
}

void chronicle::delivered(const messages::job_finished& x) {
  const std::lock_guard guard{mutex_};
  if (const auto* done = std::get_if<models::trained>(&x.outcome)) {
    count(x.visit, done->loss);
  } else if (const auto* broken = std::get_if<error>(&x.outcome)) {
    const std::string why{
      last_line(broken->context).substr(0, limits::text_bytes_max)};
    errors_[x.visit.client] = why;
    if (report_.first_error.empty())
      report_.first_error = "client " + std::to_string(x.visit.client.value)
                            + ", visit " + std::to_string(x.visit.number.value)
                            + ": " + why;
  }
  if (!report_.finished)
    options_.show(report_);
}

void chronicle::fail(std::string reason) {
  const std::lock_guard guard{mutex_};
  if (!report_.finished)
    report_.finished = messages::run_finished{std::move(reason), true};
  changed_.notify_all();
}

bool chronicle::over() const {
  const std::lock_guard guard{mutex_};
  return report_.finished.has_value();
}

bool chronicle::wait(instant at_most) {
  std::unique_lock guard{mutex_};
  return changed_.wait_for(guard, at_most,
                           [this] { return report_.finished.has_value(); });
}

progress_report chronicle::report() const {
  const std::lock_guard guard{mutex_};
  return report_;
}

void chronicle::describe(actors::run_status& to) const {
  const std::lock_guard guard{mutex_};
  to.at = report_.at;
  to.visits = report_.visits;
  for (const auto& [line, head] : report_.lines)
    for (const auto& block : head.blocks)
      to.heads[options_.blocks->find(block.block)->name] = head.head.value;
  if (report_.finished) {
    to.over = true;
    to.reason = report_.finished->reason;
  }
  if (!report_.evaluation)
    return;
  using enum actors::score_name::rows;
  using enum actors::score_name::figure;
  using enum actors::score_name::over;
  const auto put = [&](actors::score_name::rows split,
                       const models::scores& x) {
    if (x.count == 0)
      return;
    if (options_.has_labels)
      to.evaluation[{split, accuracy, global}] = x.accuracy();
    to.evaluation[{split, loss, global}] = x.mean_loss();
  };
  to.results = report_.evaluation->scores.method_results;
  put(test, report_.evaluation->scores.global);
  put(validation, report_.evaluation->scores.validation);
  if (const auto clients = spread_of_all()) {
    to.evaluation[{own_test, accuracy, mean}] = clients->mean;
    to.evaluation[{own_test, accuracy, p10}] = clients->p10;
    to.evaluation[{own_test, accuracy, worst}] = clients->worst;
  }
  if (const auto all = perplexity_of_test())
    to.evaluation[{test, perplexity, global}] = *all;
  if (const auto own = spread_of_perplexities()) {
    to.evaluation[{own_test, perplexity, mean}] = own->mean;
    to.evaluation[{own_test, perplexity, p10}] = own->p10;
    to.evaluation[{own_test, perplexity, worst}] = own->worst;
  }
}

std::optional<spread> chronicle::accuracies() const {
  const std::lock_guard guard{mutex_};
  return spread_of_all();
}

std::optional<spread> chronicle::held_out_accuracies() const {
  const std::lock_guard guard{mutex_};
  return spread_of_strangers();
}

std::optional<spread> chronicle::perplexities() const {
  const std::lock_guard guard{mutex_};
  return spread_of_perplexities();
}

std::optional<double> chronicle::perplexity() const {
  const std::lock_guard guard{mutex_};
  return perplexity_of_test();
}

std::optional<double> chronicle::clients_perplexity() const {
  const std::lock_guard guard{mutex_};
  return perplexity_of_clients();
}

// Of those who can be invited.
std::optional<double> chronicle::clients_loss() const {
  const std::lock_guard guard{mutex_};
  const auto count = invited_with_scores();
  if (count == 0)
    return std::nullopt;
  double sum = 0;
  for (const auto& [client, scores] : report_.evaluation->scores.per_client)
    sum += is_stranger(client) ? 0 : scores.mean_loss();
  return sum / static_cast<double>(count);
}

std::optional<double> chronicle::perplexity_of_test() const {
  if (!report_.evaluation || !options_.counts_tokens)
    return std::nullopt;
  return perplexity_of(report_.evaluation->scores.global);
}

std::optional<double> chronicle::perplexity_of_clients() const {
  if (!options_.counts_tokens || invited_with_scores() == 0)
    return std::nullopt;
  return mean_perplexity(report_.evaluation->scores.per_client);
}

std::optional<spread> chronicle::spread_of_perplexities() const {
  if (!options_.counts_tokens || invited_with_scores() == 0)
    return std::nullopt;
  auto all =
    spread_of_costs(perplexities_of(report_.evaluation->scores.per_client));
  if (all)
    all->mean = *perplexity_of_clients(); // To the bit.
  return all;
}

std::size_t chronicle::clients_scored() const {
  const std::lock_guard guard{mutex_};
  return invited_with_scores();
}

// Those who are never invited are nobody's clients.
std::optional<spread> chronicle::spread_of_all() const {
  return spread_of(accuracies_of(whose::invited));
}

std::optional<spread> chronicle::spread_of_strangers() const {
  return spread_of(accuracies_of(whose::strangers));
}

// Who brings data of its own comes after the clients of the partition.
bool chronicle::is_stranger(client_id x) const {
  return x.value > options_.clients - options_.held_out
         && x.value <= options_.clients;
}

std::size_t chronicle::invited_with_scores() const {
  if (!report_.evaluation)
    return 0;
  std::size_t count = 0;
  for (const auto& [client, scores] : report_.evaluation->scores.per_client)
    count += is_stranger(client) ? 0 : 1;
  return count;
}

std::vector<double> chronicle::accuracies_of(whose who) const {
  std::vector<double> xs;
  if (!report_.evaluation || !options_.has_labels)
    return xs;
  for (const auto& [client, scores] : report_.evaluation->scores.per_client)
    if (is_stranger(client) == (who == whose::strangers))
      xs.push_back(scores.accuracy());
  return xs;
}

void watched_workshop::submit(key when, work what, deliver to) {
  behind_->submit(
    when, std::move(what),
    [to = std::move(to), watching = watching_](messages::job_finished x) {
      watching->delivered(x);
      to(std::move(x));
    });
}

} // namespace troupe::node
