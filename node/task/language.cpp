#include "node/task/language.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "models/families.hpp"
#include "models/language/documents.hpp"
#include "node/config/config.hpp"
#include "node/task/labelled.hpp"
#include "node/task/language_files.hpp"
#include "node/task/language_model.hpp"
#include "node/task/memory_there.hpp"

namespace troupe::node {

namespace {

/// As the run cuts and bounds texts.
models::language_options cut_of(const experiment& x) {
  const auto& d = x.data;
  return {.context = d.context,
          .tokens = d.tokens,
          .user_tokens = d.user_tokens,
          .validation_tokens = d.validation_tokens,
          .test_tokens = d.test_tokens,
          .test_windows = d.test_windows,
          .validation_share = d.validation_share,
          .test_share = d.test_share,
          .mixed = d.mixed,
          .pooled = d.pooled,
          .cache = d.cache,
          .seed = derive_seed(x.seed, "data")};
}

} // namespace

result<std::vector<std::string>> users_of(const experiment& x) {
  auto names = x.data.users.empty()
                 ? models::names_of_users(x.data.path)
                 : result<std::vector<std::string>>{x.data.users};
  if (!names)
    return names;
  if (const auto said = x.data.user_tokens.size(); said > names->size())
    return fail(errc::invalid_config,
                x.data.path + ": has " + so_many(names->size(), "user")
                  + ", and 'data.user_tokens' says how much "
                  + std::to_string(said) + " have; "
                  + so_many(names->size(), "number") + " would do");
  if (x.data.pooled) // All of them are the one client.
    return names;
  const std::size_t clients = x.clients.clients;
  if (names->size() < clients)
    return fail(errc::invalid_config,
                x.data.path + ": has " + so_many(names->size(), "user")
                  + ", and there are " + std::to_string(clients)
                  + " clients, each of which is one; 'clients' = "
                  + std::to_string(names->size()) + " would do");
  names->resize(clients);
  return names;
}

result<std::shared_ptr<const models::tokenizer>>
tokenizer_for(const experiment& x) {
  const auto& named = x.data.tokenizer;
  if (named != "bytes")
    if (auto ok = named.empty() ? check_is_brought("model.path", x.model.path)
                                : check_is_brought("data.tokenizer", named);
        !ok)
      return tl::make_unexpected(ok.error());
  auto by = models::load_tokenizer_for(x.model.path, named);
  if (!by && named.empty())
    return fail(by.error().code,
                by.error().context
                  + "; 'data.tokenizer' names one that is elsewhere");
  if (!by || !has_common(x) || !common_model_of(x).is_language())
    return by;
  // It looks at the same tokens.
  if (auto ok = models::check_own_tokenizer(
        common_model_of(x).path, **by, named.empty() ? x.model.path : named);
      !ok)
    return fail(ok.error().code,
                ok.error().context + "; that of 'common_model' would do");
  return by;
}

std::vector<std::string> told_users(const experiment& x,
                                    std::vector<std::string> names) {
  for (auto& name : names)
    name = "user " + in_quotes(shortened(name))
           + (x.data.path.empty() ? "" : " of " + x.data.path);
  return names;
}

bool has_frozen_model(const experiment& x) {
  const auto* method = all_methods().find(x.method);
  return method != nullptr
         && std::ranges::any_of(method->blocks, [](const block_spec& y) {
              return y.where == scope::frozen && y.name == models::model_family;
            });
}

result<std::shared_ptr<const models::language_data>>
load_language(const experiment& x) {
  const auto& d = x.data;
  TROUPE_ASSERT(d.is_language());
  if (!d.brought)
    if (auto ok = check_is_brought("data.path", d.path); !ok)
      return tl::make_unexpected(ok.error());
  auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  if (d.brought)
    return models::language_data::make(
      {}, {}, {}, d.context, static_cast<std::uint32_t>((*by)->size()));
  return users_of(x).and_then([&](std::vector<std::string> users) {
    return load_users(x, d.path, std::move(users), std::move(*by));
  });
}

result<std::shared_ptr<const models::language_data>>
load_users(const experiment& x, const std::filesystem::path& folder,
           std::vector<std::string> users,
           std::shared_ptr<const models::tokenizer> by) {
  auto how = cut_of(x);
  how.path = folder;
  how.users = std::move(users);
  return models::language_data::load(how, std::move(by));
}

result<std::shared_ptr<const models::language_data>>
load_user(const experiment& x, const std::filesystem::path& path,
          std::shared_ptr<const models::tokenizer> by) {
  auto how = cut_of(x);
  how.path = path;
  how.of_one = true;
  return models::language_data::load(how, std::move(by));
}

result<materials> language_of(const experiment& x, const language_maker& make) {
  if (x.data.is_labelled_text())
    return labelled_of(x, make);
  return load_language(x)
    .and_then([&](std::shared_ptr<const models::language_data> data) {
      return language_over(x, std::move(data), make);
    })
    .map([&](materials m) {
      if (m.left_out)
        m.left_out->files = files_left_out(x.data);
      return m;
    });
}

result<materials>
language_over(const experiment& x,
              std::shared_ptr<const models::language_data> data,
              const language_maker& make) {
  auto base = base_of(x, data->vocabulary());
  if (!base)
    return tl::make_unexpected(base.error());
  const auto spec = (*base)->spec();
  if (auto ok = check_batch(x, spec, memory_there()); !ok)
    return tl::make_unexpected(ok.error());
  const models::language_config how{.trained = !has_frozen_model(x),
                                    .micro_batch = x.training.micro_batch};
  materials m{.clients = data->clients(),
              .test_size = data->size(models::split::test),
              .make_objective =
                [how, base = std::move(*base), data, make,
                 of_it = spoken_of(x, x.model)] {
                  return make(how, base, data).map_error(of_it);
                },
              .has_labels = false,
              .counts_tokens = true,
              .language = spec,
              .remark =
                about_vocabulary(x.model, data->vocabulary(), spec.vocabulary)};
  m.clients.held_out = x.clients.held_out;
  if (!data->users().empty())
    m.left_out = left_out_of(*data);
  if (!x.data.brought)
    m.data_digest = [data] { return data->content(); };
  if (!x.data.pooled) {
    m.user_names = data->users();
    m.users = told_users(x, m.user_names);
  }
  // A stream that is of all users is nobody's own.
  if (!x.data.mixed && !x.data.pooled)
    m.shape = {.inputs = {x.data.context}, .classes = data->vocabulary()};
  return m;
}

} // namespace troupe::node
