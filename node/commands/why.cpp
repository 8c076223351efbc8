#include "node/commands/why.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <ostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "node/commands/command_line.hpp"
#include "node/watch/moment_text.hpp"
#include "node/watch/status_file.hpp"
#include "node/watch/waiting.hpp"

namespace troupe::node {

namespace {

using json = nlohmann::ordered_json;

/// It is written twice a second.
constexpr std::int64_t age_ms_max = 5000;

result<json> status_in(const std::string& folder) {
  const auto path = folder + "/status.json";
  // Once more, should it have been read while it was written.
  for (int i = 0; i < 2; ++i) {
    std::ifstream file{path};
    if (!file)
      return fail(errc::invalid_data,
                  path + " is not there: is this the folder of a run?");
    std::ostringstream text;
    text << file.rdbuf();
    auto found = json::parse(text.str(), nullptr, false);
    if (found.is_object() && found.contains("written_ms"))
      return found;
  }
  return fail(errc::invalid_data, path + " holds no status of a run");
}

bool is_gone(const json& x) {
  return x.value("host", "") == host_name()
         && kill(x.value("process", 0), 0) != 0 && errno == ESRCH;
}

/// What the file cannot know, because nobody writes it any more.
void correct(json& x, const std::string& folder) {
  if (x.value("over", false))
    return;
  const auto written = x.value("written_ms", std::int64_t{0});
  const auto age = unix_milliseconds() - written;
  const auto process = std::to_string(x.value("process", 0));
  if (is_gone(x)) {
    x["code"] = "gone";
    x["what"] = "nothing any more: process " + process
                + " is gone without an end of the run; before that, "
                + x.value("what", "");
    x["ends"] = "troupe run --resume " + folder
                + " goes on with it, where there is a snapshot";
    x["since"] = moment_text(written);
  } else if (age > age_ms_max) {
    x["code"] = "silent";
    x["what"] = "process " + process
                + " has not said anything for a while; before that, "
                + x.value("what", "");
    x["ends"] = "it is stopped, or the machine is overloaded: look at that "
                "process";
    x["since"] = moment_text(written);
  } else {
    return;
  }
  x["seconds"] = static_cast<double>(age) / 1000;
}

} // namespace

exit_code why_command(arguments args, streams io) {
  command_line line{{"why",
                     "Says what a run waits for, since when, and what ends "
                     "the wait.",
                     "why runs/20261121-113226-quickstart"}};
  std::string folder;
  line.add("RUN", &folder, "a run's folder", {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  auto found = status_in(folder);
  if (!found)
    return report(found.error(), line.json(), io);
  correct(*found, folder);
  if (line.json()) {
    json object{{"success", true}};
    object.update(*found);
    io.out << object.dump(2) << '\n';
    return exit_code::ok;
  }
  io.out << waiting_text({.what = found->value("what", ""),
                          .ends = found->value("ends", ""),
                          .since = found->value("since", ""),
                          .seconds = found->value("seconds", 0.0),
                          .over = found->value("over", false)});
  return exit_code::ok;
}

} // namespace troupe::node
