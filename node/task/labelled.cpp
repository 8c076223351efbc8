#include "node/task/labelled.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "models/language/headed_base.hpp"
#include "node/config/policies_of.hpp"
#include "node/task/language.hpp"
#include "node/task/language_files.hpp"
#include "node/task/language_model.hpp"

namespace troupe::node {

namespace {

bool is_natural(const experiment& x) {
  return x.partition.kind == partition_options::rule::natural;
}

/// Who has what, where clients are no users: all of them, if none is named.
result<std::vector<std::string>> texts_of(const experiment& x) {
  if (is_natural(x))
    return users_of(x);
  return x.data.users;
}

/// Who share what all users have; 0: each user is one by itself.
std::size_t sharing(const experiment& x) {
  return is_natural(x) && !x.data.pooled ? 0 : x.clients.clients;
}

/// How rows are dealt by label; none: sorted.
std::optional<models::partitioner> scheme_of(const experiment& x) {
  using enum partition_options::rule;
  const auto kind = x.partition.kind;
  if (kind != labels && kind != dirichlet)
    return std::nullopt;
  return partitioner_of(x.partition, x.data.clusters);
}

/// A model with what says of rows that which is asked.
result<std::shared_ptr<const models::language_base>>
headed(const experiment& x, const model_options& what,
       const models::labelled_rows& rows) {
  auto base = base_of(x, what, rows.vocabulary());
  if (!base || x.data.text_task == models::text_task::describe)
    return base;
  const bool classify = x.data.text_task == models::text_task::classify;
  const models::row_head head{
    .kind = classify ? models::head_kind::classes : models::head_kind::ends,
    .outputs = classify ? static_cast<std::uint32_t>(rows.labels().size()) : 2};
  return models::with_head(std::move(*base), head,
                           derive_seed(x.seed, "initial"));
}

/// Whoever names what is said in place of what it is has as many labels as
/// texts, and nothing to learn.
std::string about_labels(const models::labelled_rows& rows,
                         const std::string& label) {
  std::set<std::size_t> seen;
  const auto each = [&](models::split part, auto f) {
    const auto count = static_cast<std::uint32_t>(rows.texts(part));
    for (std::uint32_t row = 0; row < count; ++row)
      f(rows.label_of(part, row));
    return count;
  };
  const auto texts =
    each(models::split::train, [&](std::size_t x) { seen.insert(x); });
  std::uint32_t strange = 0;
  const auto tested = each(models::split::test, [&](std::size_t x) {
    strange += seen.contains(x) ? 0 : 1;
  });
  if (2 * strange <= tested)
    return {};
  return std::to_string(texts) + " texts are learned from, and 'data.label' = "
         + in_quotes(label) + " has " + std::to_string(rows.labels().size())
         + " different labels: most that are tested were never seen; a key "
           "with a few of them would do";
}

} // namespace

result<std::shared_ptr<const models::labelled_rows>>
load_labelled(const experiment& x) {
  const auto& d = x.data;
  TROUPE_ASSERT(d.is_labelled_text());
  if (auto ok = check_is_brought("data.path", d.path); !ok)
    return tl::make_unexpected(ok.error());
  auto users = texts_of(x);
  if (!users)
    return tl::make_unexpected(users.error());
  auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  return models::labelled_rows::load(
    {.files = {.folder = d.path,
               .users = std::move(*users),
               .task = d.text_task,
               .label = d.label,
               .part = d.part},
     .context = d.context,
     .stride = d.stride,
     .validation_share = d.validation_share,
     .test_share = d.test_share,
     .clients = sharing(x),
     .scheme = scheme_of(x),
     .sorted_fraction = x.partition.sorted_rows(),
     .even_tests = x.partition.tests == partition_options::test_rule::even,
     .rows_max = x.partition.samples_per_client,
     .seed = derive_seed(x.seed, "data")},
    std::move(*by));
}

result<materials> labelled_of(const experiment& x, const language_maker& make) {
  auto found = load_labelled(x);
  if (!found)
    return tl::make_unexpected(found.error());
  const auto rows = std::move(*found);
  auto base = headed(x, x.model, *rows);
  if (!base)
    return tl::make_unexpected(base.error());
  const auto spec = (*base)->spec();
  const models::language_config how{.trained = !has_frozen_model(x),
                                    .micro_batch = x.training.micro_batch};
  const bool describes = x.data.text_task == models::text_task::describe;
  materials m{.clients = rows->clients(),
              .test_size = rows->texts(models::split::test),
              .make_objective =
                [how, base = std::move(*base), rows, make,
                 of_it = spoken_of(x, x.model)] {
                  return make(how, base, rows).map_error(of_it);
                },
              .has_labels = !describes,
              .data_digest = [rows] { return rows->content(); },
              .counts_tokens = describes,
              .language = spec,
              .left_out = left_out_of(*rows),
              .remark =
                about_vocabulary(x.model, rows->vocabulary(), spec.vocabulary)};
  m.left_out->files = files_left_out(x.data);
  if (x.data.text_task == models::text_task::classify) {
    m.label_names = rows->labels();
    if (m.remark.empty())
      m.remark = about_labels(*rows, x.data.label);
  }
  m.clients.held_out = x.clients.held_out;
  if (sharing(x) == 0) {
    m.user_names = users_of(x).value_or(std::vector<std::string>{});
    m.users = told_users(x, m.user_names);
  }
  if (!has_common(x))
    return m;
  auto common = headed(x, common_model_of(x), *rows);
  if (!common)
    return tl::make_unexpected(common.error());
  // Its values are of the run's files, whatever its own file has.
  m.make_common = [how = models::language_config{.trained = true},
                   base = std::move(*common), rows, make,
                   of_it = spoken_of(x, common_model_of(x))] {
    return make(how, base, rows).map_error(of_it);
  };
  return m;
}

} // namespace troupe::node
