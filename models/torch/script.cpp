#include <torch/script.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/assert.hpp"
#include "core/text.hpp"
#include "models/archive.hpp"
#include "models/files.hpp"
#include "models/torch/network.hpp"
#include "models/torch/stored_tensors.hpp"

namespace troupe::models {

namespace {

using tensors = std::vector<at::Tensor>;

/// Where the module keeps a tensor, and which one of ours belongs there.
struct place {
  torch::jit::Module owner;
  std::size_t slot = 0;
  std::size_t index = 0; ///< Into the list of parameters, floats or integers.

  at::Tensor get() const {
    return owner._ivalue()->getSlot(slot).toTensor();
  }

  void set(const at::Tensor& x) const {
    owner._ivalue()->setSlot(slot, x);
  }
};

/// Weights that are tied are one parameter, which stands in several places.
bool same_storage(const at::Tensor& x, const at::Tensor& y) {
  return x.data_ptr() == y.data_ptr() && x.sizes() == y.sizes()
         && x.strides() == y.strides() && x.numel() > 0;
}

std::vector<float> flattened(const tensors& xs) {
  std::vector<float> result;
  for (const auto& x : xs) {
    const auto values = x.detach().contiguous();
    const auto* first = values.data_ptr<float>();
    result.insert(result.end(), first, first + values.numel());
  }
  return result;
}

class script_network : public network {
public:
  explicit script_network(torch::jit::Module x) : module_(std::move(x)) {
    for (const auto& [name, owner] : module_.named_modules())
      owners_.emplace(name, owner);
  }

  /// Takes stock of the module's tensors. Called once, first.
  result<void> read(const std::string& path);

  const tensor_list& parameter_list() const noexcept override {
    return parameters_;
  }

  const tensor_list& buffer_list() const noexcept override {
    return buffers_;
  }

  void bind(tensors parameters, tensors buffers) override;

  // A script brings its values with it; another seed gives the same ones.
  std::vector<float> initial_parameters(std::uint64_t) const override {
    return initial_parameters_;
  }

  std::vector<float> initial_buffers() const override {
    return initial_buffers_;
  }

  void reset_integers() override {
    for (std::size_t i = 0; i < integers_.size(); ++i)
      integers_[i].copy_(initial_integers_[i]);
  }

  at::Tensor forward(const tensors& inputs, phase when) override {
    return pass("forward", inputs, when);
  }

  at::Tensor embed(const tensors& inputs, phase when) override {
    return module_.find_method("embed") ? pass("embed", inputs, when)
                                        : at::Tensor{};
  }

private:
  place find(const std::string& name, std::size_t index) const;
  at::Tensor run(const std::string& method, const tensors& inputs);
  at::Tensor pass(const std::string& method, const tensors& inputs, phase when);
  void settle();

