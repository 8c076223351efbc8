#include "node/commands/checkup.hpp"

#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

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
#include "node/task/inputs.hpp"
#include "node/task/materials.hpp"
#include "node/task/result_file.hpp"
#include "node/watch/folder.hpp"

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

/// What is its owner's alone or nobody's.
class secrets {
public:
  secrets(bool mends, std::vector<remark>& to) : mends_(mends), to_(to) {
    // nop
  }

  void look_at(const fs::path& path) {
    if (!models::is_there(path))
      return;
    auto found = actors::examine_owner(path, mends_);
    struct stat what {};
    if ((found.state == remark_state::fine
         || found.state == remark_state::mended)
        && ::stat(path.c_str(), &what) == 0 && what.st_uid == ::geteuid())
      readable_.insert(path);
    if (found.state != remark_state::fine)
      to_.push_back(std::move(found));
  }

  void look_into(const fs::path& folder) {
    std::error_code failed;
    fs::recursive_directory_iterator at{
      folder, fs::directory_options::skip_permission_denied, failed};
    for (; !failed && at != fs::recursive_directory_iterator{};
         at.increment(failed))
      if (std::error_code ignored; at->is_regular_file(ignored))
        look_at(at->path());
  }

  /// What was read there; of what others may read, or another user has, nothing
  /// can be said.
  template <class T>
  void holds(const fs::path& path, const result<T>& found) {
    if (readable_.contains(path))
      examine(path.filename().c_str(), found, to_);
  }

private:
  bool mends_;
  std::vector<remark>& to_;
  std::set<fs::path> readable_;
};

/// And what a server reads of it.
void examine_keys(const fs::path& folder, bool mends, std::vector<remark>& to) {
  secrets all{mends, to};
  all.look_into(folder);
  all.holds(folder / "pair", read_pair(folder / "pair"));
  all.holds(folder / "next", read_coming(folder / "next"));
  for (const auto& x : keyring{folder}.all())
    all.holds(folder / (x.is_line ? "invited" : "allowed") / x.file, x.what);
}

/// By which key tickets go, and how it was served. An ended run is not served.
void examine_way(const fs::path& folder, bool mends, std::vector<remark>& to) {
  secrets all{mends, to};
  all.look_at(folder / "seal");
  all.holds(folder / "seal", read_seals(folder / "seal"));
  const auto way = way_on(folder, {});
  if (!way && way.error().code == errc::storage_failure && !end_of(folder))
    examine("served.json", way, to); // Else --keys would do.
}

/// What nobody trains and all look through, where the run has such a model.
void examine_common(const experiment& x, const fs::path& folder,
                    std::vector<remark>& to) {
  if (!has_common(x))
    return;
  const auto said = common_digest_of_run(folder);
  examine(common_digest_file, said, to);
  if (!models::is_there(folder / common_file)) {
    to.push_back({common_file, remark_state::broken,
                  "it is gone, and the run's clients look through the common "
                  "model in it",
                  from_a_copy});
    return;
  }
  if (!said)
    return; // Nothing says what it has to be.
  const auto kept = read_common(folder / common_file);
  to.push_back(kept ? remark{common_file, remark_state::fine,
                             "the common model is as it was kept"}
                    : remark{common_file, remark_state::broken,
                             kept.error().context, from_a_copy});
}

/// A file that summary.json knows by its digest, if it says one.
void examine_result(const fs::path& file, bool says_digest,
                    std::vector<remark>& to) {
  const auto name = file.filename().string();
  if (const auto ok = check_result(file); !ok)
    to.push_back({name, remark_state::broken, ok.error().context, from_a_copy});
  else if (says_digest)
    to.push_back({name, remark_state::fine, "is what the run ended with"});
  else if (models::is_there(file))
    to.push_back({name, remark_state::fine,
                  "could not be checked: summary.json says no digest of it, as "
                  "that of an earlier version"});
  else if (name == "model.safetensors")
    to.push_back({name, remark_state::broken,
                  "is gone: a run writes it at its end", from_a_copy});
}

/// What it ended with, where it has.
void examine_results(const fs::path& folder, std::vector<remark>& to) {
  if (!models::is_there(folder / "summary.json"))
    return;
  for (const auto* name : {"model.safetensors", "best.safetensors"}) {
    const auto said = digest_said_of(folder / name);
    if (!said) {
      examine("summary.json", said, to);
      return;
    }
    examine_result(folder / name, !said->empty(), to);
  }
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
  examine(inputs_file, check_inputs_file(folder), to);
  examine_common(found->x, folder, to);
  examine_results(folder, to);
  const auto served = serving::check_book(found->x, folder);
  if (!served)
    to.push_back({"processes.json", remark_state::broken,
                  served.error().context, from_a_copy});
  else if (*served)
    to.push_back({"processes.json", remark_state::fine,
                  "the run's id, and which process has which clients"});
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
  if (models::is_there(folder / "processes.json"))
    examine_way(folder, mends, all);
  return all;
}

result<std::vector<remark>> examine_store(const fs::path& folder, bool mends) {
  std::vector<remark> all;
  all.push_back(actors::examine_owner(folder / "id", mends));
  examine("id", store_id_of(folder), all);
  secrets own{mends, all};
  own.look_at(folder / "pair");
  own.holds(folder / "pair", read_pair(folder / "pair"));
  own.look_into(folder / "servers");
  std::error_code ignored;
  for (const auto& x : fs::directory_iterator{folder / "servers", ignored})
    if (const auto key = from_hex<32>(x.path().filename().string()))
      own.holds(x.path(),
                known_servers{folder}.keys(*key, unix_milliseconds()));
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
