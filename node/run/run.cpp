#include "node/run/run.hpp"

#include <optional>
#include <ostream>

#include "actors/record/begin_lines.hpp"
#include "actors/record/events.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "node/config/policies_of.hpp"
#include "node/report/routing.hpp"
#include "node/run/federation.hpp"
#include "node/run/heads.hpp"
#include "node/run/keeper.hpp"
#include "node/run/outcome.hpp"
#include "node/run/resolved.hpp"
#include "node/run/result_files.hpp"
#include "node/run/rules.hpp"
#include "node/task/inputs.hpp"
#include "node/task/kept_common.hpp"
#include "node/watch/folder.hpp"
#include "node/watch/moment_text.hpp"
#include "node/watch/monitor.hpp"
#include "node/watch/progress.hpp"
#include "node/watch/reached.hpp"
#include "node/watch/wait_notice.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

constexpr const char* run_part = "run";

/// A run from its first file to its last.
class enactment {
public:
  enactment(const experiment& x, const run_context& in)
    : x_(resolved(x)),
      in_(in) {
    // nop
  }

  // What a run goes on with is read while another thread may be busy with what
  // models are made by.
  result<run_summary> perform() {
    if (in_.progress)
      waiting_.emplace(reading_a_run, lines_to(*in_.progress));
    if (!in_.resume.empty())
      if (auto ok = open_folder(); !ok)
        return tl::make_unexpected(ok.error());
    auto work = in_.work ? result<workload>{*in_.work}
                         : prepare_with_kept(x_, in_.resume, in_.make_model);
    if (!work)
      return tl::make_unexpected(work.error());
    work_ = std::move(*work);
    fingerprint_ = in_.fingerprint ? in_.fingerprint() : "";
    auto door = serving::open(in_.listen, x_, work_);
    if (!door)
      return tl::make_unexpected(door.error());
    serving_ = std::move(*door);
    return open().and_then([this] { return play(); }).and_then([this] {
      return close();
    });
  }

private:
  result<void> open() {
    const bool is_new = in_.resume.empty();
    if (is_new)
      if (auto ok = open_folder(); !ok)
        return ok;
    folder_->log("fingerprint " + fingerprint_);
    if (auto ok = hold_inputs(folder_->path(), x_, work_); !ok)
      return ok;
    if (auto ok = begin_books(); !ok)
      return ok;
    work_.initial.clear(); // In the books, and as large as the model.
    if (serving_)
      if (auto ok = serving_->open_book(x_, work_, folder_->path(), is_new);
          !ok)
        return ok;
    if (!is_new) // It is whole: of what cannot go on nothing is changed.
      folder_->tidy();
    if (serving_)
      serving_->refused()->say_to([this](const std::string& line) {
        folder_->log(moment_text(unix_milliseconds()) + "  " + line);
      });
    waiting_.reset();
    if (in_.progress)
      display_ = std::make_unique<progress_display>(
        *in_.progress,
        progress_display::options{.terminal = in_.terminal,
                                  .length = x_.length,
                                  .has_labels = work_.has_labels,
                                  .counts_tokens = work_.counts_tokens,
                                  .personal = work_.method.personal,
                                  .has_last_visits =
                                    !work_.method.finish.value.empty(),
                                  .lead = work_.blocks->lead(),
                                  .clients = x_.clients.clients,
                                  .held_out = x_.clients.held_out});
    return resumed_ ? result<void>{}
                    : note_begin(serving_ ? serving_->elapsed() : instant{});
  }

  bool is_served() const {
    return !in_.listen.address.empty();
  }

  result<void> open_folder() {
    auto folder = in_.resume.empty() ? run_folder::make(x_)
                                     : run_folder::open(in_.resume, x_);
    if (!folder)
      return tl::make_unexpected(folder.error());
    folder_ = std::make_unique<run_folder>(std::move(*folder));
    if (!in_.resume.empty())
      if (auto ok = folder_->check_resumable(x_, {.is_served = is_served()});
          !ok)
        return ok;
    return open_books().map([this] {
      if (!in_.resume.empty() && is_served())
        before_ = work_in(folder_->path());
    });
  }

