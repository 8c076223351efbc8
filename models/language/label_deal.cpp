#include "models/language/label_deal.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/random.hpp"
#include "models/language/sorted_deal.hpp"

namespace troupe::models {

namespace {

using dealt_parts = std::map<text_part, row_lists>;

example_set of_labels(const row_list& labels) {
  return {.size = labels.size(),
          .inputs = {},
          .labels = {labels.begin(), labels.end()}};
}

std::int64_t classes_of(const std::map<text_part, row_list>& labels) {
  std::int64_t classes = 0;
  for (const auto& [part, all] : labels)
    for (const auto x : all)
      classes = std::max(classes, std::int64_t{x} + 1);
  return classes;
}

result<dealt_parts> deal_by_scheme(const partitioner& scheme,
                                   const std::map<text_part, row_list>& labels,
                                   const label_deal& how) {
  const dataset data{.name = "",
                     .train = of_labels(labels.at(text_part::train)),
                     .test = {},
                     .classes = classes_of(labels)};
  deal with{.data = data,
            .clients = how.clients,
            .examples_min = 1,
            .random = random_stream{derive_seed(how.seed, "partition")}};
  auto train = deal_rows(scheme, with);
  if (!train)
    return tl::make_unexpected(train.error());
  const auto held = label_table(data, {.train = *train, .test = {}});
  dealt_parts out;
  for (const auto& [part, all] : labels) {
    random_stream random{derive_seed(how.seed, name_of(part))};
    out[part] =
      part == text_part::train
        ? std::move(*train)
        : deal_in_proportion(
          held, rows_by_label(of_labels(all), data.classes, random), random);
    for (auto& own : out[part])
      std::ranges::sort(own);
  }
  return out;
}

row_lists deal_part(text_part part, const row_list& all, double sorted_fraction,
                    const label_deal& how) {
  return deal_sorted(all, {.clients = how.clients,
                           .sorted_fraction = sorted_fraction,
                           .seed = derive_seed(how.seed, name_of(part))});
}

dealt_parts deal_sorted_parts(const std::map<text_part, row_list>& labels,
                              const label_deal& how) {
  dealt_parts out;
  for (const auto& [part, all] : labels)
    out[part] = deal_part(part, all, how.sorted_fraction, how);
  return out;
}

} // namespace

result<std::map<text_part, row_lists>>
deal_by_label(const std::map<text_part, row_list>& labels,
              const label_deal& how) {
  auto out = how.scheme ? deal_by_scheme(*how.scheme, labels, how)
                        : deal_sorted_parts(labels, how);
  const auto tests = labels.find(text_part::test);
  if (out && how.even_tests && tests != labels.end())
    (*out)[text_part::test] = deal_part(text_part::test, tests->second, 0, how);
  return out;
}

bool is_by_label(const label_deal& how) noexcept {
  return how.clients > 1
         && (how.scheme ? !std::holds_alternative<iid_partition>(*how.scheme)
                        : how.sorted_fraction > 0);
}

std::string_view larger_share(text_part x, bool is_said) noexcept {
  if (is_said)
    return ", or lines that 'data.part' has for it,";
  switch (x) {
    case text_part::train:
      return ", or smaller shares of the others,";
    case text_part::validation:
      return ", or a larger 'validation_share',";
    case text_part::test:
      break;
  }
  return ", or a larger 'test_share',";
}

std::string_view more_labels(const std::optional<partitioner>& scheme) {
  if (scheme && std::holds_alternative<dirichlet_partition>(*scheme))
    return "a larger 'alpha'";
  if (scheme && std::holds_alternative<labels_partition>(*scheme))
    return "a larger 'labels_per_client'";
  return "more labels for each client";
}

} // namespace troupe::models
