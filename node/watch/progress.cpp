#include "node/watch/progress.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

#include "node/watch/perplexity.hpp"

namespace troupe::node {

namespace {

constexpr int bar_width = 24;

policies::spent_budget spent(const progress_report& x,
                             const std::optional<line_id>& lead) {
  policies::spent_budget s{
    .rounds = x.rounds, .updates = x.updates, .seconds = seconds(x.at)};
  for (const auto& [line, head] : x.lines)
    if (!lead || *lead == line)
      s.versions = std::max(s.versions, head.head.value);
  return s;
}

std::string clock_face(double left) {
  std::ostringstream text;
  const auto whole = std::lround(left);
  if (whole >= 3600)
    text << whole / 3600 << 'h' << std::setw(2) << std::setfill('0')
         << whole % 3600 / 60 << 'm';
  else if (whole >= 60)
    text << whole / 60 << 'm' << std::setw(2) << std::setfill('0') << whole % 60
         << 's';
  else
    text << whole << 's';
  return text.str();
}

/// "12/40", or "12" where there is no limit.
std::string part_of(std::uint64_t x, std::uint64_t limit) {
  return std::to_string(x) + (limit > 0 ? "/" + std::to_string(limit) : "");
}

} // namespace

progress_display::progress_display(std::ostream& out, options opts)
  : out_(out),
    options_(std::move(opts)),
    shown_(steady_now()) {
  // nop
}

// How long it takes is told from what it was seen to do: a run may go on from
// where another process left it, or have waited long for its clients.
void progress_display::look(double share, instant now) {
  if (!first_ && share > 0)
    first_ = seen{share, now};
}

void progress_display::begin(const progress_report& x) {
  const std::lock_guard guard{mutex_};
  out_ << describe(x, steady_now()) << std::endl;
}

void progress_display::show(const progress_report& x) {
  const std::lock_guard guard{mutex_};
  const auto now = steady_now();
  look(share_of(x), now);
  const auto pause = options_.terminal ? options_.every / 10 : options_.every;
  if (!x.finished && now - shown_ < pause)
    return;
  shown_ = now;
  const auto text = describe(x, now);
  const bool is_said = text == std::exchange(text_, text);
  if (is_said && !options_.terminal)
    return;
  if (!options_.terminal) {
    out_ << text << std::endl;
    return;
  }
  drawn_ = true;
  // What was longer before is erased to the end of the line.
  out_ << '\r' << text << "\x1b[K" << std::flush;
}

void progress_display::say(const std::string& line) {
  const std::lock_guard guard{mutex_};
  end_bar();
  out_ << line << std::endl;
}

void progress_display::finish() {
  const std::lock_guard guard{mutex_};
  end_bar();
}

void progress_display::end_bar() {
  if (std::exchange(drawn_, false))
    out_ << std::endl;
}

namespace {

/// Of those who are never invited.
struct strangers {
  std::size_t count = 0;
  double accuracies = 0; ///< Their sum.
};

/// Who brings data of its own comes after the clients of the partition.
bool is_stranger(client_id x, const progress_display::options& how) {
  return x.value > how.clients - how.held_out && x.value <= how.clients;
}

strangers strangers_in(const models::evaluated& x,
                       const progress_display::options& how) {
  strangers all;
  for (const auto& [client, own] : x.per_client)
    if (is_stranger(client, how)) {
      ++all.count;
      all.accuracies += own.accuracy();
    }
  return all;
}

std::string perplexities_of(const models::evaluated& x, bool has_clients) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2);
  if (const auto all = perplexity_of(x.global))
    text << "  perplexity " << *all;
  if (const auto own = mean_perplexity(x.per_client); own && has_clients)
    text << "  clients' perplexity " << *own;
  return text.str();
}

/// What the method is for: the global model, or the mean over clients; that
/// too where there are no rows here to score on.
std::string scores_of(const models::evaluated& x,
                      const progress_display::options& how) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(how.has_labels ? 4 : 6);
  // Those who are never invited are scored when the others are not, too.
  const auto never_invited = strangers_in(x, how);
  const bool has_clients = x.per_client.size() > never_invited.count;
  if (how.counts_tokens)
    return perplexities_of(x, has_clients);
  if ((how.personal || x.global.count == 0) && has_clients) {
    double sum = 0;
    for (const auto& [client, own] : x.per_client)
      if (!is_stranger(client, how))
        sum += how.has_labels ? own.accuracy() : own.mean_loss();
    text << (how.has_labels ? "  clients' accuracy " : "  clients' loss ")
         << sum
              / static_cast<double>(x.per_client.size() - never_invited.count);
  } else if (x.global.count > 0) {
    if (how.has_labels)
      text << "  accuracy " << x.global.accuracy();
    else
      text << "  test loss " << x.global.mean_loss();
  }
  const auto majority = x.method_results.find("majority_accuracy");
  if (how.has_labels && majority != x.method_results.end())
    text << "  majority " << majority->second;
  if (never_invited.count > 0 && how.has_labels)
    text << "  zero shot " << std::setprecision(2)
         << never_invited.accuracies / static_cast<double>(never_invited.count);
  return text.str();
}

} // namespace

double progress_display::share_of(const progress_report& x) const {
  const auto& n = options_.length;
  return policies::progress({.rounds = n.rounds,
                             .versions = n.versions,
                             .updates = n.updates,
                             .seconds = n.time_budget},
                            spent(x, options_.lead));
}

std::string progress_display::describe(const progress_report& x,
                                       instant now) const {
  const auto done = spent(x, options_.lead);
  const auto& n = options_.length;
  const auto share = share_of(x);
  std::ostringstream text;
  text << std::fixed;
  if (options_.terminal) {
    const auto full = static_cast<int>(share * bar_width);
    text << '[' << std::string(static_cast<std::size_t>(full), '#')
         << std::string(static_cast<std::size_t>(bar_width - full), '.')
         << "] ";
  }
  text << std::setw(3) << std::lround(100 * share) << "%";
  if (n.rounds > 0)
    text << "  round " << part_of(done.rounds, n.rounds);
  else
    text << "  version " << part_of(done.versions, n.versions);
  text << "  " << x.visits << " visits";
  if (options_.has_last_visits && x.finished
      && x.finished->end != messages::course_end::none)
    text << ", the last ones too";
  if (x.training_loss)
    text << "  loss " << std::setprecision(4) << *x.training_loss;
  if (x.evaluation)
    text << scores_of(x.evaluation->scores, options_);
  if (first_ && share > first_->share && share < 1)
    text << "  "
         << clock_face(seconds(now - first_->at) * (1 - share)
                       / (share - first_->share))
         << " left";
  return text.str();
}

} // namespace troupe::node
