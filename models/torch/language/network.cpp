#include "models/torch/language/network.hpp"

#include <ATen/ATen.h>

#include "models/torch/language/architectures.hpp"

namespace troupe::models {

std::unique_ptr<language_network>
make_language_network(const language_spec& x) {
  switch (x.kind) {
    case architecture_kind::gpt2:
      return make_gpt2(x);
    case architecture_kind::llama:
      return make_llama(x);
    case architecture_kind::bert:
    case architecture_kind::roberta:
      return make_bert(x);
    case architecture_kind::deberta:
      break;
  }
  return make_deberta(x);
}

at::Tensor mean_of_tokens(const at::Tensor& hidden, const at::Tensor& there) {
  at::Tensor mean;
  if (there.defined()) {
    const auto counts = there.to(hidden.scalar_type()).unsqueeze(2);
    // Hidden states of padding may be anything: they are left out, for a
    // product with zero keeps what is not a number.
    const auto present =
      hidden.masked_fill(there.logical_not().unsqueeze(2), 0);
    mean = present.sum({1}) / counts.sum({1}).clamp_min(1);
  } else {
    mean = hidden.mean({1});
  }
  // The bound stands below the root, whose slope at zero is not a number.
  const auto squares = (mean * mean).sum({1}, true);
  return mean / squares.clamp_min(1e-24).sqrt();
}

} // namespace troupe::models
