#include "node/join/places.hpp"

#include <algorithm>
#include <utility>

#include "node/join/farewells.hpp"

namespace troupe::node {

using end = join_summary::end;

std::optional<join_summary> ask_for_places(const asked_server& from,
                                           const experiment& x,
                                           const messages::store_id& store,
                                           std::vector<client_id>& to) {
  const auto& in = from.in;
  auto found = from.asked.ask<messages::places_given>(
    from.network,
    messages::places_asked{
      .nonce = 0, .store = store, .count = in.clients, .name = in.name},
    from.how_long);
  if (!found)
    return ended(end::unreachable, "the server gives no clients");
  if (found->clients.empty())
    return ended(end::refused, found->why);
  for (const auto who : found->clients)
    if (!may_be(who, in, x) || (!in.name.empty() && found->clients.size() != 1))
      return ended(end::misfit, "the server gives clients that the run has "
                                "not");
  to = std::move(found->clients);
  return std::nullopt;
}

namespace {

client_id first_own(const experiment& x) {
  return {x.data.is_elsewhere() ? 1 : x.clients.clients + 1};
}

/// By turns a number says how many there are.
template <class T>
void keep_least(std::vector<T>& turns) {
  if (!turns.empty())
    turns = {std::ranges::min(turns)};
}

} // namespace

std::optional<join_summary> try_work(const join_context& in,
                                     const messages::terms_given& terms,
                                     const experiment& x, own_data& mine,
                                     workload& to) {
  if (auto wrong = read_own(in, terms, x, mine))
    return wrong;
  auto least = x;
  keep_least(least.training.experts);
  keep_least(least.training.expert_memory);
  return make_work(in, terms, least, mine, first_own(x), to);
}

bool was_tried_as(const experiment& x, client_id me) {
  return me == first_own(x) && x.training.experts.size() < 2
         && x.training.expert_memory.size() < 2;
}

} // namespace troupe::node