  result<void> open_books() {
    return folder_
      ->open_store(x_, {versions_kept(x_, is_served()), is_served()})
      .map([this](auto opened) { books_ = std::move(opened); });
  }

  result<void> begin_lines() {
    return actors::begin_lines(*books_, *work_.blocks, work_.initial)
      .map([this](const auto& first) {
        first_digest_ = models::to_hex(models::digest_of(first));
      });
  }

  result<void> begin_books() {
    return begin_lines().and_then([this]() -> result<void> {
      if (in_.resume.empty())
        return {};
      if (serving_) { // Clients bring back what is not durable.
        events_bytes_ = folder_->events_size();
        folder_->forget_end();
        folder_->log("goes on");
        return {};
      }
      auto found = books_->rewind();
      if (!found)
        return tl::make_unexpected(found.error());
      // To the last snapshot; what came after it is computed again.
      if (*found) {
        resumed_ = std::make_shared<const actors::snapshot>(std::move(**found));
        events_bytes_ = folder_->events_size();
        return {};
      }
      // All of it, if it was killed before the first.
      books_.reset();
      folder_->log("begins again: no snapshot was kept");
      return folder_->begin_again()
        .and_then([this] { return open_books(); })
        .and_then([this] { return begin_lines(); });
    });
  }

  result<void> note_begin(instant at) {
    if (!x_.events)
      return {};
    const auto line = actors::event_of(actors::process_began{fingerprint_}, at);
    events_bytes_ += line.size() + 1;
    return books_->note({messages::line_noted::file::events, line});
  }

  void add_to_snapshot(actors::snapshot_draft& draft) {
    draft.add(run_part, *watching_, counted_->bytes_up.load(),
              counted_->bytes_down.load(), folder_->metrics_size(),
              fingerprint_);
  }

  result<void> restore_watching() {
    std::string fingerprint;
    std::uint64_t up = 0;
    std::uint64_t down = 0;
    std::uint64_t metrics = 0;
    restore(*resumed_, run_part, *watching_, up, down, metrics, fingerprint);
    counted_->bytes_up = up;
    counted_->bytes_down = down;
    if (auto ok = folder_->cut_metrics(metrics); !ok)
      return ok;
    folder_->forget_end();
    folder_->log("resumed");
    // Else the record is that of a run that was never interrupted.
    return fingerprint == fingerprint_ ? result<void>{}
                                       : note_begin(watching_->report().at);
  }

  result<void> watch() {
    found_ = books_->load();
    if (!found_)
      return tl::make_unexpected(found_.error());
    auto begin = beginning_of(*found_, work_.method.offers);
    begin.visits = before_.visits;
    begin.rounds_scored = before_.rounds;
    if (serving_)
      begin.at = serving_->elapsed();
    chronicle::options opts{
      .blocks = work_.blocks,
      .begin = std::move(begin),
      .merged = merged_in(*found_),
      .held_out = x_.clients.held_out,
      .clients = x_.clients.clients,
      .has_labels = work_.has_labels,
      .counts_tokens = work_.counts_tokens,
      .best_by = watched_of(x_.stop),
      .target = x_.stop.target,
      .metrics = [this](const std::string& line) { folder_->metric(line); },
      .show =
        [this](const progress_report& now) {
          if (display_)
            display_->show(now);
        },
      .log = [this](const std::string& line) { folder_->log(line); }};
    watching_ = std::make_shared<chronicle>(std::move(opts));
    return resumed_ ? restore_watching() : result<void>{};
  }

  void say(const std::string& line) const {
    if (display_ && !line.empty())
      display_->say(line);
  }

  /// What is odd about texts is in the folder, too: a sweep shows nothing.
  void announce() {
    for (const auto& note : in_.notes)
      say("note: " + printable(note));
    say((in_.resume.empty() ? "running " : "resuming ") + x_.method + " under "
        + std::string{policies::to_string(x_.pace.mode)} + " with "
        + so_many(x_.clients.clients, "client") + "; folder "
        + folder_->path().string());
    const std::string left =
      work_.left_out ? about_left_out(*work_.left_out) : "";
    for (const auto& line : {work_.remark, left})
      if (!line.empty()) {
        say(line);
        folder_->log(line);
      }
  }

