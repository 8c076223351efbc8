#include "node/watch/pages.hpp"

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

answer health(const actors::run_status* x) {
  if (x && unix_milliseconds() - x->now_ms > status_ms_max)
    return {.status = 503, .body = "the run says nothing any more\n"};
  return {.body = "ok\n"};
}

answer readiness(const actors::run_status* x) {
  using phase = actors::course_status::phase;
  if (!x || !x->course || x->course->at == phase::gathering)
    return {.status = 503, .body = "the run begins\n"};
  if (x->over || x->course->at == phase::ending)
    return {.status = 503, .body = "the run ends\n"};
  return {.body = "ok\n"};
}

answer reason(const actors::run_status* x, bool json) {
  const actors::run_status begins;
  const auto& seen = x ? *x : begins;
  if (json)
    return {.type = json_type, .body = why_as_json(seen)};
  return {.body = why_as_text(seen)};
}

} // namespace

std::map<std::string, http::page>
pages_of(std::shared_ptr<const status_board> board) {
  return {
    {"/metrics",
     [board](bool) {
       const auto x = board->last();
       return answer{.type = metrics_type,
                     .body =
                       actors::exposition_of(x ? *x : actors::run_status{})};
     }},
    {"/healthz", [board](bool) { return health(board->last().get()); }},
    {"/readyz", [board](bool) { return readiness(board->last().get()); }},
    {"/why", [board](bool json) { return reason(board->last().get(), json); }},
  };
}

} // namespace troupe::node
