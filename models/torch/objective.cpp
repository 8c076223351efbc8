#include "models/torch/objective.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <memory>

#include "core/assert.hpp"
#include "models/data/check_dataset.hpp"
#include "models/embeddings.hpp"
#include "models/outputs.hpp"
#include "models/torch/batch.hpp"
#include "models/torch/curvature.hpp"
#include "models/torch/flat_buffer.hpp"
#include "models/torch/network.hpp"
#include "models/torch/perceptron.hpp"
#include "models/torch/random.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

namespace {

constexpr std::size_t evaluation_rows_max = 1000;

using rows = std::span<const std::uint32_t>;

/// Adds up in double and in the order of the rows.
scores score(const at::Tensor& logits, const example_set& from, rows which) {
  const auto table = at::log_softmax(logits, 1).contiguous();
  const auto classes = static_cast<std::size_t>(table.size(1));
  scores result;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::span chances{table.data_ptr<float>() + i * classes, classes};
    const auto label = static_cast<std::size_t>(from.labels[which[i]]);
    const auto chance = chances[label];
    result.loss -= chance;
    // The first of equals is the answer. What is not a number is no answer.
    bool right = true;
    for (std::size_t j = 0; j < classes; ++j)
      right = right && (j < label ? chances[j] < chance : chances[j] <= chance);
    result.correct += right;
  }
  result.count = which.size();
  return result;
}

