#include "node/commands/served_scene.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

#include <unistd.h>

#include "actors/record/begin_lines.hpp"
#include "actors/record/sqlite_store.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/assert.hpp"
#include "core/clock.hpp"
#include "core/hex.hpp"
#include "core/json.hpp"
#include "node/commands/idle_workload.hpp"
#include "node/commands/measured_run.hpp"
#include "node/config/config.hpp"
#include "node/join/join.hpp"
#include "node/keys/keyring.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/permit.hpp"
#include "node/keys/private_file.hpp"
#include "node/run/federation.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;
namespace bare = transport::bare;

fs::path keys_of(const served_scene& scene) {
  return scene.folder / "keys";
}

fs::path store_of(const served_scene& scene) {
  return scene.folder / "clients";
}

/// Keys have clients in turn; where there is one, all. Guests ask for theirs.
void lease_all(const served_scene& scene, const std::vector<key_pair>& keys) {
  json processes = json::object();
  for (std::size_t k = 0; k < keys.size(); ++k) {
    auto numbers = json::array();
    for (auto i = k + 1; i + scene.guests <= scene.x.clients.clients;
         i += keys.size())
      numbers.push_back(i);
    processes.add(to_hex(hash_of(keys[k].open)), std::move(numbers));
  }
  std::ofstream{scene.folder / "processes.json"} << json{
    {"run", to_hex(messages::run_id{1})},
    {"began_ms", unix_milliseconds()},
    {"processes", std::move(processes)}}.dump();
}

