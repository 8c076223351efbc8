#include "node/commands/bench_visits.hpp"

#include <utility>

#include "actors/transport/piece.hpp"
#include "node/commands/bench_bare.hpp"
#include "node/commands/served_scene.hpp"
#include "node/config/config.hpp"
#include "node/run/federation.hpp"
#include "node/task/data.hpp"

namespace troupe::node {

namespace {

constexpr std::uint32_t rounds_little = 20;
constexpr std::uint32_t rounds_much = 420;

/// Of all visits of a run.
struct visits_cost {
  double cpu_seconds = 0;
  double bytes = 0; ///< At the server's socket, both directions.
  double visits = 0;
};

struct visiting {
  model_maker make_model;
  std::string example;
  bool keys = false;
};

result<experiment> configured(const visiting& x, std::uint32_t rounds) {
  return load_config(x.example,
                     std::vector<std::string>{
                       "clock=wall", "events=false", "evaluate_every=0",
                       "rounds=" + std::to_string(rounds)})
    .map([](auto loaded) { return std::move(loaded.x); });
}

/// Each process makes its own: threads do not survive a fork.
result<void> with_work(const visiting& x, served_scene& scene,
                       const std::function<result<void>()>& then) {
  auto work = prepare(scene.x, x.make_model);
  if (!work)
    return tl::make_unexpected(work.error());
  scene.work = std::move(*work);
  return then();
}

result<visits_cost> visited(const visiting& x, std::uint32_t rounds) {
  auto config = configured(x, rounds);
  if (!config)
    return tl::make_unexpected(config.error());
  const auto made =
    make_scene(std::move(*config), {.on_disk = true, .keys = x.keys});
  if (!made)
    return tl::make_unexpected(made.error());
  auto& scene = **made;
  const auto clients = static_cast<std::uint32_t>(scene.x.clients.clients);
  helper_process server{
    [&] { return with_work(x, scene, [&] { return serve(scene); }); }};
  if (const auto there = told_by(server, scene.board->address); !there)
    return tl::make_unexpected(there.error());
  helper_process others{[&] {
    return with_work(x, scene, [&] { return take_part(scene, clients); });
  }};
  const auto theirs = wait_beside(others, server);
  if (!theirs)
    return tl::make_unexpected(theirs.error());
  scene.board->stop = true;
  const auto its = server.wait();
  if (!its)
    return tl::make_unexpected(its.error());
  return visits_cost{.cpu_seconds = theirs->cpu_seconds + its->cpu_seconds,
                     .bytes = static_cast<double>(scene.board->bytes_in)
                              + static_cast<double>(scene.board->bytes_out),
                     .visits = static_cast<double>(rounds)
                               * scene.x.clients.clients_per_round};
}

/// CPU of a visit of the loop, in a process of its own.
result<double> looped(const visiting& x) {
  const auto config = configured(x, rounds_little);
  if (!config)
    return tl::make_unexpected(config.error());
  const shared_page<double> taken;
  helper_process loop{[&]() -> result<void> {
    const auto work = prepare(*config, x.make_model);
    if (!work)
      return tl::make_unexpected(work.error());
    const auto data = load_data(*config);
    if (!data)
      return tl::make_unexpected(data.error());
    return bare_visits(
             *data, work->task->clients.train,
             {.learning_rate = config->training.learning_rate, .visits = 2000})
      .map([&](double each) { *taken = each; });
  }};
  return loop.wait().map([&](const process_usage&) { return *taken; });
}

/// What comes after the first rounds, each over a bare step and an echo of as
/// many bytes.
result<sample> visit_wire(const visiting& x) {
  const auto little = visited(x, rounds_little);
  if (!little)
    return tl::make_unexpected(little.error());
  const auto much = visited(x, rounds_much);
  if (!much)
    return tl::make_unexpected(much.error());
  const auto visits = much->visits - little->visits;
  const auto bytes = (much->bytes - little->bytes) / visits;
  const auto echo = echoed({.head_bytes = transport::piece_head_size,
                            .body_bytes = static_cast<std::size_t>(bytes / 2),
                            .in_flight = 8,
                            .seconds = 2,
                            .keys = drawn_keys(x.keys)});
  if (!echo)
    return tl::make_unexpected(echo.error());
  return looped(x).map([&](double step) {
    return sample{(much->cpu_seconds - little->cpu_seconds) / visits,
                  step + echo->cpu_seconds};
  });
}

} // namespace

result<double> bare_visits(const models::dataset& data,
                           std::span<const std::vector<std::uint32_t>> clients,
                           const models::bare_loop_options& opts) {
  return load_torch().and_then(
    [&](const auto* torch) { return torch->bare_loop(data, clients, opts); });
}

std::vector<figure> visit_figures(const model_maker& make_model,
                                  const std::string& example) {
  std::vector<figure> out;
  for (const bool keys : {false, true})
    out.push_back({.name = keys ? "visit_wire_keys" : "visit_wire_plain",
                   .unit = "ms",
                   .compared_with = "a bare LibTorch loop and an echo",
                   .bar = 1.5,
                   .repetitions = 3,
                   .once = [=] {
                     return visit_wire({.make_model = make_model,
                                        .example = example,
                                        .keys = keys});
                   }});
  return out;
}

} // namespace troupe::node
