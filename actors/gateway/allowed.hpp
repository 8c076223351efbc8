#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actors/messages/offer.hpp"
#include "actors/messages/visit.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// What a recipe lets a visit choose. Legs come one after the other, each when
/// all of the one before was served; of a family of which a visit chooses it
/// has so many instances as the recipe says, whenever it asks for them; a role
/// without a choice has its own instance; and what a visit discloses as its
/// request is what it was served.
///
/// Lines of a family that some leg fetches whole are nobody's choice, and not
/// counted. Served lines are in order.
class allowed_choices {
public:
  allowed_choices(const recipe& method, const models::layout& blocks);

  /// Whether visits of this role offer anything: last ones do not.
  bool is_to_offer(std::uint32_t role) const;

  /// Whether a visit that was served these lines may have those that it wants,
  /// too. @pre they are of the leg, each once
  bool may_fetch(const messages::fetch_requested& x,
                 std::span<const line_id> served) const;

  /// The same of a visit that was served at least these, and nobody knows what
  /// else: it may be at any leg.
  bool may_go_on(const messages::fetch_requested& x,
                 std::span<const line_id> served) const;

  /// Whether a visit that was served at least these, and nobody knows what
  /// else, may offer to the lines that it does, and says so in its request.
  bool may_offer(const messages::offer_made& x, std::span<const line_id> lines,
                 std::span<const line_id> served) const;

  /// Whether what it says of its request is what it was served.
  bool is_of_request(const messages::offer_made& x,
                     std::span<const line_id> served) const;

private:
  /// Instances of a family of which a visit has some.
  struct choice_of {
    std::size_t most = 0;              ///< Different lines.
    std::vector<line_id> lines = {};   ///< By instance.
    std::vector<line_id> counted = {}; ///< Those of no other leg, in order.
  };

  struct leg_rules {
    std::vector<line_id> whole = {}; ///< That all visits fetch.
    std::vector<choice_of> chosen = {};
    bool only_chosen = true;
  };

  struct request_rule {
    std::uint32_t index = 0; ///< Of the disclosure.
    std::vector<line_id> lines = {};
  };

  bool is_bound(std::uint32_t role) const;
  bool is_own(client_id who, const choice_of& of, line_id line) const;
  bool asks_for_none(const messages::fetch_requested& x) const;
  bool has_begun(std::uint32_t leg, std::span<const line_id> served) const;
  bool is_within(const messages::fetch_requested& x, const choice_of& of,
                 std::span<const line_id> served) const;
  std::optional<std::set<line_id>> named_by(const messages::offer_made& x,
                                            const request_rule& rule) const;

  std::vector<role> roles_;
  std::optional<std::uint32_t> last_role_; ///< If there are last visits.
  std::vector<leg_rules> legs_;
  std::vector<request_rule> requests_;
};

} // namespace troupe::actors
