#include <string>

#include "node/config/checks.hpp"

namespace troupe::node {

// Of a method without a common model nothing of one is left by now.
void check_common(const experiment& x, const entries& said,
                  std::string_view origin, problems& wrong) {
  if (!x.common_model)
    return;
  using format = data_options::format;
  using shape = model_options::shape;
  const auto& m = *x.common_model;
  const auto refuse = [&](const std::string& path, std::string_view what) {
    const auto at = said.find(path);
    wrong.add(at == said.end() ? origin : std::string_view{at->second.where},
              what);
  };
  if ((x.data.kind == format::quadratic) != (m.kind == shape::quadratic))
    refuse("common_model.kind",
           "common_model.kind = \"quadratic\" and data.kind = \"quadratic\" "
           "need each other");
  if (x.data.is_regression() != (m.kind == shape::regression))
    refuse("common_model.kind",
           "common_model.kind = \"regression\" and data.kind = \"clusters\" "
           "or \"low_rank\" need each other");
  if (x.data.kind == format::low_rank && !m.hidden.empty())
    refuse("common_model.hidden",
           "data.kind = \"low_rank\" is of one matrix: 'common_model.hidden' "
           "must be []");
  if (m.kind == shape::torchscript && m.path.empty())
    refuse("common_model.kind",
           "common_model.kind = \"torchscript\" needs the 'path' of a module");
}

} // namespace troupe::node
