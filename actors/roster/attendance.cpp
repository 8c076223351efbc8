#include "actors/roster/attendance.hpp"

#include "core/limits.hpp"

namespace troupe::actors {

using messages::farewell_reason;

namespace {

/// From one hello of a client to the next: else one lie would keep it out for
/// ever.
constexpr std::uint64_t incarnations_max = std::uint64_t{1} << 32;

} // namespace

std::optional<farewell_reason> attendance::refusal(const messages::hello& x,
                                                   std::string& text) const {
  const auto ours = options_.protocol;
  if (ours < x.protocol_min || x.protocol_max < ours) {
    text = "this server speaks protocol " + std::to_string(ours)
           + ", the client " + std::to_string(x.protocol_min) + " to "
           + std::to_string(x.protocol_max);
    return farewell_reason::protocol;
  }
  constexpr messages::run_id not_said{};
  if (x.run != options_.run && x.run != not_said && options_.run != not_said) {
    text = "the client comes for another run";
    return farewell_reason::refused;
  }
  if (x.layout != options_.layout) {
    text = "the client's model has another layout than the server's";
    return farewell_reason::layout;
  }
  if (x.client.value == 0 || x.client.value > limits::clients_max) {
    text = "client ids are 1 to " + std::to_string(limits::clients_max);
    return farewell_reason::refused;
  }
  if (options_.examples_max > 0 && x.examples > options_.examples_max) {
    text = std::to_string(x.examples) + " examples are above 'samples_max' = "
           + std::to_string(options_.examples_max);
    return farewell_reason::refused;
  }
  const auto has = options_.examples_of ? options_.examples_of(x.client) : 0;
  if (has > 0 && x.examples > has) {
    text = std::to_string(x.examples) + " examples are more than the "
           + std::to_string(has) + " that this client has of the run's data";
    return farewell_reason::refused;
  }
  const auto known = clients_.find(x.client);
  const auto before = known == clients_.end() ? 0 : known->second.incarnation;
  if (x.incarnation > before && x.incarnation - before > incarnations_max) {
    text = "an incarnation grows by at most " + std::to_string(incarnations_max)
           + " from one hello to the next";
    return farewell_reason::refused;
  }
  if (known != clients_.end() && x.incarnation < known->second.incarnation) {
    text = "a newer incarnation of this client was here";
    return farewell_reason::superseded;
  }
  return std::nullopt;
}

messages::hello_judged attendance::judge(const messages::hello_heard& x,
                                         instant now) {
  messages::hello_judged answer{.peer = x.peer,
                                .what = x.what,
                                .session = {},
                                .refusal = {},
                                .text = {},
                                .newest = 0};
  answer.refusal = refusal(x.what, answer.text);
  // Only the place of one that is gone can be taken.
  if (answer.refusal == farewell_reason::superseded)
    if (const auto& before = clients_.at(x.what.client); !before.present)
      answer.newest = before.incarnation;
  if (!answer.refusal) {
    answer.session = {++sessions_};
    clients_[x.what.client] = {x.what.incarnation, true, now};
  }
  return answer;
}

void attendance::beat(client_id x, instant now) {
  if (const auto found = clients_.find(x); found != clients_.end())
    found->second.last = now;
}

void attendance::leave(client_id x) {
  if (const auto found = clients_.find(x); found != clients_.end())
    found->second.present = false;
}

std::vector<client_id> attendance::lost(instant now) {
  std::vector<client_id> result;
  if (options_.silence_max == instant{})
    return result;
  for (auto& [client, entry] : clients_)
    if (entry.present && now - entry.last > options_.silence_max) {
      entry.present = false;
      result.push_back(client);
    }
  return result;
}

} // namespace troupe::actors
