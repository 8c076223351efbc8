#include "node/commands/eval_routing_at_home.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iomanip>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "actors/client_store/disk_vault.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "models/inner_setup.hpp"
#include "node/commands/computed_again.hpp"
#include "node/commands/eval_routing.hpp"
#include "node/report/page.hpp"
#include "node/report/token_routing.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;
using state_map =
  std::map<client_id, std::shared_ptr<const models::client_state>>;

constexpr std::string_view page_file = "routing.html";
constexpr std::size_t map_tokens_max = 96; ///< Of a line for people.

auto no_routers(const std::string& why) {
  return fail(errc::invalid_config, why);
}

/// Whoever works with them is not kept away for longer than this takes.
result<state_map> states_at(const place_in_store& at) {
  auto files = actors::disk_vault::open(at.store, at.run, {});
  if (!files)
    return tl::make_unexpected(files.error());
  return (*files)->states();
}

/// Of these clients those who have trained; the others go to `untrained`.
state_map trained_among(const std::vector<client_id>& clients,
                        const state_map& all,
                        std::vector<client_id>& untrained) {
  state_map out;
  for (const auto who : clients) {
    const auto found = all.find(who);
    if (found != all.end() && models::steps_of_experts(found->second.get()) > 0)
      out.insert(*found);
    else
      untrained.push_back(who);
  }
  return out;
}

/// Nobody serves what is shared. Who has trained keeps it as it was left, and
/// uses nothing else: so zeros stand for it, unless something is not kept.
result<std::vector<models::fetched_block>> unserved(const workload& work,
                                                    const state_map& states) {
  std::vector<models::fetched_block> out;
  for (const auto& block : work.blocks->blocks) {
    for (const auto& [who, state] : states)
      if (!state->blocks.contains(models::left_of(block.name)))
        return no_routers("clients of this run's method, " + work.method.name
                          + ", do not keep " + in_quotes(block.name)
                          + ", and the server alone has it");
    out.push_back({block.id, {}, share(std::vector<float>(block.size))});
  }
  return out;
}

/// In which these clients alone have rows to look at.
std::shared_ptr<const models::local_task> task_of_these(const workload& work,
                                                        const state_map& them) {
  auto task = std::make_shared<models::local_task>(*work.task);
  auto& rows = task->clients.test;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!them.contains({k + 1}))
      rows[k].clear();
  return task;
}

result<std::map<client_id, models::token_routes>>
look_at_these(workload work, state_map states) {
  auto versions = unserved(work, states);
  if (!versions)
    return tl::make_unexpected(versions.error());
  work.task = task_of_these(work, states);
  const auto site = site_of(work);
  if (!site)
    return tl::make_unexpected(site.error());
  const models::evaluation_input in{.versions = std::move(*versions),
                                    .states = std::move(states)};
  return models::routes_at_home(in, site->at, *site->model);
}

json to_json(const routing_at_home& x, json::list looks) {
  auto clients = json::array();
  for (const auto& [who, routes] : x.clients)
    clients.push_back(json_of(who, routes));
  std::vector<std::uint64_t> untrained;
  for (const auto who : x.untrained)
    untrained.push_back(who.value);
  json out{{"run", x.at.run},
           {"first_expert", x.first},
           {"layers", x.layers},
           {"looks", std::move(looks)},
           {"clients", std::move(clients)},
           {"untrained", untrained}};
  if (!x.note.empty())
    out.add("note", x.note);
  return out;
}

result<void> put(const fs::path& path, const std::string& text) {
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path, parts, {.secret = true});
}

/// Beside its clients, with what was seen there before, and as a page. That
/// nothing can be read of that is noted.
result<json> written(const routing_at_home& x, std::ostream& notes) {
  const auto folder = x.at.folder();
  const auto path = folder / routing_file;
  const auto before = models::is_there(path)
                        ? models::read_text(path, errc::storage_failure)
                        : result<std::string>{};
  if (!before)
    return tl::make_unexpected(before.error());
  if (models::is_there(path) && !has_looks(*before))
    notes << "note: " << path.string()
          << " is not what was written there, and is made anew without the "
             "looks that it had"
          << std::endl;
  auto out =
    to_json(x, looks_with(*before, json_of(look_at(std::nullopt, x.clients))));
  if (auto ok = put(path, out.dump() + "\n"); !ok)
    return tl::make_unexpected(ok.error());
  const auto title = "Clients of run " + x.at.run;
  if (auto ok = put(folder / page_file, page_of_tokens(title, folder)); !ok)
    return tl::make_unexpected(ok.error());
  return out;
}

std::string listed(const std::vector<client_id>& xs) {
  std::string names = xs.size() == 1 ? "client " : "clients ";
  for (std::size_t i = 0; i < xs.size(); ++i)
    names += (i > 0 ? ", " : "") + std::to_string(xs[i].value);
  return names;
}

void print_looks(const routing_at_home& x, const json& said,
                 std::ostream& out) {
  const auto* looks = said.find("looks");
  const auto shown = layers_shown(x.layers);
  out << "\nthe same in the mean over these clients, at each time that "
         "somebody looked here; between them nothing is kept\n"
      << std::setw(8) << "steps" << std::setw(9) << "clients";
  for (const auto layer : shown)
    out << std::setw(10) << ("layer " + std::to_string(layer + 1));
  out << '\n';
  for (const auto& look : *looks->items()) {
    const auto number = [](const json* y) {
      return y ? y->number().value_or(0) : 0;
    };
    out << std::setprecision(0) << std::setw(8) << number(look.find("steps"))
        << std::setw(9) << number(look.find("clients")) << std::setprecision(4);
    const auto* scores = look.find("scores")->items();
    for (const auto layer : shown)
      out << std::setw(10) << number(&(*scores)[layer]);
    out << '\n';
  }
}

