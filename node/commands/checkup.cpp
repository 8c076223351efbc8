#include "node/commands/checkup.hpp"

#include <string>
#include <system_error>

#include "actors/client_store/client_table.hpp"
#include "actors/record/folder_lock.hpp"
#include "core/clock.hpp"
#include "core/hex.hpp"
#include "models/files.hpp"
#include "node/config/config.hpp"
#include "node/join/known_servers.hpp"
#include "node/join/store.hpp"
#include "node/keys/keyring.hpp"
#include "node/keys/pair.hpp"
#include "node/run/seal_file.hpp"
#include "node/run/served_way.hpp"
#include "node/run/serving.hpp"
#include "node/task/common_values.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;
using actors::remark;
using remark_state = remark::state_kind;

constexpr const char* from_a_copy = "restore it from a copy";

template <class T>
void examine(const char* name, const result<T>& found,
             std::vector<remark>& to) {
  if (!found)
    to.push_back(
      {name, remark_state::broken, found.error().context, from_a_copy});
}

/// What is its owner's alone or nobody's, and what a server reads of it.
void examine_keys(const fs::path& folder, bool mends, std::vector<remark>& to) {
  std::error_code ignored;
  for (const auto& x : fs::recursive_directory_iterator{folder, ignored})
    if (x.is_regular_file(ignored))
      if (auto found = actors::examine_owner(x.path(), mends);
          found.state != remark_state::fine)
        to.push_back(std::move(found));
  if (!models::is_there(folder / "pair"))
    return;
  const keyring known{folder};
  examine("pair", read_pair(folder / "pair"), to);
  examine("next", read_coming(folder / "next"), to);
  for (const auto& x : known.all())
    examine(x.file.c_str(), x.what, to);
}

/// What nobody trains and all look through, where the run has such a model.
void examine_common(const fs::path& folder, std::vector<remark>& to) {
  if (!models::is_there(folder / common_file))
    return;
  const auto kept = read_common(folder / common_file);
  to.push_back(kept ? remark{common_file, remark_state::fine,
                             "the common model is as it was kept"}
                    : remark{common_file, remark_state::broken,
                             kept.error().context, from_a_copy});
}

/// What the run is, and whose clients are whose.
void examine_plan(const fs::path& folder, std::vector<remark>& to) {
  const auto found = load_config((folder / "config.toml").string());
  if (!found) {
    to.push_back({"config.toml", remark_state::broken, found.error().context,
                  "restore it from a copy: all else follows from it"});
    return;
  }
  if (!models::is_there(folder / "ledger.sqlite"))
    to.push_back(found->x.ledger == ledger_kind::disk
                   ? remark{"ledger.sqlite", remark_state::broken, "it is gone",
                            from_a_copy}
                   : remark{"ledger.sqlite", remark_state::fine,
                            "none: the run kept its versions in memory"});
  to.push_back({"config.toml", remark_state::fine, found->x.method});
  examine_common(folder, to);
  const auto served = serving::check_book(found->x, folder);
  if (!served)
    to.push_back({"processes.json", remark_state::broken,
                  served.error().context, from_a_copy});
  else if (*served)
    to.push_back({"processes.json", remark_state::fine,
                  "the run's id, and which process has which clients"});
  if (!served || !*served)
    return;
  examine("seal", read_seals(folder / "seal"), to);
  examine("served.json", way_on(folder, {}), to);
}

result<std::vector<remark>> examine_run(const fs::path& folder, bool mends) {
  std::vector<remark> all;
  examine_plan(folder, all);
  if (!models::is_there(folder / "ledger.sqlite"))
    return all;
  {
    const auto lock = actors::folder_lock::take(folder, "ledger.lock");
    if (!lock)
      return tl::make_unexpected(lock.error());
  }
  for (auto& x : actors::examine_ledger(folder, mends))
    all.push_back(std::move(x));
  examine_keys(folder / "keys", mends, all);
  return all;
}

/// Which keys they have next.
void examine_servers(const fs::path& store, std::vector<remark>& to) {
  const known_servers known{store};
  std::error_code ignored;
  for (const auto& x : fs::directory_iterator{store / "servers", ignored}) {
    const auto name = x.path().filename().string();
    if (const auto key = from_hex<32>(name))
      examine(name.c_str(), known.keys(*key, unix_milliseconds()), to);
  }
}

result<std::vector<remark>> examine_store(const fs::path& folder, bool mends) {
  std::vector<remark> all;
  for (const auto* name : {"id", "pair"})
    if (models::is_there(folder / name))
      all.push_back(actors::examine_owner(folder / name, mends));
  examine("id", store_id_of(folder), all);
  if (models::is_there(folder / "pair"))
    examine("pair", read_pair(folder / "pair"), all);
  examine_servers(folder, all);
  std::error_code ignored;
  for (const auto& x : fs::directory_iterator{folder, ignored}) {
    const auto name = x.path().filename().string();
    if (!name.starts_with("run-"))
      continue;
    const auto lock = actors::folder_lock::take(x.path(), "clients.lock");
    if (!lock)
      return tl::make_unexpected(lock.error());
    auto table = actors::client_table::open(x.path(), name.substr(4));
    const auto lost = table ? (*table)->damage()
                            : std::vector<std::string>{table.error().context};
    for (const auto& what : lost)
      all.push_back({name, remark_state::broken, what,
                     "restore the folder from a copy; without it these clients "
                     "begin anew: move the folder away"});
    if (lost.empty())
      all.push_back(
        {name, remark_state::fine, "its clients are as they were kept"});
  }
  return all;
}

} // namespace

result<std::vector<remark>> check_up(const fs::path& folder, bool mends) {
  if (models::is_there(folder / "config.toml")
      || models::is_there(folder / "ledger.sqlite"))
    return examine_run(folder, mends);
  if (models::is_there(folder / "id"))
    return examine_store(folder, mends);
  std::error_code hidden;
  if (!fs::exists(folder / "config.toml", hidden) && hidden)
    return fail(errc::storage_failure, "cannot look into " + folder.string()
                                         + ": " + hidden.message());
  return fail(errc::invalid_data,
              folder.string()
                + " is neither a run's folder (config.toml) nor that of a "
                  "joining process (id)"
                + (models::is_there(folder / "pair")
                       || models::is_there(folder / "allowed")
                     ? "; of keys, troupe keys list says what is there"
                     : ""));
}

} // namespace troupe::node
