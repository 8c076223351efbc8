#include "node/join/join.hpp"

#include <thread>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/send.hpp>

#include "actors/client/socket_hubs.hpp"
#include "actors/client_store/disk_vault.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "actors/wiring_of_clients.hpp"
#include "core/hex.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "node/config/config.hpp"
#include "node/join/admission.hpp"
#include "node/join/farewells.hpp"
#include "node/join/inquiry.hpp"
#include "node/join/lookout.hpp"
#include "node/join/store.hpp"
#include "node/run/rules.hpp"
#include "node/run/serving.hpp"

namespace troupe::node {

using namespace actors;
using end = join_summary::end;
using messages::parting;

namespace {

/// What a client says without an answer is said again after so long.
constexpr std::chrono::seconds resend_after{10};
constexpr std::chrono::milliseconds glance{20};
constexpr double patience_with_another = 5; ///< Seconds.
constexpr std::chrono::seconds drain_max{2};

/// From files, and not made.
bool is_read(const data_options& x) {
  return x.kind != data_options::format::synthetic && !x.has_own_model();
}

/// A process with clients, from its first word to its last.
class visit_of_process {
public:
  visit_of_process(const join_context& in, lookout& seen)
    : in_(in),
      seen_(seen) {
    // nop
  }

  ~visit_of_process() {
    if (socket_)
      socket_->close();
  }

  visit_of_process(const visit_of_process&) = delete;
  visit_of_process& operator=(const visit_of_process&) = delete;

  join_summary perform() {
    using step = problem (visit_of_process::*)();
    for (const step next :
         {&visit_of_process::dial, &visit_of_process::learn_terms,
          &visit_of_process::make_work, &visit_of_process::get_places,
          &visit_of_process::open_store})
      if (auto wrong = (this->*next)())
        return *wrong;
    return take_part();
  }

  /// It ended since another run is served there now.
  bool is_elsewhere() const {
    return is_elsewhere_;
  }

private:
  using problem = std::optional<join_summary>;

  void say(const std::string& line) const {
    if (in_.say)
      in_.say(line);
  }

  bool is_stopped() const {
    return in_.stop && *in_.stop;
  }

  problem dial() {
    transport::socket_endpoint::options x;
    if (auto wrong = door_.prepare(x))
      return wrong;
    x.address = in_.address;
    // Before its terms nobody knows what a run says.
    x.bytes_max = [this](std::uint16_t kind) {
      const std::lock_guard guard{mutex_};
      return bytes_max_ ? bytes_max_(kind) : std::uint64_t{1} << 20;
    };
    x.instance = drawn_number();
    x.arrived = [hub = hub_](transport::frame_arrived what) {
      hub->arrived(std::move(what));
    };
    // Another one may serve another run.
    x.met_again = [this](bool another) {
      seen_.server_away(false);
      if (another)
        met_another_ = true;
      else
        hub_->say_hello();
    };
    x.connection = [seen = &seen_](bool there) {
      seen->connected().is(there, unix_milliseconds());
    };
    auto socket = transport::socket_endpoint::dial(std::move(x));
    if (!socket)
      return ended(end::unreachable, socket.error().context,
                   "an address is as in tcp://127.0.0.1:7700");
    socket_ = std::move(*socket);
    seen_.watch(socket_);
    hub_->use(socket_);
    hub_->listen([this](const messages::any_message& y) {
      asked_.heard(y);
      if (const auto* gone = std::get_if<messages::process_parted>(&y))
        server_parts(*gone);
      // To the process: to all of its clients.
      if (std::holds_alternative<messages::farewell>(y))
        hub_->say_hello();
    });
    return std::nullopt;
  }

  problem learn_terms() {
    auto found = asked_.ask<messages::terms_given>(
      *socket_, messages::terms_asked{},
      {.seconds = in_.wait, .stop = in_.stop, .away = &door_.refused()});
    if (!found)
      return door_.no_answer();
    if (found->protocol != messages::protocol_version)
      return ended(end::misfit, "the server speaks another protocol; ours is "
                                  + std::to_string(messages::protocol_version));
    terms_ = std::move(*found);
    return std::nullopt;
  }

