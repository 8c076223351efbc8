#include "models/known_scores.hpp"

#include <algorithm>

namespace troupe::models {

namespace {

/// Of one owner, also where one of them lives no more.
template <class T>
bool have_one_owner(const std::weak_ptr<T>& known,
                    const std::shared_ptr<T>& x) noexcept {
  return !known.owner_before(x) && !x.owner_before(known);
}

} // namespace

void known_scores::add_to(evaluation_input& x) const {
  x.known = has_versions_of(x) ? found_ : nullptr;
  x.clients_are_known = x.known && has_clients_of(x);
}

void known_scores::keep(const evaluation_input& x, const evaluated& found) {
  has_aside_ = x.aside || (x.clients_are_known && has_aside_);
  found_ = std::make_shared<const evaluated>(found);
  per_client_ = x.per_client;
  held_out_ = x.held_out;
  versions_.clear();
  for (const auto& y : x.versions)
    versions_.push_back({.block = y.block,
                         .base = y.base,
                         .owner = y.values.owner(),
                         .first = y.values->data(),
                         .size = y.values->size()});
  states_.clear();
  for (const auto& [client, state] : x.states)
    states_.emplace(client, state);
}

bool known_scores::has_versions_of(const evaluation_input& x) const {
  return found_
         && std::ranges::equal(
           versions_, x.versions,
           [](const known_block& known, const fetched_block& y) {
             return known.block == y.block && known.base == y.base
                    && have_one_owner(known.owner, y.values.owner())
                    && known.first == y.values->data()
                    && known.size == y.values->size();
           });
}

bool known_scores::has_clients_of(const evaluation_input& x) const {
  return per_client_ == x.per_client && held_out_ == x.held_out
         && std::ranges::equal(
           states_, x.states, [](const auto& known, const auto& y) {
             return known.first == y.first
                    && have_one_owner(known.second, y.second);
           });
}

} // namespace troupe::models
