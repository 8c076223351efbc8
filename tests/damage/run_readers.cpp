// What a run leaves in its folder, and `report`, `trace`, `why` and `replay`
// read again. One file at a time is damaged; the others stay as they were.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "actors/record/event_reader.hpp"
#include "core/assert.hpp"
#include "node/commands/report.hpp"
#include "node/commands/why.hpp"
#include "node/replay/replay.hpp"
#include "node/report/page.hpp"
#include "node/report/trace.hpp"
#include "node/sweep/sweep_runs.hpp"
#include "node/sweep/sweep_table.hpp"
#include "tests/damage/reader.hpp"
#include "tests/damage/small_run.hpp"

namespace troupe::damage {

namespace {

namespace fs = std::filesystem;

verdict judged(bool holds) {
  return holds ? verdict::accepted : verdict::wrong;
}

/// A page or a table shows numbers that are there.
bool has_no_holes(const std::string& page) {
  constexpr std::array<std::string_view, 4> holes{"=\"nan", "=\"-nan", "=\"inf",
                                                  "=\"-inf"};
  return std::ranges::none_of(
    holes, [&](auto x) { return page.find(x) != page.npos; });
}

/// A folder of a run, one file of which is damaged.
class spoilt_folder {
public:
  spoilt_folder(const fs::path& scratch, std::string file)
    : folder_(scratch / ("with_" + file)),
      file_(std::move(file)),
      x_(small_run(folder_)) {
    whole_ = contents(path());
  }

  const std::string& whole() const noexcept {
    return whole_;
  }

  fs::path folder() const {
    return x_.folder;
  }

  const node::experiment& config() const noexcept {
    return x_.x;
  }

  void put(const std::string& bytes) const {
    write(path(), bytes);
  }

private:
  fs::path path() const {
    return folder() / file_;
  }

  fs::path folder_;
  std::string file_;
  finished_run x_;
  std::string whole_;
};

using folder_ptr = std::shared_ptr<const spoilt_folder>;

/// What `report` makes of it.
verdict shown(const fs::path& folder) {
  const auto x = node::read_run(folder);
  if (!x)
    return verdict::refused;
  const auto page = node::page_of(*x);
  if (!has_no_holes(page))
    return verdict::wrong;
  return x->unreadable == 0 && x->ended ? verdict::accepted : verdict::refused;
}

reader events_reader(const fs::path& scratch) {
  const auto in =
    std::make_shared<const spoilt_folder>(scratch, "events.jsonl");
  return {.name = "events (report, trace)",
          .counts_as_wrong = "a page with what is no number",
          .originals = {in->whole()},
          .read = [in](const std::string& bytes) {
            in->put(bytes);
            const auto found = shown(in->folder());
            const auto trace =
              node::write_trace(in->folder(), in->folder() / "trace.json");
            return trace ? found : std::max(found, verdict::refused);
          }};
}

reader replay_reader(const fs::path& scratch) {
  const auto in =
    std::make_shared<const spoilt_folder>(scratch, "events.jsonl");
  const node::replay_context how{.make_model = no_model,
                                 .note = [](const std::string&) {},
                                 .show = [](const node::replay_progress&) {}};
  const auto whole = node::replay(in->config(), in->folder(), how).value();
  TROUPE_ASSERT(whole.ended && !whole.digests.first);
  return {.name = "events (replay)",
          .counts_as_wrong = "another number of equal digests",
          .originals = {in->whole()},
          .read = [=](const std::string& bytes) {
            in->put(bytes);
            const auto x = node::replay(in->config(), in->folder(), how);
            if (!x || x->digests.first)
              return verdict::refused;
            return judged(x->ended && x->digests.equal == whole.digests.equal
                          && x->digests.total == whole.digests.total);
          }};
}

reader page_reader(const fs::path& scratch, const char* file,
                   const char* name) {
  const auto in = std::make_shared<const spoilt_folder>(scratch, file);
  return {.name = name,
          .counts_as_wrong = "a page with what is no number",
          .originals = {in->whole()},
          .read = [in](const std::string& bytes) {
            in->put(bytes);
            return shown(in->folder());
          }};
}

reader status_reader(const fs::path& scratch) {
  const auto in = std::make_shared<const spoilt_folder>(scratch, "status.json");
  auto original = in->whole();
  original.resize(original.find_last_of('}') + 1); // It has room behind it.
  auto going_on = original;
  const auto over = going_on.find("true");
  TROUPE_ASSERT(over != going_on.npos);
  going_on.replace(over, 4, "false");
  return {.name = "status.json (why)",
          .counts_as_wrong = "nothing can be",
          .originals = {original, going_on},
          .read = [in](const std::string& bytes) {
            in->put(bytes);
            std::ostringstream out;
            const std::vector<std::string> args{in->folder().string()};
            const std::vector<std::string> json{args[0], "--format", "json"};
            const auto said = node::why_command(args, {out, out});
            const auto same = node::why_command(json, {out, out});
            if (said != same)
              return verdict::wrong;
            return said == node::exit_code::ok ? verdict::accepted
                                               : verdict::refused;
          }};
}

reader sweep_reader(const fs::path& scratch) {
  const auto run = small_run(scratch / "a_cell");
  auto plan = std::make_shared<node::sweep_plan>();
  plan->rows = {{.method = "fedavg", .setting = {}, .published = "80 | 81"}};
  plan->seeds = {1, 2};
  plan->metrics = {"loss", "visits", "per_client.mean"};
  const auto cells = node::cells_of(*plan);
  node::sweep_orders orders{
    .program = {}, .config = {}, .folder = scratch / "a_sweep", .changes = {}};
  fs::create_directories(node::result_of(orders, cells[0]).parent_path());
  const auto original = contents(run.folder / "summary.json");
  write(node::result_of(orders, cells[1]), original);
  return {.name = "sweep's results",
          .counts_as_wrong = "a table or a figure with what is no number",
          .originals = {original},
          .read = [=](const std::string& bytes) {
            write(node::result_of(orders, cells[0]), bytes);
            const auto found = node::found_results(orders, cells);
            const auto lines = node::lines_of(*plan, found);
            const auto text = node::as_markdown(*plan, lines)
                              + node::as_csv(*plan, lines)
                              + node::as_json(*plan, lines).dump();
            if (text.find("nan") != text.npos || text.find("inf") != text.npos
                || !has_no_holes(node::as_figure(*plan, lines)))
              return verdict::wrong;
            return found.size() == 2 ? verdict::accepted : verdict::refused;
          }};
}

} // namespace

std::vector<reader> run_readers(const fs::path& scratch) {
  return {events_reader(scratch / "shown"),
          replay_reader(scratch / "replayed"),
          page_reader(scratch, "metrics.jsonl", "metrics.jsonl (report)"),
          page_reader(scratch, "summary.json", "summary.json (report)"),
          status_reader(scratch),
          sweep_reader(scratch)};
}

} // namespace troupe::damage
