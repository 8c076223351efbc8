#include "node/commands/bench_director.hpp"

#include <algorithm>

#include <malloc.h>

#include "actors/director/course.hpp"
#include "core/assert.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"

namespace troupe::node {

namespace {

using namespace actors;

constexpr line_id line{1};
constexpr std::size_t director_batch = 10;
constexpr int visits = 20'000;

/// A course whose records are saved at once, and the visits that are open.
class bench_run {
public:
  bench_run(std::uint64_t clients, std::uint32_t open)
    : clients_(clients),
      course_(options_for(clients, open), beginning()) {
    for (std::uint64_t i = 1; i <= clients; ++i)
      did(course_.joined({.client = {i}, .examples = 100}, now_));
  }

  /// One visit that is over, and all that follows from it.
  void visit() {
    now_ += std::chrono::milliseconds{1};
    std::swap(open_[draw_.below(open_.size())], open_.back());
    const auto done = open_.back();
    open_.pop_back();
    did(course_.taken({.visit = done, .line = line}, now_));
    merged_.push_back(done);
    if (merged_.size() < director_batch)
      return;
    did(course_.published({.line = line,
                           .head = {++head_},
                           .round = {},
                           .blocks = {},
                           .merged = std::move(merged_)},
                          now_));
    merged_.clear();
  }

private:
  static course::options options_for(std::uint64_t clients,
                                     std::uint32_t open) {
    course::options x;
    x.mode = pace_kind::fedbuff;
    x.lines = {line};
    x.lead = line;
    x.concurrency = open;
    x.clients_expected = clients;
    x.selection.window_size = director_batch;
    x.budget.versions = ~std::uint64_t{0} >> 1;
    return x;
  }

  static course::durable beginning() {
    course::durable x;
    x.heads[line] = {};
    return x;
  }

  void did(const course::actions& what) {
    for (const auto& x : what)
      if (const auto* made = std::get_if<messages::invitation_made>(&x))
        open_.push_back(made->pass.visit);
      else if (const auto* save = std::get_if<messages::save_requested>(&x))
        did(course_.saved(save->token, now_));
  }

  std::uint64_t clients_;
  instant now_ = std::chrono::seconds{1};
  course course_;
  std::vector<visit_id> open_;
  std::vector<visit_id> merged_;
  std::uint64_t head_ = 0;
  random_stream draw_{1};
};

/// Where the entries of a client, its place in the queue and its timer lie
/// anywhere: for one who ends its visit and one who is invited in its place.
constexpr std::size_t lines_of_a_visit = 6;

double touch_p50(std::size_t bytes) {
  struct alignas(64) cache_line {
    std::uint64_t next = 0;
  };
  std::vector<cache_line> all(bytes / sizeof(cache_line) + 1);
  random_stream draw{1};
  for (auto& x : all)
    x.next = draw.below(all.size());
  std::vector<double> took;
  std::uint64_t at = 0;
  for (int i = 0; i < 2 * visits; ++i) {
    at = draw.below(all.size());
    const auto began = steady_now();
    for (std::size_t k = 0; k < lines_of_a_visit; ++k)
      at = all[at].next;
    took.push_back(seconds(steady_now() - began));
    TROUPE_ASSERT(at < all.size()); // Or nothing of it would be read.
  }
  const auto middle = took.begin() + visits;
  std::ranges::nth_element(took, middle);
  return *middle;
}

std::size_t allocated() {
  const auto x = mallinfo2();
  return x.uordblks + x.hblkhd;
}

director_cost cost_of(std::uint64_t clients, double busy) {
  const auto before = allocated();
  const auto open = std::max<std::uint64_t>(
    director_batch,
    static_cast<std::uint64_t>(busy * static_cast<double>(clients)));
  bench_run testee{clients, static_cast<std::uint32_t>(open)};
  for (int i = 0; i < visits; ++i) // Until all of it has been used.
    testee.visit();
  std::vector<double> took;
  for (int i = 0; i < visits; ++i) {
    const auto began = steady_now();
    testee.visit();
    took.push_back(seconds(steady_now() - began));
  }
  const auto after = allocated();
  std::ranges::sort(took);
  const auto n = static_cast<double>(clients);
  return {.clients = clients,
          .busy = busy,
          .p50 = took[took.size() / 2],
          .p99 = took[took.size() * 99 / 100],
          .bytes_a_client = static_cast<double>(after - before) / n,
          .touch_p50 = touch_p50(after - before)};
}

} // namespace

std::vector<director_cost> director_costs() {
  std::vector<director_cost> all;
  for (const double busy : {0.0, 0.9})
    for (const std::uint64_t clients : {1000, 100'000, 1'000'000})
      all.push_back(cost_of(clients, busy));
  return all;
}

} // namespace troupe::node
