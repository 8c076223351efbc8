#include "node/run/federation.hpp"

#include <algorithm>
#include <thread>

#include "actors/client/link.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "actors/wiring_of_clients.hpp"
#include "actors/wiring_of_serving.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "node/run/clients.hpp"
#include "node/run/patient_store.hpp"
#include "node/run/rules.hpp"
#include "node/run/server.hpp"
#include "node/run/virtual_loop.hpp"

namespace troupe::node {

using namespace actors;

namespace {

patient_keeper keeper_of_offers(const federation& f);

/// The actors of a run, and how they begin and end: a server, clients, and the
/// worker that they are at home on.
class stage {
public:
  stage(const federation& f, caf::actor_system& system)
    : f_(f),
      system_(system),
      server_(f, system),
      clients_(f, system) {
    // nop
  }

  result<void> set_up(std::shared_ptr<workshop> jobs,
                      caf::actor_clock::time_point started) {
    if (is_virtual(f_.x))
      hub_->hold();
    const auto files = f_.files ? f_.files : std::make_shared<memory_vault>();
    const auto heard = std::make_shared<world_place>();
    auto ready =
      server_
        .start({.hub = server_side(),
                .files = f_.serves ? nullptr : files,
                .watching = std::make_shared<herald>(f_.watching, heard),
                .started = started,
                .keeps = keeper_of_offers(f_)})
        .and_then([&]() -> result<void> {
          if (f_.serves) {
            auto desk = *f_.reception;
            desk.scored = [this](const messages::scores_heard& x) {
              server_.heard(x);
            };
            reception_ = start_reception(system_, std::move(desk));
            f_.serves->hub()->bind(reception_);
            return {};
          }
          worker_ = start_worker(system_, std::make_shared<watched_workshop>(
                                            std::move(jobs), f_.watching));
          return clients_.start({.hub = client_side(),
                                 .files = files,
                                 .heard = heard,
                                 .worker = worker_,
                                 .started = started});
        });
    if (!ready)
      close();
    return ready;
  }

  /// Says to each node once that the run is to end.
  void obey() {
    server_.obey();
    server_.look_after_keys();
  }

  /// Under the virtual clock: lets clients hear what the node said.
  bool release() {
    return hub_->release();
  }

  /// Has everybody add its state. @pre no mail is under way
  void ask_for_state(const std::shared_ptr<snapshot_draft>& draft) {
    server_.ask_for_state(draft);
    clients_.ask_for_state(draft);
  }

  /// Has everybody say where it stands, if somebody wants to know.
  void answer() {
    const auto draft = f_.desk ? f_.desk->asked() : nullptr;
    if (!draft)
      return;
    server_.answer(draft);
    clients_.answer(draft);
    questions_.ask(worker_, draft);
    questions_.ask(reception_, draft);
  }

  /// The same, whether or not somebody has asked.
  void answer_last() {
    if (f_.desk)
      (void)f_.desk->want();
    answer();
  }

  /// Lets all actors end; they are gone when their mail is delivered.
  void close() {
    server_side()->close();
    client_side()->close();
    server_.close();
    if (worker_)
      caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
    worker_ = nullptr;
    reception_ = nullptr; // Its hub has ended it.
    clients_.close();
  }

private:
  std::shared_ptr<server_hub> server_side() const {
    if (f_.serves)
      return f_.serves->hub();
    return f_.server_side ? f_.server_side : hub_;
  }

  std::shared_ptr<client_hub> client_side() const {
    return f_.client_side ? f_.client_side : hub_;
  }

  const federation& f_;
  caf::actor_system& system_;
  std::shared_ptr<in_process_hub> hub_ = std::make_shared<in_process_hub>();
  patient_questions questions_;
  kernel_worker_actor worker_;
  reception_actor reception_; ///< Null where clients are of this process.
  server server_;
  clients clients_;
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
    if (steady_now() >= next_)
      (void)keep(loop);
  }

  /// One more, from which a run goes on that is ended in order. False: not yet.
  bool keep_last(virtual_loop& loop) {
    if (last_asked_ == instant{})
      last_asked_ = steady_now();
    // Whoever is not at rest for so long is not waited for.
    return keep(loop) || steady_now() - last_asked_ > std::chrono::seconds{1};
  }

private:
  /// False: somebody was in the middle of something.
  bool keep(virtual_loop& loop) {
    if (!f_.add_to_snapshot || f_.watching->over())
      return true;
    const auto began = steady_now();
    const auto draft = std::make_shared<snapshot_draft>();
    on_.ask_for_state(draft);
    loop.settle();
    draft->add(clock_part, loop.now());
    f_.add_to_snapshot(*draft);
    const bool whole = !draft->refused();
    // One that could not be stored costs time after a crash, and no result.
    const auto done = whole ? f_.books->keep(draft->taken()) : result<void>{};
    // At most a tenth of the time, however often they are wanted.
    const auto ended = steady_now();
    if (f_.desk && !done)
      f_.desk->not_kept(done.error().context);
    else if (f_.desk && whole)
      f_.desk->kept(seconds(ended - began));
    next_ = ended + std::max(interval(), 9 * (ended - began));
    return whole;
  }

  instant interval() const {
    return from_seconds(f_.x.snapshot_seconds);
  }

