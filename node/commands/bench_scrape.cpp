#include "node/commands/bench_scrape.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/director/course.hpp"
#include "actors/director/loads.hpp"
#include "actors/metrics/exposition.hpp"
#include "core/assert.hpp"
#include "core/clock.hpp"

namespace troupe::node {

namespace {

using namespace actors;

constexpr std::uint64_t scraped_clients = 10'000;
constexpr std::uint32_t scraped_experts = 99;
constexpr std::size_t groups = 3;
constexpr std::uint32_t request_length = 4; ///< Experts that a visit asks for.
constexpr double seconds_max = 0.02;
constexpr double bytes_max = 500'000;

recipe of_scraped_experts() {
  return {
    .name = "any",
    .summary = {},
    .blocks = {{.name = "model"},
               {.name = "adapter",
                .where = scope::expert,
                .count = scraped_experts}},
    .legs = {{.fetch = {{"model"}, {"adapter"}}}},
    .roles = {{.procedure = {"any"}}},
    .disclosures = {{.name = "pi", .count_max = scraped_experts, .sum = 1},
                    {.name = "request",
                     .count_max = request_length,
                     .max = scraped_experts - 1,
                     .chosen_of = "adapter"}}};
}

/// The director of such a run, as far as it says where it stands.
class asked_director {
public:
  asked_director(const recipe& method, const models::layout& blocks)
    : course_(options_for(blocks), beginning(blocks)),
      loads_(method, blocks, groups) {
    for (std::uint64_t i = 1; i <= scraped_clients; ++i) {
      did(course_.joined({.client = {i}, .examples = 100}, now_));
      loads_.add({.visit = {{i}, {1}},
                  .examples = 100,
                  .blocks = {},
                  .disclosures = {{.index = 0, .values = mixture_of(i)},
                                  {.index = 1, .values = request_of(i)}}});
    }
  }

  void tell(run_status& to) const {
    to.course = course_.status(now_);
    to.load = loads_.status();
    to.results = to.load.figures;
  }

private:
  static course::options options_for(const models::layout& blocks) {
    course::options x;
    x.mode = pace_kind::fedbuff;
    for (const auto& line : blocks.lines)
      x.lines.push_back(line.id);
    x.concurrency = scraped_clients / 10;
    x.clients_expected = scraped_clients;
    x.selection.window_size = 100;
    return x;
  }

  static course::durable beginning(const models::layout& blocks) {
    course::durable x;
    for (const auto& line : blocks.lines)
      x.heads[line.id] = {};
    return x;
  }

  /// Half of it is of one expert.
  static std::vector<double> mixture_of(std::uint64_t client) {
    std::vector<double> out(scraped_experts, 0.5 / scraped_experts);
    out[client % scraped_experts] += 0.5;
    return out;
  }

  /// Those behind each other, so that each is somebody's first.
  static std::vector<double> request_of(std::uint64_t client) {
    std::vector<double> out;
    for (std::uint32_t i = 0; i < request_length; ++i)
      out.push_back(static_cast<double>((client + i) % scraped_experts));
    return out;
  }

  void did(const course::actions& what) {
    for (const auto& x : what)
      if (const auto* save = std::get_if<messages::save_requested>(&x))
        did(course_.saved(save->token, now_));
  }

  instant now_ = std::chrono::seconds{1};
  course course_;
  loads loads_;
};

/// Some of each length.
duration_counts many_times() {
  duration_counts x;
  for (std::size_t i = 0; i < duration_counts::bounds; ++i)
    x.add(0.9 * duration_counts::bound(i));
  return x;
}

line_status busy_line() {
  line_status x;
  x.head = {123'456};
  x.pending = 17;
  x.needed = 64;
  x.pending_max = 1024;
  x.buffered = x.merges = x.commits = many_times();
  for (std::uint64_t behind = 0; behind < 300; ++behind)
    x.staleness.add(behind);
  x.merged_bytes = 987'654'321'987;
  return x;
}

socket_status busy_socket() {
  socket_status x;
  x.connected = scraped_clients;
  x.carried_up.values = x.carried_down.values = many_times();
  return x;
}

/// All that a served run of this kind says, but for what the director does.
seen_run large_run(const models::layout& blocks) {
  seen_run x;
  x.name = "large";
  x.id = "20261122-002324-large";
  x.method = "any";
  x.mode = "fedbuff";
  x.clock = "wall";
  auto& door = x.door.emplace();
  door.sessions = scraped_clients;
  door.round_trips = many_times();
  x.socket = busy_socket();
  x.crew.waits = x.crew.work = many_times();
  x.storage.fill(many_times());
  for (const auto& line : blocks.lines) {
    x.line_names[line.id] = line.name;
    x.lines[line.id] = busy_line();
    x.readers[line.id] = 3;
  }
  for (const auto& block : blocks.blocks)
    x.heads[block.name] = 123'456;
  return x;
}

reader_status many_readers() {
  reader_status x{.requests = {}, .connections = 12};
  for (const char* page : {"metrics", "healthz", "readyz", "why", "other"})
    x.requests[page] = many_times();
  return x;
}

struct scraped {
  std::string text;
  double seconds = 0; ///< Of CPU, for the director's words as well.
};

result<scraped> scrape() {
  const auto method = of_scraped_experts();
  const auto blocks = models::make_layout(
    method, {{"model", {{"w", {2}}}}, {"adapter", {{"w", {2}}}}}, {});
  if (!blocks)
    return tl::make_unexpected(blocks.error());
  const asked_director director{method, *blocks};
  auto x = large_run(*blocks);
  const auto readers = many_readers();
  const auto began = process_cpu_time();
  director.tell(x);
  scraped out{.text = exposition_of(x, readers)};
  out.seconds = seconds(process_cpu_time() - began);
  TROUPE_ASSERT(x.course->known == scraped_clients
                && x.lines.size() == scraped_experts + 1
                && x.load.requests.experts.size() == scraped_experts
                && x.load.requests.visits == scraped_clients);
  return out;
}

} // namespace

std::vector<figure> scrape_figures() {
  return {{.name = "scrape_time",
           .unit = "ms",
           .compared_with = "20 ms",
           .bar = 1,
           .repetitions = 9,
           .once =
             [] {
               return scrape().map([](const scraped& x) {
                 return sample{x.seconds, seconds_max};
               });
             }},
          {.name = "scrape_bytes",
           .unit = "bytes",
           .compared_with = "500 KB",
           .bar = 1,
           .repetitions = 1,
           .once = [] {
             return scrape().map([](const scraped& x) {
               return sample{static_cast<double>(x.text.size()), bytes_max};
             });
           }}};
}

} // namespace troupe::node
