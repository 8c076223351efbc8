#include "models/torch/bare_loop.hpp"

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include "core/clock.hpp"
#include "models/torch/network.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

namespace {

using tensors = std::vector<at::Tensor>;

struct client_examples {
  at::Tensor inputs;
  at::Tensor labels;
};

client_examples examples_of(const dataset& data,
                            const std::vector<std::uint32_t>& rows) {
  std::vector<std::int64_t> wanted(rows.begin(), rows.end());
  const auto index = torch::tensor(wanted, at::kLong);
  const auto& input = data.train.inputs.at(0);
  const auto count = static_cast<std::int64_t>(data.train.size);
  const auto width =
    static_cast<std::int64_t>(tensor_spec{"", input.shape}.size());
  const auto all = std::visit(
    [&](const auto& values) {
      using value = typename std::decay_t<decltype(values)>::value_type;
      auto* first = const_cast<value*>(values.data());
      return torch::from_blob(first, {count, width},
                              c10::CppTypeToScalarType<value>::value);
    },
    input.values);
  auto* labels = const_cast<std::int64_t*>(data.train.labels.data());
  auto chosen = all.index_select(0, index);
  if (all.scalar_type() == at::kByte)
    chosen = chosen.to(at::kFloat).div_(255);
  return {chosen.to(at::kFloat),
          torch::from_blob(labels, {count}, at::kLong).index_select(0, index)};
}

torch::nn::Sequential bare_mlp(std::int64_t from,
                               const std::vector<std::int64_t>& hidden,
                               std::int64_t classes) {
  torch::nn::Sequential result;
  for (const auto width : hidden) {
    result->push_back(torch::nn::Linear(from, width));
    result->push_back(torch::nn::ReLU());
    from = width;
  }
  result->push_back(torch::nn::Linear(from, classes));
  return result;
}

void train(torch::nn::Sequential& model, const client_examples& on,
           const bare_loop_options& opts) {
  torch::optim::SGD optimiser{model->parameters(), opts.learning_rate};
  const auto count = on.labels.size(0);
  for (std::int64_t epoch = 0; epoch < opts.epochs; ++epoch) {
    const auto order = torch::randperm(count, at::kLong);
    for (std::int64_t at = 0; at < count; at += opts.batch_size) {
      const auto batch =
        order.slice(0, at, std::min(at + opts.batch_size, count));
      optimiser.zero_grad();
      const auto logits = model->forward(on.inputs.index_select(0, batch));
      torch::nn::functional::cross_entropy(logits,
                                           on.labels.index_select(0, batch))
        .backward();
      optimiser.step();
    }
  }
}

double cpu_seconds_per_visit(const std::vector<client_examples>& clients,
                             torch::nn::Sequential& model,
                             const bare_loop_options& opts) {
  tensors global, sum;
  for (const auto& x : model->parameters()) {
    global.push_back(x.detach().clone());
    sum.push_back(torch::zeros_like(global.back()));
  }
  const auto begin = process_cpu_time();
  for (int visit = 0; visit < opts.visits; ++visit) {
    const auto live = model->parameters();
    {
      const torch::NoGradGuard no_grad;
      for (std::size_t i = 0; i < live.size(); ++i)
        live[i].copy_(global[i]);
    }
    train(model, clients[static_cast<std::size_t>(visit) % clients.size()],
          opts);
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < live.size(); ++i)
      sum[i].add_(live[i] - global[i], 0.1);
  }
  return seconds(process_cpu_time() - begin) / opts.visits;
}

} // namespace

result<double> bare_loop(const dataset& data,
                         std::span<const std::vector<std::uint32_t>> clients,
                         const bare_loop_options& opts) {
  if (clients.empty() || opts.visits < 1 || opts.batch_size < 1)
    return fail(errc::invalid_argument,
                "a loop without clients, visits or batches");
  use_one_thread_per_worker();
  try {
    std::vector<client_examples> examples;
    for (const auto& rows : clients)
      examples.push_back(examples_of(data, rows));
    auto model =
      bare_mlp(examples[0].inputs.size(1), opts.hidden, data.classes);
    return cpu_seconds_per_visit(examples, model, opts);
  } catch (const std::exception& x) {
    return fail(errc::invalid_config, "the bare loop fails: " + first_line(x));
  }
}

} // namespace troupe::models
