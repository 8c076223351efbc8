#include "node/join/farewells.hpp"

#include <utility>

namespace troupe::node {

join_summary ended(join_summary::end how, std::string why, std::string hint) {
  return {.how = how,
          .why = std::move(why),
          .hint = std::move(hint),
          .clients = 0,
          .visits = 0};
}

join_summary interrupted(const join_context& in) {
  return ended(join_summary::end::interrupted, "",
               in.store.empty()
                 ? ""
                 : "the same command goes on with what is in " + in.store);
}

join_summary conclude(const messages::farewell& x) {
  using messages::farewell_reason;
  using end = join_summary::end;
  switch (x.reason) {
    case farewell_reason::finished:
      return ended(end::finished, x.text);
    case farewell_reason::protocol:
    case farewell_reason::layout:
      return ended(end::misfit, x.text);
    default:
      return ended(end::refused, x.text);
  }
}

} // namespace troupe::node
