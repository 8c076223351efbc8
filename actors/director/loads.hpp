#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/load.hpp"
#include "actors/metrics/status.hpp"
#include "core/recipe.hpp"
#include "models/layout.hpp"
#include "models/methods/router.hpp"
#include "policies/request_watch.hpp"

namespace troupe::actors {

/// What use the experts are to visits, for who watches. A visit that discloses
/// a mixture of as many parts as a family has instances uses each by its part;
/// of any other it uses those that it offers to, whole. Whom it asked for is
/// counted as well, where the recipe has it say so.
class loads {
public:
  /// Of the last so many visits for each expert of a family, one that was of
  /// use to none is not active.
  static constexpr std::uint64_t visits_per_expert = 10;

  /// @param groups of clients, one after the other; 0: nobody knows them
  /// @param before what visits asked for before it was made; none: nobody did
  loads(const recipe& method, const models::layout& blocks,
        std::size_t groups = 0,
        std::optional<policies::request_watch> before = {});

  void add(const messages::visit_loaded& x);

  /// Of all experts and mixtures that there are, from the start.
  load_status status() const;

private:
  struct expert {
    line_id line;
    block_id block;
    expert_load load = {};
    std::uint64_t last = 0; ///< Of its family's visits, the last to use it.
  };

  struct family {
    std::string name;
    std::vector<expert> experts = {};
    std::uint64_t visits = 0;
  };

  /// Something that a visit says adds up to one.
  struct mixture {
    std::string name;
    entropy_sum sum = {};
  };

  /// What visits ask for, where they disclose it.
  struct wishes {
    std::size_t index;          ///< Of the disclosure.
    std::vector<line_id> lines; ///< By instance, like the next one.
    std::vector<std::string> names;
    policies::request_watch watch;
  };

  static std::optional<wishes> wishes_of(const recipe& method,
                                         const models::layout& blocks);
  void hear(const messages::visit_loaded& x);
  request_status requests() const;

  bool is_mixture(const messages::disclosed_values& x) const;
  std::vector<double> shares(const family& of,
                             const messages::visit_loaded& x) const;
  void use(family& of, const messages::visit_loaded& x) const;
  void remember(const messages::visit_loaded& x);

  std::size_t groups_;
  std::vector<family> families_;
  std::vector<std::optional<mixture>> mixtures_; ///< By number.
  /// As clients said last how they mix the first family.
  models::shares_by_client said_;
  std::optional<wishes> wishes_;
};

/// From 0, all in one part, to 1, all parts alike.
double relative_entropy(const std::vector<double>& parts);

} // namespace troupe::actors
