#include "node/commands/serve.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <ostream>
#include <thread>

#include <sys/stat.h>

#include "actors/record/folder_lock.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "node/commands/address.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/run.hpp"
#include "node/commands/watching_options.hpp"
#include "node/config/config.hpp"
#include "node/keys/private_file.hpp"
#include "node/run/interrupt.hpp"
#include "node/run/run.hpp"
#include "node/run/served_way.hpp"
#include "node/watch/folder.hpp"
#include "node/watch/pages.hpp"

namespace troupe::node {

namespace {

struct serve_wishes {
  std::string listen;
  std::string folder;
  watching_options watch;
  std::string insecure;
  std::string keys;
  bool serves_frozen = false;
  std::size_t chunk_kib = 256;
  std::size_t frames_per_second = limits::frames_per_second_max;

  void add_to(command_line& line) {
    line.add_config();
    line.add("--listen", &listen,
             "where processes with clients dial; tcp://127.0.0.1:0, any port "
             "that is free, or where the folder's run was dialled before");
    line.add("--folder", &folder, "where the run's folder is made");
    watch.add_to(line);
    line.add(
      "--keys", &keys,
      "the folder with the server's pair and whom it lets in; else "
      "keys in the run's folder, or those that it was served with before "
      "(troupe keys --help)");
    line.add("--serve-frozen", &serves_frozen,
             "gives what nobody trains to processes that have it not; else "
             "they bring it as --model");
    line.add_chunks(&chunk_kib);
    line.add("--frames-per-second", &frames_per_second,
             "that one key may say, or without keys one connection; what is "
             "beyond is dropped, and said again by who waits for an answer",
             {.range = {{1, 1'000'000'000}}, .shows_default = true});
    line.add("--insecure", &insecure,
             "without keys: whoever is on this machine may join, and with "
             "--insecure=anywhere whoever reaches it",
             {.one_of = {"here", "anywhere"}, .bare = "here"});
  }
};

/// As ZeroMQ says "any port".
std::string any_port(std::string address) {
  if (address.ends_with(":0"))
    address.back() = '*';
  return address;
}

result<loaded_config> load(const command_line& line, bool goes_on) {
  if (goes_on && !line.overrides().empty())
    return fail(errc::invalid_config, "a run that goes on has its "
                                      "configuration; without --set it goes on "
                                      "as it began");
  auto changes = line.overrides();
  changes.push_back("clock=wall"); // Processes share no other.
  auto out =
    load_config(goes_on ? line.file() + "/config.toml" : line.file(), changes);
  if (out && !goes_on) // What goes on is as it began.
    leave_out_simulation(*out);
  return out;
}

constexpr const char* any = "tcp://127.0.0.1:0";

/// Where clients of a run that goes on look for it.
std::string address_before(const std::string& file) {
  const auto text = models::read_text(std::filesystem::path{file} / "endpoint",
                                      errc::storage_failure);
  return text ? text->substr(0, text->find_first_of(" \n")) : any;
}

bool is_folder(const std::string& x) {
  std::error_code ignored;
  return std::filesystem::is_directory(x, ignored);
}

/// Nobody else has the folder.
result<void> wait_for_lock(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "ledger.sqlite", ignored))
    return {};
  return actors::folder_lock::wait_until_free(folder, "ledger.lock", {});
}

/// A run that goes on is served as it was: of what is not said its folder knows
/// how.
result<void> go_on(const std::string& folder, serve_wishes& to) {
  const bool both = !to.insecure.empty() && !to.keys.empty();
  if (both || end_of(folder)) // That is said in its place.
    return {};
  if (auto ok = wait_for_lock(folder); !ok)
    return ok;
  const auto way = way_on(folder, {.insecure = to.insecure,
                                   .keys = to.keys,
                                   .serves_frozen = to.serves_frozen});
  if (!way)
    return tl::make_unexpected(way.error());
  to.insecure = way->insecure;
  to.keys = way->keys.string();
  to.serves_frozen = way->serves_frozen;
  if (to.listen.empty())
    to.listen = address_before(folder);
  return {};
}

/// What is not said.
result<void> settle(const std::string& file, serve_wishes& to) {
  auto out = is_folder(file) ? go_on(file, to) : result<void>{};
  if (to.listen.empty())
    to.listen = any;
  return out;
}

std::optional<exit_code> refused(const serve_wishes& wish, bool json,
                                 streams io) {
  const auto wrong = [&](std::string what, std::string hint) {
    return report(
      {.code = "usage", .what = std::move(what), .hint = std::move(hint)},
      exit_code::usage, json, io);
  };
  if (!wish.insecure.empty() && !wish.keys.empty())
    return wrong("--insecure is without keys, and --keys says where they are",
                 "one of them would do");
  if (!is_address(wish.listen))
    return wrong("--listen takes one address, and not "
                   + in_quotes(wish.listen),
                 "--listen tcp://127.0.0.1:7700 would do");
  if (wish.insecure == "here" && !is_on_this_machine(wish.listen))
    return wrong("--insecure listens on this machine alone, and not at "
                   + in_quotes(wish.listen),
                 "--listen tcp://127.0.0.1:7700 would do, or keys in place of "
                 "--insecure");
  return wish.watch.refused(json, io);
}

void say_note(const serve_wishes& wish, streams io) {
  if (is_every_address(wish.listen))
    io.err << "note: " << wish.listen
           << " is every address of this machine: processes dial one of them, "
              "which troupe keys invite takes as --address\n";
}

/// Takes most of a second; what was kept is read meanwhile.
std::jthread loaded_ahead(const host_facts& known) {
  return std::jthread{[&known] { (void)fingerprint_of(known); }};
}

} // namespace

exit_code serve_command(const model_maker& make_model, const host_facts& known,
                        arguments args, streams io) {
  command_line line{
    {"serve",
     "Serves a run to clients in other processes; FILE may be the folder of a "
     "run that is to go on.",
     "serve deploy/examples/quickstart.toml --listen tcp://127.0.0.1:7700 "
     "--keys runs/keys"}};
  serve_wishes wish;
  wish.add_to(line);
  if (const auto end = line.parse(args, io))
    return *end;
  umask(S_IRWXG | S_IRWXO);
  if (wish.insecure.empty())
    (void)keep_to_itself();
  const bool goes_on = is_folder(line.file());
  if (const auto ok = settle(line.file(), wish); !ok)
    return report(ok.error(), line.json(), io);
  if (const auto end = refused(wish, line.json(), io))
    return *end;
  auto loaded = load(line, goes_on);
  if (!loaded)
    return report({.code = "invalid_config",
                   .what = "this configuration cannot be served",
                   .why = loaded.error().context},
                  exit_code::configuration, line.json(), io);
  say_note(wish, io);
  if (!wish.folder.empty())
    loaded->x.folder = wish.folder;
  const auto board = std::make_shared<status_board>();
  const auto readers = std::make_shared<http::tally>();
  const auto door = wish.watch.open(pages_of(board, readers), readers, io);
  if (!door)
    return report(door.error(), line.json(), io);
  const interruption stop;
  const auto ahead = goes_on ? loaded_ahead(known) : std::jthread{};
  auto& where = line.json() ? io.err : io.out;
  const auto done =
    run(loaded->x,
        {.make_model = make_model,
         .fingerprint = [&known] { return fingerprint_of(known); },
         .progress = &io.err,
         .terminal = is_terminal(io.err),
         .stop = &stop.requested(),
         .notes = std::move(loaded->notes),
         .resume = goes_on ? line.file() : "",
         .board = board,
         .http = *door ? (*door)->address() : "",
         .listen = {.address = any_port(wish.listen),
                    .chunk_bytes = wish.chunk_kib << 10,
                    .insecure = !wish.insecure.empty(),
                    .keys = wish.keys,
                    .serves_frozen = wish.serves_frozen,
                    .frames_per_second = wish.frames_per_second},
         .listening = [&](const std::string& x) { where << x << std::endl; }});
  if (!done)
    return report(done.error(), line.json(), io);
  return conclude(*done, line.json(), io,
                  stop.is_dismissal() ? exit_code::ok : exit_code::interrupted);
}

} // namespace troupe::node
