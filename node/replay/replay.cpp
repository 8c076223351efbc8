#include "node/replay/replay.hpp"

#include "actors/record/stored_heads.hpp"
#include "core/json.hpp"
#include "models/files.hpp"
#include "node/replay/last_scores.hpp"
#include "node/replay/replayer.hpp"
#include "node/task/inputs.hpp"
#include "node/task/kept_common.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

/// The whole lines of a file, one after the other.
class record {
public:
  record(const fs::path& path, models::line_reader in)
    : path_(path),
      in_(std::move(in)) {
    // nop
  }

  bool next() {
    if (!in_.next())
      return false;
    ++number_;
    bytes_ += in_.line().size() + 1;
    return true;
  }

  result<actors::recorded_event> event() const {
    auto found = actors::read_event(in_.line());
    if (!found)
      return refuse(found.error().context);
    return found;
  }

  tl::unexpected<error> refuse(const std::string& why) const {
    return fail(errc::invalid_data,
                path_.string() + ":" + std::to_string(number_) + ": " + why);
  }

  bool cut_off() const noexcept {
    return in_.cut_off();
  }

  std::uint64_t number() const noexcept {
    return number_;
  }

  double done() const noexcept {
    return static_cast<double>(bytes_) / static_cast<double>(in_.bytes());
  }

private:
  fs::path path_;
  models::line_reader in_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Up to where the record is damaged: whoever follows it says how.
result<outlook> look_ahead(const fs::path& events) {
  auto lines = models::line_reader::open(events, errc::invalid_data);
  if (!lines)
    return fail(lines.error().code,
                lines.error().context
                  + "; the folder of a run with events = true would do");
  outlook ahead;
  for (record from{events, std::move(*lines)}; from.next();) {
    const auto event = from.event();
    if (!event)
      break;
    ahead.note(*event);
  }
  return ahead;
}

std::uint64_t digests_in(const actors::recorded_event& x) {
  if (const auto* version = std::get_if<actors::version_recorded>(&x))
    return version->digests.size();
  return std::holds_alternative<actors::offer_recorded>(x) ? 1 : 0;
}

/// At the line of now. What no longer can be compared still counts.
void stop_at(record& from, replay_summary& to) {
  to.differs_at = from.number();
  while (from.next())
    if (const auto event = from.event())
      to.digests.total += digests_in(*event);
}

void note_fingerprint(const actors::recorded_event& x,
                      const replay_context& in) {
  const auto* began = std::get_if<actors::process_began>(&x);
  if (began && began->fingerprint != in.fingerprint)
    in.note("this run was recorded with other arithmetic: '"
            + began->fingerprint + "', and here is '" + in.fingerprint
            + "'; equal digests are promised only where the two are equal");
}

/// How summary.json says that the run ended.
struct said_end {
  json all = {};
  bool succeeded = false;
  bool interrupted = false;
  std::optional<std::string> digest; ///< Nothing: it says none.
};

/// Nothing: it did not end, or nobody says how.
std::optional<said_end> end_in(const fs::path& folder) {
  const auto text =
    models::read_text(folder / "summary.json", errc::invalid_data);
  if (!text)
    return std::nullopt;
  const auto summary = json::parse(*text);
  const auto* succeeded = summary ? summary->find("success") : nullptr;
  const auto* interrupted = summary ? summary->find("interrupted") : nullptr;
  const auto* digest = summary ? summary->find("digest") : nullptr;
  said_end out;
  if (summary)
    out.all = *summary;
  out.succeeded = succeeded && succeeded->flag().value_or(false);
  out.interrupted = interrupted && interrupted->flag().value_or(false);
  if (digest && digest->text())
    out.digest = *digest->text();
  return out;
}

/// What the record ends with, beside what the run left behind of its end.
std::optional<difference> compare_summary(const said_end& said,
                                          const replayer& story) {
  if (!story.ended())
    return difference{"the end of the record",
                      "summary.json says that the run ended",
                      "there is no event 'finished'"};
  const auto digest = models::to_hex(models::digest_of(story.digests()));
  if (said.digest == digest)
    return std::nullopt;
  return difference{"the digest of the run",
                    said.digest.value_or("none: summary.json is damaged"),
                    digest};
}

/// What is durable is in the record, and where the run ended, nothing more.
std::optional<difference> compare_ledger(const workload& work,
                                         const fs::path& folder,
                                         const replayer& story,
                                         const replay_context& in) {
  const auto stored = actors::stored_heads(folder);
  if (!stored) {
    in.note("there is no ledger here that can be read: the record's end is "
            "compared with summary.json alone");
    return std::nullopt;
  }
  for (const auto& line : work.blocks->lines) {
    const auto head = stored->find(line.id);
    if (head == stored->end())
      continue;
    const auto made = story.head(line.id);
    if (head->second > made || (story.ended() && head->second < made))
      return difference{"the head of line '" + line.name + "'",
                        "version " + std::to_string(head->second.value),
                        "version " + std::to_string(made.value)};
  }
  return std::nullopt;
}

void compare_ends(const experiment& x, const workload& work,
                  const fs::path& folder, const replayer& story,
                  const replay_context& in, replay_summary& to) {
  const auto said = end_in(folder);
  // Such a run goes on: what is durable says how far its record must reach.
  to.interrupted = said && said->interrupted && !story.ended();
  if (said && !to.interrupted)
    to.digests.first = compare_summary(*said, story);
  if (to.digests.first) {
    to.differs_in = story.ended() ? "summary.json" : "events.jsonl";
  } else if (x.ledger == ledger_kind::disk) {
    to.digests.first = compare_ledger(work, folder, story, in);
    if (to.digests.first)
      to.differs_in = "ledger.sqlite";
  }
}

/// Nothing was sent: what clients have learned shows in what they are worth.
result<void> compare_scores(const experiment& x, const workload& work,
                            const fs::path& folder, const replayer& story,
                            replay_summary& to) {
  if (to.digests.total > 0)
    return {};
  const auto said = end_in(folder);
  const bool ended = said && said->succeeded && story.ended();
  if (!ended || !story.is_settled()) {
    to.why_none = ended ? unscored::under_way : unscored::unended;
    return {};
  }
  return story.scores().map([&](const models::evaluated& found) {
    to.scores = compare_last_scores(said->all, found, x, work);
    if (to.scores.total == 0)
      to.why_none =
        x.evaluate_every == 0 ? unscored::never : unscored::of_others;
    if (to.scores.first)
      to.differs_in = "summary.json";
  });
}

/// Who sees what there was whenever the run evaluated a version, and at its
/// end.
class onlooker {
public:
  onlooker(const experiment& x, const replay_context& in)
    : every_(x.evaluate_every),
      look_(in.look) {
    // nop
  }

