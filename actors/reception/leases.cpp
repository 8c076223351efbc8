#include "actors/reception/leases.hpp"

#include <algorithm>

#include "core/name.hpp"
#include "core/text.hpp"

namespace troupe::actors {

namespace {

/// Where there is no room for another name. Whose name another has is for
/// nobody else to know.
std::string ways_in(const leases::contents& all, const leases::owner& who) {
  constexpr int shown = 8;
  std::string mine;
  int count = 0;
  for (const auto& [name, whose] : all.by_name)
    if (whose.who == who && ++count <= shown)
      mine += (mine.empty() ? "--id " : " or --id ") + name;
  return mine.empty() ? "who has one joins with its --store, and a run that "
                        "begins anew has room for others"
                      : "this store has one: " + mine + " would do";
}

auto cannot_be(client_id x, const std::string& why) {
  return fail(errc::storage_failure,
              "client " + std::to_string(x.value) + ' ' + why);
}

} // namespace

// No number is given back, so that a wait for one would have no end.
std::string leases::too_many(const owner& who) const {
  const auto has = numbers_of(who);
  auto out = "of the run's " + std::to_string(size()) + " clients "
             + (free() > 0 ? std::to_string(free()) : "none")
             + (free() > 1 ? " are free" : " is free");
  if (has > 0)
    out += ", and " + std::to_string(has) + " are yours already";
  if (has + free() > 0)
    return out + "; --virtual " + std::to_string(has + free()) + " would do";
  out += ", and none will be; the --store of who has some would do";
  if (all_.by_name.size() < named_max())
    out += ", or --id NAME --data PATH, with data of your own";
  return out;
}

result<std::vector<client_id>> leases::give(const owner& who,
                                            std::uint32_t count) {
  const auto has = numbers_of(who);
  if (count == 0)
    return fail(errc::invalid_config, "no clients were asked for");
  if (count > has + free())
    return fail(errc::invalid_config, too_many(who));
  auto& mine = all_.by_owner[who];
  for (std::uint64_t k = 1; mine.size() < count; ++k)
    if (taken_.insert({k}).second)
      mine.insert({k});
  std::vector<client_id> out;
  for (const auto client : mine)
    if (out.size() < count)
      out.push_back(client);
  return out;
}

// No name is ever given up, so the next number is the next that nobody had.
result<client_id> leases::give(const owner& who, const std::string& name) {
  if (!is_name(name))
    return fail(errc::invalid_config,
                in_quotes(shortened(name)) + " is no name: " + name_rule);
  if (const auto found = all_.by_name.find(name); found != all_.by_name.end()) {
    if (found->second.who == who)
      return found->second.client;
    return fail(errc::invalid_config,
                "another process has the name '" + name
                  + "'; where it is yours, the store that it began with would "
                    "do, else --id with another name");
  }
  if (all_.by_name.size() >= room_.named_max)
    return fail(errc::invalid_config,
                "this run has room for " + std::to_string(room_.named_max)
                  + " clients with data of their own ('clients' of its "
                    "configuration), and as many have a name, for good; "
                  + ways_in(all_, who));
  const client_id next{room_.named_above + all_.by_name.size() + 1};
  all_.by_name[name] = {who, next};
  return next;
}

std::uint64_t leases::numbers_of(const owner& who) const {
  const auto found = all_.by_owner.find(who);
  return found == all_.by_owner.end() ? 0 : found->second.size();
}

std::uint64_t leases::named_by(const owner& who) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(
    all_.by_name, [&](const auto& x) { return x.second.who == who; }));
}

// No number is given back, so no two have ever had the same.
result<void> leases::restore(const contents& x) {
  std::set<client_id> taken;
  for (const auto& [who, mine] : x.by_owner)
    for (const auto client : mine) {
      if (client.value < 1 || client.value > room_.clients)
        return cannot_be(client, "is none of the run's "
                                   + std::to_string(room_.clients));
      if (!taken.insert(client).second)
        return cannot_be(client, "is given to two processes");
    }
  std::set<client_id> numbers;
  const auto last = room_.named_above + x.by_name.size();
  for (const auto& [name, whose] : x.by_name) {
    if (!is_name(name))
      return fail(errc::storage_failure,
                  in_quotes(shortened(name)) + " is no name");
    if (whose.client.value <= room_.named_above || whose.client.value > last)
      return cannot_be(whose.client, "has a name, and no number of those");
    if (!numbers.insert(whose.client).second)
      return cannot_be(whose.client, "has two names");
  }
  all_ = x;
  taken_ = std::move(taken);
  return {};
}

} // namespace troupe::actors
