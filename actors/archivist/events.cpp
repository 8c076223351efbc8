#include "actors/archivist/events.hpp"

#include <nlohmann/json.hpp>

#include "models/layout.hpp"

namespace troupe::actors {

namespace {

using json = nlohmann::ordered_json;

json begin(std::string_view event, instant at) {
  return {{"at", seconds(at)}, {"event", event}};
}

void put(json& to, visit_id x) {
  to["client"] = x.client.value;
  to["visit"] = x.number.value;
}

json to_json(visit_id x) {
  return json::array({x.client.value, x.number.value});
}

const char* to_string(messages::decline_reason x) {
  switch (x) {
    case messages::decline_reason::busy:
      return "busy";
    case messages::decline_reason::failed:
      return "failed";
    case messages::decline_reason::no_offer:
      break;
  }
  return "no_offer";
}

} // namespace

std::string event_of(const messages::invitation_made& x, instant at) {
  auto line = begin("invited", at);
  put(line, x.pass.visit);
  line["index"] = x.pass.index;
  line["seed"] = x.pass.seed;
  line["role"] = x.pass.role;
  line["progress"] = x.pass.progress;
  if (x.pass.round.value > 0)
    line["round"] = x.pass.round.value;
  return line.dump();
}

std::string event_of(const messages::visit_withdrawn& x, instant at) {
  auto line = begin("withdrawn", at);
  put(line, x.visit);
  return line.dump();
}

std::string event_of(const messages::visit_failed& x, instant at) {
  auto line = begin("visit_failed", at);
  put(line, x.visit);
  line["why"] = std::visit([](auto why) { return to_string(why); }, x.why);
  return line.dump();
}

std::string event_of(const messages::part_taken& x, instant at) {
  auto line = begin("refused", at);
  put(line, x.visit);
  line["line"] = x.line.value;
  line["verdict"] = policies::to_string(x.verdict);
  return line.dump();
}

std::string event_of(const messages::line_served& x, instant at) {
  auto line = begin("fetched", at);
  put(line, x.visit);
  line["leg"] = x.leg;
  line["line"] = x.line.value;
  line["version"] = x.base.value;
  return line.dump();
}

std::string event_of(const messages::round_closed& x, instant at) {
  auto line = begin("round_closed", at);
  line["round"] = x.round.value;
  line["visits"] = json::array();
  for (const auto& v : x.visits)
    line["visits"].push_back(to_json(v.visit));
  return line.dump();
}

std::string event_of(const messages::version_published& x, instant at) {
  auto line = begin("version", at);
  line["line"] = x.line.value;
  line["version"] = x.head.value;
  if (x.round.value > 0)
    line["round"] = x.round.value;
  for (const auto& v : x.merged)
    line["merged"].push_back(to_json(v));
  for (const auto& b : x.blocks)
    line["digests"].push_back(models::to_hex(b.digest));
  return line.dump();
}

std::string event_of(const messages::run_finished& x, instant at) {
  auto line = begin("finished", at);
  line["reason"] = x.reason;
  line["failed"] = x.failed;
  return line.dump();
}

std::string event_of(const policies::skip& x, instant at) {
  auto line = begin("skipped", at);
  line["client"] = x.of.client.value;
  line["window"] = x.of.window.value;
  line["dropped"] = x.dropped;
  return line.dump();
}

} // namespace troupe::actors
