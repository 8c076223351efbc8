#include "node/join/audit.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actors/messages/wire.hpp"
#include "actors/transport/envelope.hpp"
#include "core/clock.hpp"
#include "node/keys/permit.hpp"

namespace troupe::node {

namespace {

using namespace messages;
using transport::piece_kind;

/// As docs/wire_format.md names them. What a server alone says has none here.
template <class T>
struct words {
  static constexpr const char* name = nullptr;
  static constexpr std::array<const char*, 0> fields{};
};

#define TROUPE_WORDS(type, ...)                                                \
  template <>                                                                  \
  struct words<type> {                                                         \
    static constexpr const char* name = #type;                                 \
    static constexpr std::array fields{__VA_ARGS__};                           \
    static_assert(fields.size() == field_count<type>);                         \
  }

TROUPE_WORDS(hello, "lowest", "highest", "client", "incarnation", "layout",
             "nonce", "examples", "newest", "at_work", "run");
TROUPE_WORDS(beat, "client", "session");
TROUPE_WORDS(leave, "client");
TROUPE_WORDS(terms_asked, "lowest", "highest", "nonce");
TROUPE_WORDS(places_asked, "nonce", "store", "count", "name");
TROUPE_WORDS(process_parted, "parting", "text");
TROUPE_WORDS(enrolment_asked, "nonce", "own");
TROUPE_WORDS(frozen_asked, "nonce", "content", "first");
TROUPE_WORDS(offer_made, "ticket", "disclosed", "offered", "loss", "fetched");
TROUPE_WORDS(offer_awaited, "ticket", "lines");
TROUPE_WORDS(fetch_requested, "ticket", "leg", "wants");
TROUPE_WORDS(visit_declined, "ticket", "decline");
TROUPE_WORDS(scores_told, "question", "scores");

#undef TROUPE_WORDS

template <class T>
std::string bytes_of(const T& x) {
  std::size_t total = 0;
  auto sink = [&total](const void*, std::size_t size) { total += size; };
  transport::writer write{sink};
  write(x);
  return std::to_string(total) + " bytes";
}

json fact(const transport::number auto& x) {
  return x;
}

template <transport::enumeration T>
json fact(const T& x) {
  return std::uint64_t{static_cast<std::underlying_type_t<T>>(x)};
}

template <class Tag>
json fact(const id<Tag>& x) {
  return x.value;
}

json fact(const std::string& x) {
  return x;
}

template <std::size_t N>
json fact(const std::array<std::uint8_t, N>& x) {
  return bytes_of(x);
}

template <class T>
json fact(const std::vector<T>& x) {
  return std::to_string(x.size()) + " of them, " + bytes_of(x);
}

json fact(const composite auto& x) {
  return bytes_of(x);
}

template <class T>
json facts_of(const T& x) {
  json out = json::object();
  std::size_t i = 0;
  std::apply(
    [&](const auto&... field) {
      (out.add(words<T>::fields[i++], fact(field)), ...);
    },
    T::fields(x));
  return out;
}

json facts_of(const any_message& any) {
  json out = json::object();
  std::visit(
    [&](const auto& x) {
      using type = std::remove_cvref_t<decltype(x)>;
      if constexpr (words<type>::name != nullptr) {
        out.add("message", words<type>::name);
        out.add("version", std::uint64_t{type::wire.current()});
        out.add("fields", facts_of(x));
      } else {
        out.add("message", "of a server");
      }
    },
    any);
  return out;
}

void append(const json& from, json& to) {
  for (const auto& [name, x] : *from.fields())
    to.add(name, x);
}

json unreadable() {
  json out = json::object();
  out.add("message", "unreadable");
  return out;
}

/// Of a small frame, whole.
json frame_facts(std::span<const std::byte> frame) {
  const auto found = transport::decode(frame);
  return found ? facts_of(*found) : unreadable();
}

json bundle_facts(const transport::piece& x) {
  auto out = json::array();
  for (const auto& [channel, bytes] : transport::frames_in(x)) {
    json one{{"channel", channel.value}};
    append(frame_facts(bytes), one);
    out.push_back(std::move(one));
  }
  return out;
}

} // namespace

json message_facts(std::uint16_t kind, messages::written_as writer,
                   std::span<const std::byte> payload) {
  const auto found = transport::decode_kind(kind, writer, payload, {});
  return found ? facts_of(*found) : unreadable();
}

audit::audit(int fd, std::filesystem::path path)
  : fd_(fd),
    path_(std::move(path)) {
  // nop
}

audit::~audit() {
  ::close(fd_);
}

result<std::shared_ptr<audit>> audit::open(const std::filesystem::path& path) {
  const int fd =
    ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK,
           S_IRUSR | S_IWUSR);
  struct stat what {};
  if (fd < 0 || ::fstat(fd, &what) != 0)
    return fail(errc::storage_failure,
                path.string() + " cannot be written: " + std::strerror(errno));
  auto out = std::shared_ptr<audit>{new audit{fd, path}};
  if (!S_ISREG(what.st_mode))
    return fail(errc::storage_failure, path.string() + " is no file");
  return out;
}

void audit::add_transfer(const transport::piece& x, json& to) {
  const auto what =
    transport::decode_record<transport::beginning>(x.body.bytes);
  to.add("transfer", x.transfer.value);
  if (!what)
    return;
  to.add("payload", what->size);
  if (now_.id != x.transfer)
    now_ = {x.transfer, *what, {}};
}

// Its fields are known when it is whole; after another connection it may begin
// anywhere in what has left before.
void audit::add_chunk(const transport::piece& x, json& to) {
  to.add("transfer", x.transfer.value);
  to.add("place", x.at);
  auto& all = now_.payload;
  if (now_.id != x.transfer || x.at > all.size())
    return;
  const auto known = std::min(x.body.bytes.size(), all.size() - x.at);
  const auto rest = x.body.bytes.subspan(known);
  all.insert(all.end(), rest.begin(), rest.end());
  if (rest.empty() || all.size() != now_.what.size)
    return;
  append(message_facts(now_.what.kind,
                       {now_.what.version, now_.what.readable_since}, all),
         to);
  all = {};
}

bool audit::leaves(const transport::piece& x) {
  json line{
    {"at", moment_of(unix_milliseconds())},
    {"piece", transport::piece_kind_names[static_cast<std::size_t>(x.kind)]},
    {"connection", std::uint64_t{x.connection}},
    {"bytes", transport::piece_head_size + x.body.bytes.size()}};
  if (x.kind == piece_kind::framed || x.kind == piece_kind::began)
    line.add("channel", x.channel.value);
  if (x.kind == piece_kind::framed)
    append(frame_facts(x.body.bytes), line);
  else if (x.kind == piece_kind::bundled)
    line.add("frames", bundle_facts(x));
  else if (x.kind == piece_kind::began)
    add_transfer(x, line);
  else if (x.kind == piece_kind::chunk)
    add_chunk(x, line);
  else if (x.kind != piece_kind::opened)
    line.add("transfer", x.transfer.value);
  const auto text = line.dump() + '\n';
  for (std::string_view left = text; !left.empty();) {
    const auto n = ::write(fd_, left.data(), left.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      problem_ = path_.string()
                 + " cannot be written, and nothing leaves that "
                   "it does not say: "
                 + std::strerror(errno);
      return false;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

} // namespace troupe::node
