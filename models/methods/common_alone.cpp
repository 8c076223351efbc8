// The common model alone, as it came: nobody trains, and each client is scored
// by it.

#include "core/text.hpp"
#include "models/embedder.hpp"
#include "models/methods/built_in.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

result<scores> by_common(const visit& v, split part, row_span rows) {
  if (v.on.common == nullptr)
    return fail(errc::invalid_config,
                "method " + in_quotes(v.on.method.name)
                  + " is scored by its common model, and there is none; a "
                    "frozen block 'common' in its recipe would do");
  return v.on.common->model().evaluate(part, rows);
}

task<done> train(visit&) {
  co_return {};
}

task<scores> score(visit& v, split part, row_span rows) {
  co_return co_await by_common(v, part, rows);
}

} // namespace

const local_method common_alone{.train = train, .score = score};

} // namespace troupe::models