  /// Before the event is followed. Other lines may have a version of the same
  /// moment, and offers have verdicts when all of these are there.
  result<void> meet(const actors::recorded_event& next, const workload& work,
                    const replayer& story) {
    const auto* made = std::get_if<actors::version_recorded>(&next);
    if (!made)
      return due_ ? look(*due_, story) : result<void>{};
    const auto lead = work.blocks->lead();
    if (every_ > 0 && (!lead || *lead == made->line)
        && made->head.value % every_ == 0)
      due_ = made->head;
    return {};
  }

  result<void> end(const workload& work, const replayer& story) {
    const auto lead = work.blocks->lead();
    const auto head = lead ? story.head(*lead) : version{};
    // Last visits come behind the last version.
    const bool is_over = work.method.finish.value.empty();
    return seen_ == head && is_over ? result<void>{} : look(head, story);
  }

private:
  result<void> look(version head, const replayer& story) {
    due_.reset();
    seen_ = head;
    return look_ ? look_({.head = head, .there = story.standing()})
                 : result<void>{};
  }

  std::uint64_t every_;
  const std::function<result<void>(const replayed_moment&)>& look_;
  std::optional<version> due_;
  std::optional<version> seen_;
};

/// What is computed again, and of what.
struct retelling {
  std::optional<workload> prepared = {}; ///< Where nobody brought one.
  const workload* work = nullptr;
  std::unique_ptr<replayer> story = {};
};

result<void> begin(const experiment& x, const fs::path& folder,
                   const replay_context& in, outlook ahead, retelling& to) {
  to.work = in.work;
  if (!to.work) {
    auto prepared = prepare_with_kept(x, folder, in.make_model);
    if (!prepared)
      return tl::make_unexpected(prepared.error());
    if (auto ok = check_inputs(folder, x, *prepared); !ok)
      return ok;
    to.work = &to.prepared.emplace(std::move(*prepared));
  }
  return replayer::make(x, *to.work, std::move(ahead),
                        actors::kept_offers{folder / "offers"})
    .map([&](std::unique_ptr<replayer> made) { to.story = std::move(made); });
}

/// @pre nothing differs so far
result<void> look_at_end(const experiment& x, const fs::path& folder,
                         const retelling& told, onlooker& watching,
                         replay_summary& to) {
  return watching.end(*told.work, *told.story).and_then([&] {
    return compare_scores(x, *told.work, folder, *told.story, to);
  });
}

} // namespace

