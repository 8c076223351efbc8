#include "actors/record/event_reader.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/json.hpp"

namespace troupe::actors {

namespace {

/// Takes the keys of one object. The first that is not as it should be is the
/// problem; what is taken after it is of no use.
class keys {
public:
  explicit keys(const json& object) : object_(object) {
    // nop
  }

  std::uint64_t number(const char* key) {
    return number_in(find(key), key);
  }

  std::uint32_t small_number(const char* key) {
    const auto x = number(key);
    if (x > std::numeric_limits<std::uint32_t>::max())
      refuse(find(key), key, "a number below 2^32");
    return static_cast<std::uint32_t>(x);
  }

  bool has(const char* key) const {
    return find(key) != nullptr;
  }

  double real(const char* key) {
    const auto* x = find(key);
    if (const auto y = x ? x->number() : std::nullopt)
      return *y;
    refuse(x, key, "a number");
    return 0;
  }

  std::string text(const char* key) {
    const auto* x = find(key);
    if (const auto* y = x ? x->text() : nullptr)
      return *y;
    refuse(x, key, "a text");
    return {};
  }

  visit_id visit() {
    return {{number("client")}, {number("visit")}};
  }

  /// Each item as `read` takes it.
  template <class F>
  auto list(const char* key, F read, bool may_be_empty = false) {
    std::vector<decltype(read(object_))> items;
    const auto* x = find(key);
    const auto* found = x ? x->items() : nullptr;
    if (!found || (found->empty() && !may_be_empty))
      refuse(x, key, may_be_empty ? "a list" : "a list that is not empty");
    else
      for (const auto& item : *found)
        items.push_back(read(item));
    return items;
  }

  visit_id pair_in(const json& x, const char* key) {
    if (const auto* pair = x.items(); pair && pair->size() == 2)
      return {{number_in(&pair->front(), key)},
              {number_in(&pair->back(), key)}};
    refuse(&x, key, "pairs [client, visit]");
    return {};
  }

  std::pair<visit_id, line_id> part_in(const json& x, const char* key) {
    if (const auto* all = x.items(); all && all->size() == 3)
      return {{{number_in(&(*all)[0], key)}, {number_in(&(*all)[1], key)}},
              {number_in(&(*all)[2], key)}};
    refuse(&x, key, "parts [client, visit, line]");
    return {};
  }

  std::string text_in(const json& x, const char* key) {
    if (const auto* y = x.text())
      return *y;
    refuse(&x, key, "texts");
    return {};
  }

  /// The place of a text among these names.
  template <class Names>
  std::size_t one_of(const char* key, const Names& names) {
    const auto found = text(key);
    const auto at = std::ranges::find(names, found);
    if (at != std::ranges::end(names))
      return static_cast<std::size_t>(at - std::ranges::begin(names));
    std::string all;
    for (const auto& name : names)
      all += (all.empty() ? "" : ", ") + std::string{name};
    refuse(find(key), key, "one of " + all);
    return 0;
  }

  const std::optional<std::string>& problem() const noexcept {
    return problem_;
  }

private:
  const json* find(const char* key) const {
    return object_.find(key);
  }

  std::uint64_t number_in(const json* x, const char* key) {
    if (const auto y = x ? x->count() : std::nullopt)
      return *y;
    refuse(x, key, "a whole number");
    return 0;
  }

  void refuse(const json* found, const char* key, const std::string& wanted) {
    if (!problem_)
      problem_ = "'" + std::string{key} + "' is "
                 + (found ? found->dump().substr(0, 60) : "missing") + "; "
                 + wanted + " would do";
  }

  const json& object_;
  std::optional<std::string> problem_;
};

std::vector<std::string_view> names_of_verdicts() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < policies::verdict_count; ++i)
    names.push_back(policies::to_string(static_cast<policies::verdict>(i)));
  return names;
}

