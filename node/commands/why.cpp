#include "node/commands/why.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <limits>
#include <ostream>
#include <system_error>

#include "core/clock.hpp"
#include "core/json.hpp"
#include "core/result.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "node/commands/command_line.hpp"
#include "node/config/no_run.hpp"
#include "node/watch/moment_text.hpp"
#include "node/watch/status_file.hpp"
#include "node/watch/waiting.hpp"

namespace troupe::node {

namespace {

/// It is written twice a second.
constexpr std::int64_t age_ms_max = 5000;

constexpr double written_ms_max = 1e14; ///< The year 5138.

result<json> status_in(const std::string& folder) {
  const auto path = folder + "/status.json";
  // Once more, should it have been read while it was written.
  for (int i = 0; i < 2; ++i) {
    const auto text = models::read_text(path, errc::invalid_data);
    std::error_code failed;
    if (!text && !std::filesystem::exists(path, failed) && !failed) {
      const auto other = other_than_run(folder);
      return fail(errc::invalid_data,
                  other.empty()
                    ? path
                        + ": there is no such file; is this the folder of a "
                          "run, or of a process that joined one?"
                    : other);
    }
    if (!text)
      return fail(errc::invalid_data, text.error().context);
    auto found = json::parse(*text);
    if (found && found->find("written_ms"))
      return found;
  }
  return fail(errc::invalid_data, path + " holds no status of a run");
}

std::string text_in(const json& x, const char* key) {
  const auto* found = x.find(key);
  const auto* text = found ? found->text() : nullptr;
  return text ? *text : std::string{};
}

double number_in(const json& x, const char* key) {
  const auto* found = x.find(key);
  return found ? found->number().value_or(0) : 0;
}

bool flag_in(const json& x, const char* key) {
  const auto* found = x.find(key);
  return found && found->flag().value_or(false);
}

/// The nearest whole number: a cast of more than fits means nothing.
std::int64_t whole_in(const json& x, const char* key, double most) {
  return static_cast<std::int64_t>(std::clamp(number_in(x, key), -most, most));
}

int process_in(const json& x) {
  constexpr double most = std::numeric_limits<int>::max();
  return static_cast<int>(whole_in(x, "process", most));
}

bool is_gone(const json& x) {
  return text_in(x, "host") == host_name() && kill(process_in(x), 0) != 0
         && errno == ESRCH;
}

/// How to go on with what is in the folder, as its process said.
std::string goes_on_text(const json& x, const std::string& folder) {
  auto out = text_in(x, "goes_on");
  constexpr std::string_view place = "RUN";
  if (const auto at = out.find(place); at != out.npos)
    out.replace(at, place.size(), folder);
  return out.empty() ? "troupe run --resume " + folder + " goes on with it"
                     : out;
}

/// What the file cannot know, because nobody writes it any more.
void correct(json& x, const std::string& folder) {
  if (flag_in(x, "over")) {
    if (text_in(x, "code") == "interrupted")
      x["what"] = text_in(x, "what") + "; " + goes_on_text(x, folder);
    return;
  }
  const auto written = whole_in(x, "written_ms", written_ms_max);
  const auto age = unix_milliseconds() - written;
  const auto process = std::to_string(process_in(x));
  if (is_gone(x)) {
    x["code"] = "gone";
    x["what"] = "nothing any more: process " + process
                + " is gone without an end; before that, " + text_in(x, "what");
    x["ends"] = goes_on_text(x, folder);
    x["since"] = moment_text(written);
  } else if (age > age_ms_max) {
    x["code"] = "silent";
    x["what"] = "process " + process
                + " has not said anything for a while; before that, "
                + text_in(x, "what");
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
                     "Says what a run waits for, or a process that joined one, "
                     "since when, and what ends the wait.",
                     "why runs/20261121-113226-quickstart"}};
  std::string folder;
  line.add("RUN", &folder, "a run's folder, or the --store of a troupe join",
           {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  auto found = status_in(folder);
  if (!found)
    return report(found.error(), line.json(), io);
  correct(*found, folder);
  if (line.json()) {
    json object{{"success", true}};
    for (const auto& [key, value] : *found->fields())
      object[key] = value;
    io.out << object.dump(2) << '\n';
    return exit_code::ok;
  }
  io.out << printable(waiting_text({.what = text_in(*found, "what"),
                                    .ends = text_in(*found, "ends"),
                                    .since = text_in(*found, "since"),
                                    .seconds = number_in(*found, "seconds"),
                                    .over = flag_in(*found, "over")}));
  return exit_code::ok;
}

} // namespace troupe::node
