#include "node/run/federation.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "actors/client/link.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "node/run/herald.hpp"
#include "node/run/home_states.hpp"
#include "node/run/patient_store.hpp"
#include "node/run/plan.hpp"
#include "node/run/virtual_loop.hpp"

namespace troupe::node {

using namespace actors;

namespace {

/// A node that breaks again and again will not be better the next time.
constexpr std::uint64_t breaks_max = 3;

/// The actors of a run, and how they begin and end.
class stage {
public:
  stage(const federation& f, caf::actor_system& system)
    : f_(f),
      system_(system),
      hub_(std::make_shared<in_process_hub>()) {
    // nop
  }

  result<void> set_up(std::shared_ptr<workshop> jobs,
                      caf::actor_clock::time_point started) {
    auto evaluator = f_.work.make_trainer();
    auto counter = f_.work.make_trainer();
    auto arithmetic = kernels::make_backend({});
    if (!evaluator)
      return tl::make_unexpected(evaluator.error());
    if (!counter)
      return tl::make_unexpected(counter.error());
    if (!arithmetic)
      return tl::make_unexpected(arithmetic.error());
    if (simulated())
      hub_->hold();
    auto files = std::make_shared<memory_vault>();
    auto args = plan_of(f_.x, f_.work);
    args.books = f_.books;
    args.arithmetic = std::move(*arithmetic);
    args.jobs =
      std::make_shared<watched_workshop>(std::move(jobs), f_.watching);
    args.evaluator =
      std::make_shared<home_states>(std::move(*evaluator), files);
    args.watching = std::make_shared<herald>(f_.watching, heard_);
    args.network = hub_->server_side();
    args.counted = f_.counted;
    args.resumed = [this, from = f_.resumed]() mutable {
      goes_on_ = from != nullptr;
      return std::exchange(from, nullptr);
    };
    // At first clients come by themselves, or have their sessions; a node that
    // begins again greets them.
    args.peers = [this] {
      return std::exchange(begun_, true) && !goes_on_
               ? peers_
               : std::vector<transport::peer_id>{};
    };
    for (std::uint64_t k = 1; k <= f_.x.clients.invitable(); ++k)
      peers_.push_back({k});
    args.started_as = [this](const cast& x) { bind(x); };
    args.started = started;
    // Merges and commits take no simulated time. CAF keeps the timer of a
    // request until it would have fired: these are to be few.
    if (simulated())
      args.merge_timeout = args.commit_timeout = std::chrono::seconds{1};
    worker_ = start_worker(system_, args);
    node_ = start_node(system_, args, [this](const std::string& why) {
      if (++breaks_ > breaks_max)
        f_.watching->fail("the node broke again and again: " + why);
    });
    if (!simulated())
      wait_for_node();
    start_clients(started, std::move(files), std::move(*counter));
    return {};
  }

  /// Says once that the run is to end, as soon as there is somebody to hear it.
  void obey() {
    if (told_ || !f_.stop || !*f_.stop)
      return;
    const std::lock_guard guard{mutex_};
    if (cast_.director) {
      caf::anon_send(cast_.director, messages::stop_requested{"interrupted"});
      told_ = true;
    }
  }

  /// Under the virtual clock: lets clients hear what the node said.
  bool release() {
    return hub_->release();
  }

  /// Has everybody add its state. @pre no mail is under way
  void ask_for_state(const std::shared_ptr<snapshot_draft>& draft) {
    const messages::state_asked question{draft};
    caf::anon_send(cast_.gateway, question);
    caf::anon_send(cast_.roster, question);
    caf::anon_send(cast_.director, question);
    caf::anon_send(cast_.router, question);
    for (const auto& [id, client] : clients_)
      caf::anon_send(client, question);
    caf::anon_send(heard_->who, question);
  }

  /// Has everybody say where it stands, if somebody wants to know.
  void answer() {
    const auto draft = f_.desk ? f_.desk->asked() : nullptr;
    const std::lock_guard guard{mutex_};
    if (!draft || !cast_.director)
      return;
    const messages::status_asked question{draft};
    caf::anon_send(cast_.director, question);
    caf::anon_send(cast_.router, question);
    caf::anon_send(cast_.gateway, question);
  }

