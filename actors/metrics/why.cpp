#include "actors/metrics/why.hpp"

#include <algorithm>

#include "actors/metrics/wait_texts.hpp"

namespace troupe::actors {

namespace {

using phase = course_status::phase;

/// Actors that have not answered for so long are busy or stuck.
constexpr std::int64_t answer_ms_max = 3000;

std::string mib_text(std::uint64_t bytes) {
  return text_of(bytes >> 20) + " MiB";
}

std::string name_of(const run_status& x, line_id line) {
  const auto found = x.line_names.find(line);
  return "version line '"
         + (found == x.line_names.end() ? text_of(line.value) : found->second)
         + "'";
}

bool is_full(const std::string& failure) {
  return failure.find("No space left") != failure.npos
         || failure.find("disk is full") != failure.npos
         || failure.find("File too large") != failure.npos
         || failure.find("quota") != failure.npos;
}

wait storage_wait(const std::string& who, const std::string& failure) {
  return {.code = "disk",
          .what = who + ": " + failure,
          .ends = is_full(failure)
                    ? "room on the disk: the same is tried again every second, "
                      "and nothing is lost meanwhile"
                    : "what the text names is mended: the same is tried again "
                      "every second, and nothing is lost meanwhile"};
}

/// Something fails, and is repeated.
std::optional<wait> failing(const run_status& x) {
  for (const auto& [line, status] : x.lines) {
    if (status.failure.empty())
      continue;
    if (status.at == line_status::step::storing)
      return storage_wait(name_of(x, line) + " cannot store version "
                            + text_of(status.head.value + 1),
                          status.failure);
    return wait{
      .code = "merge",
      .what = name_of(x, line) + " cannot merge its "
              + counted(status.pending, "offer") + ": " + status.failure,
      .ends = "a merge that succeeds: it is tried again every second"};
  }
  for (const auto& [line, status] : x.lines)
    if (!status.unkept.empty())
      return storage_wait(name_of(x, line)
                            + " turns away offers that it has no memory for "
                              "and cannot keep on disk",
                          status.unkept);
  if (x.course && !x.course->failure.empty())
    return storage_wait("what invitations need cannot be stored",
                        x.course->failure);
  return std::nullopt;
}

std::string until(const run_status& x, const char* what) {
  if (!x.course->deadline)
    return "";
  const auto left = seconds(*x.course->deadline - x.at);
  return std::string{", or "} + what + " in "
         + seconds_text(std::max(0.0, left))
         + (x.clock == "virtual" ? " of virtual time" : "");
}

std::string at_work(const course_status& c) {
  const auto n = c.visits_open - c.visits_lost;
  return counted(n, "visit") + (n == 1 ? " is" : " are") + " under way";
}

std::optional<wait> without_clients(const run_status& x) {
  const auto& c = *x.course;
  if (c.at == phase::gathering && c.here < c.expected)
    return wait{.code = "no_clients",
                .what = "the first invitation waits for "
                        + counted(c.expected, "client") + ", and "
                        + text_of(c.here) + (c.here == 1 ? " is" : " are")
                        + " here",
                .ends = "the others say hello"};
  if (c.here == 0)
    return wait{.code = "no_clients",
                .what = "no client is available: " + text_of(c.known)
                        + " were here before",
                .ends = "a client comes back, or a new one joins"};
  return std::nullopt;
}

std::optional<wait> of_round(const run_status& x) {
  const auto& c = *x.course;
  const auto needed = c.quorum == 0 ? c.wanted : std::min(c.quorum, c.wanted);
  const auto round = "round " + text_of(c.round);
  if (c.at == phase::between && c.free < needed)
    return wait{.code = "quorum",
                .what = "the next round needs " + counted(needed, "free client")
                        + ", and of " + text_of(c.here) + " that are here "
                        + text_of(c.free) + (c.free == 1 ? " is" : " are")
                        + " free",
                .ends = c.quorum == 0 ? "more clients join or come back"
                                      : "more clients join or come back, or a "
                                        "smaller quorum"};
  if (c.at != phase::open)
    return std::nullopt;
  if (c.complete == 0 && c.empty_in_a_row > 0)
    return wait{.code = "no_offers",
                .what = counted(c.empty_in_a_row, "round")
                        + " passed the deadline without an offer, and " + round
                        + " has none yet; " + at_work(c),
                .ends = "an offer before the deadline: round_deadline may be "
                        "too short for these clients"};
  if (c.given_up_in_a_row > 0)
    return wait{.code = "quorum",
                .what = "the last "
                        + (c.given_up_in_a_row == 1
                             ? std::string{"round was"}
                             : text_of(c.given_up_in_a_row) + " rounds were")
                        + " given up below "
                        + (c.given_up_in_a_row == 1 ? "its" : "their")
                        + " quorum of " + text_of(needed) + "; " + round
                        + " has " + counted(c.complete, "offer") + ", and "
                        + at_work(c),
                .ends = "enough offers before the deadline: a smaller quorum, "
                        "or a larger round_deadline"};
  if (c.complete + c.visits_open - c.visits_lost < needed)
    return wait{.code = "quorum",
                .what = round + " has " + counted(c.complete, "offer")
                        + ", needs " + text_of(needed) + ", and only "
                        + at_work(c),
                .ends = "its deadline, which gives it up"
                        + (c.deadline ? until(x, "that is") : std::string{})};
  return wait{.code = "offers",
              .what = round + " has " + text_of(c.complete) + " of "
                      + counted(c.wanted, "offer") + "; " + at_work(c),
              .ends = "the next offers" + until(x, "the deadline")};
}

wait without_room(const course_status& c, const std::string& what) {
  return {.code = "memory",
          .what = "nobody is invited: offers under way and waiting may take "
                  + mib_text(c.bytes_held) + ", and 'memory' is "
                  + mib_text(c.bytes_max) + "; " + what + "; " + at_work(c),
          .ends = "merges that make room, or a larger pace.memory"};
}

std::optional<wait> of_window(const run_status& x) {
  const auto& c = *x.course;
  if (c.at != phase::open)
    return std::nullopt;
  if (c.complete == 0 && c.empty_in_a_row > 0)
    return wait{.code = "no_offers",
                .what = counted(c.empty_in_a_row, "window")
                        + " closed without an offer; " + at_work(c),
                .ends = "an offer: an empty window makes no version"};
  if (c.full)
    return without_room(c, "the window holds " + counted(c.complete, "offer"));
  return wait{.code = "offers",
              .what = "the window holds " + counted(c.complete, "offer") + "; "
                      + at_work(c),
              .ends = "its end" + until(x, "rather it closes")};
}

std::optional<wait> of_buffers(const run_status& x) {
  std::string what;
  for (const auto& [line, status] : x.lines)
    if (status.at == line_status::step::collecting)
      what += (what.empty() ? "" : ", ") + name_of(x, line) + " has "
              + text_of(status.pending) + " of "
              + counted(status.needed, "offer");
  if (what.empty())
    return std::nullopt;
  if (x.course->full)
    return without_room(*x.course, what);
  return wait{.code = "offers",
              .what = what + "; " + at_work(*x.course),
              .ends = "the next offers"};
}

std::optional<wait> of_course(const run_status& x) {
  const auto& c = *x.course;
  if (c.at == phase::ending && c.owed > 0)
    return wait{.code = "last_visits",
                .what = "what was planned is done: last visits of "
                        + counted(c.owed, "client")
                        + " are to come, or under way",
                .ends = "they are over; who is away is waited for for a while"};
  if (c.at == phase::ending)
    return wait{.code = "ending",
                .what = "the run ends: what is being merged is stored, then "
                        "the last versions are scored",
                .ends = "both are done"};
  if (auto found = without_clients(x))
    return found;
  if (c.stale_in_a_row > 0
      && c.stale_in_a_row >= std::min<std::uint64_t>(c.here, 10))
    return wait{.code = "stale",
                .what = "the last " + counted(c.stale_in_a_row, "offer")
                        + " came too stale and "
                          "were refused; "
                        + at_work(c),
                .ends = "offers that start from a newer version; staleness_max "
                        "may be too small for these clients"};
  if (c.at == phase::opening || c.at == phase::closing || c.saving)
    return wait{.code = "storing",
                .what = "the archivist stores what the next step needs",
                .ends = "it is durable"};
  if (c.at == phase::merging)
    return wait{.code = "merging",
                .what = "the lines merge and store round " + text_of(c.round),
                .ends = "all of them have"};
  switch (c.mode) {
    case pace_kind::sync:
      return of_round(x);
    case pace_kind::semisync:
      return of_window(x);
    case pace_kind::fedbuff:
    case pace_kind::fedasync:
      break;
  }
  return of_buffers(x);
}

/// What was interrupted is over in its process alone.
wait over(const run_status& x) {
  const bool goes_on = x.reason.starts_with("interrupted");
  return {.code = goes_on ? "interrupted" : "nothing",
          .what = "the run is over: " + x.reason,
          .ends = goes_on ? "another process, which goes on with it"
                          : "nothing: it has ended"};
}

wait find(const run_status& x) {
  if (x.over)
    return over(x);
  if (!x.broken.empty()) // What actors said is of those that are gone.
    return {.code = "rebuilding",
            .what = "an actor of the run broke (" + x.broken
                    + "), and all of them are made anew",
            .ends = "what is durable is read: where it cannot be, that is "
                    "tried again every second"};
  if (!x.obstacle.empty())
    return storage_wait("the run cannot store what comes next, and its clock "
                        "stands still",
                        x.obstacle);
  if (auto found = failing(x))
    return *found;
  if (auto found = hanging(x.crew, x.now_ms))
    return *found;
  if (!x.course)
    return {.code = "starting",
            .what = "the run begins: its actors have not spoken yet",
            .ends = "they say hello to each other"};
  if (x.now_ms - x.answered_ms > answer_ms_max)
    return {.code = "busy",
            .what = "the run's own thread is busy with one thing: a visit's "
                    "work, a merge, a commit or an evaluation",
            .ends = "that is done",
            .since_ms = x.answered_ms};
  if (auto found = of_course(x))
    return *found;
  return {.code = "nothing",
          .what = "it is under way",
          .ends = "the run's length is reached"};
}

/// Who is kept out or is slow, and may be whom a served run waits for.
std::string beside_it(const socket_status& x) {
  std::string out;
  if (!x.refused_lately.empty()) {
    out += "; in the last minute somebody was refused: ";
    for (std::size_t i = 0; i < x.refused_lately.size(); ++i)
      out += (i > 0 ? ", " : "") + x.refused_lately[i];
    out += " (logs/run.log says when)";
  }
  if (x.behind > 0)
    out += "; "
           + (x.behind == 1 ? std::string{"1 process reads"}
                            : text_of(x.behind) + " processes read")
           + " slowly what is sent there";
  if (x.transfers_waiting > 0)
    out += "; " + counted(x.transfers_waiting, "large message")
           + (x.transfers_waiting == 1 ? " waits" : " wait") + " for room here";
  return out;
}

} // namespace

wait why(const run_status& x) {
  auto found = find(x);
  if (found.since_ms == 0)
    found.since_ms = x.progress_ms;
  if (!x.lost.why.empty() && !x.over)
    found.what += "; the last snapshot could not be kept (" + x.lost.why
                  + "), so after a crash it would go back to the one before";
  if (!x.load.requests.alarms.empty())
    found.what +=
      (x.over ? "; at the end: " : "; ") + text_of(x.load.requests.alarms);
  return found;
}

wait why(const seen_run& x) {
  auto found = why(static_cast<const run_status&>(x));
  if (x.socket && !x.over)
    found.what += beside_it(*x.socket);
  return found;
}

} // namespace troupe::actors
