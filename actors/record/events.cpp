#include "actors/record/events.hpp"

#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json begin(event_kind event, instant at) {
  return {{"at", seconds(at)}, {"event", name_of(event)}};
}

void put(ordered_json& to, visit_id x) {
  to["client"] = x.client.value;
  to["visit"] = x.number.value;
}

ordered_json to_json(visit_id x) {
  return ordered_json::array({x.client.value, x.number.value});
}

const char* to_string(messages::decline_reason x) {
  switch (x) {
    case messages::decline_reason::busy:
      return "busy";
    case messages::decline_reason::failed:
      return "failed";
    case messages::decline_reason::no_offer:
      return "no_offer";
    case messages::decline_reason::dropped:
      break;
  }
  return "dropped";
}

} // namespace

std::string checksum_of(const messages::offer_made& x) {
  checksum sum;
  for (const auto& part : x.blocks) {
    sum.add(part.block.value);
    sum.add(part.base.value);
    sum.add(std::uint64_t{part.rank});
    sum.add(part.weight);
    if (part.delta) // It is not screened yet.
      sum.add(std::span{*part.delta});
  }
  for (const auto& said : x.disclosures) {
    sum.add(std::uint64_t{said.index});
    for (const auto value : said.values)
      sum.add(value);
  }
  sum.add(x.loss);
  const auto value = sum.value();
  std::string text(16, '0');
  for (int i = 0; i < 16; ++i)
    text[15 - i] = "0123456789abcdef"[(value >> (4 * i)) & 15];
  return text;
}

std::string event_of(const process_began& x, instant at) {
  auto line = begin(event_kind::began, at);
  line["fingerprint"] = x.fingerprint;
  return line.dump();
}

std::string event_of(const messages::clients_admitted& x, instant at) {
  auto line = begin(event_kind::admitted, at);
  line["clients"] = x.count;
  return line.dump();
}

std::string event_of(const messages::offer_made& x, instant at,
                     bool discloses_soundly) {
  auto line = begin(event_kind::offered, at);
  put(line, x.pass.visit);
  line["checksum"] = checksum_of(x);
  if (discloses_soundly)
    for (const auto& said : x.disclosures) {
      ordered_json one;
      one["index"] = said.index;
      one["values"] = said.values;
      line["disclosed"].push_back(std::move(one));
    }
  return line.dump();
}

std::string event_of(const messages::invitation_made& x, instant at) {
  auto line = begin(event_kind::invited, at);
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
  auto line = begin(event_kind::withdrawn, at);
  put(line, x.visit);
  return line.dump();
}

std::string event_of(const messages::visit_failed& x, instant at) {
  auto line = begin(event_kind::visit_failed, at);
  put(line, x.visit);
  line["why"] = std::visit([](auto why) { return to_string(why); }, x.why);
  return line.dump();
}

std::string event_of(const messages::part_answered& x, instant at) {
  auto line = begin(event_kind::refused, at);
  put(line, x.visit);
  line["line"] = x.line.value;
  line["verdict"] = policies::to_string(x.verdict);
  return line.dump();
}

std::string event_of(const messages::line_served& x, instant at) {
  auto line = begin(event_kind::fetched, at);
  put(line, x.visit);
  line["leg"] = x.leg;
  line["line"] = x.line.value;
  line["version"] = x.base.value;
  return line.dump();
}

std::string event_of(const messages::round_closed& x, instant at) {
  auto line = begin(event_kind::round_closed, at);
  line["round"] = x.round.value;
  line["visits"] = ordered_json::array();
  for (const auto& v : x.visits)
    line["visits"].push_back(to_json(v.visit));
  if (!x.again)
    return line.dump();
  for (const auto& v : x.visits)
    for (const auto of : v.lines)
      line["parts"].push_back(ordered_json::array(
        {v.visit.client.value, v.visit.number.value, of.value}));
  return line.dump();
}

std::string event_of(const messages::commit_requested& x, instant at) {
  auto line = begin(event_kind::version, at);
  line["line"] = x.line.value;
  line["version"] = x.head.value;
  if (x.round.value > 0)
    line["round"] = x.round.value;
  for (const auto& v : x.merged)
    line["merged"].push_back(to_json(v));
  for (const auto& b : x.blocks)
    line["digests"].push_back(models::to_hex(b.digest));
  if (x.admitted > 0)
    line["clients"] = x.admitted;
  return line.dump();
}

std::string event_of(const messages::run_finished& x, instant at) {
  auto line = begin(event_kind::finished, at);
  line["reason"] = x.reason;
  line["failed"] = x.failed;
  line["heads"] = ordered_json::array();
  for (const auto& [id, head] : x.heads)
    line["heads"].push_back(ordered_json::array({id.value, head.value}));
  return line.dump();
}

std::string event_of(const policies::skip& x, instant at) {
  auto line = begin(event_kind::skipped, at);
  line["client"] = x.of.client.value;
  line["window"] = x.of.window.value;
  line["dropped"] = x.dropped;
  return line.dump();
}

std::string event_of(const messages::client_failed& x, instant at) {
  auto line = begin(event_kind::left_alone, at);
  line["client"] = x.last.visit.client.value;
  line["failures"] = x.failures;
  line["until"] = seconds(*x.alone_until);
  return line.dump();
}

std::string event_of(const messages::client_began_anew& x, instant at) {
  auto line = begin(event_kind::began_anew, at);
  line["client"] = x.client.value;
  return line.dump();
}

} // namespace troupe::actors
