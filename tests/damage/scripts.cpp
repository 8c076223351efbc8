#include <torch/script.h>

#include "core/assert.hpp"
#include "models/torch/objective.hpp"
#include "models/torch/threads.hpp"
#include "tests/damage/reader.hpp"

namespace troupe::damage {

namespace {

namespace fs = std::filesystem;

std::shared_ptr<const models::dataset> some_data() {
  models::dataset x;
  x.name = "four";
  x.classes = 3;
  x.train.size = x.test.size = 1;
  x.train.labels = x.test.labels = {0};
  x.train.inputs = x.test.inputs = {
    {.name = "x", .shape = {4}, .values = std::vector<float>(4, 1)}};
  return std::make_shared<const models::dataset>(std::move(x));
}

std::string saved_script(const fs::path& path) {
  torch::jit::Module module{"linear"};
  module.register_attribute("training", c10::BoolType::get(), true);
  const auto add = [&](const char* name, const at::Tensor& x) {
    module.register_parameter(name, x.requires_grad_(), false);
  };
  add("w", torch::arange(12, torch::kFloat).reshape({3, 4}));
  add("b", torch::ones({3}));
  module.register_buffer("seen", torch::full({5}, 2.5));
  module.define("def forward(self, x):\n"
                "  return torch.matmul(x, self.w.t()) + self.b\n");
  module.save(path.string());
  return contents(path);
}

using numbers = std::vector<float>;

std::optional<std::pair<numbers, numbers>>
loaded(const fs::path& path, const std::shared_ptr<const models::dataset>& on) {
  const auto x = models::make_torch_objective(
    {.kind = models::model_kind::torchscript, .path = path.string()}, on);
  if (!x)
    return std::nullopt;
  return std::pair{(*x)->initial_parameters(1), (*x)->initial_buffers()};
}

} // namespace

std::vector<reader> script_readers(const fs::path& scratch) {
  models::use_one_thread_per_worker();
  const auto path = scratch / "script.pt";
  const auto original = saved_script(path);
  const auto data = some_data();
  const auto whole = loaded(path, data);
  TROUPE_ASSERT(whole && whole->first.size() == 15);
  return {{.name = "TorchScript",
           .counts_as_wrong = "any other value",
           .text = false,
           .originals = {original},
           .read = [=](const std::string& bytes) {
             write(path, bytes);
             const auto found = loaded(path, data);
             if (!found)
               return verdict::refused;
             return *found == *whole ? verdict::accepted : verdict::wrong;
           }}};
}

} // namespace troupe::damage
