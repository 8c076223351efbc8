#include <algorithm>
#include <string>

#include "core/text.hpp"
#include "models/shapes.hpp"
#include "node/config/checks.hpp"

namespace troupe::node {

// Of a method without adapters nothing of it is left by now.
void check_factors(const experiment& x, const entries& said,
                   std::string_view origin, const method_list& methods,
                   problems& wrong) {
  using enum model_options::shape;
  const auto* method = methods.find(x.method);
  if (x.model.factors != model_options::factors_rule::inside
      || method == nullptr)
    return;
  const auto refuse = [&](std::string_view what) {
    const auto at = said.find("model.factors");
    wrong.add(at == said.end() ? origin : std::string_view{at->second.where},
              what);
  };
  const auto kind = x.model.kind;
  if (x.model.is_language())
    return refuse("factors = \"inside\" need not be said of a language model: "
                  "its adapters stand inside always");
  if (kind != softmax && kind != mlp)
    refuse("factors = \"inside\" are beside products of linear layers, and "
           "convolutions, scripts and problems of their own have others: kind "
           "= \"mlp\" or \"softmax\", or factors = \"composed\", would do");
  if (!models::is_over_base(*method))
    refuse("factors = \"inside\" are all that is learned, and method "
           + in_quotes(method->name)
           + " trains the weights, too: a method over a frozen model, or "
             "factors = \"composed\", would do");
  if (const auto bias = x.training.method.find("adapter_bias");
      bias != x.training.method.end() && bias->second != 0)
    refuse("factors = \"inside\" stand beside matrices, and adapter_bias = "
           "true adapts biases: adapter_bias = false, or factors = "
           "\"composed\", would do");
}

} // namespace troupe::node
