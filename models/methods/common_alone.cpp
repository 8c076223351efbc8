// The common model alone, as it came: nobody trains, and each client is scored
// and answered by it.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/text.hpp"
#include "models/embedder.hpp"
#include "models/methods/built_in.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

result<void> check_has_common(const visit& v) {
  if (v.on.common != nullptr)
    return {};
  return fail(errc::invalid_config,
              "method " + in_quotes(v.on.method.name)
                + " is scored by its common model, and there is none; a "
                  "frozen block 'common' in its recipe would do");
}

result<scores> by_common(const visit& v, split part, row_span rows) {
  return check_has_common(v).and_then(
    [&] { return v.on.common->model().evaluate(part, rows); });
}

result<void> check_common_says_classes(const visit& v) {
  const auto* outputs = v.on.common->model().outputs();
  if (outputs != nullptr && outputs->kind() == output_kind::logits)
    return {};
  return fail(errc::invalid_config,
              "this kind of common model says no classes; a network or a "
              "script would do");
}

task<done> train_none(visit&) {
  co_return {};
}

task<answers> answer(visit& v, row_span rows) {
  co_await check_has_common(v);
  co_await check_common_says_classes(v);
  auto& outputs = *v.on.common->model().outputs();
  const auto size = outputs.size();
  answers out;
  while (!rows.empty()) {
    const auto some = rows.first(std::min(rows.size(), rows_at_a_time));
    rows = rows.subspan(some.size());
    std::vector<float> said(some.size() * size);
    co_await outputs.say(split::train, some, said);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto own = std::span{said}.subspan(i * size, size);
      out.classes.push_back(std::ranges::max_element(own) - own.begin());
    }
  }
  co_return out;
}

task<scores> score_common(visit& v, split part, row_span rows) {
  co_return co_await by_common(v, part, rows);
}

} // namespace

const local_method common_alone{
  .train = train_none, .score = score_common, .answer = answer};

} // namespace troupe::models
