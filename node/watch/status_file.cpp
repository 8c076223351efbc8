#include "node/watch/status_file.hpp"

#include <array>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/json.hpp"
#include "node/watch/moment_text.hpp"
#include "node/watch/waiting.hpp"

namespace troupe::node {

namespace {

constexpr std::size_t size = 4096;
constexpr std::size_t text_max = 1000;

json facts(const status_facts& x) {
  const auto& found = x.found;
  return {{"code", found.code},
          {"what", found.what.substr(0, text_max)},
          {"ends", found.ends.substr(0, text_max)},
          {"since", moment_text(found.since_ms)},
          {"seconds", static_cast<double>(x.now_ms - found.since_ms) / 1000},
          {"over", x.over},
          {"visits", x.visits},
          {"run_seconds", x.run_seconds},
          {"goes_on", x.goes_on}};
}

} // namespace

status_facts facts_of(const actors::seen_run& x) {
  status_facts out{.found = actors::why(x),
                   .now_ms = x.now_ms,
                   .over = x.over,
                   .visits = x.visits,
                   .run_seconds = seconds(x.at),
                   .goes_on =
                     x.socket || x.clock == "wall"
                       ? "troupe serve RUN goes on with it"
                       : "troupe run --resume RUN goes on with it, where there "
                         "is a snapshot"};
  if (x.over && out.found.code != "interrupted")
    out.goes_on.clear();
  return out;
}

status_facts facts_of(const actors::process_status& x) {
  return {.found = actors::why(x),
          .now_ms = x.now_ms,
          .over = x.over,
          .visits = x.crew.work.count,
          .run_seconds = static_cast<double>(x.now_ms - x.began_ms) / 1000,
          .goes_on = "troupe join with --store RUN goes on with its clients"};
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

status_file::status_file(const std::filesystem::path& path)
  : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0)
    ::close(std::exchange(fd_, -1));
}

status_file::~status_file() {
  if (fd_ >= 0)
    ::close(fd_);
}

void status_file::write(const status_facts& x, const std::string& http) {
  if (fd_ < 0)
    return;
  auto object = facts(x);
  object["written_ms"] = x.now_ms;
  object["process"] = getpid();
  object["host"] = host_name();
  object["http"] = http;
  auto text = object.dump(0);
  if (text.size() >= size)
    return;
  text.resize(size - 1, ' ');
  text += '\n';
  [[maybe_unused]] const auto written =
    ::pwrite(fd_, text.data(), text.size(), 0);
}

std::string why_as_json(const status_facts& x) {
  return facts(x).dump(2) + "\n";
}

std::string why_as_text(const status_facts& x) {
  const auto& found = x.found;
  return waiting_text(
    {.what = found.what,
     .ends = found.ends,
     .since = moment_text(found.since_ms),
     .seconds = static_cast<double>(x.now_ms - found.since_ms) / 1000,
     .over = x.over});
}

} // namespace troupe::node
