#include "node/commands/eval_routing.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iomanip>
#include <memory>
#include <ostream>
#include <span>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "node/commands/computed_again.hpp"
#include "node/commands/eval_routing_at_home.hpp"
#include "node/config/no_run.hpp"
#include "node/join/joined_task.hpp"
#include "node/report/token_routing.hpp"

namespace troupe::node {

namespace {

json numbers_of(const std::vector<std::uint32_t>& window, std::size_t layer,
                std::size_t layers) {
  const auto tokens = window.size() / layers;
  const auto some = std::span{window}.subspan(layer * tokens, tokens);
  return std::vector<std::uint32_t>(some.begin(), some.end());
}

json to_json(const routing_of_run& x) {
  auto looks = json::array();
  for (const auto& look : x.looks)
    looks.push_back(json_of(look));
  auto clients = json::array();
  for (const auto& [client, routes] : x.last)
    clients.push_back(json_of(client, routes));
  json out{{"first_expert", x.first},
           {"layers", x.layers},
           {"looks", std::move(looks)},
           {"clients", std::move(clients)}};
  if (!x.note.empty())
    out.add("note", x.note);
  return out;
}

result<routing_of_run> written_routing(const std::filesystem::path& folder,
                                       const model_maker& make_model,
                                       const stage_teller& now) {
  auto x = routing_of(folder, make_model, now);
  if (!x)
    return x;
  const auto text = to_json(*x).dump() + "\n";
  const std::array parts{std::as_bytes(std::span{text})};
  if (auto ok = models::replace_file(folder / routing_file, parts, {}); !ok)
    return tl::make_unexpected(ok.error());
  return x;
}

} // namespace

json json_of(const routing_look& x) {
  auto out = json::object();
  if (x.head)
    out.add("version", x.head->value);
  out.add("clients", x.clients);
  out.add("steps", x.steps);
  out.add("scores", x.scores);
  out.add("first_places", x.first_places);
  return out;
}

json json_of(client_id client, const models::token_routes& x) {
  const auto layers = x.mean_of_first.size();
  auto numbers = json::array();
  auto window = json::array();
  for (const auto layer : layers_shown(layers)) {
    numbers.push_back(layer + 1);
    window.push_back(numbers_of(x.window, layer, layers));
  }
  return {{"client", client.value},
          {"experts", x.experts},
          {"steps", x.steps},
          {"scores", x.mean_of_first},
          {"first_places", x.first_places},
          {"layers", std::move(numbers)},
          {"window", std::move(window)}};
}

void print_worth(const std::string& first, std::size_t layers,
                 const std::map<client_id, models::token_routes>& clients,
                 std::ostream& out) {
  const auto shown = layers_shown(layers);
  out << "what the " << first << " is worth to each client's routers\n"
      << "client  experts";
  for (const auto layer : shown)
    out << std::setw(10) << ("layer " + std::to_string(layer + 1));
  out << std::fixed << std::setprecision(4) << '\n';
  for (const auto& [client, routes] : clients) {
    out << std::setw(6) << client.value << std::setw(9) << routes.experts;
    for (const auto layer : shown)
      out << std::setw(10) << routes.mean_of_first[layer];
    out << '\n';
  }
}

std::string first_expert_of(const models::local_task& task) {
  return task.inside->generalists > 0 ? "generalist" : "first specialist";
}

std::string
note_on_bursts(const recipe& method, const options& said,
               const std::map<client_id, models::token_routes>& clients) {
  const auto all = with_defaults(method, said);
  const auto number_of = [&](const char* option) {
    const auto found = all.find(option);
    return found == all.end() ? 0 : found->second;
  };
  if (!all.contains("router_every") || number_of("joint") != 0)
    return {};
  std::uint64_t most = 0;
  for (const auto& [client, x] : clients)
    most = std::max(most, x.steps);
  const auto every = static_cast<std::uint64_t>(number_of("router_every"));
  const std::string none = "no router has learned yet: ";
  if (most < every)
    return none + "no burst was made ('options.router_every' is "
           + std::to_string(every) + ", and no client has made more than "
           + so_many(most, "step") + " of its own)";
  for (const auto* option : {"router_steps", "router_rate"})
    if (number_of(option) == 0)
      return none + "'options." + option + "' is 0";
  return {};
}

routing_look look_at(std::optional<version> head,
                     const std::map<client_id, models::token_routes>& clients) {
  const auto layers = clients.begin()->second.mean_of_first.size();
  routing_look all{.head = head,
                   .clients = clients.size(),
                   .scores = std::vector<double>(layers),
                   .first_places = std::vector<double>(layers)};
  const auto share = 1 / static_cast<double>(clients.size());
  for (const auto& [client, x] : clients) {
    all.steps += share * static_cast<double>(x.steps);
    for (std::size_t i = 0; i < layers; ++i) {
      all.scores[i] += share * x.mean_of_first[i];
      all.first_places[i] += share * x.first_places[i];
    }
  }
  return all;
}

result<routing_of_run> routing_of(const std::filesystem::path& folder,
                                  const model_maker& make_model,
                                  const stage_teller& now) {
  auto run = read_finished_run(folder, make_model);
  if (!run)
    return tl::make_unexpected(run.error());
  const auto& task = *run->work.task;
  if (!models::routes_tokens(task))
    return fail(errc::invalid_config,
                "method '" + task.method.name
                  + "' has no routers; one that chooses experts by token would "
                    "do");
  const auto site = site_of(run->work);
  if (!site)
    return tl::make_unexpected(site.error());
  routing_of_run all{.first = first_expert_of(task), .looks = {}, .last = {}};
  const auto look = [&](const replayed_moment& x) {
    return models::routes_at_home(x.there, site->at, *site->model)
      .map([&](std::map<client_id, models::token_routes> found) {
        if (!found.empty())
          all.looks.push_back(look_at(x.head, found));
        all.last = std::move(found);
      });
  };
  if (auto ok = compute_again(*run, make_model, look, now); !ok)
    return tl::make_unexpected(ok.error());
  if (all.looks.empty() || all.last.empty())
    return fail(errc::invalid_config,
                "no client of this run has a router: each has one expert, or "
                "has never trained; training.experts above 1, or a longer run, "
                "would do");
  all.layers = all.looks.back().scores.size();
  all.note = note_on_bursts(task.method, run->x.training.method, all.last);
  return all;
}

exit_code eval_routing(const std::string& folder, const model_maker& make_model,
                       bool in_json, streams io) {
  if (is_of_store(folder))
    return eval_routing_at_home(folder, make_model, in_json, io);
  if (const auto other = other_than_run(folder); !other.empty())
    return report(error{errc::invalid_data, other}, in_json, io);
  if (!models::is_there(std::filesystem::path{folder} / "config.toml"))
    return report(error{errc::invalid_data,
                        folder
                          + " holds no run (config.toml), and no clients that "
                            "joined one (id)"},
                  in_json, io);
  const auto x = told_while(io.err, reading_a_run, [&](const auto& now) {
    return written_routing(folder, make_model, now);
  });
  if (!x)
    return report(x.error(), in_json, io);
  if (in_json) {
    auto object = to_json(*x);
    object["success"] = true;
    io.out << object.dump(2) << std::endl;
  } else {
    if (!x->note.empty())
      io.out << x->note << "\n\n";
    print_worth(x->first, x->layers, x->last, io.out);
    io.out << "\nin " << (std::filesystem::path{folder} / routing_file).string()
           << "; troupe report " << folder << " draws it" << std::endl;
  }
  return exit_code::ok;
}

} // namespace troupe::node
