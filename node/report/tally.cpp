#include "node/report/tally.hpp"

#include <algorithm>

#include "actors/record/names.hpp"
#include "core/limits.hpp"
#include "node/report/routing.hpp"

namespace troupe::node {

namespace {

/// A client has so many unanswered offers, and one visit that is open.
constexpr std::size_t fetches_max = limits::outbox_offers_max + 1;

std::string with_reason(std::string text, std::string_view why) {
  return why.empty() ? text : text + ": " + std::string{why};
}

} // namespace

event_tally::event_tally(const policies::request_watch::options& of) {
  if (of.experts > 0)
    asked_.emplace(of);
}

void event_tally::add(const flat_record& x) {
  ++events_;
  const auto what = actors::to_event_kind(x.text("event"));
  if (!what)
    return;
  switch (*what) {
    using enum actors::event_kind;
    case fetched:
      return note_fetch(x);
    case version:
      return note_version(x);
    case invited:
      ++invited_;
      ++clients_[{x.count("client")}].invited;
      return;
    case withdrawn:
      ++other_ends_[std::string{name_of(*what)}];
      return;
    case visit_failed:
      ++other_ends_[with_reason("failed", x.text("why"))];
      return;
    case refused:
      ++other_ends_[with_reason("refused", x.text("verdict"))];
      return;
    case round_closed:
      ++rounds_;
      return;
    case offered:
      return note_request(x);
    case began:
    case admitted:
    case skipped:
    case finished:
    case began_anew:
    case left_alone:
      return;
  }
}

void event_tally::note_fetch(const flat_record& x) {
  auto& kept = bases_[{{x.count("client")}, x.count("line")}];
  kept.push_back({x.count("visit"), x.count("version")});
  if (kept.size() > fetches_max)
    kept.erase(kept.begin());
}

void event_tally::note_request(const flat_record& x) {
  if (!asked_)
    return;
  const auto experts = asked_->asked().size();
  const auto request = request_in(x, experts);
  const auto visit = visit_in(x);
  if (!asked_->add(visit, request))
    return;
  auto& of_client = requests_[visit.client];
  of_client.resize(experts);
  for (const auto expert : request)
    ++of_client[expert];
}

void event_tally::note_version(const flat_record& x) {
  const auto line = x.count("line");
  const auto version = x.count("version");
  if (version == 1)
    for (const auto& digest : x.texts("digests"))
      first_digests_[digest] = line;
  const auto pairs = x.numbers("merged");
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    merged_one({count_of(pairs[i])}, count_of(pairs[i + 1]), line, version);
}

void event_tally::merged_one(client_id client, std::uint64_t visit,
                             std::uint64_t line, std::uint64_t version) {
  const visit_id id{client, {visit}};
  if (policies::insert_once(counted_, id)) {
    ++clients_[client].merged;
    ++merged_;
  }
  auto& books = lines_[line];
  ++books.offers;
  const auto kept = bases_.find({client, line});
  if (kept == bases_.end())
    return;
  // Of a line that was fetched twice, the last is what was trained on.
  auto& fetches = kept->second;
  const auto found =
    std::find_if(fetches.rbegin(), fetches.rend(),
                 [&](const auto& f) { return f.visit == visit; });
  if (found == fetches.rend() || version <= found->version)
    return;
  const auto age = version - 1 - found->version;
  std::erase_if(fetches, [&](const auto& f) { return f.visit == visit; });
  ++staleness_[age];
  books.staleness_sum += age;
  books.staleness_max = std::max(books.staleness_max, age);
}

} // namespace troupe::node