  /// Lets all actors end; they are gone when their mail is delivered.
  void close() {
    hub_->close();
    caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
    for (const auto& [id, client] : clients_)
      caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
    {
      const std::lock_guard guard{heard_->mutex};
      if (heard_->who)
        caf::anon_send_exit(heard_->who, caf::exit_reason::user_shutdown);
      heard_->who = nullptr;
    }
    const std::lock_guard guard{mutex_};
    cast_ = {};
    node_ = nullptr;
    worker_ = nullptr;
    clients_.clear();
  }

private:
  void bind(const cast& x) {
    hub_->bind(x.gateway);
    const std::lock_guard guard{mutex_};
    cast_ = x;
    bound_.notify_all();
  }

  // What is said to nobody is lost. Under the virtual clock the node is first
  // in line.
  void wait_for_node() {
    std::unique_lock guard{mutex_};
    bound_.wait(guard, [this] { return cast_.director != nullptr; });
  }

  bool simulated() const {
    return f_.x.clock == clock_kind::virtual_time;
  }

  void start_clients(caf::actor_clock::time_point started,
                     std::shared_ptr<vault> files,
                     std::shared_ptr<models::trainer> counter) {
    std::function<instant(const models::visit_input&)> duration;
    if (simulated())
      duration = durations_of(f_.x, f_.work, std::move(counter));
    const auto there = policies::presence{f_.work.life}.at_first();
    for (std::uint64_t k = 1; k <= f_.x.clients.invitable(); ++k) {
      auto args = client_of(f_.x, f_.work, {k});
      args.network = hub_->client_side({k});
      args.files = files;
      args.worker = worker_;
      args.started = started;
      args.duration = duration;
      args.drops_out = drop_outs_of(f_.x);
      args.absent = !there.contains({k});
      args.resumed = f_.resumed;
      auto client = start_client(system_, std::move(args));
      hub_->connect({k}, client);
      clients_.emplace(client_id{k}, std::move(client));
    }
    auto world = start_world(system_, world_args{.options = f_.work.life,
                                                 .clients = clients_,
                                                 .lead = f_.work.blocks->lead(),
                                                 .started = started,
                                                 .resumed = f_.resumed});
    const std::lock_guard guard{heard_->mutex};
    heard_->who = std::move(world);
  }

  const federation& f_;
  caf::actor_system& system_;
  std::shared_ptr<in_process_hub> hub_;
  std::vector<transport::peer_id> peers_;
  kernel_worker_actor worker_;
  caf::actor node_;
  std::map<client_id, client_actor> clients_;
  std::shared_ptr<world_place> heard_ = std::make_shared<world_place>();
  bool begun_ = false;
  bool goes_on_ = false;
  bool told_ = false;
  std::uint64_t breaks_ = 0;
  std::mutex mutex_;
  std::condition_variable bound_;
  cast cast_;
};

std::string stall_text(const virtual_loop& loop) {
  return "the run stands still at " + std::to_string(seconds(loop.now()))
         + " s: no client is at work, and nothing is due that could change "
           "that";
}

constexpr const char* clock_part = "clock";

/// Takes snapshots of a simulated run, now and then.
class keeper {
public:
  keeper(const federation& f, stage& on) : f_(f), on_(on) {
    // nop
  }

  void consider(virtual_loop& loop) {
    const auto began = steady_now();
    if (!f_.add_to_snapshot || f_.watching->over() || began < next_)
      return;
    const auto draft = std::make_shared<snapshot_draft>();
    on_.ask_for_state(draft);
    loop.settle();
    draft->add(clock_part, loop.now());
    f_.add_to_snapshot(*draft);
    // One that could not be stored costs time after a crash, and no result.
    if (!draft->refused())
      (void)f_.books->keep(draft->taken());
    // At most a tenth of the time, however often they are wanted.
    const auto ended = steady_now();
    if (f_.desk)
      f_.desk->kept(seconds(ended - began));
    next_ = ended + std::max(interval(), 9 * (ended - began));
  }

private:
  instant interval() const {
    return from_seconds(f_.x.snapshot_seconds);
  }

