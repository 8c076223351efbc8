#include "node/watch/summary.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "node/report/facts.hpp"
#include "node/watch/metric_lines.hpp"

namespace troupe::node {

namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...) {
  std::array<char, 512> line{};
  std::va_list args;
  va_start(args, text);
  std::vsnprintf(line.data(), line.size(), text, args);
  va_end(args);
  return line.data();
}

std::string to_text(const spread& x) {
  return format("mean %.4f, p10 %.4f, p50 %.4f, p90 %.4f, worst %.4f", x.mean,
                x.p10, x.p50, x.p90, x.worst);
}

/// Who scores itself may not have answered.
std::string of_how_many(const run_summary& x) {
  return x.clients_asked
           ? ", by " + std::to_string(x.clients_scored) + " of "
               + std::to_string(*x.clients_asked) + " that were asked"
           : "";
}

constexpr double mebi = 1 << 20;

json or_null(const std::optional<std::uint64_t>& x) {
  return x ? json(*x) : json(nullptr);
}

const char* accuracy_is_of(const run_summary& x) {
  if (x.personal)
    return of_a_newcomer;
  return x.chosen ? of_all_rows : of_every_client;
}

json or_null(const std::vector<std::string>& names) {
  return names.empty() ? json(nullptr) : json(names);
}

json failures_in(const run_summary& x) {
  json all = json::object();
  for (const auto& [client, y] : x.failures)
    all[std::to_string(client.value)] = {{"visits", y.count}, {"last", y.why}};
  return all;
}

/// The worst few, one a line.
std::string failures_as_text(const run_summary& x) {
  constexpr std::size_t shown = 5;
  std::vector<std::pair<client_id, failed_visits>> all{x.failures.begin(),
                                                       x.failures.end()};
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const auto& y) { return y.second.count; });
  std::string text;
  for (const auto& [client, y] :
       std::span{all}.first(std::min(shown, all.size())))
    text += "  failed     client " + std::to_string(client.value) + ": "
            + std::to_string(y.count) + (y.count == 1 ? " visit" : " visits")
            + ", the last: " + y.why + "\n";
  if (all.size() > shown)
    text += "             and " + std::to_string(all.size() - shown)
            + " more clients\n";
  return text;
}

} // namespace

void put_scores(run_summary& s, const chronicle& watching, bool has_labels) {
  const auto report = watching.report();
  if (!report.evaluation)
    return;
  s.clients_asked = report.evaluation->asked;
  const auto& scores = report.evaluation->scores;
  if (scores.global.count > 0) {
    s.loss = scores.global.mean_loss();
    if (has_labels)
      s.accuracy = scores.global.accuracy();
  }
  s.per_client = has_labels ? watching.accuracies() : watching.perplexities();
  s.clients_scored = watching.clients_scored();
  s.held_out = watching.held_out_accuracies();
  s.method_results = scores.method_results;
  s.perplexity = watching.perplexity();
  s.clients_perplexity = watching.clients_perplexity();
  s.clients_loss = watching.clients_loss();
}

