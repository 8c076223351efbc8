#include "node/join/farewells.hpp"

#include <chrono>
#include <utility>

#include <netdb.h>
#include <sys/socket.h>

#include "actors/messages/wire.hpp"
#include "core/text.hpp"

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

// As it is dialled: without brackets by the addresses of IPv4 alone.
std::string unknown_host(const std::string& address) {
  const auto begin = address.find("//") + 2;
  auto host = address.substr(begin, address.rfind(':') - begin);
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    wanted.ai_family = AF_UNSPEC;
  }
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (failed != 0)
    return in_quotes(host) + " does not resolve: " + gai_strerror(failed);
  freeaddrinfo(found);
  return {};
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

// What was wrong here is no server's affair.
join_summary parted(const std::shared_ptr<transport::socket_endpoint>& from,
                    join_summary how) {
  using messages::parting;
  constexpr std::chrono::seconds drain_max{2};
  if (!from)
    return how;
  const bool over = how.how == join_summary::end::finished;
  from->send({},
             messages::process_parted{over ? parting::over : parting::for_now,
                                      over ? how.why : std::string{}});
  from->drain(drain_max);
  return how;
}

} // namespace troupe::node
