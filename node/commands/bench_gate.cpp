#include "node/commands/bench_gate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "actors/gateway/grants.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "kernels/backend.hpp"
#include "node/config/config.hpp"

namespace troupe::node {

namespace {

constexpr std::uint32_t asked = 2; ///< Experts, by one visit.

constexpr std::uint64_t clients = 10;
constexpr int epochs = 10;
constexpr int batch = 32;

/// The method of which clients ask for experts, by what it discloses.
const recipe* method_with_requests() {
  for (const auto* x : all_methods().built)
    for (const auto& said : x->disclosures)
      if (!said.chosen_of.empty())
        return x;
  return nullptr;
}

/// Visits of one method, one after the other, without a federation around them.
class visitor {
public:
  static result<visitor> make(const model_maker& make_model,
                              const std::string& example,
                              const std::vector<std::string>& more) {
    std::vector<std::string> said{"local_epochs=" + std::to_string(epochs),
                                  "batch_size=" + std::to_string(batch),
                                  "samples_per_client=320"};
    said.insert(said.end(), more.begin(), more.end());
    auto loaded = load_config(example, said);
    if (!loaded)
      return tl::make_unexpected(loaded.error());
    auto work = prepare(loaded->x, make_model);
    if (!work)
      return tl::make_unexpected(work.error());
    auto trainer = work->make_trainer();
    if (!trainer)
      return tl::make_unexpected(trainer.error());
    return visitor{std::move(*work), std::move(*trainer)};
  }

  /// Seconds of CPU of a visit.
  result<double> visit() {
    const auto begin = process_cpu_time();
    for (std::uint64_t k = 1; k <= clients; ++k) {
      what_.visit.client = {k};
      if (const auto done = trainer_->train(what_); !done)
        return tl::make_unexpected(done.error());
    }
    return seconds(process_cpu_time() - begin) / double{clients};
  }

private:
  visitor(workload work, std::unique_ptr<models::trainer> trainer)
    : work_(std::move(work)),
      trainer_(std::move(trainer)) {
    const auto& roles = work_.method.roles;
    what_.role = roles.empty() ? 0
                               : static_cast<std::uint32_t>(roles.size())
                                   - 1; // That of all others.
    for (const auto& [id, values] : work_.initial) {
      const auto* block = work_.blocks->find(id);
      const bool is_expert = block->where == scope::expert;
      if (is_expert && block->instance >= asked)
        continue;
      what_.fetched.push_back({id, {}, values});
      if (is_expert)
        what_.chosen.push_back(id);
    }
  }

