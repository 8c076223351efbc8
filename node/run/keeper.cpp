#include "node/run/keeper.hpp"

#include <memory>
#include <string>
#include <utility>

#include "actors/record/kept_offers.hpp"
#include "node/run/rules.hpp"

namespace troupe::node {

namespace {

error about(const error& x) {
  return {x.code, "an offer cannot be kept: " + x.context};
}

} // namespace

// What outlives a loss of power stands on offers that do: they are synced where
// the ledger is.
offer_keeper keeper_in(const experiment& x,
                       const std::filesystem::path& folder) {
  if (!x.keep_offers)
    return {};
  return
    [book = actors::kept_offers{folder / "offers", {.sync = !is_virtual(x)}}](
      const messages::offer_made& offer, std::uint64_t examples) {
      return book.keep({offer, examples});
    };
}

patient_keeper waits_for_room(offer_keeper keeps,
                              patient_store::patience goes_on) {
  if (!keeps)
    return {};
  return [keeps = std::move(keeps), goes_on = std::move(goes_on)](
           const messages::offer_made& offer, std::uint64_t examples) {
    auto done = keeps(offer, examples);
    while (!done && goes_on(about(done.error())))
      done = keeps(offer, examples);
    return done.has_value();
  };
}

patient_keeper leaves_it_to_clients(offer_keeper keeps,
                                    std::function<void(const error*)> told) {
  if (!keeps)
    return {};
  // A node that begins again has a copy of this.
  return [keeps = std::move(keeps), told = std::move(told),
          refused = std::make_shared<bool>(false)](
           const messages::offer_made& offer, std::uint64_t examples) {
    const auto done = keeps(offer, examples);
    const bool was_refused = std::exchange(*refused, !done);
    if (!done) {
      const auto why = about(done.error());
      told(&why);
    } else if (was_refused) {
      told(nullptr);
    }
    return done.has_value();
  };
}

} // namespace troupe::node