json to_json(const run_summary& x) {
  json heads = json::object();
  for (const auto& [block, head] : x.heads)
    heads[block] = head;
  json results = json::object();
  for (const auto& [name, value] : x.method_results)
    results[name] = to_json(std::optional{value});
  return {{"success", !x.failed && !x.interrupted},
          {"mode", x.mode},
          {"method", x.method},
          {"clock", x.clock},
          {"versions", x.versions},
          {"heads", heads},
          {"values", x.values},
          {"rounds", x.rounds ? json(*x.rounds) : json(nullptr)},
          {"visits", x.visits},
          {"accuracy", to_json(x.accuracy)},
          {"accuracy_is_of", accuracy_is_of(x)},
          {"loss", to_json(x.loss)},
          {"per_client", to_json(x.per_client)},
          {"zero_shot", to_json(x.held_out)},
          {"failures", failures_in(x)},
          {"evaluations_left_out", x.evaluations_left_out},
          {"digest", x.digest},
          {"bytes_up", x.bytes_up},
          {"bytes_down", x.bytes_down},
          {"wall_seconds", x.wall_seconds},
          {"virtual_seconds", to_json(x.virtual_seconds)},
          {"cpu_seconds", x.cpu_seconds},
          {"peak_memory_bytes", x.peak_memory_bytes},
          {"folder", x.folder},
          {"method_results", results},
          {"rows_embedded", or_null(x.rows_embedded)},
          {"zero_shot_bytes_down", or_null(x.zero_shot_bytes_down)},
          {"zero_shot_bytes_up", or_null(x.zero_shot_bytes_up)},
          {"perplexity", to_json(x.perplexity)},
          {"clients_perplexity", to_json(x.clients_perplexity)},
          {"clients_loss", to_json(x.clients_loss)}};
}

json to_long_json(const run_summary& x) {
  auto object = to_json(x);
  object["reason"] = x.reason;
  object["interrupted"] = x.interrupted;
  object["notes"] = x.notes;
  object["held_out"] = to_json(x.held_out);
  object["files"] = x.files;
  if (x.clients_asked) {
    object["clients_scored"] = x.clients_scored;
    object["clients_asked"] = *x.clients_asked;
  }
  object["routing"] = x.routing ? *x.routing : json(nullptr);
  object["language_costs"] =
    x.language_costs ? *x.language_costs : json(nullptr);
  object["texts_left_out"] =
    x.texts_left_out ? *x.texts_left_out : json(nullptr);
  object["users"] = or_null(x.users);
  object["labels"] = or_null(x.labels);
  object["best"] = nullptr;
  if (x.best)
    object["best"] = {{"version", x.best->head.value},
                      {"validation", to_json(std::optional{x.best->metric})}};
  return object;
}

namespace {

std::string clients_as_text(const run_summary& x) {
  if (x.clients_perplexity)
    return format("  clients    perplexity %.4f in the mean%s\n",
                  *x.clients_perplexity, of_how_many(x).c_str());
  if (x.per_client)
    return "  clients    " + to_text(*x.per_client) + of_how_many(x) + "\n";
  return "";
}

/// A run that came to its end, and of which no loss is known.
std::string scored_as_text(const run_summary& x) {
  const bool is_scored = x.loss || x.per_client || x.clients_perplexity
                         || x.clients_loss || x.held_out || x.clients_asked;
  if (is_scored || x.failed || x.interrupted)
    return "";
  return x.is_evaluated
           ? "  scored     nothing: without rows to test with there is no "
             "loss\n"
           : "  scored     nothing: 'evaluate_every' is 0\n";
}

std::string notes_as_text(const run_summary& x) {
  std::string text;
  for (const auto& note : x.notes)
    text += "  note       " + note + "\n";
  return text;
}

/// Without it an accuracy of sorted labels says nothing.
std::string majority_as_text(const run_summary& x) {
  const auto found = x.method_results.find("majority_accuracy");
  return found == x.method_results.end()
           ? ""
           : format("  majority   %.4f in the mean of clients, of who always "
                    "says what most of its rows are\n",
                    found->second);
}

/// Of answers that are spans accuracy says little.
std::string answers_as_text(const run_summary& x) {
  const auto& found = x.method_results;
  const auto exact = found.find("answer_exact"), f1 = found.find("answer_f1");
  return exact == found.end() || f1 == found.end()
           ? ""
           : format("  answers    exact %.4f, F1 %.4f in the mean of clients\n",
                    exact->second, f1->second);
}

/// Of several lines each has its own.
std::string versions_as_text(const run_summary& x) {
  std::uint64_t longest = 0;
  for (const auto& [block, head] : x.heads)
    longest = std::max(longest, head);
  const auto all = std::to_string(x.versions);
  return x.heads.empty() || longest == x.versions
           ? all
           : all + " over all lines, the longest " + std::to_string(longest)
               + ",";
}

/// What is wrong with who asks for which expert.
std::string alarms_as_text(const run_summary& x) {
  const auto* alarms = x.routing ? x.routing->find("alarms") : nullptr;
  const auto* items = alarms ? alarms->items() : nullptr;
  std::string text;
  if (items)
    for (const auto& item : *items)
      if (const auto* says = item.text())
        text += "  alarm      " + *says + "\n";
  return text;
}

/// Of what the scores on the test data are, where that is no client's model.
std::string whose_as_text(const run_summary& x) {
  if (x.personal)
    return ": of who has no part of its own yet";
  return x.chosen ? std::string{": of "} + of_all_rows : "";
}

std::string global_as_text(const run_summary& x) {
  const auto* of = x.personal ? "newcomer " : nullptr;
  const auto whose = whose_as_text(x);
  if (x.accuracy)
    return format("  %s  %.4f on the test data, loss %.4f%s\n",
                  of ? of : "accuracy ", *x.accuracy, x.loss.value_or(0),
                  whose.c_str());
  if (x.perplexity)
    return format("  %s %s%.4f on the test data, loss %.4f%s\n",
                  of ? of : "perplexity", of ? " perplexity " : "",
                  *x.perplexity, x.loss.value_or(0), whose.c_str());
  if (x.loss)
    return format(
      "  %s  %.6g on the test data%s\n", of ? of : "loss     ", *x.loss,
      of ? ", the loss of who has no part of its own yet" : whose.c_str());
  return "";
}

} // namespace

