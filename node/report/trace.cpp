#include "node/report/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/record/names.hpp"
#include "core/ids.hpp"
#include "core/json.hpp"
#include "models/files.hpp"
#include "node/report/flat_record.hpp"

namespace troupe::node {

namespace {

struct place {
  std::uint64_t line = 0;
  std::uint64_t version = 0;
};

struct traced_visit {
  visit_id id;
  double began = 0;
  double ended = -1; ///< Negative: not yet.
  std::string end = "open";
  std::vector<place> fetched;
  std::vector<place> merged;
};

struct traced_version {
  place which;
  double before = 0; ///< When the line made the version before it.
  double at = 0;
  std::size_t merged = 0;
};

visit_id visit_of(const flat_record& x) {
  return {{x.count("client")}, {x.count("visit")}};
}

/// Follows the events of a run and keeps what is to be shown.
class trace_reader {
public:
  explicit trace_reader(const trace_options& opts) : options_(opts) {
    // nop
  }

  void add(const flat_record& x) {
    any_ = true;
    const auto at = x.number("at").value_or(0);
    const auto what = actors::to_event_kind(x.text("event"));
    last_at_ = std::max(last_at_, at);
    if (what == actors::event_kind::invited)
      invited(visit_of(x), at);
    else if (what == actors::event_kind::version)
      version_made(x, at);
    else if (auto* visit = find(visit_of(x)); what && visit)
      happened(*visit, *what, x, at);
  }

  bool any() const noexcept {
    return any_;
  }

  double last_at() const noexcept {
    return last_at_;
  }

  std::size_t left_out() const noexcept {
    return left_out_;
  }

  const std::deque<traced_visit>& visits() const noexcept {
    return visits_;
  }

  const std::deque<traced_version>& versions() const noexcept {
    return versions_;
  }

private:
  bool wanted(double at) const {
    return at >= options_.from && at <= options_.to;
  }

  traced_visit* find(visit_id x) {
    const auto found = places_.find(x);
    return found == places_.end() ? nullptr
                                  : &visits_[found->second - dropped_];
  }

  void invited(visit_id id, double at) {
    if (!wanted(at) || places_.contains(id))
      return;
    places_[id] = dropped_ + visits_.size();
    visits_.push_back({.id = id, .began = at, .fetched = {}, .merged = {}});
    if (visits_.size() <= options_.visits_max)
      return;
    places_.erase(visits_.front().id);
    visits_.pop_front();
    ++dropped_;
    ++left_out_;
    while (!versions_.empty() && versions_.front().at < visits_.front().began)
      versions_.pop_front();
  }

  static void happened(traced_visit& visit, actors::event_kind what,
                       const flat_record& x, double at) {
    using enum actors::event_kind;
    if (what == fetched) {
      visit.fetched.push_back({x.count("line"), x.count("version")});
    } else if (what == offered || what == withdrawn) {
      end(visit, std::string{name_of(what)}, at);
    } else if (what == visit_failed) {
      end(visit, "failed: " + std::string{x.text("why")}, at);
    } else if (what == refused) {
      visit.end = "refused: " + std::string{x.text("verdict")};
    }
  }

  static void end(traced_visit& visit, std::string how, double at) {
    visit.end = std::move(how);
    if (visit.ended < 0)
      visit.ended = at;
  }

  void version_made(const flat_record& x, double at) {
    const place which{x.count("line"), x.count("version")};
    const auto pairs = x.numbers("merged");
    const auto before = made_at_[which.line];
    made_at_[which.line] = at;
    if (!wanted(at))
      return;
    versions_.push_back({.which = which,
                         .before = std::max(before, options_.from),
                         .at = at,
                         .merged = pairs.size() / 2});
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (auto* visit =
            find({{count_of(pairs[i])}, {count_of(pairs[i + 1])}})) {
        visit->merged.push_back(which);
        visit->end = "merged";
      }
  }

  trace_options options_;
  bool any_ = false;
  double last_at_ = 0;
  std::size_t dropped_ = 0;
  std::size_t left_out_ = 0;
  std::deque<traced_visit> visits_;        ///< By invitation.
  std::map<visit_id, std::size_t> places_; ///< In `visits_`, plus `dropped_`.
  std::deque<traced_version> versions_;
  std::map<std::uint64_t, double> made_at_; ///< By line.
};

/// Of a moment within a thousand years: of what lies beyond, differences would
/// not fit either.
std::int64_t microseconds(double at) {
  constexpr double most = 4e10;
  return std::llround(std::clamp(at, -most, most) * 1e6);
}

/// Writes the events of a viewer's format, one to a line.
class trace_writer {
public:
  static constexpr int clients = 1;
  static constexpr int lines = 2;

