#include "node/report/facts.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/program_version.hpp"
#include "node/config/policies_of.hpp"
#include "node/report/figures.hpp"
#include "node/report/markup.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

/// Of summary.json; null if it is absent.
const json* ended(const run_record& x, const char* key) {
  return x.ended ? x.ended->find(key) : nullptr;
}

/// None if it is absent, null or no number.
std::optional<double> ended_number(const run_record& x, const char* key) {
  const auto* found = ended(x, key);
  return found ? found->number() : std::nullopt;
}

std::string ended_text(const run_record& x, const char* key) {
  const auto* found = ended(x, key);
  const auto* text = found ? found->text() : nullptr;
  return text ? *text : std::string{};
}

bool ended_flag(const run_record& x, const char* key) {
  const auto* found = ended(x, key);
  return found && found->flag().value_or(false);
}

/// A number of an object in summary.json, such as that of clients' accuracies.
std::optional<double> part_of(const run_record& x, const char* key,
                              const char* part) {
  const auto* whole = ended(x, key);
  const auto* found = whole ? whole->find(part) : nullptr;
  return found ? found->number() : std::nullopt;
}

/// What an object in summary.json holds; nothing if it is none.
std::span<const json::members::value_type> members_of(const run_record& x,
                                                      const char* key) {
  const auto* found = ended(x, key);
  const auto* all = found ? found->fields() : nullptr;
  return all ? std::span{*all} : std::span<const json::members::value_type>{};
}

/// Rows of a name and a value, in HTML.
class rows {
public:
  void add(const std::string& name, const std::string& value) {
    if (!value.empty())
      text_ += "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + value
               + "</td></tr>";
  }

  std::string table(const std::string& title) const {
    return "<div class=\"table\"><h2>" + title + "</h2><table>" + text_
           + "</table></div>\n";
  }

private:
  std::string text_;
};

std::string tile(const std::string& name, const std::string& value,
                 const std::string& more = {}) {
  return "<div class=\"tile\"><span>" + escaped(name) + "</span><b>"
         + escaped(value) + "</b><small>" + escaped(more) + "</small></div>";
}

std::string status(const run_record& x) {
  const auto line = [](const char* kind, const char* sign,
                       const std::string& what, const std::string& why) {
    return "<p class=\"status " + std::string{kind} + "\"><b>" + sign + " "
           + what + "</b> " + escaped(why) + "</p>";
  };
  if (!x.ended)
    return line("open", "…", "No result yet:",
                "there is no summary.json, so the run is still going on or was "
                "killed. This is what stood in its folder when this page was "
                "made.");
  const auto reason = ended_text(x, "reason");
  const bool interrupted = ended_flag(x, "interrupted");
  if (!ended_flag(x, "success") && !interrupted)
    return line("bad", "✕", "Failed:", reason);
  if (interrupted)
    return line("open", "‖", "Interrupted:",
                "it ended in order before its length was reached.");
  return line("good", "✓", "Ended:", reason);
}

std::string pace_of(const experiment& x) {
  const auto& p = x.pace;
  std::string text{policies::to_string(p.mode)};
  switch (p.mode) {
    case pace_kind::sync:
      return text + ", rounds of "
             + std::to_string(x.clients.clients_per_round);
    case pace_kind::semisync:
      return text + ", a version every " + duration(p.window_seconds);
    case pace_kind::fedbuff:
      return text + ", a version every " + std::to_string(p.buffer_size)
             + " offers, " + std::to_string(p.concurrency) + " at work";
    case pace_kind::fedasync:
      break;
  }
  return text + ", a version for each offer, " + std::to_string(p.concurrency)
         + " at work";
}

std::string method_of(const experiment& x) {
  auto text = escaped(x.method);
  if (const auto* recipe = policies::find_recipe(x.method))
    text += " <small>("
            + std::string{policies::to_string(
              policies::standing_of(*recipe, circumstances_of(x)))}
            + ")</small>";
  return text;
}

std::string optional_count(std::optional<double> x) {
  return x ? count(*x) : "";
}

double versions_in(const run_record& x) {
  double all = 0;
  for (const auto& [name, line] : x.lines)
    all += line.head;
  return all;
}

/// A number of an object within an object; zero if it is not there.
double number_at(const json& x, const char* key, const char* part) {
  const auto* whole = x.find(key);
  const auto* found = whole ? whole->find(part) : nullptr;
  return found ? found->number().value_or(0) : 0;
}

/// What is sent each round, beside what averaging all experts would send.
std::string sent_of(const json& client, const char* key) {
  return bytes(number_at(client, key, "bytes")) + ", "
         + percent(number_at(client, key, "saved"))
         + " less than if all were averaged";
}

