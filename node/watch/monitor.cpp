#include "node/watch/monitor.hpp"

#include "actors/metrics/wait_texts.hpp"
#include "actors/metrics/why.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_in(const fs::path& file) {
  std::error_code none;
  const auto size = fs::file_size(file, none);
  return none ? 0 : size;
}

std::uint64_t ledger_bytes(const fs::path& folder) {
  return bytes_below(folder / "versions") + bytes_in(folder / "ledger.sqlite")
         + bytes_in(folder / "ledger.sqlite-wal");
}

} // namespace

monitor::monitor(options opts)
  : options_(std::move(opts)),
    file_(options_.folder / "status.json"),
    own_(options_.folder),
    progress_ms_(unix_milliseconds()) {
  look();
  thread_ = std::thread{[this] { work(); }};
}

monitor::~monitor() {
  {
    const std::lock_guard guard{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
  look();
  remark_end();
}

void monitor::work() {
  std::unique_lock guard{mutex_};
  while (!changed_.wait_for(guard, options_.look_every,
                            [this] { return closing_; })) {
    guard.unlock();
    look();
    guard.lock();
  }
}

void monitor::look() {
  auto seen = std::make_shared<actors::seen_run>();
  auto& x = *seen;
  x.now_ms = unix_milliseconds();
  x.name = options_.x.name;
  x.id = fs::absolute(options_.folder).lexically_normal().filename().string();
  x.method = options_.x.method;
  x.mode = policies::to_string(options_.x.pace.mode);
  x.clock = options_.x.clock == clock_kind::wall ? "wall" : "virtual";
  for (const auto& line : options_.blocks->lines)
    x.line_names[line.id] = line.name;
  options_.watching->describe(x);
  hear(x);
  measure(x);
  file_.write(facts_of(x), options_.http);
  remark(x);
  if (options_.board)
    options_.board->publish(std::move(seen));
}

// The draft that was asked for last time, as far as the actors filled it.
void monitor::hear(actors::seen_run& to) {
  if (answers_.look_at(options_.desk->want()))
    answered_ms_ = to.now_ms;
  const auto& said = answers_.all();
  to.course = said.course;
  to.door = said.door;
  to.lines = said.lines;
  to.load = said.load.value_or(actors::load_status{});
  for (const auto& [name, value] : to.load.figures)
    to.results[name] = value; // What is said now, and not of an evaluation.
  to.storage = said.storage.value_or(actors::storage_times{});
  to.mailboxes = said.mailboxes;
  to.readers = said.readers;
  to.answered_ms = answered_ms_;
  if (to.course)
    to.at = std::max(to.at, to.course->now);
}

void monitor::measure(actors::seen_run& to) {
  const auto& desk = *options_.desk;
  to.crew = desk.crew();
  to.restarts = desk.restarts();
  to.broken = desk.broken();
  if (options_.socket)
    to.socket = options_.socket();
  to.obstacle = desk.obstacle();
  to.checkpoints = desk.checkpoints();
  to.lost = desk.lost();
  to.bytes_up = options_.counted->bytes_up;
  to.bytes_down = options_.counted->bytes_down;
  to.frames_malformed = options_.counted->frames_malformed;
  // Files are counted less often: there may be many.
  if (own_.look()) {
    ledger_bytes_ = ledger_bytes(options_.folder);
    arrivals_bytes_ = bytes_below(options_.folder / "arrivals");
  }
  to.own = own_.last();
  to.ledger_bytes = ledger_bytes_;
  to.record_bytes = bytes_in(options_.folder / "events.jsonl");
  to.record_bytes_max = options_.x.events ? options_.x.events_max << 20 : 0;
  to.arrivals_bytes = arrivals_bytes_;
  auto done = to.visits;
  for (const auto& [block, head] : to.heads)
    done += head;
  if (done != done_)
    progress_ms_ = to.now_ms;
  done_ = done;
  to.progress_ms = progress_ms_;
}

// Each once, when it begins.
void monitor::remark_routing(const actors::request_status& x) {
  std::set<std::pair<line_id, std::string>> standing;
  std::vector<actors::routing_alarm> begun;
  for (const auto& alarm : x.alarms) {
    if (!alarmed_.contains({alarm.line, alarm.what}))
      begun.push_back(alarm);
    standing.emplace(alarm.line, alarm.what);
  }
  alarmed_ = std::move(standing);
  if (!begun.empty())
    options_.say(actors::text_of(begun));
}

// Who reads the end alone has not seen them begin.
void monitor::remark_end() const {
  const auto& load = answers_.all().load;
  if (!load || load->requests.alarms.empty())
    return;
  const auto line = "at the end: " + actors::text_of(load->requests.alarms);
  for (const auto& hear : {options_.say, options_.log})
    if (hear)
      hear(line);
}

void monitor::remark(const actors::seen_run& x) {
  if (!options_.say || x.over)
    return;
  if (x.lost.why != lost_) {
    lost_ = x.lost.why;
    options_.say(lost_.empty() ? "a snapshot was kept again"
                               : "no snapshot: " + lost_);
  }
  remark_routing(x.load.requests);
  const auto line =
    remarks_.look(actors::why(x), {.now_ms = x.now_ms,
                                   .progress_ms = x.progress_ms,
                                   .is_served = bool{options_.socket}});
  if (!line.empty())
    options_.say(line);
}

} // namespace troupe::node