  workload work_;
  std::unique_ptr<models::trainer> trainer_;
  models::visit_input what_;
};

/// Both sides, made once: rows are embedded by then, and memory was used.
struct joint_bench {
  std::optional<visitor> joint = {};
  std::optional<visitor> plain = {};
};

result<void> make(joint_bench& x, const model_maker& make_model,
                  const std::string& example) {
  const auto* method = method_with_requests();
  if (!method)
    return fail(errc::unsupported, "no method has clients ask for experts");
  auto joint =
    visitor::make(make_model, example,
                  {"method=" + method->name, "options.anchors=0",
                   "options.anchors_per_round=0", "common_model.kind=mlp",
                   "common_model.hidden=[64]"});
  if (!joint)
    return tl::make_unexpected(joint.error());
  auto plain = visitor::make(make_model, example, {});
  if (!plain)
    return tl::make_unexpected(plain.error());
  for (auto* side : {&*joint, &*plain})
    if (const auto warm = side->visit(); !warm)
      return tl::make_unexpected(warm.error());
  x.joint = std::move(*joint);
  x.plain = std::move(*plain);
  return {};
}

result<sample> joint_step(joint_bench& x, const model_maker& make_model,
                          const std::string& example) {
  if (!x.joint)
    if (const auto made = make(x, make_model, example); !made)
      return tl::make_unexpected(made.error());
  const auto before = x.plain->visit();
  if (!before)
    return tl::make_unexpected(before.error());
  const auto joint = x.joint->visit();
  if (!joint)
    return tl::make_unexpected(joint.error());
  const auto after = x.plain->visit();
  if (!after)
    return tl::make_unexpected(after.error());
  return sample{*joint, *before + *after};
}

std::vector<float> drawn(std::size_t size, random_stream& by) {
  std::vector<float> out(size);
  for (auto& x : out)
    x = static_cast<float>(by.uniform() - 0.5);
  return out;
}

constexpr double scores_seconds = 0.5e-3;

result<sample> scored() {
  constexpr kernels::gate_shape shape{.inputs = 64, .hidden = 64, .experts = 5};
  constexpr std::size_t rows = 500;
  constexpr int times = 100;
  auto arithmetic = kernels::make_backend({});
  if (!arithmetic)
    return tl::make_unexpected(arithmetic.error());
  random_stream by{1};
  const auto gate = drawn(shape.size(), by);
  const auto seen = drawn(rows * shape.inputs, by);
  std::vector<double> sum(shape.experts);
  const auto begin = thread_cpu_time();
  for (int i = 0; i < times; ++i)
    if (const auto ok = (*arithmetic)->gate_scores(shape, gate, seen, sum); !ok)
      return tl::make_unexpected(ok.error());
  return sample{seconds(thread_cpu_time() - begin) / times, scores_seconds};
}

constexpr std::uint32_t experts = 1000;
constexpr double request_seconds = 20e-6;

/// The gate first, then the experts that it chooses.
recipe of_many_experts() {
  return {
    .name = "any",
    .summary = {},
    .blocks = {{.name = "gate"},
               {.name = "expert", .where = scope::expert, .count = experts}},
    .legs =
      {{.fetch = {{.family = "gate"}}, .choice = {"any"}},
       {.fetch = {{.family = "expert", .chosen = true, .chosen_max = asked}}}},
    .roles = {{.procedure = {"any"}}},
    .disclosures = {{.name = "request",
                     .count_max = asked,
                     .min = 0,
                     .max = experts - 1,
                     .chosen_of = "expert"}}};
}

/// All that is remembered of a visit until it has its experts: that it was
/// invited, its gate and its request.
result<sample> requested() {
  constexpr std::uint64_t visitors = 1000, visits = 20'000;
  const auto method = of_many_experts();
  const auto blocks = models::make_layout(
    method, {{"gate", {{"w", {2}}}}, {"expert", {{"w", {2}}}}}, {});
  if (!blocks)
    return tl::make_unexpected(blocks.error());
  const auto gate = blocks->find(blocks->family("gate").front())->line;
  std::vector<line_id> lines;
  for (const auto block : blocks->family("expert"))
    lines.push_back(blocks->find(block)->line);
  actors::grants testee{method, *blocks};
  random_stream by{1};
  const auto begin = thread_cpu_time();
  for (std::uint64_t i = 0; i < visits; ++i) {
    messages::ticket pass;
    pass.visit = {{i % visitors + 1}, {i / visitors + 1}};
    testee.invited(pass.visit);
    messages::fetch_requested first{
      .pass = pass, .leg = 0, .wanted = {{.line = gate}}};
    const auto one = by.below(experts);
    const auto other = (one + 1 + by.below(experts - 1)) % experts;
    messages::fetch_requested then{
      .pass = pass,
      .leg = 1,
      .wanted = {{.line = lines[one]}, {.line = lines[other]}}};
    if (testee.fetch(first, {}) || testee.fetch(then, {}))
      return fail(errc::invalid_config, "a request was refused");
  }
  return sample{seconds(thread_cpu_time() - begin) / double{visits},
                request_seconds};
}

} // namespace

std::vector<figure> gate_figures(const model_maker& make_model,
                                 const std::string& example) {
  return {{.name = "joint_step",
           .unit = "ms",
           .compared_with = "two visits that train one model each",
           .bar = 1.05,
           .repetitions = 9,
           .by_median = true,
           .once =
             [=, both = std::make_shared<joint_bench>()] {
               return joint_step(*both, make_model, example);
             }},
          {.name = "gate_scores",
           .unit = "ms",
           .compared_with = "0.5 ms",
           .bar = 1,
           .repetitions = 9,
           .once = [] { return scored(); }},
          {.name = "request",
           .unit = "ms",
           .compared_with = "20 us",
           .bar = 1,
           .repetitions = 9,
           .once = [] { return requested(); }}};
}

} // namespace troupe::node
