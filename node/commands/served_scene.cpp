#include "node/commands/served_scene.hpp"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "actors/record/begin_lines.hpp"
#include "actors/record/sqlite_store.hpp"
#include "core/assert.hpp"
#include "core/clock.hpp"
#include "node/commands/idle_workload.hpp"
#include "node/config/config.hpp"
#include "node/join/join.hpp"
#include "node/run/federation.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

result<std::shared_ptr<actors::store>> open_books(const served_scene& scene) {
  if (!scene.on_disk)
    return std::shared_ptr<actors::store>{actors::make_memory_store({})};
  return actors::make_sqlite_store({.folder = scene.folder}).map([](auto made) {
    return std::shared_ptr<actors::store>{std::move(made)};
  });
}

std::shared_ptr<chronicle> watcher_of(const served_scene& scene) {
  return std::make_shared<chronicle>(
    chronicle::options{.blocks = scene.work.blocks,
                       .lines = {},
                       .clients = scene.x.clients.clients,
                       .has_labels = false,
                       .metrics = [](const std::string&) {},
                       .show = [](const progress_report&) {}});
}

} // namespace

result<std::shared_ptr<served_scene>> make_scene(const std::string& text,
                                                 const scene_options& how) {
  static int count = 0;
  const auto& all = policies::catalogue();
  const auto found = std::ranges::find(all, how.offers, &recipe::offers);
  TROUPE_ASSERT(found != all.end());
  auto loaded = parse_config({text, "bench"},
                             std::vector<std::string>{"method=" + found->name});
  if (!loaded)
    return tl::make_unexpected(loaded.error());
  const auto folder = fs::temp_directory_path()
                      / ("troupe-bench-" + std::to_string(getpid()) + "-"
                         + std::to_string(++count));
  std::error_code failed;
  fs::create_directories(folder / "clients", failed);
  if (failed)
    return fail(errc::storage_failure,
                "cannot make " + folder.string() + ": " + failed.message());
  auto work = idle_workload(found->name, loaded->x.clients.clients, how.values);
  return std::shared_ptr<served_scene>{
    new served_scene{.x = std::move(loaded->x),
                     .work = std::move(work),
                     .folder = folder,
                     .on_disk = how.on_disk},
    [](served_scene* x) {
      std::error_code ignored;
      fs::remove_all(x->folder, ignored);
      delete x;
    }};
}

result<void> serve(const served_scene& scene) {
  auto door = serving::open({.address = "tcp://127.0.0.1:*", .insecure = true},
                            scene.x, scene.work);
  if (!door)
    return tl::make_unexpected(door.error());
  auto books = open_books(scene);
  if (!books)
    return tl::make_unexpected(books.error());
  if (auto ok =
        actors::begin_lines(**books, *scene.work.blocks, scene.work.initial);
      !ok)
    return ok;
  if (auto ok = (*door)->open_book(scene.x, scene.work, scene.folder, true);
      !ok)
    return ok;
  auto& board = *scene.board;
  auto told = (*door)->begin(scene.x, scene.work, [&](const std::string& x) {
    board.cpu_before = seconds(process_cpu_time());
    board.address.tell(x);
  });
  if (!told)
    return tl::make_unexpected(told.error());
  auto done = run_federation({.x = scene.x,
                              .work = scene.work,
                              .books = *books,
                              .watching = watcher_of(scene),
                              .counted = std::make_shared<actors::traffic>(),
                              .stop = &board.stop,
                              .serves = door->get(),
                              .elapsed = (*door)->elapsed(),
                              .reception = std::move(*told)});
  board.bytes_in = (*door)->counts().bytes_in.load();
  board.bytes_out = (*door)->counts().bytes_out.load();
  return done;
}

result<void> take_part(const served_scene& scene, std::uint32_t clients) {
  const auto address = scene.board->address.get();
  if (!address)
    return tl::make_unexpected(address.error());
  join_context in;
  in.address = *address;
  in.clients = clients;
  in.store = scene.on_disk ? (scene.folder / "clients").string() : "";
  in.make_work = [&](const experiment&) -> result<workload> {
    return scene.work;
  };
  const auto how = join(in);
  if (how.how != join_summary::end::finished)
    return fail(errc::invalid_config, how.why);
  return {};
}

} // namespace troupe::node
