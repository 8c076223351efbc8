#include "node/run/control.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace troupe::node {

namespace {

constexpr const char* socket_file = "control";
constexpr std::size_t line_bytes_max = 256;
constexpr std::size_t asked_max = 16; ///< Who wait at the same time.
constexpr std::string_view stop_line = "stop\n";
constexpr std::string_view end_word = "ended ";
constexpr std::string_view rotate_word = "rotate ";
constexpr std::string_view rotated_line = "rotated\n";

/// A folder's path may be longer than the name of a socket.
sockaddr_un address_in(int folder) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  const auto path =
    "/proc/self/fd/" + std::to_string(folder) + "/" + socket_file;
  std::memcpy(out.sun_path, path.c_str(),
              std::min(path.size(), sizeof out.sun_path - 1));
  return out;
}

void say(int to, std::string_view text) {
  (void)send(to, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Up to its line's end, or what came until it stopped coming.
std::string line_from(int who) {
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  setsockopt(who, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string out;
  while (out.size() < line_bytes_max && !out.ends_with('\n')) {
    char next = 0;
    if (recv(who, &next, 1, 0) <= 0)
      break;
    out += next;
  }
  return out;
}

} // namespace

control::control(int folder, int listener, int bell, rotation rotate)
  : folder_(folder),
    listener_(listener),
    bell_(bell),
    rotate_(std::move(rotate)),
    thread_([this] { work(); }) {
  // nop
}

result<std::unique_ptr<control>>
control::open(const std::filesystem::path& folder, rotation rotate) {
  const auto refuse = [&](int listener,
                          int at) -> result<std::unique_ptr<control>> {
    const std::error_code why{errno, std::generic_category()};
    for (const int x : {listener, at})
      if (x >= 0)
        ::close(x);
    return fail(errc::storage_failure,
                (folder / socket_file).string()
                  + ": cannot listen there: " + why.message());
  };
  const int at = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (at < 0 || listener < 0)
    return refuse(listener, at);
  unlinkat(at, socket_file, 0); // Of a process that was killed.
  const auto where = address_in(at);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&where), sizeof where)
        != 0
      || fchmodat(at, socket_file, S_IRUSR | S_IWUSR, 0) != 0
      || listen(listener, 8) != 0)
    return refuse(listener, at);
  const int bell = eventfd(0, EFD_CLOEXEC);
  return std::unique_ptr<control>{
    new control{at, listener, bell, std::move(rotate)}};
}

control::~control() {
  closing_ = true;
  const std::uint64_t one = 1;
  (void)!write(bell_, &one, sizeof one);
  thread_.join();
  unlinkat(folder_, socket_file, 0);
  for (const int who : asked_) {
    if (!end_.empty())
      say(who, end_ + '\n');
    ::close(who);
  }
  for (const int x : {folder_, listener_, bell_})
    ::close(x);
}

void control::work() {
  while (!closing_) {
    std::array<pollfd, 2> items{{{listener_, POLLIN, 0}, {bell_, POLLIN, 0}}};
    poll(items.data(), items.size(), -1);
    if (closing_ || (items[0].revents & POLLIN) == 0)
      continue;
    const int who = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (who >= 0)
      answer(who);
  }
}

void control::answer(int who) {
  const auto line = line_from(who);
  if (line.starts_with(rotate_word)) {
    say(who, rotate(line));
    ::close(who);
    return;
  }
  const std::lock_guard guard{mutex_};
  if (line != stop_line || asked_.size() >= asked_max) {
    say(who, line == stop_line ? "too many ask\n"
                               : "what is known is: stop, rotate\n");
    ::close(who);
    return;
  }
  say(who, "stopping\n");
  asked_.push_back(who);
  stop_wanted_ = true;
}

std::string control::rotate(const std::string& line) const {
  std::int64_t for_ms = -1;
  const auto* begin = line.data() + rotate_word.size();
  const auto* end = line.data() + line.size();
  const auto read = std::from_chars(begin, end, for_ms);
  if (!rotate_ || read.ec != std::errc{} || *read.ptr != '\n' || for_ms < 0)
    return "this is no rotation\n";
  const auto done = rotate_(for_ms);
  return done ? std::string{rotated_line} : done.error().context + '\n';
}

void control::ended(const std::string& reason) {
  const std::lock_guard guard{mutex_};
  end_ = std::string{end_word} + reason;
  std::ranges::replace(end_, '\n', ' ');
}

stop_answer ask_to_stop(const std::filesystem::path& folder,
                        const std::function<void()>& asked) {
  stop_answer out;
  const int at = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto where = address_in(at);
  out.reached =
    at >= 0
    && connect(to, reinterpret_cast<const sockaddr*>(&where), sizeof where)
         == 0;
  if (out.reached) {
    say(to, stop_line);
    if (asked)
      asked();
    char next = 0;
    while (recv(to, &next, 1, 0) > 0) {
      out.text += next;
      if (next == '\n' && !out.text.starts_with(end_word))
        out.text.clear();
    }
    out.ended = out.text.starts_with(end_word);
    if (out.ended)
      out.text =
        out.text.substr(end_word.size(), out.text.size() - end_word.size() - 1);
  }
  for (const int x : {at, to})
    if (x >= 0)
      ::close(x);
  return out;
}

std::optional<std::string> ask_to_rotate(const std::filesystem::path& folder,
                                         std::int64_t for_ms) {
  const int at = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto where = address_in(at);
  std::optional<std::string> out;
  if (at >= 0
      && connect(to, reinterpret_cast<const sockaddr*>(&where), sizeof where)
           == 0) {
    say(to, std::string{rotate_word} + std::to_string(for_ms) + '\n');
    auto text = line_from(to);
    if (text == rotated_line)
      text.clear();
    else
      text = text.empty() ? "no answer" : text.substr(0, text.find('\n'));
    out = std::move(text);
  }
  for (const int x : {at, to})
    if (x >= 0)
      ::close(x);
  return out;
}

} // namespace troupe::node
