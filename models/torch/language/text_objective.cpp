#include "models/torch/language/text_objective.hpp"

#include <utility>

#include "models/language/headed_base.hpp"
#include "models/torch/language/classifier.hpp"
#include "models/torch/language/fit.hpp"
#include "models/torch/language/objective.hpp"
#include "models/torch/language/spans.hpp"
#include "models/torch/threads.hpp"

namespace troupe::models {

result<std::unique_ptr<objective>>
make_text_objective(const language_config& config,
                    std::shared_ptr<const language_base> base,
                    std::shared_ptr<const token_rows> rows) {
  const auto head = head_of(*base);
  if (!head)
    return make_language_objective(config, std::move(base), std::move(rows));
  use_one_thread_per_worker();
  if (auto ok = check_fit(base->spec(), *rows); !ok)
    return tl::unexpected{std::move(ok.error())};
  return head->kind == head_kind::ends
           ? make_span_finder(config, std::move(base), std::move(rows))
           : make_classifier(config, std::move(base), std::move(rows));
}

} // namespace troupe::models
