#include "node/commands/watching_options.hpp"

#include <ostream>
#include <utility>

namespace troupe::node {

void watching_options::add_to(command_line& line) {
  line.add("--http", &address,
           "HOST:PORT where /metrics, /healthz, /readyz and /why "
           "answer while it runs, such as 127.0.0.1:9464");
  line.add("--http-hosts", &hosts,
           "NAME,… by which readers may ask there as well, such as that of "
           "this machine or of a proxy",
           {.delimiter = ','});
}

std::optional<exit_code> watching_options::refused(bool json,
                                                   streams io) const {
  if (!address.empty() || hosts.empty())
    return std::nullopt;
  return report({.code = "usage",
                 .what = "--http-hosts needs --http",
                 .hint = "--http 127.0.0.1:9464 would do"},
                exit_code::usage, json, io);
}

result<std::unique_ptr<http::server>>
watching_options::open(std::map<std::string, http::page> pages,
                       const std::shared_ptr<http::tally>& readers,
                       streams io) const {
  if (address.empty())
    return std::unique_ptr<http::server>{};
  auto opened = http::server::open(address, std::move(pages),
                                   {.names = hosts, .counted = readers});
  if (opened)
    io.err << "metrics at http://" << (*opened)->address() << "/metrics\n"
           << std::flush;
  return opened;
}

} // namespace troupe::node
