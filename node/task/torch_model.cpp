#include "node/task/torch_model.hpp"

#include "core/assert.hpp"
#include "models/torch/objective.hpp"

namespace troupe::node {

namespace {

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
    case model_options::shape::torchscript:
      return models::model_kind::torchscript;
    case model_options::shape::quadratic:
    case model_options::shape::regression:
      break;
  }
  TROUPE_ASSERT(!"this model needs no torch");
  return {};
}

} // namespace

result<std::unique_ptr<models::objective>>
make_torch_model(const model_options& what,
                 std::shared_ptr<const models::dataset> data) {
  return models::make_torch_objective(
    {.kind = kind_of(what.kind),
     .hidden = {what.hidden.begin(), what.hidden.end()},
     .path = what.path},
    std::move(data));
}

} // namespace troupe::node
