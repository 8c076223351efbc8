#include "node/commands/replay.hpp"

#include <filesystem>
#include <ostream>

#include "core/clock.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/inner_setup.hpp"
#include "node/commands/command_line.hpp"
#include "node/config/config.hpp"
#include "node/config/no_run.hpp"
#include "node/replay/replay.hpp"
#include "node/task/recipe_of.hpp"

namespace troupe::node {

namespace {

constexpr instant shown_every = std::chrono::seconds{2};

std::string shown_count(const comparison& x) {
  return std::to_string(x.equal) + "/" + std::to_string(x.total)
         + " digests equal";
}

/// Where nothing was sent there is no digest.
bool is_of_scores(const replay_summary& x) {
  return x.digests.total == 0 && x.scores.total > 0;
}

/// What was compared, and the first that differs.
const comparison& compared_in(const replay_summary& x) {
  return is_of_scores(x) ? x.scores : x.digests;
}

std::string shown_count(const replay_summary& x) {
  if (!is_of_scores(x))
    return shown_count(x.digests);
  return std::to_string(x.scores.equal) + "/" + std::to_string(x.scores.total)
         + " scores of the run's end equal";
}

std::string place_of(const replay_summary& x) {
  return x.differs_in
         + (x.differs_at > 0 ? ":" + std::to_string(x.differs_at) : "");
}

/// Of one that stopped, or found nothing to compare. @pre it did
failure failure_of(const replay_summary& x) {
  if (compared_nothing(x))
    return {.code = "nothing_compared",
            .what = "nothing was compared",
            .why = "the record has neither offers nor versions, and "
                   "summary.json no score of the run's end that what is "
                   "recorded leads to",
            .hint = has_scores(x)};
  return {.code = "offers_not_kept",
          .what = shown_count(x.digests) + " up to " + place_of(x),
          .why = x.stopped_by,
          .hint = "a run with keep_offers = true keeps what such clients "
                  "offer, and is computed again"};
}

/// What an offer may differ by though nothing is damaged; empty: nothing.
std::string may_come_of(const replay_summary& x, const experiment& of,
                        const std::filesystem::path& folder) {
  const auto& first = x.digests.first;
  const auto method = recipe_of(of);
  if (!first || !first->what.starts_with("the offer of ")
      || !models::is_there(folder / "served.json") || !method
      || !models::counts_experts(*method))
    return {};
  return "this run was served, and who joined may have said a number of "
         "experts of its own (--experts, --expert-memory), which no server is "
         "told: a replay computes with training.experts";
}

json to_json(const failure& x) {
  return {{"code", x.code}, {"what", x.what}, {"why", x.why}, {"hint", x.hint}};
}

/// @param maybe what a difference may come of
json to_json(const replay_summary& x, const std::string& maybe) {
  const auto& [equal, total, first] = compared_in(x);
  json object{
    {"success", !first && x.stopped_by.empty() && !compared_nothing(x)},
    {"complete", x.ended},
    {"compared", is_of_scores(x) ? "scores" : "digests"},
    {"equal", equal},
    {"total", total},
    {"first_difference", nullptr}};
  if (!x.product_gap.empty())
    object["method_results"] = {{"product_gap", x.product_gap}};
  if (first) {
    object["first_difference"] = {{"file", x.differs_in},
                                  {"line", x.differs_at},
                                  {"what", first->what},
                                  {"recorded", first->recorded},
                                  {"recomputed", first->recomputed}};
    object["error"] = to_json(
      failure{.code = is_of_scores(x) ? "scores_differ" : "digests_differ",
              .what = shown_count(x),
              .why = first->what + " differs",
              .hint = place_of(x) + (maybe.empty() ? "" : "; " + maybe)});
  } else if (!x.stopped_by.empty() || compared_nothing(x)) {
    object["error"] = to_json(failure_of(x));
  }
  return object;
}

/// Where nothing differs, and the record does not come to its run's end.
const char* left_open(const replay_summary& x) {
  if (x.ended || x.digests.first)
    return "";
  return x.interrupted ? ", of a run that was interrupted and may go on"
                       : ", of a record that stops before its run did";
}

void print(const replay_summary& x, const std::string& maybe,
           std::ostream& out) {
  out << shown_count(x) << left_open(x) << '\n';
  for (const auto& [block, gap] : x.product_gap)
    out << "product gap of the last " << block << ": " << gap << '\n';
  if (const auto& first = compared_in(x).first)
    out << "first difference: " << place_of(x) << ": " << first->what
        << "\n  recorded    " << printable(first->recorded)
        << "\n  recomputed  " << first->recomputed << '\n';
  if (!maybe.empty())
    out << "hint: " << maybe << '\n';
}

exit_code conclude(const replay_summary& x, const std::string& maybe, bool json,
                   streams io) {
  const bool stands_open = !x.stopped_by.empty() || compared_nothing(x);
  if (json)
    io.out << to_json(x, maybe).dump(2) << std::endl;
  else if (stands_open)
    return report(failure_of(x), exit_code::configuration, false, io);
  else
    print(x, maybe, io.out);
  if (stands_open)
    return exit_code::configuration;
  return compared_in(x).first ? exit_code::failed : exit_code::ok;
}

} // namespace

exit_code replay_command(const model_maker& make_model, const host_facts& known,
                         arguments args, streams io) {
  command_line line{{"replay",
                     "Recomputes a recorded run and compares all digests, or "
                     "what clients are worth at its end where nothing was "
                     "sent.",
                     "replay runs/20261121-113226-quickstart"}};
  std::string folder;
  line.add("RUN", &folder, "the folder of a run", {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  if (!std::filesystem::is_directory(folder))
    return report({.code = "usage",
                   .what = "RUN is no folder: '" + folder + "'",
                   .hint = "troupe run says at its end where its folder is"},
                  exit_code::usage, line.json(), io);
  if (const auto other = other_than_run(folder); !other.empty())
    return report(error{errc::invalid_data, other}, line.json(), io);
  const auto loaded = load_config(folder + "/config.toml");
  if (!loaded)
    return report({.code = "invalid_config",
                   .what = "the run's configuration cannot be used",
                   .why = loaded.error().context},
                  exit_code::configuration, line.json(), io);
  auto shown = steady_now();
  const auto done = replay(loaded->x, folder,
                           {.make_model = make_model,
                            .fingerprint = fingerprint_of(known),
                            .note =
                              [&](const std::string& x) {
                                io.err << "note: " << printable(x) << '\n';
                              },
                            .show =
                              [&](const replay_progress& x) {
                                if (steady_now() - shown < shown_every)
                                  return;
                                shown = steady_now();
                                io.err << static_cast<int>(100 * x.done)
                                       << "%  line " << x.line << "  "
                                       << x.equal << " digests equal\n"
                                       << std::flush;
                              }});
  if (!done)
    return report(done.error(), line.json(), io);
  return conclude(*done, may_come_of(*done, loaded->x, folder), line.json(),
                  io);
}

} // namespace troupe::node
