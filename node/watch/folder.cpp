#include "node/watch/folder.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <utility>

#include <unistd.h>

#include "actors/record/line_file.hpp"
#include "actors/record/sqlite_store.hpp"
#include "core/clock.hpp"
#include "core/json.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "node/config/changed_line.hpp"
#include "node/config/config.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

std::string time_name() {
  const std::time_t now = unix_milliseconds() / 1000;
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const auto size =
    std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return {text.data(), size};
}

/// What every file system takes.
std::string plain(std::string name) {
  for (auto& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_')
      c = '_';
  return name;
}

tl::unexpected<error> no_folder(const fs::path& path,
                                const std::error_code& why) {
  return fail(errc::storage_failure,
              path.string()
                + ": cannot make the run's folder: " + why.message());
}

/// Keeps notes in a file, for a store that keeps none itself.
class noting_store final : public actors::store {
public:
  noting_store(std::unique_ptr<actors::store> behind, actors::line_file events)
    : behind_(std::move(behind)),
      events_(std::move(events)) {
    // nop
  }

  result<actors::stored_node> load() override {
    return behind_->load();
  }

  result<void>
  begin(line_id line,
        const std::vector<messages::merged_block>& blocks) override {
    return behind_->begin(line, blocks);
  }

  result<void> commit(const messages::commit_requested& x) override {
    (void)events_.flush({}); // What finds no room waits for the next version.
    return behind_->commit(x);
  }

  result<void> save(const messages::save_requested& x) override {
    return behind_->save(x);
  }

  result<void> note(const messages::line_noted& x) override {
    if (x.where != messages::line_noted::file::events)
      return {};
    return events_.append(x.text); // Who hears that it is not there waits.
  }

private:
  std::unique_ptr<actors::store> behind_;
  actors::line_file events_;
};

/// Makes the file if it is not there, and changes nothing.
bool can_append_to(const fs::path& path) {
  return std::ofstream{path, std::ios::app}.is_open();
}

/// In the run's folder: config.toml is for people, who may change it.
constexpr const char* as_it_began = "logs/began.toml";

constexpr const char* metrics_name = "metrics.jsonl";

result<void> refuse_changed(const fs::path& folder, const experiment& x) {
  const auto text =
    models::read_text(folder / as_it_began, errc::storage_failure);
  const auto changed =
    text ? changed_line(*text, write_config(x)) : std::nullopt;
  if (!changed)
    return {};
  const auto said = [](const std::string& line) {
    return line.empty() ? std::string{"nothing more"} : "'" + line + "'";
  };
  return fail(errc::invalid_config,
              (folder / "config.toml").string() + ": the run began with "
                + said(changed->first) + " and here is " + said(changed->second)
                + "; put it back, or begin another run with 'init'");
}

/// A link would have others' files cut and overwritten, and a pipe would be
/// waited for.
result<void> refuse_strange_files(const fs::path& folder) {
  std::error_code why;
  for (fs::recursive_directory_iterator at{folder, why}, end; !why && at != end;
       at.increment(why)) {
    const auto kind = at->symlink_status(why).type();
    // Of a server that was killed.
    const bool is_left =
      kind == fs::file_type::socket && at->path() == folder / "control";
    if (kind != fs::file_type::regular && kind != fs::file_type::directory
        && !is_left)
      return fail(
        errc::storage_failure,
        at->path().string()
          + (kind == fs::file_type::symlink ? " is a link" : " is no file")
          + "; a run's folder holds files and folders of its own: "
            "remove it, or put back what was there");
  }
  if (why)
    return fail(errc::storage_failure,
                folder.string() + ": cannot be read: " + why.message());
  return {};
}

/// What a process makes last, and one that was killed may not have made.
std::string pages_missing(const fs::path& folder, bool has_events) {
  std::string text;
  std::error_code none;
  const auto add = [&](const char* name, const std::string& command) {
    if (!fs::exists(folder / name, none))
      text += std::string{"; "} + name + " is not there: troupe " + command
              + " " + folder.string() + " makes it";
  };
  add("report.html", "report");
  if (has_events)
    add("trace.json", "trace");
  return text;
}

result<void> refuse_ended(const fs::path& folder, const experiment& x) {
  const auto end = end_of(folder);
  if (!end)
    return {};
  return fail(errc::storage_failure,
              folder.string() + " has ended" + (end->empty() ? "" : ": " + *end)
                + "; 'init' begins another run with its model.safetensors"
                + pages_missing(folder, x.events));
}

/// Nothing that others can know: a seed stands in every configuration.
messages::seal_key fresh_key() {
  messages::seal_key key{};
  draw_secret(key);
  return key;
}

} // namespace