/// As `keyring::allow` does, which looks at all others and syncs.
void allow_crowd(const served_scene& scene) {
  for (std::size_t k = 0; k < scene.crowd.size(); ++k) {
    const auto path = keys_of(scene) / "allowed" / to_hex(scene.crowd[k].open);
    std::ofstream{path} << write_permit(
      {.name = "one-" + std::to_string(k + 1), .numbers = 100'000});
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
}

/// Where both sides look for them.
result<void> put_keys(const served_scene& scene) {
  const keyring known{keys_of(scene)};
  return make_private(known.folder())
    .and_then([&] { return make_private(store_of(scene)); })
    .and_then(
      [&] { return write_pair(known.folder() / "pair", scene.keys->server); })
    .and_then(
      [&] { return write_pair(store_of(scene) / "pair", scene.keys->client); })
    .and_then([&] {
      return known.allow(scene.keys->client.open,
                         {.name = "figures", .numbers = 100'000});
    })
    .and_then([&] {
      return known.allow(scene.guest_keys->client.open,
                         {.name = "guests", .numbers = 100'000});
    })
    .map([&] {
      allow_crowd(scene);
      lease_all(scene, scene.crowd.empty() ? std::vector{scene.keys->client}
                                           : scene.crowd);
    });
}

result<std::shared_ptr<actors::store>> open_books(const served_scene& scene) {
  if (!scene.on_disk)
    return std::shared_ptr<actors::store>{actors::make_memory_store({})};
  return actors::make_sqlite_store({.folder = scene.folder}).map([](auto made) {
    return std::shared_ptr<actors::store>{std::move(made)};
  });
}

std::uint64_t
bytes_of(const std::map<std::string, actors::socket_status::crossed>& x) {
  std::uint64_t out = 0;
  for (const auto& [kind, n] : x)
    out += n.bytes;
  return out;
}

} // namespace

result<std::shared_ptr<served_scene>> make_scene(const std::string& text,
                                                 const scene_options& how) {
  const auto& all = policies::catalogue();
  const auto found = std::ranges::find(all, how.offers, &recipe::offers);
  TROUPE_ASSERT(found != all.end());
  auto loaded = parse_config({text, "bench"},
                             std::vector<std::string>{"method=" + found->name});
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  auto work = idle_workload(found->name, loaded->x.clients.clients, how.values);
  return make_scene(std::move(loaded->x), how).map([&](auto made) {
    made->work = std::move(work);
    return made;
  });
}

result<std::shared_ptr<served_scene>> make_scene(experiment x,
                                                 const scene_options& how) {
  static int count = 0;
  const auto folder = fs::temp_directory_path()
                      / ("troupe-bench-" + std::to_string(getpid()) + "-"
                         + std::to_string(++count));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + folder.string() + ": " + failed.message());
  std::shared_ptr<served_scene> made{
    new served_scene{.x = std::move(x),
                     .work = {},
                     .folder = folder,
                     .on_disk = how.on_disk,
                     .clients_forget = how.clients_forget,
                     .may_say_much = how.may_say_much,
                     .keys = drawn_keys(how.keys),
                     .guests = how.guests,
                     .guest_keys = drawn_keys(how.keys)},
    [](served_scene* x) {
      std::error_code ignored;
      fs::remove_all(x->folder, ignored);
      delete x;
    }};
  for (std::size_t i = 0; i < how.crowd; ++i)
    made->crowd.push_back(draw_pair());
  if (made->keys) {
    made->guest_keys->server = made->keys->server;
    if (auto ok = put_keys(*made); !ok)
      return tl::make_unexpected(ok.error());
  }
  return made;
}

bare::security drawn_keys(bool wanted) {
  if (!wanted)
    return std::nullopt;
  return bare::pairs{.server = draw_pair(), .client = draw_pair()};
}

result<double> run_scene(const served_scene& scene, std::uint32_t clients) {
  helper_process server{[&] { return serve(scene); }};
  if (const auto there = told_by(server, scene.board->address); !there)
    return tl::make_unexpected(there.error());
  helper_process others{[&] { return take_part(scene, clients); }};
  const auto theirs = wait_beside(others, server);
  if (!theirs)
    return tl::make_unexpected(theirs.error());
  scene.board->stop = true;
  const auto its = server.wait();
  if (!its)
    return tl::make_unexpected(its.error());
  return theirs->cpu_seconds + its->cpu_seconds - scene.board->cpu_before;
}

result<void> serve(const served_scene& scene) {
  listening_options how{.address = "tcp://127.0.0.1:*",
                        .insecure = !scene.keys,
                        .keys = scene.keys ? keys_of(scene) : fs::path{}};
  if (scene.may_say_much)
    how.frames_per_second = 1'000'000'000;
  auto door = serving::open(how, scene.x, scene.work);
  if (!door)
    return tl::make_unexpected(door.error());
  auto books = open_books(scene);
  if (!books)
    return tl::make_unexpected(books.error());
  if (auto ok =
        actors::begin_lines(**books, *scene.work.blocks, scene.work.initial);
      !ok)
    return tl::make_unexpected(ok.error());
  if (auto ok =
        (*door)->open_book(scene.x, scene.work, scene.folder, !scene.keys);
      !ok)
    return ok;
  auto& board = *scene.board;
  const auto told_where = [&](const std::string& x) {
    board.cpu_before = seconds(process_cpu_time());
    board.bytes_before = resident_bytes(getpid());
    board.address.tell(x.substr(0, x.find(' ')));
  };
  auto told = (*door)->begin(scene.x, scene.work,
                             {told_where, [](const std::string&) {}});
  if (!told)
    return tl::make_unexpected(told.error());
  auto done = run_federation({.x = scene.x,
                              .work = scene.work,
                              .books = *books,
                              .watching = quiet_chronicle(scene.x, scene.work),
                              .counted = std::make_shared<actors::traffic>(),
                              .stop = &board.stop,
                              .serves = door->get(),
                              .elapsed = (*door)->elapsed(),
                              .reception = std::move(*told)});
  const auto crossed = (*door)->status();
  board.bytes_in = bytes_of(crossed.up);
  board.bytes_out = bytes_of(crossed.down);
  return done;
}

result<void> wait_for_answer(const served_scene& scene) {
  constexpr std::chrono::minutes patience{2};
  constexpr std::chrono::milliseconds between{50};
  const auto address = scene.board->address.get();
  if (!address)
    return tl::make_unexpected(address.error());
  std::atomic<bool> answered{false};
  transport::socket_endpoint::options how;
  how.address = *address;
  how.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 20; };
  how.instance = drawn_number();
  if (scene.keys)
    how.keys = transport::dialler_keys{.own = scene.keys->client,
                                       .server = scene.keys->server.open};
  how.arrived = [&](const transport::frame_arrived& x) {
    const auto message = x.what.open();
    if (message && std::holds_alternative<messages::terms_given>(**message))
      answered = true;
  };
  const auto socket = transport::socket_endpoint::dial(std::move(how));
  if (!socket)
    return tl::make_unexpected(socket.error());
  for (const auto until = steady_now() + patience;
       !answered && steady_now() < until;) {
    (*socket)->send({0}, messages::terms_asked{});
    std::this_thread::sleep_for(between);
  }
  (*socket)->close();
  if (answered)
    return {};
  return fail(errc::invalid_config, "a server of this figure does not answer");
}

result<void> take_part(const served_scene& scene, std::uint32_t clients) {
  const auto address = scene.board->address.get();
  if (!address)
    return tl::make_unexpected(address.error());
  join_context in;
  in.address = *address;
  in.clients = clients;
  in.data = scene.x.data.path;
  if ((scene.on_disk && !scene.clients_forget) || scene.keys)
    in.store = store_of(scene).string();
  if (scene.keys)
    in.server = scene.keys->server.open;
  in.make_work = [&](const experiment&) -> result<workload> {
    return scene.work;
  };
  const auto how = join(in);
  if (how.how != join_summary::end::finished)
    return fail(errc::invalid_config, how.why);
  return {};
}

} // namespace troupe::node