void print(const routing_at_home& x, const json& said, std::ostream& out) {
  out << "clients of run " << x.at.run
      << ", on their own test rows, each as it is kept here now\n\n";
  if (!x.note.empty())
    out << x.note << "\n\n";
  print_worth(x.first, x.layers, x.clients, out);
  print_looks(x, said, out);
  for (const auto& [who, routes] : x.clients)
    out << "\nclient " << who.value
        << ": the first choice of each token of its first test window, of "
        << routes.experts << " experts; 0 is the " << x.first << '\n'
        << map_of(routes);
  if (!x.untrained.empty())
    out << '\n'
        << listed(x.untrained) << (x.untrained.size() == 1 ? " has" : " have")
        << " not trained yet, and no router\n";
  out << "\nas a page: " << (x.at.folder() / page_file).string() << std::endl;
}

} // namespace

result<routing_at_home> routing_at_home_of(const fs::path& folder,
                                           const model_maker& make_model) {
  const auto at = place_of_clients(folder);
  if (!at)
    return tl::make_unexpected(at.error());
  const auto states = states_at(*at);
  if (!states)
    return tl::make_unexpected(states.error());
  const auto told = read_joined(*at, make_model);
  if (!told)
    return tl::make_unexpected(told.error());
  const auto x = experiment_of(*told);
  if (!x)
    return tl::make_unexpected(x.error());
  if (!x->model.is_language())
    return no_routers("these clients learn no language model, and route no "
                      "tokens");
  auto made = work_at_home(*told, *x);
  if (!made)
    return tl::make_unexpected(made.error());
  const auto& task = *made->work.task;
  const auto method = task.method;
  if (!models::routes_tokens(task))
    return no_routers("method '" + task.method.name
                      + "' has no routers; one that chooses experts by token "
                        "would do");
  routing_at_home all{.at = *at,
                      .first = first_expert_of(task),
                      .clients = {},
                      .untrained = {},
                      .has_other_texts = made->has_other_texts};
  auto them = trained_among(told->clients, *states, all.untrained);
  if (them.empty())
    return no_routers("none of these clients has trained yet");
  auto found = look_at_these(std::move(made->work), std::move(them));
  if (!found)
    return tl::make_unexpected(found.error());
  if (found->empty())
    return no_routers("none of these clients has a router, or a test row to "
                      "look at; more than one expert would do, as by join "
                      "--experts");
  all.clients = std::move(*found);
  all.note = note_on_bursts(method, x->training.method, all.clients);
  all.layers = all.clients.begin()->second.mean_of_first.size();
  return all;
}

json::list looks_with(std::string_view before, const json& now) {
  json::list out;
  const auto steps_of = [](const json& x) {
    const auto* steps = x.find("steps");
    return steps ? steps->number() : std::nullopt;
  };
  const auto layers_of = [](const json& x) {
    const auto* scores = x.find("scores");
    const auto* items = scores ? scores->items() : nullptr;
    return items ? items->size() : 0;
  };
  const auto read = json::parse(before);
  const auto* looks = read ? read->find("looks") : nullptr;
  if (const auto* items = looks ? looks->items() : nullptr)
    for (const auto& x : *items)
      if (const auto steps = steps_of(x);
          steps && *steps < steps_of(now) && layers_of(x) == layers_of(now))
        out.push_back(x);
  out.push_back(now);
  return out;
}

bool has_looks(std::string_view before) {
  const auto read = json::parse(before);
  const auto* looks = read ? read->find("looks") : nullptr;
  return looks != nullptr && looks->items() != nullptr;
}

std::string map_of(const models::token_routes& x) {
  constexpr std::string_view marks = "0123456789abcdefghijklmnopqrstuvwxyz";
  const auto layers = x.mean_of_first.size();
  const auto tokens = x.window.size() / layers;
  const auto shown = std::min(tokens, map_tokens_max);
  std::ostringstream out;
  for (const auto layer : layers_shown(layers)) {
    out << std::left << std::setw(10) << ("layer " + std::to_string(layer + 1));
    for (std::size_t i = 0; i < shown; ++i) {
      const auto expert = x.window[layer * tokens + i];
      out << (expert < marks.size() ? marks[expert] : '+');
    }
    out << '\n';
  }
  if (shown < tokens)
    out << "the first " << shown << " of its " << tokens << " tokens\n";
  return out.str();
}

exit_code eval_routing_at_home(const std::string& folder,
                               const model_maker& make_model, bool in_json,
                               streams io) {
  const auto x =
    told_while(io.err, "reading what clients joined with", [&](const auto&) {
      return routing_at_home_of(folder, make_model);
    });
  if (!x)
    return report(x.error(), in_json, io);
  const auto said = written(*x, io.err);
  if (!said)
    return report(said.error(), in_json, io);
  if (x->has_other_texts)
    io.err << "note: the texts here are others than when "
           << (x->clients.size() == 1 ? "this client" : "these clients")
           << " joined" << std::endl;
  if (in_json) {
    auto object = *said;
    object["success"] = true;
    io.out << object.dump(2) << std::endl;
  } else {
    print(*x, *said, io.out);
  }
  return exit_code::ok;
}

} // namespace troupe::node
