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

namespace {

/// 0: there is an address of this kind; else why there is none.
int look_up(const std::string& host, int kind) {
  addrinfo wanted{};
  wanted.ai_family = kind;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (failed == 0)
    freeaddrinfo(found);
  return failed;
}

} // namespace

// As it is dialled: a name by the addresses of IPv4 alone.
std::string unknown_host(const std::string& address) {
  const auto begin = address.find("//") + 2;
  auto host = address.substr(begin, address.rfind(':') - begin);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets)
    host = host.substr(1, host.size() - 2);
  const int failed = look_up(host, in_brackets ? AF_UNSPEC : AF_INET);
  if (failed == 0)
    return {};
  if (!in_brackets && look_up(host, AF_INET6) == 0)
    return in_quotes(host)
           + " has addresses of IPv6 alone, and a name is dialled by IPv4: "
             "tcp://[ADDRESS]:PORT would do";
  return in_quotes(host) + " does not resolve: " + gai_strerror(failed);
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
