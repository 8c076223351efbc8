#include "node/commands/bench_memory.hpp"

#include <string>

#include "node/commands/served_scene.hpp"

namespace troupe::node {

namespace {

constexpr std::size_t block_values = 10'000'000;
constexpr double block_bytes = block_values * sizeof(float);
constexpr int offers = 100;
constexpr int memory_clients = 20; // Each has eight unanswered offers at most.
constexpr int memory_mib = 244;
constexpr double bytes_of_mib = 1 << 20;
constexpr double megabyte = 1e6;
constexpr int blocks_allowed = 6;

std::string config_text() {
  return R"(
clock = "wall"
evaluate_every = 0
events = false
versions = 1
[clients]
clients = )"
         + std::to_string(memory_clients) + R"(
[pace]
mode = "fedbuff"
buffer_size = )"
         + std::to_string(offers) + R"(
concurrency = )"
         + std::to_string(memory_clients) + R"(
memory = )"
         + std::to_string(memory_mib) + R"(
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";
}

result<sample> merge_memory() {
  const auto scene = make_scene(
    config_text(),
    {.values = block_values, .on_disk = true, .clients_forget = true});
  if (!scene)
    return tl::make_unexpected(scene.error());
  helper_process server{[&] { return serve(**scene); }};
  if (const auto there = told_by(server, (*scene)->board->address); !there)
    return tl::make_unexpected(there.error());
  helper_process others{[&] { return take_part(**scene, memory_clients); }};
  const auto theirs = wait_beside(others, server);
  if (!theirs)
    return tl::make_unexpected(theirs.error());
  (*scene)->board->stop = true;
  const auto its = server.wait();
  if (!its)
    return tl::make_unexpected(its.error());
  const auto above =
    static_cast<double>(its->peak_bytes - (*scene)->board->bytes_before);
  return sample{above / megabyte,
                (memory_mib * bytes_of_mib + blocks_allowed * block_bytes)
                  / megabyte};
}

} // namespace

figure merge_memory_figure() {
  return {.name = "merge_memory",
          .unit = "MB",
          .compared_with = "256 MB and six blocks of 40",
          .bar = 1,
          .repetitions = 1,
          .once = merge_memory};
}

} // namespace troupe::node
