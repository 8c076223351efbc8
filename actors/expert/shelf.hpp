#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "actors/messages/internal.hpp"
#include "models/layout.hpp"

namespace troupe::actors {

/// The published versions of one line: the newest, and as many before it as
/// visits may still be based on and there is room for. What is older comes from
/// the store.
class shelf {
public:
  struct options {
    line_id line;
    std::size_t versions_max =
      18; ///< staleness_max, the head, and one in flight.
    std::size_t bytes_max = ~std::size_t{0}; ///< Of those before the head.
  };

  shelf(options opts, messages::version_published first);

  /// Puts a version on the shelf. One that is there already is ignored.
  void add(const messages::version_published& x);

  /// What is to be asked of the store before this fetch can be answered.
  std::optional<messages::version_wanted>
  lacks(const messages::serve_requested& x) const;

  /// What a fetch gets: the version it names if it is still here; else the
  /// newest that its cut allows, or the oldest if the cut allows none.
  messages::line_served serve(const messages::serve_requested& x,
                              const models::layout& blocks) const;

  /// Answers with a version that the store had.
  messages::line_served serve(const messages::serve_requested& x,
                              const messages::version_published& chosen,
                              const models::layout& blocks) const;

  version head() const noexcept {
    return versions_.back().head;
  }

  static constexpr auto fields(auto& x) {
    return std::tie(x.versions_);
  }

private:
  /// Null: none is here that the fetch may have.
  const messages::version_published*
  pick(const messages::serve_requested& x) const;

  options options_;
  std::deque<messages::version_published> versions_;
};

} // namespace troupe::actors
