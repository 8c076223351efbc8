#include "actors/client_store/stored_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "actors/messages/session.hpp"
#include "actors/transport/crc32c.hpp"

namespace troupe::actors {

namespace {

using transport::buffer;

/// One of a client's own blocks, or an optimiser's moments of it.
struct stored_values {
  std::string name;
  shared_values values;

  static constexpr auto fields(auto& x) {
    return std::tie(x.name, x.values);
  }
};

struct stored_counter {
  std::string name;
  std::uint64_t value = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.name, x.value);
  }
};

struct stored_state {
  std::vector<stored_values> blocks;
  std::vector<stored_values> moments;
  std::vector<stored_counter> counters;
  std::vector<std::uint64_t> random;
  std::uint64_t visits = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.blocks, x.moments, x.counters, x.random, x.visits);
  }
};

struct stored_open {
  messages::ticket pass;
  std::vector<messages::line_head> fetched;

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.fetched);
  }
};

struct stored_lines {
  std::vector<line_id> lines;

  static constexpr auto fields(auto& x) {
    return std::tie(x.lines);
  }
};

template <class T>
buffer bytes_of(const T& x) {
  buffer out;
  out.reserve(transport::payload_size(x));
  transport::encode_into(out, x);
  return out;
}

// Only to the client's own disk: nothing here is sent.
std::vector<stored_values>
stored(const std::map<std::string, personal_values>& x) {
  std::vector<stored_values> out;
  for (const auto& [name, values] : x) {
    const auto own = values.own_view();
    out.push_back({name, share({own.begin(), own.end()})});
  }
  return out;
}

std::map<std::string, personal_values>
personal(const std::vector<stored_values>& x) {
  std::map<std::string, personal_values> out;
  for (const auto& [name, values] : x)
    out.emplace(name, personal_values{*values});
  return out;
}

constexpr std::size_t seal_bytes = sizeof(std::uint32_t);

std::array<std::byte, seal_bytes> sum_of(std::span<const std::byte> bytes) {
  std::array<std::byte, seal_bytes> out{};
  for (std::uint32_t sum = transport::crc32c(bytes); auto& x : out) {
    x = static_cast<std::byte>(sum & 0xff);
    sum >>= 8;
  }
  return out;
}

} // namespace

buffer encode_state(const models::client_state& x) {
  stored_state out{.blocks = stored(x.blocks),
                   .moments = stored(x.moments),
                   .counters = {},
                   .random = {x.random.begin(), x.random.end()},
                   .visits = x.visits};
  for (const auto& [name, value] : x.counters)
    out.counters.push_back({name, value});
  return bytes_of(out);
}

result<state_ptr> decode_state(std::span<const std::byte> in) {
  auto found = transport::decode_record<stored_state>(in);
  if (!found)
    return tl::make_unexpected(found.error());
  models::client_state out{.blocks = personal(found->blocks),
                           .moments = personal(found->moments),
                           .counters = {},
                           .random = {},
                           .visits = found->visits};
  if (found->random.size() != out.random.size())
    return fail(errc::storage_failure, "a stored record is damaged");
  std::ranges::copy(found->random, out.random.begin());
  for (const auto& [name, value] : found->counters)
    out.counters[name] = value;
  return std::make_shared<const models::client_state>(std::move(out));
}

buffer encode_open(const begun_visit& x) {
  stored_open out{.pass = x.pass, .fetched = {}};
  for (const auto& [line, base] : x.fetched)
    out.fetched.push_back({line, base});
  return bytes_of(out);
}

result<begun_visit> decode_open(std::span<const std::byte> in) {
  auto found = transport::decode_record<stored_open>(in);
  if (!found)
    return tl::make_unexpected(found.error());
  begun_visit out{.pass = found->pass, .fetched = {}};
  for (const auto& x : found->fetched)
    out.fetched[x.line] = x.head;
  return out;
}

buffer encode_unanswered(const std::set<line_id>& x) {
  return bytes_of(stored_lines{{x.begin(), x.end()}});
}

result<std::set<line_id>> decode_unanswered(std::span<const std::byte> in) {
  return transport::decode_record<stored_lines>(in).map([](const auto& x) {
    return std::set<line_id>{x.lines.begin(), x.lines.end()};
  });
}

void seal(transport::buffer& bytes) {
  const auto sum = sum_of(bytes);
  bytes.insert(bytes.end(), sum.begin(), sum.end());
}

std::optional<transport::buffer> unsealed(transport::buffer bytes) {
  if (bytes.size() < seal_bytes)
    return std::nullopt;
  const std::span all{bytes};
  const auto body = all.first(bytes.size() - seal_bytes);
  if (!std::ranges::equal(sum_of(body), all.last(seal_bytes)))
    return std::nullopt;
  bytes.resize(body.size());
  return bytes;
}

} // namespace troupe::actors