  trace_writer() {
    name(clients, "clients");
    name(lines, "version lines");
  }

  void put(const traced_visit& x, double last_at) {
    const auto track = x.id.client.value;
    name_track(clients, track, "client " + std::to_string(track));
    json says{{"visit", x.id.number.value}, {"end", x.end}};
    for (const auto& from : x.fetched)
      says["fetched of line " + std::to_string(from.line)] = from.version;
    const auto began = microseconds(x.began);
    const auto ended =
      std::max(began + 1, microseconds(x.ended < 0 ? last_at : x.ended));
    slice(clients, track, "visit " + std::to_string(x.id.number.value), began,
          ended, std::move(says));
    for (const auto& into : x.merged)
      arrow("s", clients, track, ended - 1, id_of(x.id, into.line));
  }

  void put(const traced_version& x) {
    const auto track = x.which.line;
    name_track(lines, track, "line " + std::to_string(track));
    slice(lines, track, "version " + std::to_string(x.which.version),
          microseconds(x.before),
          std::max(microseconds(x.before) + 1, microseconds(x.at)),
          {{"merged", x.merged}});
  }

  /// The other end of a visit's arrow. @pre its version is shown
  void put(visit_id from, const traced_version& to) {
    arrow("f", lines, to.which.line,
          std::max(microseconds(to.before) + 1, microseconds(to.at)) - 1,
          id_of(from, to.which.line));
  }

  std::string text() && {
    return std::move(text_) + "\n]}\n";
  }

private:
  static std::string id_of(visit_id x, std::uint64_t line) {
    return std::to_string(x.client.value) + '.' + std::to_string(x.number.value)
           + '.' + std::to_string(line);
  }

  void add(const json& x) {
    text_ += text_.ends_with('[') ? "\n" : ",\n";
    text_ += x.dump();
  }

  void name(int group, const char* what) {
    add({{"ph", "M"},
         {"name", "process_name"},
         {"pid", group},
         {"args", {{"name", what}}}});
  }

  void name_track(int group, std::uint64_t track, const std::string& what) {
    if (named_.emplace(group, track).second)
      add({{"ph", "M"},
           {"name", "thread_name"},
           {"pid", group},
           {"tid", track},
           {"args", {{"name", what}}}});
  }

  void slice(int group, std::uint64_t track, const std::string& what,
             std::int64_t from, std::int64_t to, json says) {
    add({{"ph", "X"},
         {"name", what},
         {"pid", group},
         {"tid", track},
         {"ts", from},
         {"dur", to - from},
         {"args", std::move(says)}});
  }

  void arrow(const char* end, int group, std::uint64_t track, std::int64_t at,
             const std::string& id) {
    json x{{"ph", end},    {"name", "merged"}, {"cat", "merge"}, {"id", id},
           {"pid", group}, {"tid", track},     {"ts", at}};
    if (*end == 'f')
      x["bp"] = "e"; // At the slice around it, not the next one.
    add(x);
  }

  std::string text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  std::set<std::pair<int, std::uint64_t>> named_;
};

std::string text_of(const trace_reader& x) {
  trace_writer to;
  std::map<std::pair<std::uint64_t, std::uint64_t>, const traced_version*>
    versions;
  for (const auto& version : x.versions()) {
    to.put(version);
    versions[{version.which.line, version.which.version}] = &version;
  }
  for (auto visit : x.visits()) {
    // An arrow has both ends or none.
    std::erase_if(visit.merged, [&](const place& into) {
      return !versions.contains({into.line, into.version});
    });
    to.put(visit, x.last_at());
    for (const auto& into : visit.merged)
      to.put(visit.id, *versions.at({into.line, into.version}));
  }
  return std::move(to).text();
}

} // namespace

result<trace_written> write_trace(const std::filesystem::path& folder,
                                  const std::filesystem::path& to,
                                  const trace_options& opts) {
  trace_reader read{opts};
  const auto unreadable = for_each_record(
    folder / "events.jsonl", [&](const flat_record& x) { read.add(x); });
  if (!read.any())
    return fail(errc::invalid_data,
                (folder / "events.jsonl").string()
                  + " holds no events; the folder of a run with events = true "
                    "would do");
  const auto text = text_of(read);
  const auto path = to.empty() ? folder / "trace.json" : to;
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(path, parts, {}).map([&] {
    return trace_written{.path = path,
                         .visits = read.visits().size(),
                         .left_out = read.left_out(),
                         .unreadable = unreadable};
  });
}

} // namespace troupe::node