  result<void> play() {
    if (auto ok = watch(); !ok)
      return ok;
    announce();
    if (display_ && !in_.resume.empty())
      display_->begin(watching_->report());
    if (serving_)
      say(serving_->news_of_keys());
    monitor outlook{
      {.x = x_,
       .blocks = work_.blocks,
       .watching = watching_,
       .counted = counted_,
       .folder = folder_->path(),
       .board = in_.board,
       .http = in_.http,
       .say = [this](const std::string& line) { say(line); },
       .log = [this](const std::string& line) { folder_->log(line); },
       .socket = looks_at(serving_.get())}};
    std::optional<actors::reception_args> reception;
    if (serving_) {
      auto begun = serving_->begin(
        x_, work_,
        {in_.listening, [this](const std::string& line) { folder_->log(line); },
         [this](const std::string& line) { say(line); }});
      if (!begun)
        return tl::make_unexpected(begun.error());
      reception = std::move(*begun);
    }
    const auto done = run_federation(
      {.x = x_,
       .work = work_,
       .books = books_,
       .watching = watching_,
       .counted = counted_,
       .files = in_.files,
       .stop = in_.stop,
       .events_bytes = events_bytes_,
       .resumed = resumed_,
       .found = &*found_,
       .server_side = in_.server_side,
       .client_side = in_.client_side,
       .serves = serving_.get(),
       .elapsed = serving_ ? serving_->elapsed() : instant{},
       .reception = std::move(reception),
       .keeps = keeper_in(x_, folder_->path()),
       .add_to_snapshot =
         [this](actors::snapshot_draft& draft) { add_to_snapshot(draft); },
       .asked = [this] { return asked_before(); },
       .desk = outlook.desk()});
    snapshot_lost_ = outlook.desk()->lost().why;
    if (display_)
      display_->finish();
    if (done || !serving_)
      return done;
    return tl::make_unexpected(folder_->given_up(done.error()));
  }

  std::optional<policies::request_watch> asked_before() const {
    (void)books_->flush(); // What is not written yet is said again.
    return requests_in(folder_->path(), work_.method, *work_.blocks);
  }

  result<run_summary> close() {
    books_.reset(); // The last events are on disk when it is gone.
    auto s = outcome_of({.x = x_,
                         .work = work_,
                         .watching = *watching_,
                         .counted = *counted_,
                         .folder = folder_->path(),
                         .is_served = serving_ != nullptr,
                         .is_stopped = in_.stop && *in_.stop,
                         .snapshot_lost = snapshot_lost_,
                         .first_digest = first_digest_,
                         .began = began_,
                         .cpu = cpu_});
    if (x_.events)
      s.routing = routing_in(folder_->path(), work_.method, *work_.blocks);
    folder_->log(s.reason);
    if (x_.stop.target && !s.failed && !s.interrupted)
      say(s.reason);
    return leave_result(*folder_, *work_.blocks,
                        values_in(watching_->report().lines), s)
      .map([&] {
        show_pages(*folder_, x_.events);
        return s;
      });
  }

  experiment x_;
  const run_context& in_;
  instant began_ = steady_now();
  instant cpu_ = process_cpu_time();
  workload work_;
  std::string fingerprint_;
  std::unique_ptr<run_folder> folder_;
  std::unique_ptr<serving> serving_;   ///< Null: clients live here.
  std::optional<wait_notice> waiting_; ///< Until there is a display.
  std::unique_ptr<progress_display> display_;
  std::shared_ptr<actors::store> books_;
  result<actors::stored_node> found_; ///< In the books, until the node has it.
  std::shared_ptr<chronicle> watching_;
  std::shared_ptr<const actors::snapshot> resumed_;
  std::uint64_t events_bytes_ = 0; ///< Before the federation begins.
  work_done before_;               ///< By another process.
  std::string snapshot_lost_;      ///< Why the last one could not be kept.
  std::string first_digest_;       ///< Of what its lines begin with.
  std::shared_ptr<actors::traffic> counted_ =
    std::make_shared<actors::traffic>();
};

} // namespace

result<run_summary> run(const experiment& x, const run_context& in) {
  return enactment{x, in}.perform();
}

} // namespace troupe::node
