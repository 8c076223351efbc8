// A server that was killed has lost the end of its record; what clients bring
// back is noted where they bring it.

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "policies/catalogue.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/recorded_runs.hpp"

namespace troupe::test {

namespace {

using visit_key = std::pair<int, int>;

bool is_of_visit(const ordered_json& x) {
  const auto event = x["event"].get<std::string>();
  return event == "invited" || event == "fetched" || event == "offered"
         || event == "withdrawn" || event == "refused"
         || event == "visit_failed";
}

visit_key visit_of(const ordered_json& x) {
  return {x["client"].get<int>(), x["visit"].get<int>()};
}

/// Whether it says so to a server that lives long enough to note it.
enum class busy : bool { in_vain, said };

/// An invitation, and of a server that begins anew one to a visit that its
/// client is too busy for.
lines and_one_too_many(const ordered_json& invited, busy what) {
  auto other = invited;
  other["visit"] = invited["visit"].get<int>() + 1000;
  lines result{invited.dump(), R"({"at":0,"event":"began","fingerprint":""})",
               other.dump()};
  if (what == busy::said)
    result.push_back(ordered_json{
      {"at", 0},
      {"event", "visit_failed"},
      {"client", other["client"]},
      {"visit", other["visit"]},
      {"why", "busy"}}.dump());
  return result;
}

/// Where a record has a visit.
struct noted {
  std::size_t heard = 0;   ///< The last line of its client before it.
  std::size_t version = 0; ///< The last line of a version before it.
  std::size_t invited = 0;
  std::size_t offered = 0;

  /// It could have been invited before that version.
  bool may_begin_earlier() const {
    return heard < version;
  }
};

/// By client, in their order.
std::map<int, std::vector<noted>> visits_in(const lines& all) {
  std::map<int, std::vector<noted>> result;
  std::map<int, std::size_t> heard;
  std::size_t version = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto x = ordered_json::parse(all[i]);
    if (x["event"] == "version")
      version = i;
    if (!is_of_visit(x))
      continue;
    const auto client = x["client"].get<int>();
    const auto before = std::exchange(heard[client], i);
    auto& own = result[client];
    if (x["event"] == "invited")
      own.push_back({.heard = before, .version = version, .invited = i});
    else if (x["event"] == "offered")
      own.back().offered = i;
  }
  return result;
}

/// Its client is invited before a version, and to one visit too many.
void begin_earlier(lines& all, const noted& x, busy what) {
  const auto at = [&](std::size_t n) {
    return all.begin() + static_cast<std::ptrdiff_t>(n);
  };
  const auto added =
    and_one_too_many(ordered_json::parse(all[x.invited]), what);
  all.erase(at(x.invited));
  all.insert(at(x.version), added.begin(), added.end());
}

/// A record as it is written where servers die. After some versions lines are
/// lost, until the next server begins: what it hears then again it notes again.
class brought_back {
public:
  lines of(const lines& all, std::mt19937_64& draw) {
    for (const auto& line : all) {
      const auto x = ordered_json::parse(line);
      const bool is_version = x["event"] == "version";
      // Those are written before they are said.
      const bool is_end =
        x["event"] == "refused" || x["event"] == "visit_failed";
      if (loses_ && (is_version || is_end || draw() % 8 == 0))
        begin_again();
      if (loses_ && is_of_visit(x))
        lose(x, line);
      else
        keep(x, line);
      loses_ |= is_version && draw() % 3 == 0;
    }
    return result_;
  }

private:
  void lose(const ordered_json& x, const std::string& line) {
    const auto visit = visit_of(x);
    if (x["event"] == "invited" || x["event"] == "fetched")
      beginnings_[visit].push_back(line);
    lost_.insert(visit);
    if (x["event"] == "offered")
      offers_[visit] = line;
  }

  void keep(const ordered_json& x, const std::string& line) {
    if (is_of_visit(x)) {
      const auto visit = visit_of(x);
      if (x["event"] == "invited" || x["event"] == "fetched")
        beginnings_[visit].push_back(line);
      if (x["event"] == "fetched" && lost_.contains(visit))
        result_.push_back(beginnings_[visit].front());
      if (x["event"] == "offered" && lost_.erase(visit) != 0)
        append(beginnings_[visit]);
    }
    result_.push_back(line);
  }

  void begin_again() {
    loses_ = false;
    result_.emplace_back(R"({"at":0,"event":"began","fingerprint":""})");
    for (const auto& [visit, offer] : offers_) {
      append(beginnings_[visit]);
      result_.push_back(offer);
      lost_.erase(visit);
    }
    offers_.clear();
  }

  void append(const lines& x) {
    result_.insert(result_.end(), x.begin(), x.end());
  }

  bool loses_ = false;
  lines result_;
  std::map<visit_key, lines> beginnings_;   ///< As they were.
  std::map<visit_key, std::string> offers_; ///< Lost, and without an answer.
  std::set<visit_key> lost_;
};

} // namespace

