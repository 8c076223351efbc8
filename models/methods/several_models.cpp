#include "models/methods/several_models.hpp"

#include <algorithm>

#include "core/assert.hpp"
#include "models/families.hpp"

namespace troupe::models {

namespace {

/// Rows that are judged at a time, where there are many.
constexpr std::size_t rows_max = 1000;

using floats = std::span<const float>;

result<std::vector<float>> said_together(std::span<const floats> models,
                                         std::span<const double> shares,
                                         blend how, local_problem& on,
                                         model_outputs& by, split part,
                                         std::span<const std::uint32_t> rows) {
  const bool as_chances =
    how == blend::chances && by.kind() == output_kind::logits;
  std::vector<float> together(rows.size() * by.size());
  std::vector<float> said(together.size());
  for (std::size_t c = 0; c < models.size(); ++c) {
    if (shares[c] == 0)
      continue;
    load_parameters(on.model, models[c]);
    if (auto done = by.say(part, rows, said); !done)
      return tl::unexpected{done.error()};
    if (as_chances)
      add_chances(said, by.size(), shares[c], together);
    else
      add_said(said, shares[c], together);
  }
  if (as_chances)
    to_logits(together);
  return together;
}

} // namespace

result<model_outputs*> outputs_of(const local_problem& on) {
  auto* found = on.model.outputs();
  if (found == nullptr)
    return fail(errc::invalid_config,
                "method '" + on.method.name
                  + "' mixes what models say, and this kind of model says "
                    "nothing; \"regression\", a network or a script does");
  if (!on.model.buffers().empty())
    return fail(errc::invalid_config,
                "method '" + on.method.name
                  + "' trains several models, and this one has buffers (batch "
                    "norm), which would be shared by all; group norm would do");
  return found;
}

result<std::vector<base_block>> models_of(const visit_input& x,
                                          const local_problem& on) {
  std::vector<base_block> result;
  for (const auto id : on.blocks.family(model_family)) {
    const auto found =
      base_of(x, on, on.blocks.find(id)->name, on.model.parameters().size());
    if (!found)
      return tl::unexpected{found.error()};
    result.push_back(*found);
  }
  return result;
}

std::vector<floats> models_of(const home& x, const local_problem& on) {
  std::vector<floats> result;
  for (const auto id : on.blocks.family(model_family)) {
    const auto found = std::ranges::find(x.versions, id, &fetched_block::block);
    TROUPE_ASSERT(found != x.versions.end());
    result.emplace_back(*found->values);
  }
  return result;
}

result<scores> score_together(std::span<const floats> models,
                              std::span<const double> shares, blend how,
                              local_problem& on, split part,
                              std::span<const std::uint32_t> rows) {
  const auto outputs = outputs_of(on);
  if (!outputs)
    return tl::unexpected{outputs.error()};
  scores sum;
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_max));
    rows = rows.subspan(some.size());
    const auto x =
      said_together(models, shares, how, on, **outputs, part, some);
    if (!x)
      return tl::unexpected{x.error()};
    const auto judged = (*outputs)->judge(part, some, *x, {});
    for (const auto loss : judged.losses)
      sum.loss += loss;
    sum.correct += judged.correct;
    sum.count += some.size();
  }
  return sum;
}

} // namespace troupe::models
