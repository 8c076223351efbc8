#include "node/commands/bench_gate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "actors/gateway/grants.hpp"
#include "actors/gateway/seal.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "kernels/backend.hpp"
#include "node/commands/lone_visits.hpp"
#include "node/config/config.hpp"
#include "node/run/lone_routes.hpp"

namespace troupe::node {

namespace {

constexpr std::uint32_t asked = 2; ///< Experts, by one visit.

constexpr std::uint64_t gate_clients = 10;
constexpr int epochs = 10;
constexpr int gate_batch = 32;

/// The method of which clients ask for experts, by what it discloses.
const recipe* method_with_requests() {
  for (const auto* x : all_methods().built)
    for (const auto& said : x->disclosures)
      if (!said.chosen_of.empty())
        return x;
  return nullptr;
}

/// Of an example's model, under a method.
result<lone_visits> visits_of(const model_maker& make_model,
                              const std::string& example,
                              const std::vector<std::string>& more) {
  std::vector<std::string> said{"local_epochs=" + std::to_string(epochs),
                                "batch_size=" + std::to_string(gate_batch),
                                "samples_per_client=320"};
  said.insert(said.end(), more.begin(), more.end());
  auto loaded = load_config(example, said);
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  return prepare(loaded->x, make_model).and_then([](workload work) {
    return lone_visits::make(std::move(work), asked);
  });
}

/// Both sides, made once: rows are embedded by then, and memory was used.
struct joint_bench {
  std::optional<lone_visits> joint = {};
  std::optional<lone_visits> plain = {};
};

result<void> make(joint_bench& x, const model_maker& make_model,
                  const std::string& example) {
  const auto* method = method_with_requests();
  if (!method)
    return fail(errc::unsupported, "no method has clients ask for experts");
  auto joint = visits_of(make_model, example,
                         {"method=" + method->name, "options.anchors=0",
                          "options.anchors_per_round=0",
                          "common_model.kind=mlp", "common_model.hidden=[64]"});
  if (!joint)
    return tl::make_unexpected(joint.error());
  auto plain = visits_of(make_model, example, {});
  if (!plain)
    return tl::make_unexpected(plain.error());
  for (auto* side : {&*joint, &*plain})
    if (const auto warm = side->take(gate_clients); !warm)
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
  const auto before = x.plain->take(gate_clients);
  if (!before)
    return tl::make_unexpected(before.error());
  const auto joint = x.joint->take(gate_clients);
  if (!joint)
    return tl::make_unexpected(joint.error());
  const auto after = x.plain->take(gate_clients);
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

constexpr std::uint32_t gate_experts = 1000;
constexpr double request_seconds = 20e-6;

/// The gate first, then the experts that it chooses.
recipe of_gate_experts() {
  return {.name = "any",
          .summary = {},
          .blocks = {{.name = "gate"},
                     {.name = "expert",
                      .where = scope::expert,
                      .count = gate_experts}},
          .legs = {{.fetch = {{.family = "gate"}}, .choice = {"any"}},
                   {.fetch = {{.family = "expert",
                               .chosen = true,
                               .chosen_max = asked}}}},
          .roles = {{.procedure = {"any"}}},
          .disclosures = {{.name = "request",
                           .count_max = asked,
                           .min = 0,
                           .max = gate_experts - 1,
                           .chosen_of = "expert"}}};
}

struct gate_lines {
  models::layout blocks;
  line_id gate;
  std::vector<line_id> experts;
};

result<gate_lines> gate_lines_of(const recipe& method) {
  auto blocks = models::make_layout(
    method, {{"gate", {{"w", {2}}}}, {"expert", {{"w", {2}}}}}, {});
  if (!blocks)
    return tl::make_unexpected(blocks.error());
  gate_lines x{.blocks = std::move(*blocks), .gate = {}, .experts = {}};
  x.gate = x.blocks.find(x.blocks.family("gate").front())->line;
  for (const auto block : x.blocks.family("expert"))
    x.experts.push_back(x.blocks.find(block)->line);
  return x;
}

/// What a server does of its part, from a message that was read to an expert
/// that hears of it.
class request_desk {
public:
  request_desk(const recipe& method, const gate_lines& of)
    : granted_(method, of.blocks),
      routes_(all_of(of)) {
    tickets_.begin({7});
  }

  messages::ticket invite(visit_id x) {
    messages::ticket pass;
    pass.visit = x;
    tickets_.sign(pass);
    granted_.invited(x);
    return pass;
  }

  /// Returns whether it was allowed.
  bool fetch(messages::fetch_requested x) {
    if (tickets_.judge(x.pass, unix_milliseconds()) != actors::worth::good
        || granted_.fetch(x, {}))
      return false;
    for (const auto& want : x.wanted)
      routes_.send({x.pass.visit, x.leg, want, x.pass.cut});
    arrived_ = routes_.settle();
    return true;
  }

  std::uint64_t arrived() const {
    return arrived_;
  }

private:
  static std::vector<line_id> all_of(const gate_lines& of) {
    auto all = of.experts;
    all.push_back(of.gate);
    return all;
  }

  actors::seals tickets_;
  actors::grants granted_;
  lone_routes routes_;
  std::uint64_t arrived_ = 0;
};

/// Of a visit until it has its experts: its ticket is signed, and looked at
/// with each of its two fetches, which are allowed, remembered and routed.
result<sample> requested() {
  constexpr std::uint64_t visitors = 1000, visits = 20'000;
  const auto method = of_gate_experts();
  const auto of = gate_lines_of(method);
  if (!of)
    return tl::make_unexpected(of.error());
  request_desk testee{method, *of};
  random_stream by{1};
  const auto begin = thread_cpu_time();
  for (std::uint64_t i = 0; i < visits; ++i) {
    const auto pass = testee.invite({{i % visitors + 1}, {i / visitors + 1}});
    const auto one = by.below(gate_experts);
    const auto other = (one + 1 + by.below(gate_experts - 1)) % gate_experts;
    const bool allowed =
      testee.fetch({.pass = pass, .leg = 0, .wanted = {{.line = of->gate}}})
      && testee.fetch(
        {.pass = pass,
         .leg = 1,
         .wanted = {{.line = of->experts[one]}, {.line = of->experts[other]}}});
    if (!allowed)
      return fail(errc::invalid_config, "a request was refused");
  }
  const sample found{seconds(thread_cpu_time() - begin) / double{visits},
                     request_seconds};
  if (testee.arrived() != 3 * visits)
    return fail(errc::invalid_config, "a request has not arrived");
  return found;
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
