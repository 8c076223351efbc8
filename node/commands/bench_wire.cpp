#include "node/commands/bench_wire.hpp"

#include "node/commands/bench_bare.hpp"
#include "node/commands/served_scene.hpp"

namespace troupe::node {

namespace {

constexpr double offer_bytes = offer_values * sizeof(float);

/// CPU of both processes.
result<double> uploaded(const uploading& x, const scene_options& how) {
  const auto scene = make_scene(upload_text(x), how);
  if (!scene)
    return tl::make_unexpected(scene.error());
  return run_scene(**scene, static_cast<std::uint32_t>(x.clients));
}

/// CPU of both processes for offers of 40 MB, fetches of a quarter as many
/// bytes included, until they are published: of what comes after the first
/// version, for which all memory is fresh.
result<double> upload_seconds_per_byte(bool keys) {
  const scene_options how{
    .values = offer_values, .on_disk = true, .keys = keys};
  const uploading little{.versions = 1};
  const uploading much{.versions = 7};
  const auto bytes =
    offer_bytes * (much.versions - little.versions) * much.offers_a_version;
  const auto first = uploaded(little, how);
  if (!first)
    return tl::make_unexpected(first.error());
  return uploaded(much, how).map(
    [&](double used) { return (used - *first) / bytes; });
}

result<sample> upload(bool keys) {
  constexpr double gigabyte = 1e9;
  const auto ours = upload_seconds_per_byte(keys);
  if (!ours)
    return tl::make_unexpected(ours.error());
  return bare_seconds_per_byte(drawn_keys(keys)).map([&](double x) {
    return sample{*ours * gigabyte, x * gigabyte};
  });
}

} // namespace

std::string upload_text(const uploading& x) {
  return R"(
clock = "wall"
evaluate_every = 0
events = false
updates = )"
         + std::to_string(x.versions * x.offers_a_version) + R"(
[clients]
clients = )"
         + std::to_string(x.clients) + R"(
[pace]
mode = "fedbuff"
buffer_size = )"
         + std::to_string(x.offers_a_version) + R"(
concurrency = )"
         + std::to_string(x.clients) + R"(
memory = 16384
[data]
kind = "quadratic"
[model]
kind = "quadratic"
)";
}

std::vector<figure> wire_figures() {
  const std::string pass = "a pass by ZeroMQ alone";
  return {{.name = "upload_plain",
           .unit = "ms/GB",
           .compared_with = pass,
           .bar = 3.5,
           .repetitions = 3,
           .once = [] { return upload(false); }},
          {.name = "upload_keys",
           .unit = "ms/GB",
           .compared_with = pass,
           .bar = 2,
           .repetitions = 3,
           .once = [] { return upload(true); }}};
}

} // namespace troupe::node
