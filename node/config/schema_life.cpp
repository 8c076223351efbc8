// Where virtual clients live.

#include "node/config/schema.hpp"

namespace troupe::node {

namespace {

constexpr number_range a_speed{
  .max = 1e9, .above_min = true, .below_max = true};

void visit_devices(schema_visitor& v, device_options& x) {
  using enum speed_options::distribution;
  v.begin({"devices", "what virtual clients run on"});
  v.number({"seconds_per_step", "of a device of speed 1"}, x.seconds_per_step,
           a_speed);
  v.number({"drop_out", "share of visits whose work is never offered"},
           x.drop_out, a_share);
  v.begin({"speed", "how devices differ"});
  v.choice({"kind"}, x.speed.kind,
           {"constant", "uniform", "half_normal", "lognormal", "trace"});
  const bool range = x.speed.kind == uniform;
  v.number({"slowest", "no device is slower", range, "kind = \"uniform\""},
           x.speed.slowest, a_speed);
  v.number({"fastest", "no device is faster", range, "kind = \"uniform\""},
           x.speed.fastest, a_speed);
  v.number({"sigma", "how far they spread",
            x.speed.kind == half_normal || x.speed.kind == lognormal,
            "kind = \"half_normal\" or \"lognormal\""},
           x.speed.sigma, {.max = 10});
  v.text({"path", "a file with a speed per line", x.speed.kind == trace,
          "kind = \"trace\""},
         x.speed.path);
  v.end();
  v.end();
}

void visit_network(schema_visitor& v, policies::links& x) {
  v.begin({"network", "between virtual clients and the server"});
  v.number({"delay", "seconds, each way"}, x.delay, {.max = 1e6});
  v.number({"download", "bytes per second; 0: no limit"}, x.download, {});
  v.number({"upload", "bytes per second; 0: no limit"}, x.upload, {});
  v.number({"spread", "links are exp(spread z) times as wide"}, x.spread,
           {.max = 10});
  v.end();
}

void visit_availability(schema_visitor& v, availability_options& x) {
  using enum availability_options::rule;
  v.begin({"availability", "when virtual clients are there"});
  v.choice({"kind"}, x.kind, {"always", "windows", "trace"});
  v.number({"period", "seconds, of which each client is there a part",
            x.kind == windows, "kind = \"windows\""},
           x.windows.period, {.min = 1, .max = 1e9});
  v.number({"share", "of each period", x.kind == windows, "kind = \"windows\""},
           x.windows.share, {.max = 1, .above_min = true});
  v.text({"path", "CSV with the columns client, from and to", x.kind == trace,
          "kind = \"trace\""},
         x.path);
  v.end();
}

void visit_crashes(schema_visitor& v, policies::crash_options& x) {
  v.begin({"crashes", "of virtual clients"});
  v.number({"per_hour", "of each client, while it runs"}, x.per_hour,
           {.max = 1e6});
  v.number({"restart_seconds", "until it is there again", x.per_hour > 0,
            "'per_hour' above 0"},
           x.restart_seconds, {.max = 1e9});
  v.end();
}

} // namespace

void visit_life(schema_visitor& v, experiment& x) {
  visit_devices(v, x.devices);
  visit_network(v, x.network);
  visit_availability(v, x.availability);
  visit_crashes(v, x.crashes);
  v.begin({"attack", "for tests: the first clients send false deltas"});
  v.count({"clients"}, x.attack.clients, {});
  v.number({"scale", "their deltas are multiplied by this",
            x.attack.clients > 0, "'clients' above 0"},
           x.attack.scale, any_real);
  v.end();
}

} // namespace troupe::node
