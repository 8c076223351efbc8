// What people write. A number that is changed is another configuration: what is
// accepted must then be one that can be written and read again.

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"
#include "node/config/config.hpp"
#include "node/sweep/sweep_plan.hpp"
#include "node/task/life.hpp"
#include "policies/presence.hpp"
#include "tests/damage/reader.hpp"

namespace troupe::damage {

namespace {

verdict judged(bool holds) {
  return holds ? verdict::accepted : verdict::wrong;
}

constexpr std::string_view some_config = R"(# A run.
name = "small"
method = "fedavg"
rounds = 6
versions = 0
seed = 3
evaluate_every = 2
[data]
kind = "quadratic"
dimension = 5
[model]
kind = "quadratic"
[clients]
clients = 12
clients_per_round = 4
selection = "uniform"
[pace]
mode = "sync"
round_deadline = 1.5
quorum = 2
[merge]
rule = "mean"
[server]
optimiser = "adam"
server_learning_rate = 0.01
[training]
local_steps = 5
batch_size = 0
learning_rate = 0.1
schedule = "cosine"
[devices]
seconds_per_step = 0.01
speed = { kind = "uniform", slowest = 0.1, fastest = 1.0 }
[availability]
kind = "windows"
[crashes]
per_hour = 0.5
)";

verdict read_config(const std::string& bytes) {
  const auto x = node::parse_config({bytes, "input"});
  if (!x)
    return verdict::refused;
  const auto again = node::parse_config({node::write_config(x->x), "written"});
  return judged(again && node::same(x->x, again->x));
}

/// Damaged as all texts are or, now and then, by a key of many parts: the
/// library calls itself for each.
std::string altered_toml(std::string_view original, random_stream& draw) {
  std::string x{original};
  if (draw.chance(0.95))
    return altered(std::move(x), true, draw);
  std::string deep = draw.chance(0.3)   ? "[a"
                     : draw.chance(0.5) ? "x = {a"
                                        : "a";
  for (auto n = 1 + draw.below(draw.chance(0.3) ? 200'000 : 40); n > 0; --n)
    deep += ".a";
  const auto line = x.find('\n', draw.below(x.size()));
  return x.insert(line == x.npos ? 0 : line + 1, deep + " = 1\n");
}

constexpr std::string_view some_sweep = R"([sweep]
run = "one.toml"
methods = ["fedavg", "floral", "ditto"]
seeds = 3
metrics = ["accuracy", "per_client.mean"]
[sweep.settings]
calm = ["clients=10", "learning_rate=0.1"]
busy = ["mode=fedbuff"]
[sweep.published]
"fedavg calm" = "81.2"
)";

verdict read_plan(const std::string& bytes) {
  const auto x = node::read_sweep({bytes, "input"});
  if (!x || !*x)
    return verdict::refused;
  std::set<std::string> names;
  for (const auto& cell : node::cells_of(**x))
    names.insert(cell.name());
  return judged(!names.empty()
                && names.size() == (*x)->rows.size() * (*x)->seeds.size());
}

constexpr std::string_view some_scenario = R"([[scene]]
at = 2.5
fail = [3, 7]
restart_seconds = 10
[[scene]]
version = 12
join = 4
[[scene]]
at = 30
leave = [1, 2]
[[scene]]
at = 31
drain = 9
)";

verdict read_scenario(const std::string& bytes) {
  constexpr std::uint64_t clients = 10;
  const auto x = node::parse_scenario(bytes, "input", clients);
  if (!x)
    return verdict::refused;
  return judged(!x->empty() && std::ranges::all_of(*x, [](const auto& scene) {
    const auto restart = scene.restart_seconds.value_or(0);
    return scene.first.value >= 1 && scene.first <= scene.last
           && scene.last.value <= clients && restart >= 0 && restart < 1e9;
  }));
}

constexpr std::string_view some_hours = "client,from,to\n"
                                        "1,0,10.5\n1,20,30\n2,5,1e3\n"
                                        "3,0.25,7\n2,2000,2001\n";

verdict read_hours(const std::string& bytes) {
  return policies::parse_availability(bytes, "input") ? verdict::accepted
                                                      : verdict::refused;
}

constexpr std::string_view some_speeds = "1\n0.5\n2e3\n0.001\r\n7\n";

verdict read_speeds(const std::string& bytes) {
  const auto x = node::parse_speeds(bytes, "input");
  if (!x)
    return verdict::refused;
  return judged(!x->empty() && std::ranges::all_of(*x, [](double speed) {
    return speed > 0 && speed < 1e9;
  }));
}

} // namespace

std::vector<reader> text_readers() {
  return {
    {.name = "TOML",
     .counts_as_wrong =
       "what is not the same when it is written and read again",
     .originals = {std::string{some_config}},
     .read = read_config,
     .alter =
       [](random_stream& draw) { return altered_toml(some_config, draw); }},
    {.name = "sweep",
     .counts_as_wrong = "two runs of one name",
     .originals = {std::string{some_sweep}},
     .read = read_plan,
     .alter =
       [](random_stream& draw) { return altered_toml(some_sweep, draw); }},
    {.name = "scenario",
     .counts_as_wrong = "a client that is not there, a time out of range",
     .originals = {std::string{some_scenario}},
     .read = read_scenario,
     .alter =
       [](random_stream& draw) { return altered_toml(some_scenario, draw); }},
    {.name = "availability trace",
     .counts_as_wrong = "nothing can be",
     .originals = {std::string{some_hours}},
     .read = read_hours},
    {.name = "speed trace",
     .counts_as_wrong = "a speed out of range",
     .originals = {std::string{some_speeds}},
     .read = read_speeds},
  };
}

} // namespace troupe::damage