TEST_F(recorded_run, is_computed_again_though_its_record_lost_lines) {
  std::mt19937_64 draw{7};
  std::size_t changed = 0;
  const std::string_view paces[]{"sync", "semisync", "fedbuff", "fedasync"};
  for (const auto& method : methods_of_any_model())
    for (std::size_t i = 0; i < 4; ++i) {
      if (policies::standing_of(method, static_cast<pace_kind>(i))
            == standing::refused
          || !method.offers)
        continue;
      const auto changes = of_method(
        method.name,
        {"mode=" + std::string{paces[i]}, i < 2 ? "rounds=8" : "versions=24",
         "over_selection=2", "concurrency=6", "staleness_max=1"});
      const auto folder = record(changes);
      for (int n = 0; n < 3; ++n) {
        const auto done = replay_changed(folder, [&](lines& all) {
          const auto before = all.size();
          all = brought_back{}.of(all, draw);
          changed += all.size() != before;
        });
        const auto what = ::testing::PrintToString(changes);
        ASSERT_TRUE(done) << what << done.error().context;
        EXPECT_FALSE(done->digests.first) << what << done->digests.first->what;
        EXPECT_EQ(done->digests.equal, done->digests.total) << what;
      }
    }
  EXPECT_GT(changed, 30u);
}

// What was noted late is computed when it was done.
TEST_F(recorded_run, an_offer_that_is_noted_after_a_later_visit_began) {
  const auto folder =
    record({"method=ditto", "mode=fedbuff", "versions=20", "buffer_size=6"});
  const auto all = read_lines(folder / "events.jsonl");
  std::map<int, std::size_t> offered; // Its newest offer, by client.
  std::size_t moved = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto x = ordered_json::parse(all[i]);
    if (x["event"] == "version")
      offered.clear();
    if (x["event"] == "offered")
      offered[x["client"].get<int>()] = i;
    if (x["event"] != "invited" || !offered.contains(x["client"].get<int>()))
      continue;
    const auto from = offered.at(x["client"].get<int>());
    const auto done = replay_changed(folder, [&](lines& y) {
      std::rotate(y.begin() + static_cast<std::ptrdiff_t>(from),
                  y.begin() + static_cast<std::ptrdiff_t>(from + 1),
                  y.begin() + static_cast<std::ptrdiff_t>(i + 1));
    });
    ASSERT_TRUE(done) << done.error().context;
    EXPECT_EQ(done->digests.equal, done->digests.total);
    ++moved;
  }
  EXPECT_GT(moved, 3u);
}

// A server that began anew invited whom it did not know to be at work, which
// fetched only then.
TEST_F(recorded_run, a_visit_whose_client_was_too_busy_for_a_later_one) {
  const auto folder =
    record({"method=ditto", "mode=fedbuff", "versions=20", "buffer_size=6"});
  std::size_t tried = 0;
  for (const auto& [client, own] :
       visits_in(read_lines(folder / "events.jsonl")))
    for (const auto& x : own) {
      if (!x.may_begin_earlier())
        continue;
      for (const auto what : {busy::in_vain, busy::said}) {
        const auto done = replay_changed(
          folder, [&](lines& all) { begin_earlier(all, x, what); });
        ASSERT_TRUE(done) << done.error().context;
        EXPECT_EQ(done->digests.equal, done->digests.total);
        ++tried;
      }
    }
  EXPECT_GT(tried, 3u);
}

// A server that began anew asked once more for what its client had dropped; the
// record of before has that it was withdrawn, or has lost it.
TEST_F(recorded_run, a_visit_that_its_client_has_dropped_and_is_asked_for) {
  const auto folder = record({"method=ditto", "rounds=30", "over_selection=2"});
  const auto before = read_lines(folder / "events.jsonl");
  const std::string began = R"({"at":0,"event":"began","fingerprint":""})";
  std::map<visit_key, ordered_json> invited;
  std::set<visit_key> trains;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto x = ordered_json::parse(before[i]);
    if (x["event"] == "invited")
      invited[visit_of(x)] = x;
    if (x["event"] == "fetched")
      trains.insert(visit_of(x));
    if (x["event"] != "withdrawn" || !trains.contains(visit_of(x)))
      continue;
    const ordered_json dropped{{"at", 0},
                               {"event", "visit_failed"},
                               {"client", x["client"]},
                               {"visit", x["visit"]},
                               {"why", "dropped"}};
    for (const bool lost : {false, true}) {
      const auto done = replay_changed(folder, [&](lines& all) {
        const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
        const lines added{began, invited.at(visit_of(x)).dump(),
                          dropped.dump()};
        all.insert(lost ? all.erase(at) : at + 1, added.begin(), added.end());
      });
      ASSERT_TRUE(done) << done.error().context;
      EXPECT_EQ(done->digests.equal, done->digests.total) << lost;
      ++tried;
    }
  }
  EXPECT_GT(tried, 6u);
}

// What it is too busy for it has not met: its offer, which is noted after a
// visit that it has, goes before that one alone.
TEST_F(recorded_run, a_late_offer_of_who_was_too_busy_before_it_fetched) {
  const auto folder =
    record({"method=ditto", "mode=fedbuff", "versions=20", "buffer_size=6"});
  std::size_t moved = 0;
  for (const auto& [client, own] :
       visits_in(read_lines(folder / "events.jsonl")))
    for (std::size_t i = 0; i + 1 < own.size(); ++i) {
      const auto& late = own[i];
      const auto& next = own[i + 1];
      if (!late.may_begin_earlier() || late.offered < next.version)
        continue;
      for (const auto what : {busy::in_vain, busy::said}) {
        const auto done = replay_changed(folder, [&](lines& all) {
          const auto from =
            all.begin() + static_cast<std::ptrdiff_t>(late.offered);
          const auto to =
            all.begin() + static_cast<std::ptrdiff_t>(next.invited);
          std::rotate(from, from + 1, to + 1);
          begin_earlier(all, late, what);
        });
        ASSERT_TRUE(done) << done.error().context;
        EXPECT_EQ(done->digests.equal, done->digests.total);
        ++moved;
      }
    }
  EXPECT_GT(moved, 3u);
}

} // namespace troupe::test
