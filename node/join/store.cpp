#include "node/join/store.hpp"

#include <system_error>

#include "actors/client_store/disk_vault.hpp"
#include "core/hex.hpp"
#include "core/random.hpp"
#include "models/files.hpp"
#include "models/inner_setup.hpp"
#include "models/token_routes.hpp"
#include "node/join/farewells.hpp"

namespace troupe::node {

namespace {

result<void> write_id(const std::filesystem::path& path,
                      const messages::store_id& id) {
  const auto text = to_hex(id) + '\n';
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path, parts, {.sync = true});
}

} // namespace

result<void> keep_store_id(const std::filesystem::path& folder,
                           const messages::store_id& id) {
  std::error_code failed;
  const auto path = folder / "id";
  const bool is_gone =
    !folder.empty() && !std::filesystem::exists(path, failed) && !failed;
  return is_gone ? write_id(path, id) : result<void>{};
}

result<messages::store_id> store_id_of(const std::filesystem::path& folder) {
  messages::store_id id{};
  std::error_code failed;
  if (folder.empty()) {
    draw_secret(id);
    return id;
  }
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + folder.string() + ": " + failed.message());
  const auto path = folder / "id";
  if (!std::filesystem::exists(path, failed) && !failed) {
    draw_secret(id);
    return write_id(path, id).map([id] { return id; });
  }
  const auto text = models::read_text(path, errc::storage_failure);
  if (!text)
    return tl::make_unexpected(text.error());
  if (text->size() != 2 * id.size() + 1
      || !from_hex(std::string_view{*text}.substr(0, 2 * id.size()), id))
    return fail(errc::storage_failure,
                path.string()
                  + " is not what was written there; the clients "
                    "of this folder are known by it");
  return id;
}

namespace {

/// Clients are a key's: with another one these would be others.
result<void> check_key(const std::filesystem::path& folder,
                       const std::string& run, const std::string& own) {
  const auto path = folder / ("run-" + run) / "key";
  std::error_code failed;
  if (own.empty())
    return {};
  if (!std::filesystem::exists(path, failed)) {
    const auto text = own + '\n';
    const std::array parts{std::as_bytes(std::span{text})};
    return models::replace_file(path, parts, {.sync = true});
  }
  const auto known = models::read_text(path, errc::storage_failure);
  if (!known)
    return tl::make_unexpected(known.error());
  if (*known != own + '\n')
    return fail(errc::storage_failure,
                folder.string()
                  + " has clients of this run that the server "
                    "knows by the key "
                  + known->substr(0, known->find('\n')) + ", and its pair is "
                  + own
                  + " now; the file 'pair' that it had would do, or another "
                    "--store");
  return {};
}

/// How many other runs have clients in a folder where this one has none yet.
std::size_t count_set_aside(const std::filesystem::path& folder,
                            const std::string& run) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / ("run-" + run), ignored))
    return 0;
  std::size_t out = 0;
  for (const auto& x : std::filesystem::directory_iterator{folder, ignored})
    out += x.path().filename().string().starts_with("run-");
  return out;
}

} // namespace

result<std::shared_ptr<actors::vault>> open_vault(const join_context& in,
                                                  const std::string& run,
                                                  const std::string& own) {
  if (in.store.empty())
    return std::make_shared<actors::memory_vault>();
  const auto others = count_set_aside(in.store, run);
  if (auto ok = actors::disk_vault::wait_for(in.store, run, in.say); !ok)
    return tl::make_unexpected(ok.error());
  actors::disk_vault::options how;
  how.say = in.say;
  auto made = actors::disk_vault::open(in.store, run, std::move(how));
  if (!made)
    return tl::make_unexpected(made.error());
  if (auto ok = check_key(in.store, run, own); !ok)
    return tl::make_unexpected(ok.error());
  if (others > 0 && in.say)
    in.say(
      in.store + " has clients of "
      + (others == 1 ? "another run" : std::to_string(others) + " other runs")
      + ", which are set aside there; those of this run begin anew");
  return std::shared_ptr<actors::vault>{std::move(*made)};
}

namespace {

std::string experts_in_words(std::uint32_t n) {
  return std::to_string(n) + (n == 1 ? " expert" : " experts");
}

/// What says how many a client has.
std::string what_says_experts(const join_context& in) {
  if (in.experts > 0)
    return "--experts says ";
  return in.expert_memory > 0 ? "--expert-memory has room for "
                              : "the run says ";
}

} // namespace

std::optional<join_summary>
has_as_many_experts(const join_context& in, const std::string& run,
                    const workload& work, const std::vector<client_id>& mine,
                    const actors::vault& kept) {
  if (!models::routes_tokens(*work.task))
    return std::nullopt;
  const auto states = kept.states();
  for (const auto who : mine) {
    const auto found = states.find(who);
    const auto before = found == states.end() || !found->second
                          ? std::uint32_t{0}
                          : models::experts_kept(*found->second);
    const auto now =
      models::experts_of(work.task->method, work.task->experts, who);
    if (before == 0 || before == now)
      continue;
    return ended(join_summary::end::misfit,
                 (std::filesystem::path{in.store} / ("run-" + run)).string()
                   + ": client " + std::to_string(who.value)
                   + " has trained with " + experts_in_words(before) + ", and "
                   + what_says_experts(in) + std::to_string(now),
                 "--experts " + std::to_string(before)
                   + " would do, or another --store, whose clients begin anew");
  }
  return std::nullopt;
}

} // namespace troupe::node
