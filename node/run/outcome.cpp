#include "node/run/outcome.hpp"

#include <algorithm>
#include <map>

#include "models/layout.hpp"
#include "node/run/federation.hpp"
#include "node/run/language_costs.hpp"
#include "node/run/rules.hpp"
#include "node/run/strangers.hpp"
#include "node/watch/memory_taken.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

/// Whether it has failed, and what people are to know of it.
void judge(run_summary& s, const run_end& of, const std::string& first_error) {
  const bool none = of.work.method.offers && s.versions == 0;
  if (none && s.reason == ordered_text) {
    s.reason += "; no version had been made";
  } else if (none && !s.failed && !s.interrupted) {
    s.failed = true;
    s.reason = "no version was made of " + std::to_string(s.visits)
               + " visits; "
               + (of.x.events ? "the report says what became of their offers"
                              : "with events = true a report would say what "
                                "became of their offers");
  }
  if (s.failed && !first_error.empty())
    s.reason += "; the first error was that of " + first_error;
}

/// What ends as it began, although it was merged: a bound or a rate left
/// nothing of what was learned.
void note_idleness(run_summary& s, const run_end& of) {
  if (s.versions == 0 || s.digest != of.first_digest)
    return;
  s.notes.push_back(
    std::string{of.work.method.personal
                  ? "nothing that clients share was learned"
                  : "nothing was learned"}
    + ": what was merged is what the run began with, to the bit; a larger "
      "'learning_rate', 'server_learning_rate' or 'merge.clip_norm' may do");
}

} // namespace

run_summary outcome_of(const run_end& of) {
  const auto report = of.watching.report();
  run_summary s;
  s.mode = policies::to_string(of.x.pace.mode);
  s.method = of.x.method;
  s.clock = is_virtual(of.x) ? "virtual" : "wall";
  std::map<std::string, models::digest> digests;
  for (const auto& [line, head] : report.lines) {
    s.versions += head.head.value;
    for (const auto& block : head.blocks) {
      const auto& name = of.work.blocks->find(block.block)->name;
      s.heads[name] = head.head.value;
      digests[name] = block.digest;
    }
  }
  for (const auto& block : of.work.blocks->blocks)
    s.values[block.family] += block.size;
  s.digest = models::to_hex(models::digest_of(digests));
  if (by_round(of.x.pace.mode))
    s.rounds = report.rounds;
  s.visits = report.visits;
  put_scores(s, of.watching, of.work.has_labels);
  put_costs_of_strangers(s, of.work);
  s.bytes_up = of.counted.bytes_up;
  s.bytes_down = of.counted.bytes_down;
  if (is_virtual(of.x))
    s.virtual_seconds = seconds(report.at);
  s.folder = of.folder.string();
  s.best = report.best;
  s.failures = report.failures;
  s.personal = of.work.method.personal;
  s.chosen = std::ranges::any_of(
    of.work.method.legs, [](const auto& x) { return !x.choice.value.empty(); });
  s.evaluations_left_out = report.left_out;
  s.reason = report.finished->reason;
  s.failed = report.finished->failed;
  // Who asks for the end of a run that ends interrupts nothing.
  s.interrupted =
    of.is_stopped && report.finished->reason.starts_with(interrupted_text);
  s.goes_on = s.interrupted && (is_virtual(of.x) || of.is_served)
              && of.x.ledger == ledger_kind::disk && of.snapshot_lost.empty();
  s.failed |= s.reason == record_full_text;
  s.is_evaluated = of.x.evaluate_every > 0;
  judge(s, of, report.first_error);
  note_idleness(s, of);
  s.wall_seconds = seconds(steady_now() - of.began);
  s.cpu_seconds = seconds(process_cpu_time() - of.cpu);
  s.peak_memory_bytes = peak_resident_bytes();
  s.language_costs = language_costs_in(of.work, s);
  if (of.work.left_out)
    s.texts_left_out = to_json(*of.work.left_out);
  s.users = of.work.user_names;
  s.labels = of.work.label_names;
  return s;
}

} // namespace troupe::node
