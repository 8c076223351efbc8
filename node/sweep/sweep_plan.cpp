#include "node/sweep/sweep_plan.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <set>

#include "core/clock.hpp"
#include "core/text.hpp"
#include "node/config/config.hpp"
#include "node/config/entries.hpp"
#include "node/config/keys.hpp"
#include "node/config/toml.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

constexpr std::int64_t seeds_max = 10'000;

/// Reads one table and collects what is wrong with it.
class reader {
public:
  reader(const toml::table& root, const toml::table& from,
         std::string_view origin)
    : root_(root),
      from_(from),
      origin_(origin) {
    // nop
  }

  result<sweep_plan> read() {
    known_keys_only();
    const auto methods = texts(from_, "methods");
    const auto settings = read_settings();
    const auto rows = changes_by_name("rows");
    const auto published = read_published();
    sweep_plan plan{.run = base(),
                    .rows = {},
                    .seeds = seeds(),
                    .metrics = texts(from_, "metrics")};
    for (const auto& setting : settings)
      for (const auto& method : methods)
        plan.rows.push_back({method, setting, {}});
    for (const auto& row : rows)
      plan.rows.push_back({{}, row, {}});
    for (auto& row : plan.rows) {
      const auto found = std::ranges::find(
        published, row.name(), &std::pair<std::string, std::string>::first);
      if (found != published.end())
        row.published = found->second;
    }
    for (const auto& said : published)
      if (std::ranges::none_of(
            plan.rows, [&](const auto& x) { return x.name() == said.first; }))
        refuse(from_, "published." + said.first,
               "no row of the table has this name; one is '"
                 + (plan.rows.empty() ? "" : plan.rows.front().name()) + "'");
    if (std::ranges::find(methods, std::string{}) != methods.end()
        || (methods.empty() && (rows.empty() || from_.contains("settings"))))
      refuse(from_, "methods", "name one method or more");
    if (std::ranges::find(rows, std::string{}, &sweep_setting::name)
        != rows.end())
      refuse(from_, "rows", "give each a name");
    if (plan.metrics.empty())
      plan.metrics = of_clients(methods)
                       ? std::vector<std::string>{"per_client.mean", "accuracy"}
                       : std::vector<std::string>{"accuracy"};
    refuse_twins(plan);
    if (!wrong_.empty())
      return fail(errc::invalid_config, wrong_.text());
    return plan;
  }

private:
  /// Whether one of them is for what clients use themselves.
  static bool of_clients(const std::vector<std::string>& methods) {
    return std::ranges::any_of(methods, [](const auto& name) {
      const auto* found = policies::find_recipe(name);
      return found && found->personal;
    });
  }

  void refuse(const toml::node& at, const std::string& key,
              const std::string& what) {
    wrong_.add(std::string{origin_} + ':'
                 + std::to_string(at.source().begin.line),
               "'sweep." + key + "': " + what);
  }

  /// Each run has files of its own.
  void refuse_twins(const sweep_plan& plan) {
    std::set<std::string> names;
    for (const auto& cell : cells_of(plan))
      if (!names.insert(cell.name()).second)
        refuse(from_, "methods",
               "two runs would be called '" + cell.name()
                 + "'; say each method and seed once, and give settings names "
                   "that differ in letters and digits");
  }

  void known_keys_only() {
    const std::vector<std::string> known{
      "run", "methods", "seeds", "metrics", "settings", "rows", "published"};
    for (const auto& [name, node] : from_) {
      const std::string key{name.str()};
      if (std::ranges::find(known, key) != known.end())
        continue;
      const auto near = nearest(key, known);
      refuse(node, key,
             near.empty() ? "there are run, methods, seeds, metrics, settings, "
                            "rows and published"
                          : "unknown; did you mean 'sweep." + near + "'?");
    }
  }

  std::vector<std::string> texts(const toml::table& table,
                                 const std::string& key) {
    std::vector<std::string> result;
    const auto* node = table.get(key);
    if (node == nullptr)
      return result;
    const auto* list = node->as_array();
    if (list != nullptr)
      for (const auto& x : *list)
        if (const auto* text = x.as_string())
          result.push_back(text->get());
    if (list == nullptr || result.size() != list->size())
      refuse(*node, key, "must be a list of words in quotes");
    return result;
  }

  /// Beside this file, unless it is said from the root.
  std::string base() {
    const auto* node = from_.get("run");
    if (node == nullptr)
      return {};
    if (root_.size() > 1)
      refuse(*node, "run",
             "the runs begin from that file, so this one has "
             "nothing else than [sweep]");
    const auto* text = node->as_string();
    if (text == nullptr) {
      refuse(*node, "run", "must be a path in quotes");
      return {};
    }
    const auto above = std::filesystem::path{origin_}.parent_path();
    return (above / text->get()).string();
  }

