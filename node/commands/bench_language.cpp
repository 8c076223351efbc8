#include "node/commands/bench_language.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "actors/record/store.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "models/files.hpp"
#include "models/language/base.hpp"
#include "models/language/language_data.hpp"
#include "models/language/tokenizer.hpp"
#include "node/commands/lone_visits.hpp"
#include "node/commands/measured_run.hpp"
#include "node/commands/processes.hpp"
#include "node/config/config.hpp"
#include "node/run/federation.hpp"
#include "node/task/language.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t context = 128;
constexpr std::array<std::uint32_t, 4> rows{0, context, 2 * context,
                                            3 * context};
constexpr std::uint32_t small_vocabulary = 4096;
constexpr std::size_t stream_tokens = 8192;
constexpr double bytes_a_second = 3e6; // Wanted of a tokenizer.
constexpr double loading_seconds = 1.5;
constexpr double mb = 1e6;

fs::path file_of_model(const fs::path& texts) {
  return texts / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf";
}

error not_there(const fs::path& path) {
  return {errc::unsupported,
          path.string() + " is not there; ./dev data language brings it"};
}

// By how clients train: methods have no names here. Experts beside all products
// are as PEFT's `target_modules="all-linear"`.
constexpr const char* experts_procedure = "routed_sgd";
constexpr const char* two_levels = "two_level_sgd";
constexpr const char* one_level = "common_sgd";

/// The first whose clients do; empty: none.
std::string method_by(std::string_view procedure) {
  for (const auto* x : all_methods().built)
    if (!x->roles.empty() && x->roles.front().procedure.value == procedure)
      return x->name;
  return {};
}

/// A model, and tokens at random: what they mean costs nothing.
struct language_bench {
  fs::path model;                 ///< Empty: a small one of the seed.
  std::uint32_t tokens = context; ///< Of a row.
  /// Rows of a step, each client's own.
  std::uint32_t batch = static_cast<std::uint32_t>(rows.size());
  std::uint32_t clients = 1;

  result<experiment> configured(std::string_view procedure,
                                const std::string& more) const {
    const auto everybody = std::to_string(clients);
    const std::string text =
      "rounds = 1\nclock = 'wall'\nevaluate_every = 0\nevents = false\n"
      "method = '"
      + method_by(procedure) + "'\n[data]\nkind = 'language'\npath = 'none'\n"
      + (model.empty() ? "tokenizer = 'bytes'\n" : "") + "context = "
      + std::to_string(tokens) + "\n[clients]\nclients = " + everybody
      + "\nclients_per_round = " + everybody + "\n[model]\n"
      + "kind = 'language'\n"
      + (model.empty() ? "layers = 4\nembedding = 256\nheads = 4\n"
                       : "path = '" + model.string() + "'\n")
      + "[training]\nlocal_steps = " + std::to_string(model.empty() ? 5 : 1)
      + "\nbatch_size = " + std::to_string(batch)
      + "\nbatches = 'anywhere'\noptimiser = 'adamw'\n" + more;
    return parse_config({text, "bench"}).map([](loaded_config x) {
      return std::move(x.x);
    });
  }

  result<std::uint32_t> vocabulary() const {
    if (model.empty())
      return small_vocabulary;
    return models::open_base(model, models::base_storage::f32)
      .map([](const auto& base) { return base->spec().vocabulary; });
  }

  result<materials> found(const experiment& x) const {
    const auto ids = vocabulary();
    if (!ids)
      return tl::make_unexpected(ids.error());
    auto made = [by = random_stream{1}, below = *ids]() mutable {
      std::vector<models::token_id> all(stream_tokens);
      for (auto& id : all)
        id = static_cast<models::token_id>(by.below(below));
      return models::token_ids{all};
    };
    const auto for_all = [&] {
      std::vector<models::token_ids> all;
      for (std::uint32_t k = 0; k < clients; ++k)
        all.push_back(made());
      return all;
    };
    auto data = models::language_data::make(for_all(), for_all(), for_all(),
                                            tokens, *ids);
    if (!data)
      return tl::make_unexpected(data.error());
    return language_over(x, std::move(*data), make_torch_language);
  }