  problem make_work() {
    seen_.at(lookout::step::making);
    std::string text;
    for (const auto& line : terms_.config)
      text += line + '\n';
    std::vector<std::string> changes;
    if (!in_.data.empty())
      changes.push_back("data.path=" + in_.data);
    if (!in_.model.empty())
      changes.push_back("model.path=" + in_.model);
    auto loaded = parse_config({text, "the server's terms"}, changes);
    if (!loaded)
      return ended(end::misfit, loaded.error().context,
                   "another build of troupe may have written them");
    x_ = for_clients(std::move(loaded->x));
    if (is_read(x_.data) && in_.data.empty())
      return ended(end::data, "this run has data of its own",
                   "--data PATH says where this machine has it");
    if (!x_.model.path.empty() && in_.model.empty())
      return ended(end::misfit, "this run has a scripted model",
                   "--model PATH says where this machine has it");
    auto work = in_.make_work ? in_.make_work(x_) : prepare(x_, in_.make_model);
    if (!work)
      return ended(work.error().code == errc::invalid_data
                       || work.error().code == errc::storage_failure
                     ? end::data
                     : end::misfit,
                   work.error().context);
    work_ = std::move(*work);
    const auto data =
      work_.data_digest ? work_.data_digest() : models::digest{};
    if (data != terms_.data)
      return ended(
        end::data,
        (in_.data.empty() ? "the data made here" : "what is at " + in_.data)
          + " is not what the run learns from: its digest is "
          + to_hex(data).substr(0, 8) + ", the run's "
          + to_hex(terms_.data).substr(0, 8));
    if (work_.blocks->fingerprint() != terms_.layout)
      return ended(end::misfit, "this model has other blocks than the run's");
    const std::lock_guard guard{mutex_};
    bytes_max_ = message_bytes_max(*work_.blocks);
    return std::nullopt;
  }

  problem get_places() {
    seen_.at(lookout::step::beginning);
    messages::places_asked what;
    draw_secret(what.store);
    if (!in_.store.empty()) {
      const auto store = store_id_of(in_.store);
      if (!store)
        return ended(end::failed, store.error().context);
      what.store = *store;
    }
    what.count = in_.clients;
    auto found = asked_.ask<messages::places_given>(
      *socket_, what,
      {.seconds = in_.wait, .stop = in_.stop, .away = &door_.refused()});
    if (!found)
      return door_.no_answer();
    if (found->clients.empty())
      return ended(end::refused, found->why,
                   "--virtual asks for fewer; another process may have them");
    for (const auto who : found->clients)
      if (who.value < 1 || who.value > x_.clients.invitable())
        return ended(end::misfit, "the server gives clients that the run has "
                                  "not");
    mine_ = std::move(found->clients);
    return std::nullopt;
  }

  problem open_store() {
    if (in_.store.empty()) {
      files_ = std::make_shared<memory_vault>();
      return std::nullopt;
    }
    disk_vault::options how;
    how.say = in_.say;
    auto made = disk_vault::open(in_.store, to_hex(terms_.run), std::move(how));
    if (!made)
      return ended(end::failed, made.error().context);
    files_ = std::move(*made);
    return std::nullopt;
  }

  join_summary take_part() {
    if (in_.workers > 0)
      x_.workers = in_.workers;
    auto hired = crew::hire(worker_count(x_), work_.make_trainer);
    if (!hired)
      return ended(end::misfit, hired.error().context);
    const std::shared_ptr<crew> workers{std::move(*hired)};
    seen_.watch(workers, mine_.size());
    seen_.at(lookout::step::taking_part);
    say("joined with " + std::to_string(mine_.size()) + " of the run's "
        + std::to_string(x_.clients.invitable())
        + " clients: " + std::to_string(mine_.front().value) + " to "
        + std::to_string(mine_.back().value));
    caf::actor_system_config config;
    config.set("scheduler.max-threads",
               std::max(2u, std::thread::hardware_concurrency()));
    caf::actor_system system{config};
    start(system, workers);
    auto how = wait_for_end();
    if (door_.refused())
      how = door_.no_answer();
    how.clients = mine_.size();
    close();
    system.await_all_actors_done();
    workers->dismiss();
    const bool over = how.how == end::finished;
    socket_->send({}, messages::process_parted{
                        over ? parting::over : parting::for_now, how.why});
    socket_->drain(drain_max);
    return how;
  }

