#include "models/data/check_dataset.hpp"

#include "models/objective.hpp"

namespace troupe::models {

namespace {

std::size_t value_count(const column& x) {
  return std::visit([](const auto& values) { return values.size(); }, x.values);
}

} // namespace

std::size_t size_of_example(const column& x) {
  return tensor_spec{x.name, x.shape}.size();
}

result<void> check_dataset(const dataset& data) {
  if (data.train.inputs.empty() || data.classes < 1)
    return fail(errc::invalid_data,
                "data '" + data.name + "' has no inputs or no classes");
  for (const auto* part : {&data.train, &data.test}) {
    const auto& inputs = part->inputs;
    bool fits =
      part->labels.size() == part->size
      && (part->turns.empty() || part->turns.size() == part->size)
      && (part->domains.empty() || part->domains.size() == part->size)
      && (inputs.size() == data.train.inputs.size() || part->size == 0);
    for (std::size_t i = 0; fits && i < inputs.size(); ++i)
      fits =
        inputs[i].shape == data.train.inputs[i].shape
        && inputs[i].values.index() == data.train.inputs[i].values.index()
        && value_count(inputs[i]) == part->size * size_of_example(inputs[i]);
    for (const auto label : part->labels)
      fits = fits && label >= 0 && label < data.classes;
    if (!fits)
      return fail(
        errc::invalid_data,
        "data '" + data.name + "': the "
          + (part == &data.train ? "training" : "test")
          + " set's sizes, shapes, types or labels contradict each other");
  }
  return {};
}

} // namespace troupe::models
