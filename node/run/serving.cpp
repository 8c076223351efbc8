#include "node/run/serving.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "actors/messages/wire.hpp"
#include "core/hex.hpp"
#include "core/limits.hpp"
#include "core/random.hpp"
#include "models/files.hpp"
#include "node/keys/pair.hpp"
#include "node/run/open_files.hpp"
#include "node/run/seal_file.hpp"
#include "node/run/served_way.hpp"
#include "node/run/serving_terms.hpp"
#include "node/task/frozen.hpp"
#include "node/task/model_file.hpp"
#include "node/watch/reached.hpp"

namespace troupe::node {

using namespace actors;

namespace {

constexpr const char* places_file = "processes.json";

/// For heads, tickets and what a method discloses.
constexpr std::uint64_t bytes_beside_values = 64 << 10;
constexpr std::uint64_t bytes_of_want = 32;

constexpr std::chrono::seconds drain_max{3};

/// Whoever brings data of its own comes after the partition; where there is
/// none it is one of as many clients as the configuration says.
leases::room room_of(const experiment& x) {
  if (x.data.is_elsewhere())
    return {.clients = 0, .named_above = 0, .named_max = x.clients.clients};
  return {.clients = x.clients.invitable(),
          .named_above = x.clients.clients,
          .named_max = limits::clients_max - x.clients.clients};
}

/// Where data is made, or dealt to clusters, nobody can bring more of it.
leases::room room_of(const experiment& x, const workload& work) {
  auto room = room_of(x);
  if (work.shape.inputs.empty())
    room.named_max = 0;
  return room;
}

/// A folder that was served has the address at which it was.
bool was_served(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / places_file, ignored)
         || std::filesystem::exists(folder / "endpoint", ignored);
}

/// In the log, and for who watches.
serving::line_taker aloud(const serving::ears& to) {
  return [to](const std::string& line) {
    to.log(line);
    if (to.say)
      to.say(line);
  };
}

using served_values = std::map<models::digest, shared_values>;

served_values frozen_values(const workload& work) {
  served_values out;
  for (const auto& [name, values] : work.task->frozen)
    out[digest_of(values)] = values;
  return out;
}

} // namespace

std::function<socket_status()> looks_at(const serving* x) {
  if (!x)
    return {};
  return [x] { return x->status(); };
}

