#include "actors/reception/leases.hpp"

namespace troupe::actors {

result<std::vector<client_id>> leases::give(const owner& who,
                                            std::uint32_t count) {
  const auto known = by_owner_.find(who);
  const std::uint64_t has = known == by_owner_.end() ? 0 : known->second.size();
  if (count == 0)
    return fail(errc::invalid_config, "no clients were asked for");
  if (count > has + free())
    return fail(errc::invalid_config,
                "of the run's " + std::to_string(clients_) + " clients "
                  + std::to_string(free()) + " are free"
                  + (has > 0
                       ? ", and " + std::to_string(has) + " are yours already"
                       : ""));
  auto& mine = by_owner_[who];
  for (std::uint64_t k = 1; mine.size() < count; ++k)
    if (taken_.insert({k}).second)
      mine.insert({k});
  std::vector<client_id> out;
  for (const auto client : mine)
    if (out.size() < count)
      out.push_back(client);
  return out;
}

bool leases::restore(const std::map<owner, std::set<client_id>>& x) {
  std::set<client_id> taken;
  for (const auto& [who, mine] : x)
    for (const auto client : mine)
      if (client.value < 1 || client.value > clients_
          || !taken.insert(client).second)
        return false;
  by_owner_ = x;
  taken_ = std::move(taken);
  return true;
}

} // namespace troupe::actors