std::string to_text(const run_summary& x) {
  std::string text = x.reason + "\n";
  // First what the method is for.
  text += x.personal ? clients_as_text(x) + global_as_text(x)
                     : global_as_text(x) + clients_as_text(x);
  text += scored_as_text(x) + majority_as_text(x) + answers_as_text(x);
  if (x.held_out)
    text += "  held out   " + to_text(*x.held_out) + "\n";
  if (x.held_out && x.zero_shot_bytes_down)
    text +=
      format("             each for %.3f MiB down, %llu bytes up\n",
             static_cast<double>(*x.zero_shot_bytes_down) / mebi,
             static_cast<unsigned long long>(x.zero_shot_bytes_up.value_or(0)));
  if (x.best)
    text += format("  best       version %llu, %.4f on validation data\n",
                   static_cast<unsigned long long>(x.best->head.value),
                   x.best->metric);
  text +=
    "  versions   " + versions_as_text(x) + " of " + so_many(x.visits, "visit");
  if (x.rounds)
    text += " in " + so_many(*x.rounds, "round");
  text += "\n  values     ";
  for (const auto& [family, count] : x.values)
    text += (family == x.values.begin()->first ? "" : ", ") + family + ' '
            + std::to_string(count);
  text += "\n" + notes_as_text(x) + failures_as_text(x) + alarms_as_text(x);
  if (x.evaluations_left_out > 0)
    text += format("  left out   %llu evaluations: versions came together, or "
                   "faster than they are scored\n",
                   static_cast<unsigned long long>(x.evaluations_left_out));
  text += format("  sent       %.1f MiB up, %.1f MiB down\n",
                 static_cast<double>(x.bytes_up) / mebi,
                 static_cast<double>(x.bytes_down) / mebi);
  text += format("  took       %.1f s", x.wall_seconds);
  if (x.virtual_seconds)
    text += format(" for %.1f s of virtual time", *x.virtual_seconds);
  text += format(", %.1f s of CPU, %.0f MiB of memory\n", x.cpu_seconds,
                 static_cast<double>(x.peak_memory_bytes) / mebi);
  text += "  digest     " + x.digest;
  if (x.versions == 0)
    text += std::string{": "} + of_the_beginning;
  text += "\n  folder     " + x.folder + "\n";
  return text;
}

} // namespace troupe::node
