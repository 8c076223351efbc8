#include "models/methods/several_models.hpp"

#include <algorithm>

namespace troupe::models {

namespace {

/// What they say of these rows, as one.
task<std::vector<float>> said_together(visit& v, several by, split part,
                                       row_span rows) {
  const auto& outputs = *v.on.model.outputs();
  const bool as_chances =
    by.how == blend::chances && outputs.kind() == output_kind::logits;
  std::vector<float> together(rows.size() * outputs.size());
  std::vector<float> said(together.size());
  for (std::size_t c = 0; c < by.models.size(); ++c) {
    if (by.shares[c] == 0)
      continue;
    const model_at one{.parameters = by.models[c].values,
                       .buffers = by.buffers.empty() ? const_array{}
                                                     : by.buffers[c].values};
    co_await v.say(part, rows, said, one);
    if (as_chances)
      add_chances(said, outputs.size(), by.shares[c], together);
    else
      add_said(said, by.shares[c], together);
  }
  if (as_chances)
    to_logits(together);
  co_return together;
}

} // namespace

result<void> check_outputs(const visit& v) {
  if (v.on.model.outputs() != nullptr)
    return {};
  return fail(errc::invalid_config,
              "method '" + v.on.method.name
                + "' mixes what models say, and this kind of model says "
                  "nothing; \"regression\", a network or a script does");
}

result<std::vector<base_block>> models_of(const visit& v) {
  if (auto ok = check_outputs(v); !ok)
    return tl::unexpected{ok.error()};
  if (!v.on.model.buffers().empty())
    return fail(errc::invalid_config,
                "method '" + v.on.method.name
                  + "' trains several models, and this one has buffers (batch "
                    "norm), which would be shared by all; group norm would do");
  return v.all_of(model_family, v.parameters().size());
}

task<scores> score_together(visit& v, several by, split part, row_span rows) {
  scores sum;
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
    rows = rows.subspan(some.size());
    const auto x = co_await said_together(v, by, part, some);
    const auto judged = v.on.model.outputs()->judge(part, some, x, {});
    for (const auto loss : judged.losses)
      sum.loss += loss;
    sum.correct += judged.correct;
    sum.count += some.size();
  }
  co_return sum;
}

} // namespace troupe::models
