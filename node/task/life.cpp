#include "node/task/life.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/text.hpp"
#include "node/config/config.hpp"
#include "node/config/policies_of.hpp"
#include "node/config/toml.hpp"

namespace troupe::node {

namespace {

using policies::scene;

/// Reads one table of a scenario, and remembers what was wrong first.
class scene_reader {
public:
  scene_reader(const toml::table& from, std::string_view origin,
               std::uint64_t clients)
    : from_(from),
      origin_(origin),
      clients_(clients) {
    // nop
  }

  result<scene> read() {
    constexpr std::array kinds{std::pair{"join", scene::kind::join},
                               std::pair{"leave", scene::kind::leave},
                               std::pair{"drain", scene::kind::drain},
                               std::pair{"fail", scene::kind::fail}};
    for (const auto& [name, node] : from_)
      if (std::ranges::none_of(
            kinds, [&, &name = name](const auto& k) { return name == k.first; })
          && name != "at" && name != "version" && name != "restart_seconds")
        return wrong(node, "unknown key " + in_quotes(name.str())
                             + "; at, version, join, leave, drain, fail and "
                               "restart_seconds would do");
    scene x;
    const toml::node* whom = nullptr;
    for (const auto& [name, kind] : kinds)
      if (const auto* node = from_.get(name)) {
        if (whom != nullptr)
          return wrong(*node, "a scene says one thing; make another [[scene]]");
        whom = node;
        x.what = kind;
      }
    if (whom == nullptr)
      return wrong(from_, "a scene needs one of join, leave, drain and fail");
    return when(x)
      .and_then([&] { return clients(*whom, x); })
      .and_then([&] { return restart(x); })
      .map([&] { return x; });
  }

private:
  using done = result<void>;

  tl::unexpected<error> wrong(const toml::node& at, std::string_view what) {
    return fail(errc::invalid_data, std::string{origin_} + ':'
                                      + std::to_string(at.source().begin.line)
                                      + ": " + std::string{what});
  }

  done when(scene& x) {
    const auto* at = from_.get("at");
    const auto* version_node = from_.get("version");
    if ((at == nullptr) == (version_node == nullptr))
      return wrong(from_,
                   "a scene needs either 'at', in seconds, or 'version'");
    if (at != nullptr) {
      const auto value = at->value<double>();
      if (!value || !(0 <= *value && *value < 1e9))
        return wrong(*at, "'at' must be seconds of the run, from 0 on");
      x.when = from_seconds(*value);
      return {};
    }
    const auto value = version_node->value<std::int64_t>();
    if (!value || *value < 1)
      return wrong(*version_node, "'version' must be a whole number from 1 on");
    x.when = version{static_cast<std::uint64_t>(*value)};
    return {};
  }

  done clients(const toml::node& whom, scene& x) {
    std::int64_t first = 0;
    std::int64_t last = 0;
    if (const auto* list = whom.as_array(); list && list->size() == 2) {
      first = list->get(0)->value_or(std::int64_t{0});
      last = list->get(1)->value_or(std::int64_t{0});
    } else {
      first = last = whom.value_or(std::int64_t{0});
    }
    if (first < 1 || last < first
        || static_cast<std::uint64_t>(last) > clients_)
      return wrong(whom, "a client, or a list of the first and the last one, "
                         "from 1 to "
                           + std::to_string(clients_) + " would do");
    x.first = {static_cast<std::uint64_t>(first)};
    x.last = {static_cast<std::uint64_t>(last)};
    return {};
  }

  done restart(scene& x) {
    const auto* node = from_.get("restart_seconds");
    if (node == nullptr)
      return {};
    const auto value = node->value<double>();
    if (x.what != scene::kind::fail || !value || !(0 <= *value && *value < 1e9))
      return wrong(*node, "'restart_seconds' belongs to 'fail', from 0 on");
    x.restart_seconds = *value;
    return {};
  }

  const toml::table& from_;
  std::string_view origin_;
  std::uint64_t clients_;
};

} // namespace

result<std::vector<double>> parse_speeds(std::string_view text,
                                         std::string_view origin) {
  std::vector<double> speeds;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.empty())
      continue;
    double x = 0;
    const auto [stop, error] =
      std::from_chars(line.data(), line.data() + line.size(), x);
    if (error != std::errc{} || stop != line.data() + line.size()
        || !(0 < x && x < 1e9))
      return fail(errc::invalid_data,
                  std::string{origin} + ':' + std::to_string(number) + ": '"
                    + std::string{line.substr(0, 60)}
                    + "' is no speed; a number above 0 would do");
    speeds.push_back(x);
  }
  if (speeds.empty())
    return fail(errc::invalid_data, std::string{origin}
                                      + ": has no speeds; a number above 0 per "
                                        "line would do");
  return speeds;
}

result<std::vector<scene>> parse_scenario(std::string_view text,
                                          std::string_view origin,
                                          std::uint64_t clients) {
  const auto root = read_toml(text);
  if (!root)
    return fail(errc::invalid_data, std::string{origin} + ':'
                                      + std::to_string(root.error().line) + ": "
                                      + root.error().what);
  std::vector<scene> out;
  for (const auto& [name, node] : *root) {
    const auto* list = node.as_array();
    if (name != "scene" || list == nullptr
        || !list->is_homogeneous(toml::node_type::table))
      return fail(errc::invalid_data,
                  std::string{origin} + ':'
                    + std::to_string(node.source().begin.line) + ": '"
                    + std::string{name.str()}
                    + "' is no scene; tables [[scene]] would do");
    for (const auto& x : *list) {
      auto next = scene_reader{*x.as_table(), origin, clients}.read();
      if (!next)
        return tl::make_unexpected(next.error());
      out.push_back(std::move(*next));
    }
  }
  if (out.empty())
    return fail(errc::invalid_data,
                std::string{origin}
                  + ": has no [[scene]]; without one there is no scenario");
  return out;
}

result<policies::fleet> fleet_of(const experiment& x) {
  policies::fleet out{x.devices.seconds_per_step, speed_of(x.devices.speed)};
  if (x.devices.speed.kind == speed_options::distribution::trace) {
    const auto& path = x.devices.speed.path;
    auto speeds = read_text(path).and_then(
      [&](const std::string& text) { return parse_speeds(text, path); });
    if (!speeds)
      return tl::make_unexpected(speeds.error());
    out.speed = policies::recorded_speed{
      std::make_shared<const std::vector<double>>(std::move(*speeds))};
  }
  return policies::check(out).map([&] { return out; });
}

result<policies::presence::options> life_of(const experiment& x) {
  policies::presence::options out{
    .seed = x.seed, .clients = x.clients.invitable(), .crashes = x.crashes};
  if (x.availability.kind == availability_options::rule::windows)
    out.available = x.availability.windows;
  if (x.availability.kind == availability_options::rule::trace) {
    const auto& path = x.availability.path;
    auto found = read_text(path).and_then([&](const std::string& text) {
      return policies::parse_availability(text, path);
    });
    if (!found)
      return tl::make_unexpected(found.error());
    out.available = std::move(*found);
  }
  if (x.scenario.empty())
    return out;
  auto scenes = read_text(x.scenario).and_then([&](const std::string& text) {
    return parse_scenario(text, x.scenario, out.clients);
  });
  if (!scenes)
    return tl::make_unexpected(scenes.error());
  out.scenario = std::move(*scenes);
  return out;
}

} // namespace troupe::node