messages::visit_failed failure_in(keys& x) {
  auto names = names_of_verdicts();
  const auto reasons = {"busy", "failed", "no_offer", "dropped"};
  names.insert(names.begin(), reasons.begin(), reasons.end());
  messages::visit_failed failed{x.visit(), {}};
  const auto why = x.one_of("why", names);
  if (why < reasons.size())
    failed.why = static_cast<messages::decline_reason>(why);
  else
    failed.why = static_cast<policies::verdict>(why - reasons.size());
  return failed;
}

messages::invitation_made invitation_in(keys& x) {
  messages::ticket pass;
  pass.visit = x.visit();
  pass.index = x.number("index");
  pass.seed = x.number("seed");
  pass.role = x.small_number("role");
  pass.progress = x.real("progress");
  return {pass};
}

messages::line_served fetch_in(keys& x) {
  messages::line_served served;
  served.visit = x.visit();
  served.leg = x.small_number("leg");
  served.line = {x.number("line")};
  served.base = {x.number("version")};
  return served;
}

version_recorded version_in(keys& x) {
  return {.line = {x.number("line")},
          .head = {x.number("version")},
          .merged = x.list(
            "merged", [&](const json& y) { return x.pair_in(y, "merged"); }),
          .digests = x.list(
            "digests", [&](const json& y) { return x.text_in(y, "digests"); }),
          .clients = x.has("clients") ? x.number("clients") : 0,
          .round = {x.has("round") ? x.number("round") : 0}};
}

round_recorded round_in(keys& x) {
  round_recorded round{
    {x.number("round")},
    x.list(
      "visits", [&](const json& y) { return x.pair_in(y, "visits"); }, true)};
  if (x.has("parts"))
    round.parts =
      x.list("parts", [&](const json& y) { return x.part_in(y, "parts"); });
  return round;
}

end_recorded end_in(keys& x) {
  end_recorded end{x.text("reason"), {}};
  if (x.has("heads"))
    for (const auto& [line, head] : x.list(
           "heads", [&](const json& y) { return x.pair_in(y, "heads"); }, true))
      end.heads[{line.value}] = {head.value};
  return end;
}

recorded_event event_in(keys& x) {
  switch (static_cast<event_kind>(x.one_of("event", event_kind_names))) {
    case event_kind::began:
      return process_began{x.text("fingerprint")};
    case event_kind::admitted:
      return messages::clients_admitted{x.number("clients")};
    case event_kind::invited:
      return invitation_in(x);
    case event_kind::fetched:
      return fetch_in(x);
    case event_kind::offered:
      return offer_recorded{x.visit(), x.text("checksum")};
    case event_kind::withdrawn:
      return messages::visit_withdrawn{x.visit()};
    case event_kind::visit_failed:
      return failure_in(x);
    case event_kind::refused:
      return messages::part_answered{x.visit(),
                                     {x.number("line")},
                                     static_cast<policies::verdict>(x.one_of(
                                       "verdict", names_of_verdicts())),
                                     {}};
    case event_kind::version:
      return version_in(x);
    case event_kind::round_closed:
      return round_in(x);
    case event_kind::finished:
      return end_in(x);
    case event_kind::began_anew:
      return messages::client_began_anew{{x.number("client")}};
    case event_kind::skipped:
    case event_kind::left_alone:
      break;
  }
  return other_event{};
}

tl::unexpected<error> refuse(std::string_view line, const std::string& why) {
  return fail(errc::invalid_data,
              why + "; found: " + std::string{line.substr(0, 120)}
                + (line.size() > 120 ? " …" : ""));
}

} // namespace

result<recorded_event> read_event(std::string_view line) {
  const auto object = json::parse(line);
  if (!object)
    return refuse(line, "this is no JSON object (" + object.error().context
                          + "); one with 'at' and 'event' would do");
  if (!object->fields())
    return refuse(line,
                  "this is no JSON object; one with 'at' and 'event' would do");
  keys x{*object};
  auto event = event_in(x);
  if (x.problem())
    return refuse(line, *x.problem());
  return event;
}

} // namespace troupe::actors
