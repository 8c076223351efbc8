#include "tests/damage/small_run.hpp"

#include <cstdio>

#include "core/assert.hpp"
#include "node/config/config.hpp"
#include "node/run/run.hpp"

namespace troupe::damage {

namespace {

constexpr std::string_view config = R"(
name = "small"
method = "scaffold"
rounds = 4
evaluate_every = 2
workers = 1
ledger = "disk"
events = true
snapshot_seconds = 0.0001
[data]
kind = "quadratic"
dimension = 3
[model]
kind = "quadratic"
[clients]
clients = 5
clients_per_round = 3
[pace]
mode = "sync"
[server]
optimiser = "adam"
[training]
local_steps = 2
batch_size = 0
learning_rate = 0.1
[devices]
seconds_per_step = 0.01
speed = { kind = "uniform", slowest = 0.1, fastest = 1.0 }
)";

} // namespace

result<std::unique_ptr<models::objective>>
no_model(const node::model_options&, std::shared_ptr<const models::dataset>) {
  return fail(errc::unsupported, "there are quadratics only");
}

finished_run small_run(const std::filesystem::path& above) {
  auto loaded = node::parse_config({config, "small.toml"});
  if (!loaded)
    std::fputs(loaded.error().context.c_str(), stderr);
  TROUPE_ASSERT(loaded);
  loaded->x.folder = above.string();
  const auto done = node::run(loaded->x, {.make_model = no_model});
  if (!done)
    std::fputs(done.error().context.c_str(), stderr);
  TROUPE_ASSERT(done && !done->failed);
  return {loaded->x, done->folder};
}

} // namespace troupe::damage