bool compared_nothing(const replay_summary& x) {
  return x.digests.total == 0 && !x.digests.first && x.scores.total == 0
         && x.stopped_by.empty();
}

std::string has_scores(const replay_summary& x) {
  switch (x.why_none) {
    case unscored::unended:
      return "a run with evaluate_every above 0 that came to its end, over "
             "data that is here, has such scores";
    case unscored::under_way:
      return "visits were under way when this run ended; one of mode = "
             "\"sync\" that ends with its 'rounds', each of which waits for "
             "all of its visits, and has evaluate_every above 0, has such "
             "scores";
    case unscored::never:
      return "the same run with evaluate_every above 0 has such scores";
    case unscored::of_others:
    case unscored::none:
      break;
  }
  return "a run whose clients are all scored at its end, over data that is "
         "here, has such scores";
}

result<replay_summary> replay(const experiment& x, const fs::path& folder,
                              const replay_context& in) {
  const auto events = folder / "events.jsonl";
  auto ahead = look_ahead(events);
  if (!ahead)
    return tl::make_unexpected(ahead.error());
  auto lines = models::line_reader::open(events, errc::invalid_data);
  if (!lines)
    return tl::make_unexpected(lines.error());
  record from{events, std::move(*lines)};
  retelling told;
  const auto& story = told.story;
  onlooker watching{x, in};
  replay_summary s;
  while (from.next()) {
    const auto event = from.event();
    if (!event)
      return tl::make_unexpected(event.error());
    note_fingerprint(*event, in);
    if (!story)
      if (auto ok = begin(x, folder, in, std::move(*ahead), told); !ok)
        return tl::make_unexpected(ok.error());
    if (auto ok = watching.meet(*event, *told.work, *story); !ok)
      return tl::make_unexpected(ok.error());
    auto heard = story->hear(*event);
    if (!heard && heard.error().code == errc::unsupported) {
      s.stopped_by = heard.error().context;
      s.digests.total += digests_in(*event);
      stop_at(from, s);
      break;
    }
    if (!heard)
      return from.refuse(heard.error().context);
    s.digests.equal += heard->equal;
    s.digests.total += heard->total;
    in.show({from.done(), from.number(), s.digests.equal});
    if (heard->first) {
      s.digests.first = std::move(heard->first);
      stop_at(from, s);
    }
  }
  if (!story)
    return fail(errc::invalid_data,
                (folder / "events.jsonl").string()
                  + " holds no event; that of a run with events = true would "
                    "do");
  s.ended = story->ended();
  if (!s.digests.first && s.stopped_by.empty())
    compare_ends(x, *told.work, folder, *story, in, s);
  if (!s.digests.first && s.stopped_by.empty())
    if (auto ok = look_at_end(x, folder, told, watching, s); !ok)
      return tl::make_unexpected(ok.error());
  if (from.cut_off())
    in.note("the last line of the record is cut off, as by a kill; it is left "
            "out");
  s.product_gap = story->product_gaps();
  return s;
}

} // namespace troupe::node