/// As publications count them, and as they were measured.
void add_language_costs(const run_record& x, rows& to) {
  const auto* costs = ended(x, "language_costs");
  if (!costs || !costs->fields())
    return;
  const auto* clients = costs->find("clients");
  if (const auto* some = clients ? clients->items() : nullptr)
    for (const auto& client : *some) {
      const auto* number = client.find("experts");
      const auto of = "of " + count(number ? number->number().value_or(0) : 0)
                      + " experts, in two bytes a value";
      to.add("router " + of, bytes(number_at(client, "router", "bytes")) + ", "
                               + percent(number_at(client, "router", "share"))
                               + " of the experts");
      to.add("sent " + of, sent_of(client, "sent") + " <small>with attention: "
                             + sent_of(client, "sent_with_attention")
                             + "</small>");
    }
  if (costs->find("adapters"))
    to.add("values of adapters",
           count(number_at(*costs, "adapters", "sent")) + " sent, "
             + count(number_at(*costs, "adapters", "kept")) + " kept");
  to.add("measured, in a visit",
         bytes(number_at(*costs, "measured", "bytes_up_per_visit")) + " up, "
           + bytes(number_at(*costs, "measured", "bytes_down_per_visit"))
           + " down");
}

/// As it was in the end, else as the last evaluation has it; empty: nowhere.
std::string tile_of(std::optional<double> in_the_end, const curve& so_far,
                    const std::string& name, const std::string& more) {
  if (in_the_end)
    return tile(name, number(*in_the_end), more);
  return so_far.empty() ? ""
                        : tile(name, number(so_far.last()), "last evaluation");
}

/// How clients fare with what they use themselves.
std::string tile_of_clients(const run_record& x) {
  const std::string more = "mean, each with what it uses itself";
  const auto perplexity =
    tile_of(ended_number(x, "clients_perplexity"), x.clients_perplexity,
            "clients' perplexity", more);
  return perplexity.empty() ? tile_of(part_of(x, "per_client", "mean"),
                                      x.clients_mean, "clients' accuracy", more)
                            : perplexity;
}

/// First what the method is for, as the command line has it.
std::string tiles_of_scores(const run_record& x) {
  const bool personal = is_personal(x);
  const bool chosen = ended_text(x, "accuracy_is_of") == of_all_rows;
  const std::string of = personal ? " of a newcomer" : "";
  const std::string more = personal ? "who has no part of its own yet"
                           : chosen ? "of a newcomer with all test rows"
                                    : "on the test data";
  const auto accuracy =
    tile_of(ended_number(x, "accuracy"), x.accuracy, "accuracy" + of, more);
  // Without it an accuracy of sorted labels says nothing.
  const auto majority = tile_of(
    part_of(x, "method_results", "majority_accuracy"), x.majority,
    "majority's accuracy", "who always says a client's commonest label");
  const auto others =
    tile_of(ended_number(x, "perplexity"), x.perplexity, "perplexity" + of,
            more)
    + tile_of(ended_number(x, "loss"), x.loss, "loss" + of, "on the test data");
  const auto clients = tile_of_clients(x);
  if (personal || chosen)
    return clients + majority + accuracy + others;
  return accuracy + majority + others
         + (x.clients_perplexity.empty() ? "" : clients);
}

} // namespace

bool is_personal(const run_record& x) {
  if (const auto whose = ended_text(x, "accuracy_is_of"); !whose.empty())
    return whose == of_a_newcomer;
  const auto* recipe = x.x ? policies::find_recipe(x.x->method) : nullptr;
  return recipe && recipe->personal;
}

std::string heading(const run_record& x) {
  const auto name = x.x ? x.x->name : x.folder.filename().string();
  std::string text = "<header><h1>" + escaped(name) + "</h1>";
  if (x.x)
    text += "<p class=\"what\">" + escaped(x.x->method) + " under "
            + escaped(policies::to_string(x.x->pace.mode)) + ", "
            + count(x.x->clients.clients) + " clients, seed "
            + std::to_string(x.x->seed) + "</p>";
  else
    text += "<p class=\"what\">This troupe cannot read the run's "
            "config.toml; it stands below as it is.</p>";
  return text + status(x) + "</header>\n";
}

std::string tiles(const run_record& x) {
  std::string text = "<div class=\"tiles\">" + tiles_of_scores(x);
  if (const auto worst = part_of(x, "per_client", "worst"))
    text +=
      tile("worst client", number(*worst),
           "half reach " + number(part_of(x, "per_client", "p50").value_or(0)));
  const auto rounds = ended_number(x, "rounds");
  text += tile("versions",
               count(ended_number(x, "versions").value_or(versions_in(x))),
               (x.lines.size() > 1 ? "over all lines" : std::string{})
                 + (x.lines.size() > 1 && rounds ? ", " : "")
                 + (rounds ? "in " + count(*rounds) + " rounds" : ""));
  if (const auto visits = ended_number(x, "visits"))
    text += tile("visits", count(*visits), "trained");
  else if (x.has_events())
    text +=
      tile("visits", count(static_cast<double>(x.events.invited())), "invited");
  text +=
    tile(time_name(x),
         duration(ended_number(x, "virtual_seconds").value_or(x.last_at)), "");
  if (const auto up = ended_number(x, "bytes_up"))
    text += tile("sent up", bytes(*up),
                 bytes(ended_number(x, "bytes_down").value_or(0)) + " down");
  return text + "</div>\n";
}

