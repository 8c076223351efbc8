#include "node/keys/permit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "core/hex.hpp"
#include "core/limits.hpp"
#include "node/keys/lines.hpp"

namespace troupe::node {

namespace {

constexpr std::array permit_words{"name", "role", "clients", "numbers",
                                  "expires"};
constexpr std::array invitation_words{"name",    "role",    "clients",
                                      "numbers", "expires", "used"};
constexpr const char* permit_title = "troupe key 1";
constexpr const char* invitation_title = "troupe invitation 1";

template <class T>
std::optional<T> number_in(std::string_view x) {
  T out{};
  const auto* end = x.data() + x.size();
  const auto read = std::from_chars(x.data(), end, out);
  return read.ec == std::errc{} && read.ptr == end ? std::optional{out}
                                                   : std::nullopt;
}

std::vector<std::string> values_of(const permit& x) {
  return {x.name, x.role, x.clients, std::to_string(x.numbers),
          moment_of(x.expires_ms)};
}

result<permit> permit_in(const std::vector<std::string>& values) {
  const auto numbers = number_in<std::uint32_t>(values[3]);
  const auto expires = moment_in(values[4]);
  if (!numbers)
    return fail(errc::storage_failure, "'numbers' is not a number");
  if (!expires)
    return fail(errc::storage_failure,
                "'expires' is neither 'never' nor as 2026-12-01T08:30:00Z");
  permit out{values[0], values[1], values[2], *numbers, *expires};
  if (auto wrong = problem_of(out); !wrong.empty())
    return fail(errc::storage_failure, std::move(wrong));
  return out;
}

} // namespace

std::string problem_of(const permit& x) {
  if (!is_name(x.name))
    return name_rule;
  if (x.role != "client")
    return "'role' is 'client'; there is no other yet";
  auto clients = std::string_view{x.clients};
  if (clients.ends_with('*'))
    clients.remove_suffix(1);
  if (x.clients != "*" && !is_name(clients))
    return "'clients' is a name, the beginning of names with a *, or * alone";
  if (x.numbers > limits::clients_max)
    return "'numbers' is at most " + std::to_string(limits::clients_max);
  return {};
}

std::string write_permit(const permit& x) {
  return write_lines(permit_title, permit_words, values_of(x));
}

result<permit> read_permit(std::string_view text) {
  return read_lines(text, permit_title, permit_words).and_then(permit_in);
}

std::string write_invitation(const invitation& x) {
  auto values = values_of(x.what);
  values.push_back(x.used ? to_hex(*x.used) : "no");
  return write_lines(invitation_title, invitation_words, values);
}

result<invitation> read_invitation(std::string_view text) {
  const auto values = read_lines(text, invitation_title, invitation_words);
  if (!values)
    return tl::make_unexpected(values.error());
  return permit_in(*values).and_then([&](permit x) -> result<invitation> {
    const auto& by = values->back();
    const auto used = from_hex<32>(by);
    if (by != "no" && !used)
      return fail(errc::storage_failure, "'used' is neither 'no' nor a key");
    return invitation{std::move(x), used};
  });
}

std::string moment_of(std::int64_t ms) {
  using namespace std::chrono;
  if (ms == permit::never)
    return "never";
  const auto at =
    floor<std::chrono::seconds>(sys_time<milliseconds>{milliseconds{ms}});
  const auto midnight = floor<days>(at);
  const year_month_day day{midnight};
  const hh_mm_ss time{at - midnight};
  std::array<char, 64> text{};
  std::snprintf(
    text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
    static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
    static_cast<unsigned>(day.day()), static_cast<int>(time.hours().count()),
    static_cast<int>(time.minutes().count()),
    static_cast<int>(time.seconds().count()));
  return text.data();
}

std::optional<std::int64_t> moment_in(std::string_view text) {
  using namespace std::chrono;
  if (text == "never")
    return permit::never;
  // Each part by its place: nothing else is such a text.
  if (text.size() != 20)
    return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t n) {
    return number_in<unsigned>(text.substr(at, n)).value_or(9999);
  };
  const year_month_day day{year{static_cast<int>(part(0, 4))},
                           month{part(5, 2)}, std::chrono::day{part(8, 2)}};
  if (!day.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 59)
    return std::nullopt;
  const auto at = sys_days{day} + hours{part(11, 2)} + minutes{part(14, 2)}
                  + std::chrono::seconds{part(17, 2)};
  const auto ms = duration_cast<milliseconds>(at.time_since_epoch()).count();
  return moment_of(ms) == text ? std::optional<std::int64_t>{ms} : std::nullopt;
}

std::optional<std::int64_t> duration_in(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  const auto count = number_in<std::uint32_t>(text.substr(0, text.size() - 1));
  constexpr std::int64_t second = 1000;
  std::int64_t unit = 0;
  switch (text.back()) {
    case 's':
      unit = second;
      break;
    case 'm':
      unit = 60 * second;
      break;
    case 'h':
      unit = 3600 * second;
      break;
    case 'd':
      unit = 86'400 * second;
      break;
    default:
      return std::nullopt;
  }
  constexpr std::int64_t longest = std::int64_t{100} * 365 * 86'400 * second;
  if (!count || *count == 0 || *count > longest / unit)
    return std::nullopt;
  return *count * unit;
}

} // namespace troupe::node
