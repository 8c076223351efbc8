#include "node/commands/eval_looks.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/text.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "node/config/config.hpp"
#include "node/config/no_run.hpp"
#include "node/join/joined_task.hpp"
#include "node/task/recipe_of.hpp"
#include "node/task/result_file.hpp"

namespace troupe::node {

namespace {

std::uint32_t count_of(const recipe& method, std::string_view family) {
  const auto found =
    std::ranges::find(method.blocks, family, &block_spec::name);
  return found != method.blocks.end() ? found->count : 0;
}

bool describes(const experiment& x) {
  return x.data.is_labelled_text() && x.data.foretells_tokens();
}

/// A model has an accuracy.
bool has_labels(const experiment& x) {
  return !x.data.has_own_model()
         && (!x.data.is_language()
             || (x.data.is_labelled_text() && !describes(x)));
}

std::string in_words(const std::vector<std::string>& xs) {
  std::string text;
  for (const auto& x : xs)
    text += (text.empty() ? "" : " or ") + x;
  return text;
}

/// Where what models are worth stands, whatever the method.
std::string always_there(const std::string& folder) {
  return "what its models are worth is in "
         + (std::filesystem::path{folder} / "summary.json").string()
         + ", and troupe report " + folder + " shows it";
}

/// Each look is at what a run left at its end.
failure without_result(const experiment& x, const std::string& folder,
                       const std::string& why) {
  const std::string goes_on =
    x.clock == clock_kind::wall ? "troupe serve " : "troupe run --resume ";
  return {.code = "usage",
          .what = "nothing in this run is for eval yet",
          .why = why,
          .hint = x.ledger == ledger_kind::disk
                    ? goes_on + folder + " goes on with it to its end"
                    : "a run that has ended would do"};
}

/// Nothing of such clients is computed here.
failure all_elsewhere(const recipe& method, const std::string& folder) {
  const bool routes = count_of(method, models::router_family) > 0;
  return {.code = "usage",
          .what = "nothing in this run is for eval here",
          .why = "the data of its clients is where they are, and what they "
                 "keep stays with them",
          .hint = (routes ? "there troupe eval STORE --routing looks at those "
                            "of a process that joined; "
                          : "")
                  + always_there(folder)};
}

failure nothing_to_look_at(const experiment& x, const std::string& folder) {
  return {.code = "usage",
          .what = "nothing in this run is for eval",
          .why = "method '" + x.method
                 + "' has no several models with accuracies to compare and no "
                   "routers, and clients describe nothing",
          .hint = always_there(folder)};
}

} // namespace

std::vector<std::string> looks_at(const experiment& x, const recipe& method) {
  std::vector<std::string> all;
  if (count_of(method, models::model_family) > 1 && has_labels(x))
    all.emplace_back("--matrix");
  if (count_of(method, models::router_family) > 0)
    all.emplace_back("--routing");
  if (describes(x))
    all.emplace_back("--writing");
  return all;
}

failure nothing_asked_of(const std::string& folder) {
  failure x{.code = "usage",
            .what = "--matrix, --routing or --writing is required",
            .hint = "troupe eval --help shows examples"};
  if (is_of_store(folder)) {
    x.what = "--routing is required";
    return x;
  }
  if (!models::is_there(folder + "/config.toml"))
    x.why = no_run_in(folder);
  const auto config = load_config(folder + "/config.toml");
  if (!config)
    return x;
  const auto method = recipe_of(config->x);
  if (!method)
    return x;
  if (const auto ended = check_ended(folder); !ended)
    return without_result(config->x, folder, ended.error().context);
  if (config->x.data.is_elsewhere())
    return all_elsewhere(*method, folder);
  const auto looks = looks_at(config->x, *method);
  if (looks.empty())
    return nothing_to_look_at(config->x, folder);
  x.what = in_words(looks) + " is required";
  x.hint = always_there(folder);
  return x;
}

} // namespace troupe::node