std::string table_of_ends(const run_record& x) {
  rows all;
  if (!x.has_events())
    return "<div class=\"table\"><h2>What became of the visits</h2><p "
           "class=\"none\">"
           + without_events(x) + "</p></div>\n";
  const auto& e = x.events;
  const auto share = [&](std::uint64_t n) {
    const auto of =
      static_cast<double>(std::max<std::uint64_t>(1, e.invited()));
    return count(static_cast<double>(n)) + " <small>"
           + percent(static_cast<double>(n) / of) + "</small>";
  };
  all.add("invited", count(static_cast<double>(e.invited())));
  all.add("merged into a version", share(e.merged()));
  for (const auto& [why, n] : e.other_ends())
    all.add(why, share(n));
  if (e.rounds() > 0)
    all.add("rounds closed", count(static_cast<double>(e.rounds())));
  return all.table("What became of the visits");
}

std::string table_of_lines(const run_record& x) {
  if (x.lines.size() < 2)
    return {};
  std::string text =
    "<div class=\"table\"><h2>Version lines</h2><table><thead><tr><th>line</th>"
    "<th>version</th><th>offers merged</th><th>mean staleness</th>"
    "<th>largest</th></tr></thead><tbody>";
  const auto& numbers = x.events.first_digests();
  for (const auto& [name, line] : x.lines) {
    text += "<tr><th scope=\"row\">" + escaped(name) + "</th><td>"
            + count(line.head) + "</td><td>" + count(line.merged) + "</td>";
    const auto number_of = numbers.find(line.first_digest);
    const auto* tally = number_of == numbers.end()
                          ? nullptr
                          : &x.events.lines().at(number_of->second);
    if (tally && tally->offers > 0)
      text += "<td>"
              + number(static_cast<double>(tally->staleness_sum)
                       / static_cast<double>(tally->offers))
              + "</td><td>" + std::to_string(tally->staleness_max)
              + "</td></tr>";
    else
      text += "<td>–</td><td>–</td></tr>";
  }
  return text + "</tbody></table></div>\n";
}

std::string table_of_run(const run_record& x) {
  rows all;
  if (x.x) {
    all.add("method", method_of(*x.x));
    all.add("pace", pace_of(*x.x));
    all.add("clients",
            count(x.x->clients.clients)
              + (x.x->clients.held_out > 0
                   ? ", of which " + std::to_string(x.x->clients.held_out)
                       + " are never invited"
                   : ""));
    all.add("seed", std::to_string(x.x->seed));
  }
  if (const auto digest = ended_text(x, "digest"); !digest.empty())
    all.add("digest",
            "<code>" + escaped(digest) + "</code>"
              + (ended_number(x, "versions") == 0
                   ? std::string{" <small>"} + of_the_beginning + "</small>"
                   : ""));
  if (const auto best = part_of(x, "best", "version"))
    all.add("best version",
            count(*best) + " <small>"
              + number(part_of(x, "best", "validation").value_or(0))
              + " on validation data</small>");
  if (const auto worst = part_of(x, "held_out", "worst"))
    all.add("clients never invited",
            "accuracy " + number(part_of(x, "held_out", "p50").value_or(0))
              + " in the middle, worst " + number(*worst));
  for (const auto& [client, y] : members_of(x, "failures")) {
    const auto* visits = y.find("visits");
    const auto* last = y.find("last");
    if (visits && visits->number() && last && last->text())
      all.add("client " + escaped(client) + " failed",
              count(*visits->number()) + " times <small>the last: "
                + escaped(*last->text()) + "</small>");
  }
  for (const auto& [name, value] : members_of(x, "method_results"))
    if (const auto y = value.number())
      all.add(name,
              number(*y)
                + (client_of(name)
                     ? " <small>" + escaped(client_name(*client_of(name), x.x))
                         + "</small>"
                     : ""));
  add_language_costs(x, all);
  if (const auto took = ended_number(x, "wall_seconds"))
    all.add("took", duration(*took));
  if (const auto cpu = ended_number(x, "cpu_seconds"))
    all.add("CPU", duration(*cpu));
  if (const auto memory = ended_number(x, "peak_memory_bytes"))
    all.add("memory, at most", bytes(*memory));
  all.add("evaluations", optional_count(static_cast<double>(x.evaluations)));
  all.add("folder", "<code>" + escaped(x.folder.string()) + "</code>");
  return all.table("The run");
}

std::string footnotes(const run_record& x) {
  std::string text = "<footer>";
  if (x.unreadable > 0)
    text += "<p>" + std::to_string(x.unreadable)
            + (x.unreadable == 1 ? " line" : " lines")
            + " of metrics.jsonl and events.jsonl could not be read and "
              "are not in this page.</p>";
  return text + "<p>Made by troupe " + program_version()
         + " from config.toml, metrics.jsonl, events.jsonl and summary.json; "
           "<code>troupe report</code> makes it again.</p></footer>\n";
}

} // namespace troupe::node
