#include "node/watch/pages.hpp"

#include <utility>

#include "actors/metrics/exposition.hpp"
#include "core/clock.hpp"
#include "node/watch/status_file.hpp"

namespace troupe::node {

namespace {

using http::answer;

/// A status is written twice a second; one so old says that nobody writes.
constexpr std::int64_t status_ms_max = 10'000;

constexpr const char* metrics_type = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* json_type = "application/json";

template <class Status>
answer health(const Status* x) {
  if (x && unix_milliseconds() - x->now_ms > status_ms_max)
    return {.status = 503, .body = "nothing is said any more\n"};
  return {.body = "ok\n"};
}

answer readiness(const actors::seen_run* x) {
  using phase = actors::course_status::phase;
  if (!x || !x->course || x->course->at == phase::gathering)
    return {.status = 503, .body = "the run begins\n"};
  if (x->over || x->course->at == phase::ending)
    return {.status = 503, .body = "the run ends\n"};
  if (!x->broken.empty())
    return {.status = 503, .body = "the run's actors are made anew\n"};
  return {.body = "ok\n"};
}

answer readiness(const actors::process_status* x) {
  using step = actors::process_status::step;
  if (!x || x->at < step::taking_part)
    return {.status = 503, .body = "the process begins\n"};
  if (x->over)
    return {.status = 503, .body = "the process ends\n"};
  if (!x->connected)
    return {.status = 503, .body = "there is no connection to the server\n"};
  return {.body = "ok\n"};
}

template <class Status>
answer reason(const Status* x, bool json) {
  const auto facts = facts_of(x ? *x : Status{});
  if (json)
    return {.type = json_type, .body = why_as_json(facts)};
  return {.body = why_as_text(facts)};
}

actors::reader_status status_of(const http::tally* x) {
  if (!x)
    return {};
  auto now = x->now();
  return {.requests = std::move(now.requests), .connections = now.connections};
}

template <class Status>
std::map<std::string, http::page>
pages_on(std::shared_ptr<const board_of<Status>> board,
         std::shared_ptr<const http::tally> readers) {
  return {
    {"/metrics",
     [board, readers](bool) {
       const auto x = board->last();
       return answer{.type = metrics_type,
                     .body = actors::exposition_of(x ? *x : Status{},
                                                   status_of(readers.get()))};
     }},
    {"/healthz", [board](bool) { return health(board->last().get()); }},
    {"/readyz", [board](bool) { return readiness(board->last().get()); }},
    {"/why", [board](bool json) { return reason(board->last().get(), json); }},
  };
}

} // namespace

std::map<std::string, http::page>
pages_of(std::shared_ptr<const status_board> board,
         std::shared_ptr<const http::tally> readers) {
  return pages_on(std::move(board), std::move(readers));
}

std::map<std::string, http::page>
pages_of(std::shared_ptr<const process_board> board,
         std::shared_ptr<const http::tally> readers) {
  return pages_on(std::move(board), std::move(readers));
}

} // namespace troupe::node