std::uint64_t drawn_number() {
  std::array<std::uint8_t, 8> bytes{};
  draw_secret(bytes);
  std::uint64_t out = 0;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

experiment for_clients(experiment x) {
  const experiment blank;
  x.init = blank.init;
  x.common = blank.common;
  x.folder = blank.folder;
  x.devices = blank.devices;
  x.network = blank.network;
  x.availability = blank.availability;
  x.crashes = blank.crashes;
  x.scenario = blank.scenario;
  x.events = false;
  x.ledger = ledger_kind::memory;
  x.durability = blank.durability;
  x.retention = blank.retention;
  x.scores_seconds = blank.scores_seconds;
  x.clients.silence_max = blank.clients.silence_max;
  x.keep_offers = blank.keep_offers;
  x.workers = 0;
  return x;
}

std::uint64_t bytes_max_before_terms(std::uint16_t kind) {
  return kind == messages::places_given::wire.kind
           ? bytes_beside_values + limits::clients_max * sizeof(client_id)
           : std::uint64_t{1} << 20;
}

std::function<std::uint64_t(std::uint16_t kind)>
message_bytes_max(const models::layout& blocks) {
  std::uint64_t values = 0;
  for (const auto& block : blocks.blocks)
    values += block.size * sizeof(float) + 64;
  const auto lines = blocks.lines.size() * bytes_of_want;
  return [values, lines](std::uint16_t kind) -> std::uint64_t {
    const bool has_values = kind == messages::offer_made::wire.kind
                            || kind == messages::line_served::wire.kind;
    if (has_values)
      return bytes_beside_values + values;
    if (kind == messages::scores_asked::wire.kind)
      return bytes_beside_values + values
             + limits::clients_max * sizeof(client_id);
    if (kind == messages::frozen_given::wire.kind)
      return bytes_beside_values
             + messages::frozen_given::values_max * sizeof(float);
    if (kind == messages::fetch_requested::wire.kind)
      return bytes_beside_values + lines;
    if (kind == messages::places_given::wire.kind)
      return bytes_beside_values + limits::clients_max * sizeof(client_id);
    return bytes_beside_values;
  };
}

result<std::unique_ptr<serving>> serving::open(const listening_options& what,
                                               const experiment& x,
                                               const workload& work) {
  if (what.address.empty() && x.data.is_elsewhere())
    return fail(errc::invalid_config,
                std::string{x.data.is_language() ? "data.brought = true"
                                                 : "data.kind = \"elsewhere\""}
                  + " is of clients in other processes: troupe serve would do");
  if (what.address.empty())
    return std::unique_ptr<serving>{};
  const auto offer_max =
    message_bytes_max(*work.blocks)(messages::offer_made::wire.kind);
  if (offer_max > std::numeric_limits<std::uint32_t>::max())
    return fail(errc::unsupported,
                "an offer of this run may have " + std::to_string(offer_max)
                  + " bytes, and what is served has 4 GiB at most; troupe run "
                    "would do, or a method that sends less");
  std::unique_ptr<serving> out{new serving};
  out->way_ = what;
  transport::socket_endpoint::options how;
  how.address = what.address;
  how.chunk_bytes = what.chunk_bytes;
  how.frames_per_second = what.frames_per_second;
  how.refused = out->refused_;
  how.bytes_max = message_bytes_max(*work.blocks);
  how.stranger_bytes_max = transport::hello_bytes_max;
  // What arrives and what waits share what offers may take.
  const auto memory = memory_of(x, *work.blocks);
  how.unhandled_bytes_max = std::min(how.unhandled_bytes_max, memory / 2);
  // Beside a merge, which needs none of it.
  how.landing_bytes_max = std::min(how.landing_bytes_max, memory / 4);
  how.instance = drawn_number();
  how.arrived = [hub = out->hub_](transport::frame_arrived what) {
    hub->arrived(std::move(what));
  };
  if (!what.insecure) {
    auto made = guard::make(what.keys);
    if (!made)
      return tl::make_unexpected(made.error());
    out->guard_ = std::move(*made);
    how.door = transport::server_keys{
      out->guard_->own(),
      [keys = out->guard_](const public_key& x) { return keys->standing(x); },
      [keys = out->guard_](const public_key& x) { return keys->still(x); }};
  }
  (void)raise_open_files();
  auto socket = transport::socket_endpoint::listen(std::move(how));
  if (!socket)
    return tl::make_unexpected(socket.error());
  out->socket_ = std::move(*socket);
  out->hub_->use(out->socket_);
  return out;
}

serving::~serving() {
  if (!socket_)
    return;
  socket_->drain(drain_max);
  socket_->close();
  hub_->close();
}

result<bool> serving::check_book(const experiment& x,
                                 const std::filesystem::path& folder) {
  if (!was_served(folder))
    return false;
  return process_book::read(folder / places_file, room_of(x))
    .map([](const auto&) { return true; });
}

result<void> serving::open_book(const experiment& x, const workload& work,
                                const std::filesystem::path& folder,
                                bool is_new) {
  folder_ = folder;
  if (guard_)
    if (auto ok = guard_->settle(folder / "keys"); !ok)
      return ok;
  const auto model = digest_of_model(x);
  if (!model)
    return tl::make_unexpected(model.error());
  const auto path = folder / places_file;
  if (!is_new)
    reached_ = reached_in(folder);
  if (!is_new && was_served(folder)) {
    auto found = process_book::read(path, room_of(x, work));
    if (!found)
      return tl::make_unexpected(found.error());
    book_ = std::move(*found);
    // A book of an earlier build has zeros.
    if (book_.model != models::digest{} && book_.model != *model)
      return fail(errc::storage_failure,
                  folder.string() + " cannot go on: '" + files_of_model(x)
                    + "' is not the model that its clients have; the file "
                      "as it was would do");
    book_.model = *model;
    // A book of an earlier build has none.
    if (!book_.frozen.empty() && book_.frozen != frozen_digests(work))
      return fail(errc::storage_failure,
                  folder.string()
                    + " cannot go on: what its clients do not train is other "
                      "than it was; the file that 'init' names is another");
    return open_seals();
  }
  // It was killed before anybody could join, or its clients were of its own
  // process and are gone with that: whoever joins begins anew.
  book_.places = leases{room_of(x, work)};
  book_.frozen = frozen_digests(work);
  book_.model = *model;
  book_.began_ms =
    unix_milliseconds()
    - std::chrono::duration_cast<std::chrono::milliseconds>(reached_).count();
  draw_secret(book_.run);
  return book_.keep(path).and_then([this] { return open_seals(); });
}

// Whoever asks for another key of tickets is answered when it is durable.
result<void> serving::open_seals() {
  tickets_ = std::make_shared<actors::seals>(book_.run);
  const auto path = folder_ / "seal";
  const auto found = read_seals(path);
  if (!found)
    return tl::make_unexpected(found.error());
  if (*found)
    tickets_->use(**found);
  auto heard = control::open(
    folder_, [path, tickets = tickets_](std::int64_t for_ms) -> result<void> {
      const auto now = tickets->keys_now();
      if (!now)
        return fail(errc::invalid_argument, "the run has not begun yet");
      const auto next = after(*now, unix_milliseconds(), for_ms);
      if (!next)
        return tl::make_unexpected(next.error());
      return write_seals(path, *next).map([&] { tickets->use(*next); });
    });
  if (!heard)
    return tl::make_unexpected(heard.error());
  control_ = std::move(*heard);
  return {};
}

std::string serving::address() const {
  return guard_ ? socket_->address() + ' ' + to_hex(guard_->own().open)
                : socket_->address();
}

std::function<std::optional<bool>(peer_id, client_id)>
serving::may_speak() const {
  if (!guard_)
    return
      [posted = posted_](peer_id, client_id as) { return posted->has(as); };
  return [at = socket_, of = posted_,
          keys = guard_](peer_id x, client_id as) -> std::optional<bool> {
    const auto who = at->key_of(x);
    if (!who || !of->has(hash_of(*who), as))
      return false;
    return keys->lets_in(*who);
  };
}

// A clock that was set back does not bring the past back.
instant serving::elapsed() const {
  return std::max(reached_, instant{std::chrono::milliseconds{
                              unix_milliseconds() - book_.began_ms}});
}

result<void> serving::say_where(const line_taker& listening) const {
  return replace_text(folder_ / "endpoint", address() + '\n').map([&] {
    if (listening)
      listening(address());
  });
}

result<reception_args> serving::begin(const experiment& x, const workload& work,
                                      const ears& to) {
  if (auto ok = write_way(folder_, way_); !ok)
    return tl::make_unexpected(ok.error());
  if (guard_)
    if (auto ok = guard_->say_address(socket_->address()); !ok)
      return tl::make_unexpected(ok.error());
  if (auto ok = say_where(to.listening); !ok)
    return tl::make_unexpected(ok.error());
  if (guard_)
    pair_ = std::make_unique<pair_keeper>(pair_keeper::neighbours{
      .keys = guard_,
      .socket = socket_,
      .changed =
        [this, to] {
          if (const auto ok = say_where(to.listening); !ok)
            to.log(ok.error().context);
        },
      .log = to.log});
  std::function<result<claim>(peer_id)> claim_of;
  std::function<result<void>(peer_id, const public_key&)> enrol;
  if (guard_) {
    claim_of = [keys = guard_, socket = socket_](peer_id x) {
      const auto who = socket->key_of(x);
      return who ? keys->claim_of(*who)
                 : fail(errc::invalid_argument, "it is gone");
    };
    enrol = [keys = guard_, socket = socket_](peer_id x,
                                              const public_key& own) {
      const auto line = socket->key_of(x);
      return line ? keys->enrol(*line, own)
                  : fail(errc::invalid_argument, "it is gone");
    };
  }
  const auto links = [at = socket_] { return at->links_here(forever); };
  posted_->post(book_.places);
  return reception_args{
    .terms = terms_of(book_, x, work),
    .book = book_.places,
    .keep =
      [this, path = folder_ / places_file](const leases& next) {
        book_.places = next;
        return book_.keep(path).map([&] { posted_->post(next); });
      },
    .network = socket_,
    .parted =
      [to = parted_, at = socket_, links](peer_id x, messages::parting what) {
        at->has_parted(link_of(x));
        if (what == messages::parting::over)
          to->add(link_of(x), links);
      },
    .came = [to = came_, links](peer_id x) { to->add(link_of(x), links); },
    .frozen = way_.serves_frozen ? frozen_values(work) : served_values{},
    .claim_of = std::move(claim_of),
    .enrol = std::move(enrol),
    .refused = refused_,
    .say = aloud(to)};
}

} // namespace troupe::node
