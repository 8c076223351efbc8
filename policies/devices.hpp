#pragma once

// How fast virtual devices are. A client's device is drawn once from (seed,
// client), so it is the same device in each visit, in each pace and after a
// restart.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.hpp"
#include "core/random.hpp"
#include "core/result.hpp"

namespace troupe::policies {

// Each distribution draws a *speed*: a step takes `seconds_per_step / speed`.

/// Everybody has speed 1.
struct constant_speed {
  double operator()(random_stream&) const noexcept {
    return 1;
  }
};

/// Speeds are uniform in [slowest, fastest]: 0.1 and 1 differ tenfold.
struct uniform_speed {
  double slowest = 0.1;
  double fastest = 1;

  double operator()(random_stream& random) const noexcept {
    return slowest + (fastest - slowest) * random.uniform();
  }
};

/// A step takes 1 + sigma |z| times as long, z standard normal: most devices
/// are fast and some are slow, as in FedBuff's simulations.
struct half_normal_speed {
  double sigma = 1;

  double operator()(random_stream& random) const noexcept {
    return 1 / (1 + sigma * std::abs(random.normal()));
  }
};

/// Speeds are exp(sigma z), z standard normal: half of the devices are faster
/// than 1.
struct lognormal_speed {
  double sigma = 1;

  double operator()(random_stream& random) const noexcept {
    return std::exp(sigma * random.normal());
  }
};

/// One of the speeds that somebody measured, each as often as it is listed.
struct recorded_speed {
  std::shared_ptr<const std::vector<double>> speeds; ///< At least one.

  double operator()(random_stream& random) const noexcept {
    return (*speeds)[random.below(speeds->size())];
  }
};

/// The closed set that a configuration can name.
using speed_distribution =
  std::variant<constant_speed, uniform_speed, half_normal_speed,
               lognormal_speed, recorded_speed>;

/// The devices of a simulation.
struct fleet {
  double seconds_per_step = 0.01; ///< Of a device of speed 1.
  speed_distribution speed = constant_speed{};
};

/// How long frames travel. A client's link is drawn once, like its device.
struct links {
  double delay = 0;    ///< Seconds, each way.
  double download = 0; ///< Bytes per second; 0: no limit.
  double upload = 0;
  double spread = 0; ///< Links are exp(spread z) times as wide.
};

/// What a visit spends on the way, with so many bytes down and up.
inline double seconds_on_the_way(const links& x, std::uint64_t seed,
                                 client_id client, std::uint64_t down,
                                 std::uint64_t up) {
  random_stream random{derive_seed(seed, "link", client.value)};
  const auto width = std::exp(x.spread * random.normal());
  const auto takes = [&](std::uint64_t bytes, double rate) {
    return rate > 0 ? static_cast<double>(bytes) / (rate * width) : 0;
  };
  return 2 * x.delay + takes(down, x.download) + takes(up, x.upload);
}

/// Returns `invalid_config` if some client's steps could take no time, or for
/// ever.
[[nodiscard]] inline result<void> check(const fleet& x) {
  const auto usable = [](double v) { return v > 0 && v < 1e9; };
  if (!usable(x.seconds_per_step))
    return fail(errc::invalid_config, "seconds per step are "
                                        + std::to_string(x.seconds_per_step)
                                        + "; a number above 0 would do");
  if (const auto* u = std::get_if<uniform_speed>(&x.speed);
      u
      && !(usable(u->slowest) && usable(u->fastest)
           && u->slowest <= u->fastest))
    return fail(errc::invalid_config,
                "device speeds from " + std::to_string(u->slowest) + " to "
                  + std::to_string(u->fastest)
                  + " are no range; 0 < slowest <= fastest would do");
  if (const auto* r = std::get_if<recorded_speed>(&x.speed);
      r
      && !(r->speeds && !r->speeds->empty()
           && std::ranges::all_of(*r->speeds, usable)))
    return fail(errc::invalid_config,
                "recorded device speeds must be numbers above 0, at least one");
  const auto* h = std::get_if<half_normal_speed>(&x.speed);
  const auto* l = std::get_if<lognormal_speed>(&x.speed);
  if (const auto sigma = h   ? h->sigma
                         : l ? l->sigma
                             : 0;
      !(sigma >= 0 && sigma <= 10))
    return fail(errc::invalid_config, "sigma of device speeds is "
                                        + std::to_string(sigma)
                                        + "; from 0 to 10 would do");
  return {};
}

/// The speed of a client's device, relative to the one that `seconds_per_step`
/// is of.
inline double speed_of(const fleet& x, std::uint64_t seed, client_id client) {
  random_stream random{derive_seed(seed, "device", client.value)};
  return std::visit([&](const auto& draw) { return draw(random); }, x.speed);
}

/// @pre `check(x)` succeeded
inline double seconds_per_step(const fleet& x, std::uint64_t seed,
                               client_id client) {
  return x.seconds_per_step / speed_of(x, seed, client);
}

} // namespace troupe::policies
