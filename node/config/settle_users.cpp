// Of texts of users each is a client: how many clients there are where nobody
// says it, and whom it leaves out where somebody does.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/language/documents.hpp"
#include "node/config/reader.hpp"

namespace troupe::node {

namespace {

/// None: nobody knows here, or whoever reads the texts says what is wrong.
std::vector<std::string> users_in(const data_options& d, bool look) {
  if (!d.users.empty() || d.brought || !look)
    return d.users;
  auto found = models::names_of_users(d.path);
  return found ? std::move(*found) : std::vector<std::string>{};
}

std::string about_left_out(const std::vector<std::string>& users,
                           std::size_t clients) {
  const auto name = [&](std::size_t k) {
    return in_quotes(shortened(users[k]));
  };
  return std::to_string(clients) + " of " + std::to_string(users.size())
         + " users " + (clients == 1 ? "is a client, " : "are clients, ")
         + name(0) + (clients > 1 ? " to " + name(clients - 1) : "")
         + ", and the others, from " + name(clients) + " on, are left out";
}

} // namespace

void settle_users(loaded_config& loaded, const entries& said, bool look) {
  auto& x = loaded.x;
  if (!x.data.is_language())
    return;
  auto& clients = x.clients.clients;
  const auto at = said.find("clients.clients");
  const bool is_said = at != said.end();
  if (x.data.pooled) {
    if (!is_said)
      clients = 1;
    return;
  }
  if (x.partition.kind != partition_options::rule::natural)
    return;
  const auto users = users_in(x.data, look);
  if (!is_said && !users.empty())
    clients =
      static_cast<std::uint32_t>(std::min(users.size(), limits::clients_max));
  if (clients > 0 && clients < users.size())
    loaded.notes.push_back(
      (is_said ? at->second.where + ": '" + at->second.typed + "': "
               : std::string{})
      + about_left_out(users, clients));
}

} // namespace troupe::node
