#pragma once

namespace troupe::models {

/// What may help where values are no numbers any more, to be said behind that.
inline constexpr const char* against_divergence =
  "a smaller learning_rate may help, or a model whose own loss is a number";

} // namespace troupe::models