  /// The steps of a visit of one method.
  result<lone_visits> steps(std::string_view procedure,
                            const std::string& more = {}) const {
    const auto x = configured(procedure, more);
    if (!x)
      return tl::make_unexpected(x.error());
    auto parts = found(*x);
    if (!parts)
      return tl::make_unexpected(parts.error());
    auto work = prepare(*x, std::move(*parts));
    if (!work)
      return tl::make_unexpected(work.error());
    auto visits = lone_visits::make(std::move(*work));
    if (!visits)
      return visits;
    // Memory was used by then, and the base read.
    if (const auto warm = visits->take(1); !warm)
      return tl::make_unexpected(warm.error());
    return visits;
  }

  /// Seconds of CPU in which the base foretells the rows of a step, as many
  /// times as a visit has steps.
  result<double> forward() const {
    const auto x = configured(one_level, {});
    if (!x)
      return tl::make_unexpected(x.error());
    const auto parts = found(*x);
    if (!parts)
      return tl::make_unexpected(parts.error());
    const auto objective = parts->make_objective();
    if (!objective)
      return tl::make_unexpected(objective.error());
    double taken = 0;
    for (const bool warm : {false, true}) {
      const auto begin = process_cpu_time();
      if (const auto ok = (*objective)->evaluate(models::split::train, rows);
          !ok)
        return tl::make_unexpected(ok.error());
      if (warm)
        taken = seconds(process_cpu_time() - begin);
    }
    return taken * static_cast<double>(x->training.local_steps);
  }
};

constexpr const char* unrouted = "experts = [1]\n";
constexpr const char* routed = "experts = [2]\n";
constexpr const char* two_batches = "[options]\nrank = 8\nown_rank = 2\n";
constexpr const char* four_batches =
  "[options]\nrank = 8\nown_rank = 2\nfour_batches = true\n";
constexpr const char* of_rank = "[options]\nrank = 8\n";

/// Two methods' steps, made once, and taken in turn.
struct step_pair {
  std::optional<lone_visits> one = {};
  std::optional<lone_visits> other = {};
};

using step_maker = std::function<result<lone_visits>()>;

result<sample> in_turn(step_pair& x, const step_maker& one,
                       const step_maker& other) {
  if (!x.one) {
    auto first = one();
    if (!first)
      return tl::make_unexpected(first.error());
    auto second = other();
    if (!second)
      return tl::make_unexpected(second.error());
    x.one = std::move(*first);
    x.other = std::move(*second);
  }
  const auto taken = x.one->take(1);
  if (!taken)
    return tl::make_unexpected(taken.error());
  const auto compared = x.other->take(1);
  if (!compared)
    return tl::make_unexpected(compared.error());
  return sample{*taken, *compared};
}

result<sample> step_alone(const language_bench& of, step_pair& x) {
  if (!x.one) {
    auto made = of.steps(experts_procedure, unrouted);
    if (!made)
      return tl::make_unexpected(made.error());
    x.one = std::move(*made);
  }
  const auto taken = x.one->take(1);
  if (!taken)
    return tl::make_unexpected(taken.error());
  return of.forward().map([&](double forward) {
    return sample{*taken, 2 * forward};
  });
}

/// One after the other.
result<std::string> pages_in(const fs::path& folder) {
  std::error_code why;
  std::string all;
  for (const auto& x : fs::directory_iterator{folder, why}) {
    const auto text = models::read_text(x.path(), errc::invalid_data);
    if (!text)
      return tl::make_unexpected(text.error());
    all += *text;
    if (all.size() > 8 * mb)
      break;
  }
  if (why || all.empty())
    return tl::make_unexpected(not_there(folder));
  return all;
}

result<sample> tokenized(const fs::path& texts) {
  if (!models::is_there(file_of_model(texts)))
    return tl::make_unexpected(not_there(file_of_model(texts)));
  const auto by = models::load_tokenizer(file_of_model(texts));
  if (!by)
    return tl::make_unexpected(by.error());
  const auto text = pages_in(texts / "languages" / "de");
  if (!text)
    return tl::make_unexpected(text.error());
  std::vector<models::token_id> ids;
  const auto begin = thread_cpu_time();
  if (const auto ok = (*by)->encode(*text, models::special_rule::as_text, ids);
      !ok)
    return tl::make_unexpected(ok.error());
  return sample{seconds(thread_cpu_time() - begin) * mb
                  / static_cast<double>(text->size()),
                mb / bytes_a_second};
}

// Nobody else in this process has it, or it would be there.
result<sample> loaded(const fs::path& texts) {
  if (!models::is_there(file_of_model(texts)))
    return tl::make_unexpected(not_there(file_of_model(texts)));
  const auto begin = steady_now();
  const auto base =
    models::open_base(file_of_model(texts), models::base_storage::f32);
  if (!base)
    return tl::make_unexpected(base.error());
  return sample{seconds(steady_now() - begin), loading_seconds};
}