  torch::jit::Module module_;
  std::map<std::string, torch::jit::Module> owners_;
  tensor_list parameters_;
  tensor_list buffers_;
  std::vector<float> initial_parameters_;
  std::vector<float> initial_buffers_;
  std::vector<place> parameter_places_;
  std::vector<place> float_places_;
  std::vector<place> integer_places_;
  tensors floats_;
  tensors integers_;
  tensors initial_integers_;
  phase phase_ = phase::training;
};

place script_network::find(const std::string& name, std::size_t index) const {
  const auto dot = name.rfind('.');
  const auto owner = owners_.find(dot == name.npos ? "" : name.substr(0, dot));
  TROUPE_ASSERT(owner != owners_.end());
  const auto attribute = dot == name.npos ? name : name.substr(dot + 1);
  const auto slot = owner->second.type()->getAttributeSlot(attribute);
  return {owner->second, slot, index};
}

result<void> script_network::read(const std::string& path) {
  const auto refuse = [&](const std::string& name, const at::Tensor& x) {
    return fail(errc::invalid_config,
                "model.path '" + path + "': " + in_quotes(name) + " is of type "
                  + c10::toString(x.scalar_type())
                  + "; only Float (32 bits) can be trained and merged, so save "
                    "the module after module.float()");
  };
  tensors trained;
  for (const auto& [name, x] : module_.named_parameters()) {
    if (!x.requires_grad())
      continue; // A constant, which every host reads from the same file.
    if (x.scalar_type() != at::kFloat)
      return refuse(name, x);
    const auto known =
      std::find_if(trained.begin(), trained.end(),
                   [&](const auto& y) { return same_storage(x, y); });
    const auto index = static_cast<std::size_t>(known - trained.begin());
    parameter_places_.push_back(find(name, index));
    if (known != trained.end())
      continue;
    trained.push_back(x);
    parameters_.push_back({name, x.sizes().vec()});
  }
  if (parameters_.empty())
    return fail(errc::invalid_config,
                "model.path '" + path
                  + "': the module has no parameter that requires a gradient");
  tensors floats;
  for (const auto& [name, x] : module_.named_buffers()) {
    if (x.scalar_type() == at::kFloat) {
      float_places_.push_back(find(name, floats.size()));
      floats.push_back(x);
      buffers_.push_back({name, x.sizes().vec()});
    } else if (at::isIntegralType(x.scalar_type(), true)) {
      integer_places_.push_back(find(name, initial_integers_.size()));
      initial_integers_.push_back(x.clone());
    } else {
      return refuse(name, x);
    }
  }
  initial_parameters_ = flattened(trained);
  initial_buffers_ = flattened(floats);
  return {};
}

void script_network::bind(tensors parameters, tensors buffers) {
  TROUPE_ASSERT(parameters.size() == parameters_.size());
  TROUPE_ASSERT(buffers.size() == buffers_.size());
  for (const auto& x : parameter_places_)
    x.set(parameters[x.index]);
  floats_ = std::move(buffers);
  for (const auto& x : float_places_)
    x.set(floats_[x.index]);
  for (const auto& x : initial_integers_)
    integers_.push_back(x.clone());
  for (const auto& x : integer_places_)
    x.set(integers_[x.index]);
  module_.train();
}

/// A script may have put new tensors in the place of its buffers ("self.n =
/// self.n
/// + 1"): their values move into ours.
void script_network::settle() {
  const c10::NoGradGuard no_grad;
  const auto take_back = [](const place& x, const at::Tensor& ours) {
    const auto now = x.get();
    if (now.is_same(ours))
      return;
    TORCH_CHECK(now.sizes() == ours.sizes(), "a buffer changed its shape from ",
                ours.sizes(), " to ", now.sizes());
    ours.copy_(now);
    x.set(ours);
  };
  for (const auto& x : float_places_)
    take_back(x, floats_[x.index]);
  for (const auto& x : integer_places_)
    take_back(x, integers_[x.index]);
}

at::Tensor script_network::run(const std::string& method,
                               const tensors& inputs) {
  // The optimising executor's first gradients differ in bits from its second
  // ones. The switch may belong to the thread, so it is set where the work is
  // done.
  torch::jit::setGraphExecutorOptimize(false);
  const auto output = module_.get_method(method)(
    std::vector<torch::jit::IValue>{inputs.begin(), inputs.end()});
  TORCH_CHECK(output.isTensor(), "the module returns ", output.tagKind(),
              method == "embed" ? ", not a tensor of embeddings"
                                : ", not a tensor of logits");
  settle();
  return output.toTensor();
}

at::Tensor script_network::pass(const std::string& method,
                                const tensors& inputs, phase when) {
  if (when != phase_)
    module_.train(when == phase::training);
  phase_ = when;
  if (when == phase::training || (floats_.empty() && integers_.empty()))
    return run(method, inputs);
  const auto copied = [](const tensors& from) {
    tensors result;
    for (const auto& x : from)
      result.push_back(x.clone());
    return result;
  };
  const auto floats = copied(floats_);
  const auto integers = copied(integers_);
  const auto result = run(method, inputs);
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats_[i].copy_(floats[i]);
  for (std::size_t i = 0; i < integers.size(); ++i)
    integers_[i].copy_(integers[i]);
  return result;
}

} // namespace

result<std::unique_ptr<network>> load_script(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return fail(errc::invalid_config, "model.path '" + path
                                        + "': there is no such file; kind "
                                          "'torchscript' needs a saved module");
  // Torch looks at no checksum.
  const auto whole =
    read_file(path, errc::invalid_config).and_then([&](const auto& bytes) {
      return check_archive(bytes, path);
    });
  if (!whole)
    return fail(errc::invalid_config,
                "model.path '" + path
                  + "' is no scripted module: " + whole.error().context);
  static std::mutex one_at_a_time;
  const std::lock_guard lock{one_at_a_time};
  try {
    const auto module = torch::jit::load(path, at::Device{at::kCPU});
    if (const auto problem = tensor_beyond_its_storage(module))
      return fail(errc::invalid_config,
                  "model.path '" + path + "': the module " + *problem);
    auto result = std::make_unique<script_network>(module);
    if (auto ok = result->read(path); !ok)
      return tl::unexpected{std::move(ok.error())};
    return result;
  } catch (const std::exception& x) {
    return fail(errc::invalid_config,
                "model.path '" + path
                  + "' is no scripted module: " + first_line(x));
  }
}

std::string first_line(const std::exception& x) {
  const auto* ours = dynamic_cast<const c10::Error*>(&x);
  std::string_view text = ours ? ours->what_without_backtrace() : x.what();
  // The interpreter puts what happened last, behind the trace of the script.
  constexpr std::string_view cause = "\nRuntimeError: ";
  if (const auto at = text.rfind(cause); at != text.npos)
    text.remove_prefix(at + cause.size());
  return std::string{text.substr(0, text.find('\n'))};
}

} // namespace troupe::models
