#include "actors/record/examination.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "actors/record/arrivals.hpp"
#include "actors/record/event_reader.hpp"
#include "actors/record/ledger_reader.hpp"
#include "actors/record/record_end.hpp"
#include "actors/record/sqlite.hpp"
#include "actors/record/sqlite_snapshot.hpp"
#include "actors/record/sqlite_store.hpp"
#include "models/version_store.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using state = remark::state_kind;

constexpr const char* from_a_copy = "restore the folder from a copy, or begin "
                                    "a new run with init";

std::string plural(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

class examiner {
public:
  examiner(const fs::path& folder, bool mends)
    : folder_(folder),
      mends_(mends) {
    // nop
  }

  std::vector<remark> all() {
    found_.push_back(examine_owner(folder_ / "ledger.sqlite", mends_));
    if (open() && heads()) {
      older_values();
      surplus();
      waiting();
      record();
      finish();
    }
    return std::move(found_);
  }

private:
  /// False: there is no more to look at.
  bool open() {
    auto ledger = sqlite::database::open(folder_ / "ledger.sqlite", {});
    auto files = models::version_store::open(folder_ / "versions", {});
    if (!ledger || !files)
      return broken("ledger.sqlite",
                    (ledger ? files.error() : ledger.error()).context);
    ledger_ = std::move(*ledger);
    files_.emplace(std::move(*files));
    sqlite::ledger_reader reader{*ledger_, *files_, folder_};
    auto ok = ledger_->check_structure().and_then(
      [&] { return reader.read_key().map([](const auto&) {}); });
    if (!ok)
      return broken("ledger.sqlite", ok.error().context);
    found_.push_back({"ledger.sqlite", state::fine, "every page is whole"});
    return true;
  }

  bool heads() {
    const auto node = sqlite::ledger_reader{*ledger_, *files_, folder_}.read();
    if (!node)
      return broken("heads", node.error().context);
    for (const auto& [line, stored] : node->lines)
      heads_[line] = stored.head;
    found_.push_back({"heads", state::fine,
                      plural(heads_.size(), "line")
                        + ", with versions without a gap and the values that "
                          "their digests say"});
    return true;
  }

  // What nobody can fetch is as good as gone; the digests stay.
  void older_values() {
    std::set<std::pair<line_id, version>> lost;
    std::uint64_t looked_at = 0;
    for (auto row =
           ledger_->query("SELECT line, version, content, bytes FROM contents");
         row.next(); ++looked_at) {
      const auto name = sqlite::from_hex(row.text(2));
      const bool whole =
        name
        && (row.null(3) ? files_->get(*name).has_value()
                        : models::digest_of(row.bytes(3)) == *name);
      if (!whole)
        lost.insert({line_id{row.integer(0)}, version{row.integer(1)}});
    }
    if (lost.empty()) {
      found_.push_back(
        {"values", state::fine, plural(looked_at, "row") + " and their files"});
      return;
    }
    for (const auto& [line, x] : lost) {
      if (mends_)
        ledger_->run("DELETE FROM contents WHERE line = ? AND version = ?",
                     line, x);
      mendable("values",
               "version " + std::to_string(x.value) + " of line "
                 + std::to_string(line.value)
                 + " is damaged or gone; it is not the head",
               "--mend takes it for one that is not kept any more: a visit "
               "that fetched it ends");
    }
  }

  void surplus() {
    const auto named = sqlite::named_files(*ledger_);
    std::set<std::string> names;
    if (named)
      for (const auto& name : *named)
        names.insert(models::to_hex(name));
    std::uint64_t count = 0;
    std::error_code ignored;
    for (const auto& x : fs::directory_iterator{folder_ / "versions", ignored})
      count += !names.contains(x.path().filename().string());
    if (count > 0)
      mendable("versions", plural(count, "file") + " that no row names",
               "--mend removes them, as the next start would");
  }

  void waiting() {
    const auto report = examine_arrivals(folder_ / "arrivals");
    for (const auto& what : report.damaged)
      found_.push_back({"arrivals", state::broken, what,
                        "restore it from a copy, or remove it, and its client "
                        "hears that what it offered is withdrawn"});
    if (report.whole > 0)
      found_.push_back({"arrivals", state::fine,
                        plural(report.whole, "part") + " of offers that wait"});
  }

  void record() {
    std::ifstream in{folder_ / "events.jsonl", std::ios::binary};
    if (!in)
      return;
    std::uint64_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (in.eof())
        return mendable("events.jsonl", "half a line at its end",
                        "--mend cuts it off, as the next start would");
      if (const auto event = read_event(line); !event) {
        broken("events.jsonl:" + std::to_string(number), event.error().context);
        return;
      }
    }
    const auto end = sqlite::end_of_record(
      folder_ / "events.jsonl", sqlite::record_bytes(*ledger_),
      [this](line_id line) -> std::optional<version> {
        const auto at = heads_.find(line);
        return at == heads_.end() ? std::nullopt : std::optional{at->second};
      });
    if (end && *end)
      return mendable("events.jsonl",
                      "a version at its end that the ledger does not have",
                      "--mend cuts it off, as the next start would");
    found_.push_back({"events.jsonl", state::fine, plural(number, "line")});
  }

  // Opened once as the next start does it, the folder is tidy.
  void finish() {
    if (!mends_)
      return;
    const auto ok = ledger_->check();
    ledger_.reset();
    if (!ok) {
      broken("ledger.sqlite", ok.error().context);
      return;
    }
    if (const auto store = make_sqlite_store({.folder = folder_}); !store)
      broken("ledger.sqlite", store.error().context);
  }

  bool broken(std::string place, std::string what) {
    found_.push_back(
      {std::move(place), state::broken, std::move(what), from_a_copy});
    return false;
  }

  void mendable(std::string place, std::string what, std::string hint) {
    found_.push_back({std::move(place),
                      mends_ ? state::mended : state::mendable, std::move(what),
                      std::move(hint)});
  }

  fs::path folder_;
  bool mends_;
  std::unique_ptr<sqlite::database> ledger_;
  std::optional<models::version_store> files_;
  std::map<line_id, version> heads_;
  std::vector<remark> found_;
};

} // namespace

std::vector<remark> examine_ledger(const fs::path& folder, bool mends) {
  return examiner{folder, mends}.all();
}

remark examine_owner(const fs::path& path, bool mends) {
  std::error_code code;
  const auto name = path.filename().string();
  const auto found = fs::status(path, code);
  if (code)
    return {name, state::broken, code.message(), "is this the folder?"};
  constexpr auto others = fs::perms::group_all | fs::perms::others_all;
  if ((found.permissions() & others) == fs::perms::none)
    return {name, state::fine, "its owner's alone"};
  if (mends)
    fs::permissions(path, others, fs::perm_options::remove, code);
  return {name, mends && !code ? state::mended : state::mendable,
          "others may read or change it", "chmod 600 " + path.string()};
}

} // namespace troupe::actors