class torch_objective final : public objective,
                              public model_outputs,
                              public model_embeddings {
public:
  torch_objective(std::unique_ptr<network> x,
                  std::shared_ptr<const dataset> data)
    : network_(std::move(x)),
      groups_(network_->groups()),
      data_(std::move(data)),
      batches_(*data_),
      parameters_(network_->parameter_list()),
      gradient_(network_->parameter_list()),
      buffers_(network_->buffer_list()) {
    std::ranges::copy(network_->initial_buffers(), buffers_.values().begin());
    for (std::size_t i = 0; i < parameters_.views.size(); ++i) {
      parameters_.views[i].requires_grad_();
      parameters_.views[i].mutable_grad() = gradient_.views[i];
    }
    network_->bind(parameters_.views, buffers_.views);
  }

  /// Runs two examples of zeros, to find out what training would.
  result<void> check() {
    return guarded(2, [this]() -> result<void> {
      const c10::NoGradGuard no_grad;
      std::vector<at::Tensor> zeros;
      for (const auto& x : data_->train.inputs)
        zeros.push_back(empty_batch(x, 2).zero_());
      const auto logits = network_->forward(zeros, phase::evaluation);
      if (logits.dim() == 2 && logits.size(0) == 2
          && logits.size(1) == data_->classes
          && logits.scalar_type() == at::kFloat) {
        width_ = width_of_embeddings(zeros);
        return {};
      }
      return fail(errc::invalid_config,
                  "the model's output for 2 examples has shape "
                    + c10::str(logits.sizes()) + " and type "
                    + c10::toString(logits.scalar_type())
                    + "; logits of this data have shape [2, "
                    + std::to_string(data_->classes) + "] and type Float");
    });
  }

  const tensor_list& parameter_list() const noexcept override {
    return network_->parameter_list();
  }

  const tensor_list& buffer_list() const noexcept override {
    return network_->buffer_list();
  }

  std::span<float> parameters() noexcept override {
    return groups_ != nullptr ? groups_->values() : parameters_.values();
  }

  std::span<float> gradient() noexcept override {
    return groups_ != nullptr ? groups_->slopes() : gradient_.values();
  }

  std::span<float> buffers() noexcept override {
    return buffers_.values();
  }

  void begin() override {
    network_->reset_integers();
  }

  result<double> backward(rows which, std::uint64_t seed) override {
    TROUPE_ASSERT(!which.empty());
    auto loss = guarded(which.size(), [&]() -> result<double> {
      begin_torch_random(seed);
      const auto logits = network_->forward(
        batches_.inputs(data_->train, which, seed), phase::training);
      const auto mean =
        at::cross_entropy_loss(logits, labels_of(data_->train, which));
      // Where all groups are off nobody asks for a slope.
      if (groups_ == nullptr || mean.requires_grad())
        mean.backward();
      return mean.item<double>();
    });
    if (!loss)
      forget();
    for (std::size_t i = 0; i < parameters_.views.size(); ++i)
      TROUPE_ASSERT(parameters_.views[i].grad().is_same(gradient_.views[i]));
    return loss;
  }

  result<void> curve(rows which, std::uint64_t seed,
                     std::span<const float> direction) override {
    TROUPE_ASSERT(!which.empty() && direction.size() == parameters().size());
    return guarded(which.size(), [&]() -> result<void> {
      begin_torch_random(seed);
      const auto logits = network_->forward(
        batches_.inputs(data_->train, which, seed), phase::training);
      const auto mean =
        at::cross_entropy_loss(logits, labels_of(data_->train, which));
      slope_graph{mean, leaves()}.add_curvature(direction, gradient());
      return {};
    });
  }

  result<scores> evaluate(split part, rows which) override {
    const auto& from = part == split::train ? data_->train : data_->test;
    scores sum;
    while (!which.empty()) {
      const auto some =
        which.first(std::min(which.size(), evaluation_rows_max));
      which = which.subspan(some.size());
      auto scored = guarded(some.size(), [&]() -> result<scores> {
        const c10::NoGradGuard no_grad;
        begin_torch_random(0);
        return score(
          network_->forward(batches_.inputs(from, some), phase::evaluation),
          from, some);
      });
      if (!scored)
        return scored;
      sum += *scored;
    }
    return sum;
  }

  model_outputs* outputs() noexcept override {
    return this;
  }

  output_kind kind() const noexcept override {
    return output_kind::logits;
  }

  std::size_t size() const noexcept override {
    return static_cast<std::size_t>(data_->classes);
  }

  result<void> say(split part, rows which, std::span<float> out) override {
    TROUPE_ASSERT(out.size() == which.size() * size());
    const auto& from = part == split::train ? data_->train : data_->test;
    return guarded(which.size(), [&]() -> result<void> {
      const c10::NoGradGuard no_grad;
      begin_torch_random(0);
      const auto logits =
        network_->forward(batches_.inputs(from, which), phase::evaluation)
          .contiguous();
      std::copy_n(logits.data_ptr<float>(), out.size(), out.begin());
      return {};
    });
  }

  // The graph looks at the live parameters, it does not own them: that is why
  // they must be back in their place.
  result<utterance> speak(rows which, std::uint64_t seed) override {
    return guarded(which.size(), [&]() -> result<utterance> {
      begin_torch_random(seed);
      const auto logits = network_->forward(
        batches_.inputs(data_->train, which, seed), phase::training);
      const auto flat = logits.detach().contiguous();
      return utterance{
        .values = {flat.data_ptr<float>(),
                   flat.data_ptr<float>() + flat.numel()},
        .pull_back = [this, logits](std::span<const float> slopes) {
          return pull_back(logits, slopes);
        }};
    });
  }
  judgement judge(split part, rows which, std::span<const float> outputs,
                  std::span<float> slopes) const override {
    const auto& from = part == split::train ? data_->train : data_->test;
    std::vector<std::int64_t> labels;
    labels.reserve(which.size());
    for (const auto row : which)
      labels.push_back(from.labels[row]);
    return judge_logits(outputs, labels, size(), slopes);
  }

  inner_adapters* inside() noexcept override {
    return groups_;
  }

  model_embeddings* embeddings() noexcept override {
    return width_ > 0 ? this : nullptr;
  }

  std::size_t width() const noexcept override {
    return width_;
  }

  // One example at a time: how torch adds up depends on how many there are.
  result<void> embed(split part, std::uint32_t row,
                     std::span<float> out) override {
    TROUPE_ASSERT(out.size() == width());
    const auto& from = part == split::train ? data_->train : data_->test;
    return guarded(1, [&]() -> result<void> {
      const c10::NoGradGuard no_grad;
      begin_torch_random(0);
      const auto values =
        network_->embed(batches_.inputs(from, rows{&row, 1}), phase::evaluation)
          .contiguous();
      TORCH_CHECK(static_cast<std::size_t>(values.numel()) == out.size(),
                  "its embedding has ", values.numel(), " values, not ",
                  out.size());
      std::copy_n(values.data_ptr<float>(), out.size(), out.begin());
      return {};
    });
  }

  std::vector<float> initial_parameters(std::uint64_t seed) override {
    return network_->initial_parameters(seed);
  }

  std::vector<float> initial_buffers() override {
    return network_->initial_buffers();
  }

private:
  /// 0: it has none. A method of a script that is called so may be another
  /// thing, which is no reason not to train it.
  std::size_t width_of_embeddings(const std::vector<at::Tensor>& two) {
    if (const auto known = network_->embedding_width(); known > 0)
      return static_cast<std::size_t>(known);
    try {
      begin_torch_random(0);
      const auto found = network_->embed(two, phase::evaluation);
      const bool fits = found.defined() && found.dim() == 2
                        && found.size(0) == 2
                        && found.scalar_type() == at::kFloat;
      return fits ? static_cast<std::size_t>(found.size(1)) : 0;
    } catch (const std::exception&) {
      return 0;
    }
  }

  result<void> pull_back(const at::Tensor& logits,
                         std::span<const float> slopes) {
    const auto count = static_cast<std::size_t>(logits.numel());
    TROUPE_ASSERT(slopes.size() == count);
    auto done = guarded(count / size(), [&]() -> result<void> {
      auto along = at::empty_like(logits, at::MemoryFormat::Contiguous);
      std::ranges::copy(slopes, along.data_ptr<float>());
      logits.backward(along);
      return {};
    });
    if (!done)
      forget();
    return done;
  }

  /// A step after an error starts from nothing.
  void forget() {
    std::ranges::fill(gradient(), 0.f);
    if (groups_ != nullptr)
      groups_->share_slopes();
  }

  /// The parameters that have a gradient now.
  std::vector<group_buffers::leaf> leaves() const {
    return groups_ != nullptr ? groups_->leaves() : parameters_.leaves();
  }

  /// The edge of torch's room: what it throws becomes an error.
  template <class Function>
  auto guarded(std::size_t examples, Function f) -> decltype(f()) {
    use_one_thread_per_worker();
    try {
      return f();
    } catch (const std::exception& x) {
      return fail(errc::invalid_config, "the model fails on a batch of "
                                          + std::to_string(examples)
                                          + " examples: " + first_line(x));
    }
  }

  std::unique_ptr<network> network_;
  group_buffers* groups_; ///< Of the network; null: it is trained itself.
  std::shared_ptr<const dataset> data_;
  batch_maker batches_;
  flat_buffer parameters_;
  flat_buffer gradient_;
  flat_buffer buffers_;
  std::size_t width_ = 0; ///< Of its embeddings; 0: it has none.
};

} // namespace