  join_summary wait_for_end() {
    while (!is_stopped() && !is_elsewhere_ && !door_.refused()) {
      if (heard_->count() >= mine_.size())
        return conclude(heard_->worst());
      if (const auto why = heard_->run_is_over())
        return ended(end::finished, *why);
      if (server_parted_.exchange(false))
        say("the server ends for now; these clients wait for it");
      if (met_another_.exchange(false))
        greet_another();
      if (const auto news = seen_.connected().take_news())
        say(*news);
      std::this_thread::sleep_for(glance);
    }
    return ended(end::interrupted, "interrupted");
  }

  /// Whoever serves now is asked what before it hears of these clients.
  void greet_another() {
    auto found =
      asked_.ask<messages::terms_given>(*socket_, messages::terms_asked{},
                                        {.seconds = patience_with_another,
                                         .stop = in_.stop,
                                         .away = &door_.refused()});
    if (!found)
      met_another_ = true;
    else if (found->run == terms_.run)
      hub_->say_hello();
    else
      is_elsewhere_ = true;
  }

  void server_parts(const messages::process_parted& x) {
    if (x.what == parting::over)
      return heard_->hear_the_end(x.text);
    seen_.server_away(true);
    server_parted_ = true;
  }

  void start(caf::actor_system& system, const std::shared_ptr<crew>& workers) {
    worker_ = start_worker(system, std::make_shared<prompt_workshop>(workers));
    const auto now = system.clock().now();
    for (const auto who : mine_) {
      auto options = talk_of(x_, work_, who);
      options.resend_after = resend_after;
      options.beat_every = beat_every;
      options.beat_seed = derive_seed(x_.seed, "client", who.value);
      options.cache = true;
      options.run = terms_.run;
      client_args args;
      args.options = std::move(options);
      args.network = hub_->client_side(who);
      args.files = files_;
      args.worker = worker_;
      args.started = now;
      args.left = [heard = heard_](client_id, const messages::farewell& x) {
        heard->hear(x);
      };
      auto client = start_client(system, std::move(args));
      hub_->connect(who, client);
      all_.push_back(std::move(client));
    }
  }

  void close() {
    hub_->close();
    for (const auto& client : all_)
      caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
    all_.clear();
    caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
    worker_ = nullptr;
  }

  const join_context& in_;
  lookout& seen_;
  admission door_{in_};
  inquiry asked_;
  std::shared_ptr<client_socket_hub> hub_ =
    std::make_shared<client_socket_hub>();
  std::shared_ptr<farewells> heard_ = std::make_shared<farewells>();
  std::mutex mutex_;
  std::function<std::uint64_t(std::uint16_t)> bytes_max_;
  std::shared_ptr<transport::socket_endpoint> socket_;
  messages::terms_given terms_;
  experiment x_;
  workload work_;
  std::vector<client_id> mine_;
  std::shared_ptr<vault> files_;
  kernel_worker_actor worker_;
  std::vector<client_actor> all_;
  std::atomic<bool> met_another_{false};
  std::atomic<bool> server_parted_{false}; ///< For now.
  bool is_elsewhere_ = false;              ///< Another run is served there.
};

} // namespace

join_summary join(const join_context& in) {
  lookout seen{in};
  for (;;) {
    seen.at(lookout::step::looking);
    visit_of_process visit{in, seen};
    auto out = visit.perform();
    if (!visit.is_elsewhere()) {
      seen.ended(out.why);
      return out;
    }
    if (in.say)
      in.say("another run is served there now");
  }
}

} // namespace troupe::node