  const federation& f_;
  stage& on_;
  instant next_ = steady_now() + interval();
};

constexpr std::chrono::milliseconds storage_pause{1000};
constexpr std::chrono::milliseconds glance{50};

/// Waits for room on the disk, unless the run is to end.
bool await_storage(const federation& f, const error& refused) {
  if (f.watching->over())
    return false;
  const auto until = steady_now() + storage_pause;
  if (f.desk)
    f.desk->hold(refused.context);
  while (steady_now() < until) {
    if (f.stop && *f.stop) {
      f.watching->fail("it was interrupted while it could not store what came "
                       "next: "
                       + refused.context);
      return false;
    }
    std::this_thread::sleep_for(glance);
  }
  if (f.desk)
    f.desk->hold({});
  return true;
}

std::shared_ptr<store> patient(const federation& f,
                               patient_store::waiting what) {
  return std::make_shared<patient_store>(
    f.books, what,
    [&f](const error& refused) { return await_storage(f, refused); });
}

result<void> run_virtual(federation f, const std::shared_ptr<crew>& workers) {
  f.books = patient(f, patient_store::waiting::for_all);
  caf::actor_system_config config;
  use_virtual_time(config);
  caf::actor_system system{config};
  auto jobs = std::make_shared<due_workshop>(workers);
  stage on{f, system};
  keeper keeps{f, on};
  instant begin_at{};
  if (f.resumed)
    restore(*f.resumed, clock_part, begin_at);
  virtual_loop* running = nullptr;
  virtual_loop loop{system,
                    *jobs,
                    {.begin_at = begin_at,
                     .release = [&] { return on.release(); },
                     .at_rest =
                       [&] {
                         keeps.consider(*running);
                         on.answer();
                         running->settle();
                       }}};
  running = &loop;
  auto ready = on.set_up(jobs, loop.started());
  if (ready) {
    const auto over = [&] {
      on.obey();
      return f.watching->over();
    };
    if (loop.run(over) == virtual_loop::outcome::stalled)
      f.watching->fail(stall_text(loop));
    on.close();
  }
  loop.settle();
  workers->dismiss();
  return ready;
}

result<std::shared_ptr<workshop>>
prompt_jobs(const federation& f, const std::shared_ptr<crew>& workers) {
  if (!f.inline_work)
    return std::make_shared<prompt_workshop>(workers);
  auto own = f.work.make_trainer();
  if (!own)
    return tl::make_unexpected(own.error());
  return std::make_shared<inline_workshop>(std::move(*own));
}

result<void> run_wall(federation f, const std::shared_ptr<crew>& workers) {
  f.books = patient(f, patient_store::waiting::for_lines);
  auto jobs = prompt_jobs(f, workers);
  if (!jobs)
    return tl::make_unexpected(jobs.error());
  caf::actor_system_config config;
  config.set("scheduler.max-threads",
             std::max(2u, std::thread::hardware_concurrency()));
  caf::actor_system system{config};
  stage on{f, system};
  auto ready = on.set_up(std::move(*jobs), system.clock().now());
  if (ready) {
    do {
      on.obey();
      on.answer();
    } while (!f.watching->wait(std::chrono::milliseconds{50}));
    on.close();
  }
  system.await_all_actors_done();
  workers->dismiss();
  return ready;
}

} // namespace

result<void> run_federation(const federation& f) {
  auto hired = crew::hire(worker_count(f.x), f.work.make_trainer);
  if (!hired)
    return tl::make_unexpected(hired.error());
  const std::shared_ptr<crew> workers{std::move(*hired)};
  if (f.desk)
    f.desk->watch(workers);
  return f.x.clock == clock_kind::virtual_time ? run_virtual(f, workers)
                                               : run_wall(f, workers);
}

} // namespace troupe::node
