#include "node/run/keeper.hpp"

#include <utility>

#include "actors/record/kept_offers.hpp"

namespace troupe::node {

offer_keeper keeper_in(const experiment& x, const std::filesystem::path& folder,
                       std::shared_ptr<chronicle> watching) {
  if (!x.keep_offers)
    return {};
  return [book = actors::kept_offers{folder / "offers"},
          to = std::move(watching)](const messages::offer_made& offer,
                                    std::uint64_t examples) {
    if (const auto ok = book.keep({offer, examples}); !ok)
      to->fail("an offer cannot be kept: " + ok.error().context);
  };
}

} // namespace troupe::node