namespace {

using made_network = result<std::unique_ptr<network>>;

/// @param make its network, once the data is known to be sound
template <class Make>
result<std::unique_ptr<objective>>
make_over(std::shared_ptr<const dataset> data, Make make) {
  use_one_thread_per_worker();
  own_torch_random();
  if (auto ok = check_dataset(*data); !ok)
    return tl::unexpected{std::move(ok.error())};
  made_network made = make(*data);
  if (!made)
    return tl::unexpected{std::move(made.error())};
  auto result =
    std::make_unique<torch_objective>(std::move(*made), std::move(data));
  if (auto ok = result->check(); !ok)
    return tl::unexpected{std::move(ok.error())};
  return result;
}

} // namespace

result<std::unique_ptr<objective>>
make_torch_objective(const model_config& config,
                     std::shared_ptr<const dataset> data) {
  return make_over(std::move(data), [&](const dataset& of) {
    return config.kind == model_kind::torchscript
             ? load_script(config.path)
             : make_native_network(config, of);
  });
}

result<std::unique_ptr<objective>>
make_inner_objective(const model_config& config,
                     std::shared_ptr<const dataset> data, shared_values base) {
  return make_over(std::move(data), [&](const dataset& of) -> made_network {
    if (config.kind != model_kind::softmax && config.kind != model_kind::mlp)
      return fail(errc::invalid_config,
                  "adapters stand inside linear layers alone, and model.kind '"
                    + std::string{name_of(config.kind)}
                    + "' has others; 'mlp' or 'softmax', or model.factors = "
                      "\"composed\", would do");
    auto whole = make_native_network(config, of);
    if (!whole)
      return whole;
    const auto& list = (*whole)->parameter_list();
    if (base->size() != size_of(list))
      return fail(errc::invalid_config, "a base of "
                                          + std::to_string(base->size())
                                          + " values was given for a model of "
                                          + std::to_string(size_of(list)));
    return make_inner_perceptron(still_weights(list, std::move(base)));
  });
}

} // namespace troupe::models