std::optional<std::string> end_of(const fs::path& folder) {
  const auto text =
    models::read_text(folder / "summary.json", errc::storage_failure);
  const auto summary = json::parse(text.value_or(std::string{}));
  const auto* interrupted = summary ? summary->find("interrupted") : nullptr;
  if (!interrupted || interrupted->flag().value_or(false))
    return std::nullopt;
  const auto* reason = summary->find("reason");
  return reason && reason->text() ? *reason->text() : std::string{};
}

result<fs::path> make_dated_folder(const fs::path& parent,
                                   const std::string& name) {
  std::error_code why;
  fs::create_directories(parent, why);
  if (why)
    return no_folder(parent, why);
  const auto first = parent / (time_name() + "-" + plain(name));
  auto path = first;
  for (int i = 2; !fs::create_directory(path, why); ++i) {
    if (why)
      return no_folder(path, why);
    path = first.string() + "-" + std::to_string(i);
  }
  return path;
}

run_folder::run_folder(fs::path path)
  : path_(std::move(path)),
    log_(std::make_unique<std::ofstream>(path_ / "logs" / "run.log",
                                         std::ios::app)),
    logs_(std::make_unique<std::mutex>()) {
  // nop
}

// It has its name when its configuration is in it: whatever ends the process,
// what is there can be resumed.
result<run_folder> run_folder::make(const experiment& x) {
  const fs::path parent{x.folder};
  std::error_code ignored;
  if (fs::exists(parent / as_it_began, ignored))
    return fail(errc::invalid_config,
                parent.string()
                  + " is the folder of a run, and none in which runs are made; "
                    "the one above it would do as --folder");
  const auto name = time_name() + "-" + plain(x.name);
  const auto hidden = parent / ("." + name + "." + std::to_string(getpid()));
  std::error_code why;
  fs::create_directories(parent, why);
  if (why)
    return no_folder(parent, why);
  fs::create_directories(hidden / "logs", why);
  if (why)
    return no_folder(parent / name, why);
  const auto text = write_config(x);
  const std::array parts{std::as_bytes(std::span{text})};
  for (const auto& to : {hidden / "config.toml", hidden / as_it_began})
    if (auto ok = models::replace_file(to, parts, {}); !ok)
      return tl::make_unexpected(ok.error());
  auto path = parent / name;
  for (int i = 2; fs::rename(hidden, path, why), why; ++i) {
    if (!fs::exists(path))
      return no_folder(path, why);
    path = parent / (name + "-" + std::to_string(i));
  }
  run_folder made{path};
  if (!*made.log_ || !can_append_to(path / metrics_name))
    return fail(errc::storage_failure, path.string() + ": cannot write here");
  return made;
}

result<run_folder> run_folder::open(const fs::path& path, const experiment& x) {
  if (!fs::exists(path / "config.toml"))
    return fail(errc::storage_failure,
                path.string() + " holds no run: there is no config.toml in it");
  if (auto ok = refuse_strange_files(path); !ok)
    return tl::make_unexpected(ok.error());
  if (auto ok = refuse_ended(path, x); !ok)
    return tl::make_unexpected(ok.error());
  if (auto ok = refuse_changed(path, x); !ok)
    return tl::make_unexpected(ok.error());
  // Under the virtual clock it would all be computed again.
  if (x.clock == clock_kind::wall && x.ledger == ledger_kind::disk
      && !fs::exists(path / "ledger.sqlite"))
    return fail(errc::storage_failure,
                path.string()
                  + " has no ledger.sqlite; a copy of it would "
                    "do, or its config.toml in another folder");
  std::error_code why;
  fs::create_directory(path / "logs", why);
  run_folder found{path};
  if (!*found.log_ || !can_append_to(path / metrics_name))
    return fail(
      errc::storage_failure,
      path.string() + ": cannot write here: "
        + (why ? why : std::error_code{errno, std::generic_category()})
            .message());
  return found;
}

