#include <iostream>

#include "node/commands/bench.hpp"
#include "node/commands/command.hpp"
#include "node/commands/eval.hpp"
#include "node/commands/join.hpp"
#include "node/commands/predict.hpp"
#include "node/commands/replay.hpp"
#include "node/commands/run.hpp"
#include "node/commands/serve.hpp"
#include "node/commands/stop.hpp"
#include "node/task/torch_model.hpp"

int main(int argc, char** argv) {
  using namespace troupe;
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto said_by = [](auto which) {
    return [which]() -> result<std::string> {
      return node::load_torch().map(
        [which](const auto* torch) { return (torch->*which)(); });
    };
  };
  const node::host_facts known{
    .arithmetic = said_by(&models::torch_functions::description),
    .fingerprint = said_by(&models::torch_functions::fingerprint),
    .make_model = node::make_torch_model};
  auto all = node::basic_commands(known);
  all.insert(all.begin(), {"run", "FILE: a whole federation in this process",
                           [&](node::arguments rest, node::streams io) {
                             return node::run_command(node::make_torch_model,
                                                      known, rest, io);
                           }});
  all.insert(all.begin() + 1,
             {"replay", "RUN: recompute a recorded run, compare all digests",
              [&](node::arguments rest, node::streams io) {
                return node::replay_command(node::make_torch_model, known, rest,
                                            io);
              }});
  all.insert(all.begin() + 2,
             {"predict", "RUN: what inputs without labels are, by its model",
              [](node::arguments rest, node::streams io) {
                return node::predict_command(node::make_torch_model, rest, io);
              }});
  all.insert(all.begin() + 3,
             {"eval", "RUN or --model: score a run's models, or one on a text",
              [](node::arguments rest, node::streams io) {
                return node::eval_command(node::make_torch_model, rest, io);
              }});
  all.insert(all.begin() + 4,
             {"bench", "the project's own figures, each beside what limits it",
              [&](node::arguments rest, node::streams io) {
                return node::bench_command(node::make_torch_model, known, rest,
                                           io);
              }});
  all.insert(all.begin() + 5,
             {"serve", "FILE: a run whose clients come from other processes",
              [&](node::arguments rest, node::streams io) {
                return node::serve_command(node::make_torch_model, known, rest,
                                           io);
              }});
  all.insert(
    all.begin() + 6,
    {"stop", "RUN: ends a run that is served, in order", node::stop_command});
  all.insert(all.begin() + 6,
             {"join", "ADDRESS: clients of a run that is served elsewhere",
              [](node::arguments rest, node::streams io) {
                return node::join_command(node::make_torch_model, rest, io);
              }});
  return static_cast<int>(node::dispatch(all, args, {std::cout, std::cerr}));
}