  std::vector<std::uint64_t> seeds() {
    std::vector<std::uint64_t> result;
    const auto* node = from_.get("seeds");
    if (node == nullptr)
      return {1};
    if (const auto* count = node->as_integer();
        count && count->get() <= seeds_max)
      for (std::int64_t s = 1; s <= count->get(); ++s)
        result.push_back(static_cast<std::uint64_t>(s));
    if (const auto* list = node->as_array())
      for (const auto& x : *list)
        if (const auto* seed = x.as_integer(); seed && seed->get() >= 0)
          result.push_back(static_cast<std::uint64_t>(seed->get()));
    const auto size =
      node->as_array() ? node->as_array()->size() : result.size();
    if (result.empty() || result.size() != size)
      refuse(*node, "seeds",
             "must be how many, from 1 to " + std::to_string(seeds_max)
               + ", or a list of seeds");
    return result;
  }

  /// Without any there is one: the configuration as it is.
  std::vector<sweep_setting> read_settings() {
    if (!from_.contains("settings"))
      return {sweep_setting{}};
    return changes_by_name("settings");
  }

  std::vector<sweep_setting> changes_by_name(const std::string& key) {
    std::vector<sweep_setting> result;
    const auto* node = from_.get(key);
    if (node == nullptr)
      return result;
    const auto* table = node->as_table();
    if (table == nullptr || table->empty()) {
      refuse(*node, key,
             "must be a table of lists of changes: "
             "buffered = [\"mode=fedbuff\"]");
      return result;
    }
    std::map<std::uint32_t, std::string> by_line; // As people wrote them.
    for (const auto& [name, changes] : *table)
      by_line.emplace(changes.source().begin.line, std::string{name.str()});
    if (by_line.size() < table->size())
      refuse(*node, key, "write each on a line of its own");
    for (const auto& [at, name] : by_line)
      result.push_back({name, texts(*table, name)});
    return result;
  }

  std::vector<std::pair<std::string, std::string>> read_published() {
    std::vector<std::pair<std::string, std::string>> result;
    const auto* node = from_.get("published");
    if (node == nullptr)
      return result;
    if (const auto* table = node->as_table())
      for (const auto& [name, x] : *table)
        if (const auto* text = x.as_string())
          result.emplace_back(std::string{name.str()}, text->get());
    if (!node->as_table() || result.size() != node->as_table()->size())
      refuse(*node, "published",
             "must be a table of words in quotes, by the names of rows");
    return result;
  }

  const toml::table& root_;
  const toml::table& from_;
  std::string_view origin_;
  problems wrong_;
};

std::string fit_for_a_file(std::string x) {
  for (auto& c : x)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_')
      c = '-';
  return x;
}

} // namespace

std::string sweep_row::name() const {
  if (method.empty())
    return setting.name;
  return setting.name.empty() ? method : method + " " + setting.name;
}

std::string sweep_cell::name() const {
  return fit_for_a_file(row->name()) + "-" + std::to_string(seed);
}

std::vector<std::string> sweep_cell::changes() const {
  auto result = row->setting.changes;
  if (!row->method.empty())
    result.push_back("method=" + row->method);
  result.push_back("seed=" + std::to_string(seed));
  return result;
}

std::vector<sweep_cell> cells_of(const sweep_plan& x) {
  std::vector<sweep_cell> result;
  // Seed by seed, so that a sweep that is looked at has something of all rows.
  for (const auto seed : x.seeds)
    for (const auto& row : x.rows)
      result.push_back({&row, seed});
  return result;
}

result<experiment>
check_rows(const sweep_plan& plan, const std::string& base,
           const std::vector<std::string>& changes,
           const std::function<result<void>(const experiment&)>& fits,
           std::ostream& progress) {
  result<experiment> first = fail(errc::invalid_config, "there are no runs");
  auto said = steady_now();
  for (const auto& row : plan.rows) {
    if (steady_now() - said > std::chrono::seconds{2}) {
      said = steady_now();
      progress << "preparing row " << &row - plan.rows.data() + 1 << " of "
               << plan.rows.size() << ", " << printable(row.name())
               << std::endl;
    }
    auto all = changes;
    const auto own = sweep_cell{&row, plan.seeds.front()}.changes();
    all.insert(all.end(), own.begin(), own.end());
    const auto loaded = load_config(base, all);
    const auto ok = loaded.and_then(
      [&](const loaded_config& found) { return fits(found.x); });
    if (!ok)
      return fail(ok.error().code,
                  "row '" + row.name() + "': " + ok.error().context);
    if (&row == &plan.rows.front())
      first = loaded->x;
  }
  return first;
}

result<std::optional<sweep_plan>> read_sweep(config_source from) {
  const auto root = read_toml(from.text);
  // What is no TOML is refused by whoever reads the rest.
  const auto* node = root ? root->get("sweep") : nullptr;
  if (node == nullptr)
    return std::optional<sweep_plan>{};
  const auto* table = node->as_table();
  if (table == nullptr)
    return fail(errc::invalid_config,
                std::string{from.origin} + ':'
                  + std::to_string(node->source().begin.line)
                  + ": 'sweep' is a table: [sweep]");
  return reader{*root, *table, from.origin}.read().map(
    [](sweep_plan x) { return std::optional{std::move(x)}; });
}

result<std::optional<sweep_plan>> load_sweep(const std::string& path) {
  const auto text = read_text(path);
  if (!text)
    return std::optional<sweep_plan>{}; // Who reads the run says so.
  auto plan = read_sweep({*text, path});
  if (plan && *plan && (*plan)->run.empty())
    (*plan)->run = path;
  return plan;
}

} // namespace troupe::node