result<void> run_folder::check_resumable(const experiment& x,
                                         const resuming& how) const {
  const auto refuse = [this](const std::string& why) {
    return fail(errc::storage_failure,
                path_.string() + " cannot go on: " + why);
  };
  if (x.ledger == ledger_kind::memory)
    return refuse("it kept no ledger (ledger = \"memory\"); run its "
                  "config.toml again");
  if (x.clock == clock_kind::wall && !how.is_served)
    return refuse((fs::exists(path_ / "served.json")
                     ? "its clients are in other processes"
                     : "its clients ended with it, and others begin anew")
                  + ("; troupe serve " + path_.string()) + " goes on with it");
  return {};
}

void run_folder::forget_end() {
  std::error_code none; // What stays says that it was interrupted.
  for (const auto* name : {"summary.json", "report.html", "trace.json",
                           "model.safetensors", "best.safetensors"})
    fs::remove(path_ / name, none);
}

result<void> run_folder::begin_again() {
  forget_end();
  if (auto ok = cut_metrics(0); !ok)
    return ok;
  std::error_code why;
  for (const auto* name : {"ledger.sqlite", "ledger.sqlite-wal",
                           "ledger.sqlite-shm", "versions", "events.jsonl"})
    if (fs::remove_all(path_ / name, why); why)
      return fail(errc::storage_failure,
                  (path_ / name).string()
                    + ": cannot remove it: " + why.message());
  return {};
}

void run_folder::tidy() const {
  for (const auto& folder : {path_, path_ / "logs", path_ / "offers"})
    models::remove_unfinished(folder);
}

std::uint64_t run_folder::metrics_size() const {
  std::error_code none;
  return fs::file_size(path_ / metrics_name, none);
}

std::uint64_t run_folder::events_size() const {
  std::error_code none;
  const auto size = fs::file_size(path_ / "events.jsonl", none);
  return none ? 0 : size;
}

result<void> run_folder::cut_metrics(std::uint64_t bytes) {
  return actors::line_file::open(path_ / metrics_name)
    .and_then([&](actors::line_file x) { return x.cut(bytes); });
}

void run_folder::metric(const std::string& line) {
  // Not before the store has its lock: opening cuts half a line off, which may
  // be one that another process is writing.
  if (!metrics_)
    if (auto file = actors::line_file::open(path_ / metrics_name))
      metrics_ = std::make_unique<actors::line_file>(std::move(*file));
  if (!metrics_ || !metrics_->append(line))
    ++metrics_lost_;
  // What finds no room waits for the next line.
  else if (metrics_->flush({}) && metrics_lost_ > 0)
    log(path_.string() + "/metrics.jsonl could not be written for a while, and "
        + std::to_string(std::exchange(metrics_lost_, 0U))
        + " of its lines are lost");
}

void run_folder::log(const std::string& line) {
  const std::lock_guard guard{*logs_};
  log_->clear(); // A disk that was full may have room again.
  *log_ << printable(line) << '\n' << std::flush;
}

namespace {

/// What a ledger is begun for.
std::string identity_of(const experiment& x) {
  const auto text = lines_of_consequence(write_config(x));
  return models::to_hex(models::digest_of(std::as_bytes(std::span{text})));
}

} // namespace

result<std::unique_ptr<actors::store>>
run_folder::open_store(const experiment& x, const store_options& opts) const {
  if (x.ledger == ledger_kind::memory)
    return actors::line_file::open(path_ / "events.jsonl")
      .map([](actors::line_file events) -> std::unique_ptr<actors::store> {
        return std::make_unique<noting_store>(
          actors::make_memory_store(fresh_key()), std::move(events));
      });
  // Virtual clients live and die with the server: nobody remembers what it
  // forgets.
  return actors::make_sqlite_store(
    {.folder = path_,
     .durable = x.clock == clock_kind::wall ? actors::durability::full
                                            : actors::durability::relaxed,
     .retention = opts.versions_kept,
     .run = identity_of(x),
     .offers_outlive = x.durability == durability_kind::offer,
     .writes_each_line = opts.serves});
}

result<void> run_folder::save_text(const std::string& name,
                                   const std::string& text) const {
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path_ / name, parts, {});
}

} // namespace troupe::node
