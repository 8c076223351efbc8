#include "node/task/torch_model.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <dlfcn.h>

#include "core/assert.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

models::model_kind kind_of(model_options::shape x) {
  switch (x) {
    case model_options::shape::softmax:
      return models::model_kind::softmax;
    case model_options::shape::mlp:
      return models::model_kind::mlp;
    case model_options::shape::cnn:
      return models::model_kind::cnn;
    case model_options::shape::lenet:
      return models::model_kind::lenet;
    case model_options::shape::vgg8:
      return models::model_kind::vgg8;
    case model_options::shape::resnet18:
      return models::model_kind::resnet18;
    case model_options::shape::resnet34:
      return models::model_kind::resnet34;
    case model_options::shape::torchscript:
      return models::model_kind::torchscript;
    case model_options::shape::quadratic:
    case model_options::shape::regression:
    case model_options::shape::language:
      break;
  }
  TROUPE_ASSERT(!"this model is not made of examples by torch");
  return {};
}

models::norm_kind norm_of(model_options::norm_rule x) {
  return x == model_options::norm_rule::batch ? models::norm_kind::batch
                                              : models::norm_kind::group;
}

models::model_config config_of(const model_options& what) {
  return {.kind = kind_of(what.kind),
          .hidden = {what.hidden.begin(), what.hidden.end()},
          .path = what.path,
          .width = what.width,
          .norm = norm_of(what.norm)};
}

result<const models::torch_functions*> open_module() {
  constexpr const char* name = "libtroupe_torch.so";
  std::error_code ignored;
  const auto here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  auto path = here / name;
  if (!fs::exists(path, ignored))
    path = here.parent_path() / "lib" / "troupe" / name;
  if (!fs::exists(path, ignored))
    return fail(errc::unsupported,
                "LibTorch is not here: " + (here / name).string()
                  + " is missing; ./dev build makes it");
  // Global: BLAS is looked for by name. Never closed: its threads and tables
  // live as long as the process.
  void* module = dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  void* entry = module ? dlsym(module, "troupe_torch") : nullptr;
  if (entry == nullptr) {
    const char* why = dlerror();
    return fail(errc::unsupported,
                "LibTorch cannot be loaded: "
                  + std::string{why ? why : path.c_str()}
                  + "; ./dev setup installs it and ./dev build makes "
                  + std::string{name});
  }
  const auto* functions = reinterpret_cast<decltype(troupe_torch)*>(entry)();
  functions->use_one_thread();
  return functions;
}

} // namespace

result<const models::torch_functions*> load_torch() {
  static const auto loaded = open_module();
  return loaded;
}

model_maker models_by(const models::torch_functions& torch) {
  return [&torch](const model_options& what,
                  std::shared_ptr<const models::dataset> data) {
    return torch.make_objective(config_of(what), std::move(data));
  };
}

inner_model_maker inner_models_by(const models::torch_functions& torch) {
  return [&torch](const model_options& what,
                  std::shared_ptr<const models::dataset> data,
                  shared_values base) {
    return torch.make_inner(config_of(what), std::move(data), std::move(base));
  };
}

result<std::unique_ptr<models::objective>>
make_torch_model(const model_options& what,
                 std::shared_ptr<const models::dataset> data) {
  const auto torch = load_torch();
  if (!torch)
    return tl::make_unexpected(torch.error());
  return models_by(**torch)(what, std::move(data));
}

result<std::unique_ptr<models::objective>>
make_torch_inner(const model_options& what,
                 std::shared_ptr<const models::dataset> data,
                 shared_values base) {
  const auto torch = load_torch();
  if (!torch)
    return tl::make_unexpected(torch.error());
  return inner_models_by(**torch)(what, std::move(data), std::move(base));
}

result<std::unique_ptr<models::objective>>
make_torch_language(const models::language_config& config,
                    std::shared_ptr<const models::language_base> base,
                    std::shared_ptr<const models::token_rows> rows) {
  const auto torch = load_torch();
  if (!torch)
    return tl::make_unexpected(torch.error());
  return (*torch)->make_language(config, std::move(base), std::move(rows));
}

} // namespace troupe::node