/// A round of a run with so many workers, each of whose clients makes a step.
result<void> round_by(const language_bench& of, std::uint32_t workers) {
  auto x = of.configured(one_level, of_rank);
  if (!x)
    return tl::make_unexpected(x.error());
  x->workers = workers;
  auto parts = of.found(*x);
  if (!parts)
    return tl::make_unexpected(parts.error());
  const auto work = prepare(*x, std::move(*parts));
  if (!work)
    return tl::make_unexpected(work.error());
  const auto run = measure({.x = *x,
                            .work = *work,
                            .books = actors::make_memory_store({}),
                            .watching = quiet_chronicle(*x, *work),
                            .counted = std::make_shared<actors::traffic>()});
  return run.map([](const run_cost&) {});
}

/// The most that a process has for it, above what this one has.
result<double> memory_of_round(const language_bench& of,
                               std::uint32_t workers) {
  const auto before = resident_bytes(getpid());
  helper_process child{[&] { return round_by(of, workers); }};
  return child.wait().map([&](const process_usage& used) {
    return static_cast<double>(used.peak_bytes) - static_cast<double>(before);
  });
}

// Rows are so short, and one a step, that activations hardly count: what is
// left is the base, and what each worker has beside it.
result<sample> workers_memory(const fs::path& texts) {
  constexpr std::uint32_t tokens = 16, many = 4;
  if (!models::is_there(file_of_model(texts)))
    return tl::make_unexpected(not_there(file_of_model(texts)));
  const language_bench of{.model = file_of_model(texts),
                          .tokens = tokens,
                          .batch = 1,
                          .clients = many};
  const auto alone = memory_of_round(of, 1);
  if (!alone)
    return tl::make_unexpected(alone.error());
  return memory_of_round(of, many).map([&](double together) {
    return sample{together / mb, *alone / mb};
  });
}

figure workers_memory_figure(const fs::path& texts) {
  return {.name = "language_memory",
          .unit = "MB",
          .compared_with = "one worker, where four have rows of 16 tokens",
          .bar = 1.3,
          .repetitions = 1,
          .once = [texts] { return workers_memory(texts); }};
}

} // namespace

std::vector<figure> language_figures(const fs::path& texts) {
  const bool real = models::is_there(file_of_model(texts));
  const language_bench of{.model = real ? file_of_model(texts) : fs::path{}};
  const std::string where = real ? ", of SmolLM2" : ", of a small GPT-2";
  const auto steps = [of](const char* procedure, const char* more) {
    return [=] { return of.steps(procedure, more); };
  };
  const auto pair = [](step_maker one, step_maker other) {
    return [one = std::move(one), other = std::move(other),
            both = std::make_shared<step_pair>()] {
      return in_turn(*both, one, other);
    };
  };
  return {
    // First: what this process has read already, a copy of it need not read.
    workers_memory_figure(texts),
    {.name = "loading",
     .unit = "ms",
     .compared_with = "1.5 s",
     .bar = 1,
     .repetitions = 3,
     .once = [texts] { return loaded(texts); }},
    {.name = "tokenizing",
     .unit = "ms/MB",
     .compared_with = "3 MB a second",
     .bar = 1,
     .repetitions = 3,
     .once = [texts] { return tokenized(texts); }},
    {.name = "lora_step",
     .unit = "ms",
     .compared_with = "two passes forward of the base" + where,
     .bar = {},
     .repetitions = 5,
     .once =
       [of, x = std::make_shared<step_pair>()] { return step_alone(of, *x); }},
    {.name = "routed_step",
     .unit = "ms",
     .compared_with = "the same with one expert" + where,
     .bar = 1.25,
     .repetitions = 5,
     .by_median = true,
     .once = pair(steps(experts_procedure, routed),
                  steps(experts_procedure, unrouted))},
    {.name = "two_level_step",
     .unit = "ms",
     .compared_with = "a step of the common adapter alone" + where,
     .bar = 4,
     .repetitions = 5,
     .by_median = true,
     .once = pair(steps(two_levels, two_batches), steps(one_level, of_rank))},
    {.name = "two_level_step_four",
     .unit = "ms",
     .compared_with = "a step of the common adapter alone" + where,
     .bar = 5,
     .repetitions = 5,
     .by_median = true,
     .once = pair(steps(two_levels, four_batches), steps(one_level, of_rank))}};
}

} // namespace troupe::node