  const federation& f_;
  stage& on_;
  instant next_ = steady_now() + interval();
  instant last_asked_{};
};

constexpr std::chrono::milliseconds storage_pause{1000};
constexpr std::chrono::milliseconds federation_glance{50};

/// Waits for room on the disk, unless the run is to end.
bool await_storage(const federation& f, const error& refused) {
  if (f.watching->over())
    return false;
  if (refused.code != errc::storage_failure) { // It would be so for ever.
    f.watching->fail(as_it_ends(f, refused.context));
    return false;
  }
  const auto until = steady_now() + storage_pause;
  if (f.desk)
    f.desk->hold(refused.context);
  while (steady_now() < until) {
    if (f.stop && *f.stop) {
      f.watching->fail(std::string{interrupted_text}
                       + " while it could not store what came next: "
                       + refused.context);
      return false;
    }
    std::this_thread::sleep_for(federation_glance);
  }
  if (f.desk)
    f.desk->hold({});
  return true;
}

std::shared_ptr<store> patient(const federation& f,
                               patient_store::waiting what) {
  auto made =
    std::make_shared<patient_store>(f.books, what, [&f](const error& refused) {
      return await_storage(f, refused);
    });
  made->bound_events({.bytes = f.events_bytes,
                      .bytes_max = f.x.events_max << 20,
                      .reached = [full = f.record_full] { *full = true; }});
  return made;
}

patient_keeper keeper_of_offers(const federation& f) {
  if (is_virtual(f.x))
    return waits_for_room(f.keeps, [&f](const error& refused) {
      return await_storage(f, refused);
    });
  return leaves_it_to_clients(f.keeps, [&f](const error* refused) {
    if (refused && refused->code != errc::storage_failure)
      f.watching->fail(as_it_ends(f, refused->context)); // So for ever.
    else if (f.desk)
      f.desk->hold(refused ? refused->context : std::string{});
  });
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
                         if (*f.record_full)
                           on.obey();
                         else if (!f.stop || !*f.stop)
                           keeps.consider(*running);
                         else if (keeps.keep_last(*running))
                           on.obey();
                         on.answer();
                         running->settle();
                       }}};
  running = &loop;
  auto ready = on.set_up(jobs, loop.started());
  if (ready) {
    if (loop.run([&] { return f.watching->over(); })
        == virtual_loop::outcome::stalled)
      f.watching->fail(stall_text(loop));
    // What clients were told before the end is theirs.
    loop.settle();
    if (on.release())
      loop.settle();
    // Who looks last sees where all stand then.
    on.answer_last();
    loop.settle();
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

/// Where nobody wanted its end it is this process that failed, and not the run,
/// which another one goes on with.
result<void> see_off(const federation& f) {
  const auto reason = f.watching->report().finished->reason;
  const bool goes_on = reason.starts_with(interrupted_text);
  const bool is_stopped = f.stop && *f.stop;
  f.serves->see_off(goes_on || is_stopped ? messages::parting::for_now
                                          : messages::parting::over,
                    shortened(reason, limits::text_bytes_max / 2));
  if (goes_on && !is_stopped)
    return fail(errc::storage_failure, reason);
  return {};
}

/// @param workers null if clients are elsewhere
result<void> run_wall(federation f, const std::shared_ptr<crew>& workers) {
  f.books = patient(f, patient_store::waiting::for_lines);
  result<std::shared_ptr<workshop>> jobs;
  if (workers)
    jobs = prompt_jobs(f, workers);
  if (!jobs)
    return tl::make_unexpected(jobs.error());
  caf::actor_system_config config;
  config.set("scheduler.max-threads",
             std::max(2u, std::thread::hardware_concurrency()));
  if (f.serves) // Between frames nobody looks for work again and again.
    config.set("scheduler.policy", caf::atom("sharing"));
  caf::actor_system system{config};
  stage on{f, system};
  auto ready = on.set_up(std::move(*jobs), system.clock().now() - f.elapsed);
  if (ready) {
    do {
      // What is durable is all that it needs to go on, and clients find back.
      if (f.serves && f.stop && *f.stop)
        f.watching->fail(interrupted_text);
      else
        on.obey();
      on.answer();
    } while (!f.watching->wait(std::chrono::milliseconds{50}));
    if (f.serves)
      ready = see_off(f);
    on.close();
  }
  system.await_all_actors_done();
  if (workers)
    workers->dismiss();
  return ready;
}

} // namespace

std::string as_it_ends(const federation& f, const std::string& why) {
  const bool goes_on = f.serves && f.x.ledger == ledger_kind::disk;
  return (goes_on ? interrupted_text + std::string{": "} : std::string{}) + why;
}

result<void> run_federation(const federation& f) {
  if (f.serves) // Clients that are elsewhere are trained there.
    return run_wall(f, nullptr);
  auto hired = crew::hire(worker_count(f.x), f.work.make_trainer);
  if (!hired)
    return tl::make_unexpected(hired.error());
  const std::shared_ptr<crew> workers{std::move(*hired)};
  if (f.desk)
    f.desk->watch(workers);
  return is_virtual(f.x) ? run_virtual(f, workers) : run_wall(f, workers);
}

} // namespace troupe::node
