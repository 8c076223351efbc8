#include <string_view>

#include "node/config/checks.hpp"

namespace troupe::node {

// Of a method without adapters nothing of it is left by now.
void check_factors(const experiment& x, const entries& said,
                   std::string_view origin, problems& wrong) {
  using enum model_options::shape;
  if (x.model.factors != model_options::factors_rule::inside)
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
  if (kind == quadratic || kind == regression)
    return refuse("factors = \"inside\" are beside products that torch "
                  "computes, and kind = \"quadratic\" and \"regression\" are "
                  "written out by hand: factors = \"composed\" would do");
  if (kind != softmax && kind != mlp)
    refuse("factors = \"inside\" are beside products of linear layers, and "
           "convolutions and scripts have others: kind = \"mlp\" or "
           "\"softmax\", or factors = \"composed\", would do");
}

} // namespace troupe::node
