#include "node/join/frozen.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/hex.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "node/join/farewells.hpp"
#include "node/task/frozen.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;
using end = join_summary::end;

fs::path place_of(const std::string& store, const models::digest& content) {
  return fs::path{store} / "frozen" / to_hex(content);
}

/// Null: it is not there, or damaged, and then it is asked for again.
shared_values kept(const std::string& store, const models::digest& content,
                   std::size_t size) {
  if (store.empty())
    return nullptr;
  const auto bytes = models::read_file(
    place_of(store, content), errc::storage_failure, size * sizeof(float));
  if (!bytes || bytes->size() != size * sizeof(float))
    return nullptr;
  std::vector<float> values(size);
  std::memcpy(values.data(), bytes->data(), bytes->size());
  auto out = share(std::move(values));
  return digest_of(out) == content ? out : nullptr;
}

result<void> keep(const asked_server& from, const models::digest& content,
                  const shared_values& values) {
  if (from.in.store.empty())
    return {};
  const auto path = place_of(from.in.store, content);
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed)
    return fail(errc::storage_failure, "cannot make "
                                         + path.parent_path().string() + ": "
                                         + failed.message());
  const std::array parts{
    std::as_bytes(std::span{values->data(), values->size()})};
  return models::replace_file(path, parts, {.sync = true});
}

join_summary is_missing(const std::string& name, const std::string& why) {
  const bool is_common =
    name == models::common_family || name == models::common_buffers_family;
  return ended(end::misfit,
               "the run's '" + name + "' is other than the one made here"
                 + (why.empty() ? "" : ", and the server says: " + why),
               std::string{is_common ? "--common" : "--model"}
                 + " PATH with the weights that the run began with, or "
                   "troupe serve --serve-frozen");
}

/// From the server, a piece at a time. Says how it ends where it does not come.
std::optional<join_summary> fetch(const asked_server& from,
                                  const messages::frozen_digest& what,
                                  std::size_t size, shared_values& to) {
  std::vector<float> all;
  while (all.size() < size) {
    const auto some = from.asked.ask<messages::frozen_given>(
      from.network,
      messages::frozen_asked{
        .nonce = 0, .content = what.content, .first = all.size()},
      from.how_long);
    if (!some)
      return ended(end::unreachable,
                   "the server says no more of '" + what.name + "'");
    if (!some->values || some->values->empty())
      return is_missing(what.name, some->why);
    if (some->total != size || some->values->size() > size - all.size())
      return ended(end::misfit, "the server's '" + what.name + "' has "
                                  + std::to_string(some->total)
                                  + " values, and this model "
                                  + std::to_string(size));
    all.insert(all.end(), some->values->begin(), some->values->end());
  }
  to = share(std::move(all));
  if (digest_of(to) != what.content)
    return ended(end::misfit,
                 "what came as '" + what.name + "' is not what was promised");
  return std::nullopt;
}

std::optional<join_summary> settle(const asked_server& from,
                                   const messages::frozen_digest& what,
                                   workload& to) {
  const auto found = to.task->frozen.find(what.name);
  if (found == to.task->frozen.end())
    return is_missing(what.name, {});
  if (digest_of(found->second) == what.content)
    return std::nullopt;
  const auto size = found->second->size();
  auto values = kept(from.in.store, what.content, size);
  if (!values) {
    if (auto wrong = fetch(from, what, size, values))
      return wrong;
    // It can be asked for again, and may be too large for a store.
    if (const auto ok = keep(from, what.content, values); !ok && from.in.say)
      from.in.say("what came as '" + what.name
                  + "' is not kept, and is asked for again by who joins next: "
                  + ok.error().context);
  }
  set_frozen(to, what.name, std::move(values));
  return std::nullopt;
}

} // namespace

std::optional<join_summary> settle_kept(const std::string& store,
                                        const messages::terms_given& terms,
                                        workload& to) {
  for (const auto& what : terms.frozen) {
    const auto found = to.task->frozen.find(what.name);
    if (found == to.task->frozen.end())
      return is_missing(what.name, {});
    if (digest_of(found->second) == what.content)
      continue;
    auto values = kept(store, what.content, found->second->size());
    if (!values)
      return is_missing(what.name, {});
    set_frozen(to, what.name, std::move(values));
  }
  return std::nullopt;
}

std::optional<join_summary> settle_frozen(const asked_server& from,
                                          workload& to) {
  if (from.terms.frozen.size() > to.task->frozen.size())
    return ended(end::misfit, "the run has other blocks that nobody trains");
  for (const auto& what : from.terms.frozen)
    if (auto wrong = settle(from, what, to))
      return wrong;
  return std::nullopt;
}

} // namespace troupe::node
