#include "node/join/join.hpp"

#include <thread>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/send.hpp>

#include "actors/client/socket_hubs.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "actors/wiring_of_clients.hpp"
#include "core/hex.hpp"
#include "node/config/policies_of.hpp"
#include "node/join/admission.hpp"
#include "node/join/farewells.hpp"
#include "node/join/frozen.hpp"
#include "node/join/home_desk.hpp"
#include "node/join/home_scores.hpp"
#include "node/join/inquiry.hpp"
#include "node/join/joined_task.hpp"
#include "node/join/lookout.hpp"
#include "node/join/places.hpp"
#include "node/join/store.hpp"
#include "node/join/task.hpp"
#include "node/join/visit_counts.hpp"
#include "node/run/patient_questions.hpp"
#include "node/run/rules.hpp"
#include "node/run/serving.hpp"

namespace troupe::node {

using namespace actors;
using end = join_summary::end;
using messages::parting;

namespace {

constexpr std::chrono::milliseconds glance{20};

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
    hub_->close(); // It has the socket, which tells it all.
  }

  visit_of_process(const visit_of_process&) = delete;
  visit_of_process& operator=(const visit_of_process&) = delete;

  join_summary perform() {
    using step = problem (visit_of_process::*)();
    for (const step next :
         {&visit_of_process::look_at_home, &visit_of_process::dial,
          &visit_of_process::learn_terms, &visit_of_process::look_at_data,
          &visit_of_process::open_store, &visit_of_process::get_places,
          &visit_of_process::make_task}) {
      auto wrong = (this->*next)();
      greet_another();
      if (wrong || is_elsewhere_)
        return parted(socket_, wrong.value_or(interrupted(in_)));
    }
    return parted(socket_, take_part());
  }

  /// It ended since another run is served there now.
  bool is_elsewhere() const {
    return is_elsewhere_;
  }

private:
  using problem = std::optional<join_summary>;

  void say(const std::string& line) const {
    if (in_.say && !line.empty())
      in_.say(line);
  }

  /// Of one client, with data of its own.
  bool is_named() const {
    return !in_.name.empty();
  }

  /// What is wrong here is said before anybody is asked.
  problem look_at_home() {
    if (auto wrong = has_data(in_))
      return wrong;
    const auto known = store_id_of(in_.store);
    if (!known)
      return ended(end::failed, known.error().context);
    store_ = *known;
    return std::nullopt;
  }

  inquiry::patience how_long() {
    return {.seconds = seen_.contact().seconds(),
            .stop = in_.stop,
            .away = &door_.refused(),
            .meanwhile = [this] { seen_.tell_news(); }};
  }

  asked_server server() {
    return {.in = in_,
            .terms = terms_,
            .asked = asked_,
            .network = *socket_,
            .how_long = how_long()};
  }

  problem dial() {
    transport::socket_endpoint::options x;
    if (auto wrong = door_.prepare(x, [this] { seen_.tell_news(); }))
      return wrong;
    x.address = in_.address;
    x.bytes_max = [this](std::uint16_t kind) { return desk_.bytes_max(kind); };
    x.instance = drawn_number();
    x.chunk_bytes = in_.chunk_bytes;
    x.arrived = [hub = hub_](transport::frame_arrived what) {
      hub->arrived(std::move(what));
    };
    // Another one may serve another run.
    x.met_again = [this](bool another) {
      seen_.server_away(false);
      if (!another)
        return hub_->say_hello();
      lines_->forget();
      another_.raise();
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
      if (const auto* about = std::get_if<messages::scores_asked>(&y))
        desk_.with_scores([&](auto& x) { x.hear(*about, steady_now()); });
      if (const auto* word = std::get_if<messages::farewell>(&y))
        heard_of_all(*word);
    });
    return std::nullopt;
  }

  problem learn_terms() {
    auto found = asked_.ask<messages::terms_given>(
      *socket_, messages::terms_asked{}, how_long());
    if (!found)
      return door_.no_answer();
    seen_.contact().is_made();
    if (found->protocol != messages::protocol_version)
      return ended(end::misfit, "the server speaks another protocol; ours is "
                                  + std::to_string(messages::protocol_version));
    terms_ = std::move(*found);
    return std::nullopt;
  }

  /// Whoever does not fit takes no place.
  problem look_at_data() {
    seen_.at(lookout::step::making);
    if (auto wrong = read_terms(in_, terms_, x_))
      return wrong;
    if (auto wrong = is_named() ? try_work(in_, terms_, x_, own_, work_)
                                : make_work(in_, terms_, x_, work_))
      return wrong;
    return get_frozen();
  }

  /// What a client with a name trains on follows from its number.
  problem make_task() {
    if (is_named() && !was_tried_as(x_, mine_.front())) {
      work_ = {};
      if (auto wrong = make_work(in_, terms_, x_, own_, mine_.front(), work_))
        return wrong;
      if (auto wrong = get_frozen())
        return wrong;
    }
    if (auto wrong =
          has_as_many_experts(in_, to_hex(terms_.run), work_, mine_, *files_))
      return wrong;
    desk_.learn(message_bytes_max(*work_.blocks));
    return std::nullopt;
  }

  problem get_places() {
    seen_.at(lookout::step::beginning);
    auto wrong = ask_for_places(server(), x_, store_, mine_);
    // Who has no answer may have clients all the same.
    if (!wrong || wrong->how != end::refused)
      seen_.made().stay();
    if (wrong && wrong->how == end::unreachable)
      return door_.no_answer();
    return wrong;
  }

  /// Before any place is asked for: who does not get the folder takes none.
  problem open_store() {
    seen_.made().opens(to_hex(terms_.run));
    auto made = open_vault(in_, to_hex(terms_.run), door_.own());
    if (!made)
      return ended(end::failed, made.error().context);
    if (const auto ok = keep_store_id(in_.store, store_); !ok)
      return ended(end::failed, ok.error().context);
    files_ = std::move(*made);
    seen_.watch(files_);
    return std::nullopt;
  }

  problem get_frozen() {
    auto wrong = settle_frozen(server(), work_);
    if (wrong && wrong->how == end::unreachable)
      return door_.no_answer();
    return wrong;
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
    keep_or_say({.in = in_,
                 .terms = terms_,
                 .clients = mine_,
                 .texts = own_.text ? own_.text->content() : models::digest{}});
    say(joined(in_, x_, work_, mine_, *files_));
    say(work_.left_out ? about_left_out(*work_.left_out) : "");
    caf::actor_system_config config;
    config.set("scheduler.max-threads",
               std::max(2u, std::thread::hardware_concurrency()));
    // Between frames nobody looks for work again and again.
    config.set("scheduler.policy", caf::atom("sharing"));
    caf::actor_system system{config};
    start(system, workers);
    auto how = wait_for_end();
    if (door_.refused())
      how = door_.no_answer();
    how.clients = mine_.size();
    visits_->tell(how);
    how.method_results = seen_.figures();
    close();
    system.await_all_actors_done();
    workers->dismiss();
    return how;
  }

  join_summary wait_for_end() {
    while (!(in_.stop && *in_.stop) && !is_elsewhere_ && !door_.refused()) {
      if (heard_->count() >= mine_.size())
        return conclude(heard_->worst());
      if (const auto why = heard_->run_is_over())
        return ended(end::finished, *why);
      if (server_parted_.exchange(false))
        say("the server ends for now; these clients wait for it");
      greet_another();
      seen_.tell_news();
      desk_.with_scores([](auto& x) { x.tell(steady_now()); });
      std::this_thread::sleep_for(glance);
    }
    return interrupted(in_);
  }

  /// Whoever serves now is asked what before it hears of these clients.
  void greet_another() {
    if (!another_.is_open())
      return;
    auto patience = how_long();
    patience.seconds = inquiry::seconds_with_another;
    const auto found = another_.ask(asked_, *socket_, patience);
    if (!found)
      return;
    is_elsewhere_ = found->run != terms_.run;
    if (!is_elsewhere_)
      hub_->say_hello();
  }

  /// To the process: to all of its clients.
  void heard_of_all(const messages::farewell& x) {
    if (x.reason == messages::farewell_reason::refused)
      door_.is_turned_out();
    else
      hub_->say_hello();
  }

  void server_parts(const messages::process_parted& x) {
    if (x.what == parting::over)
      return heard_->hear_the_end(x.text);
    seen_.server_away(true);
    server_parted_ = true;
  }

  void start(caf::actor_system& system, const std::shared_ptr<crew>& workers) {
    if (auto scorers = scorers_of(work_, mine_))
      desk_.open(std::make_unique<home_scores>(home_scores::options{
        .blocks = work_.blocks,
        .make_trainer = std::move(scorers),
        .mine = mine_,
        .files = files_,
        .network = socket_,
        .aside = watches_clients(x_.stop),
        .say = in_.say,
        .figures = [seen = &seen_](const auto& x) { seen->figures(x); }}));
    worker_ = start_worker(
      system, std::make_shared<counted_workshop>(
                std::make_shared<prompt_workshop>(workers), visits_));
    seen_.watch_mail(
      [worker = worker_, asked = std::make_shared<patient_questions>()](
        const std::shared_ptr<status_draft>& draft) {
        asked->ask(worker, draft);
      });
    const auto now = system.clock().now();
    for (const auto who : mine_) {
      client_args args;
      args.options = talk_from_afar(x_, work_, who, terms_.run, lines_);
      args.network = hub_->client_side(who);
      args.files = files_;
      args.worker = worker_;
      args.started = now;
      args.left = [heard = heard_](client_id, const messages::farewell& x) {
        heard->hear(x);
      };
      all_.push_back(
        start_client(system, std::move(args), [&](const client_actor& made) {
          hub_->connect(who, made);
        }));
    }
  }

  void close() {
    hub_->close();
    desk_.close();
    for (const auto& client : all_)
      caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
    all_.clear();
    seen_.watch_mail({});
    caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
    worker_ = nullptr;
  }

  const join_context& in_;
  lookout& seen_;
  admission door_{in_, seen_.contact()};
  inquiry asked_;
  std::shared_ptr<client_socket_hub> hub_ =
    std::make_shared<client_socket_hub>();
  std::shared_ptr<farewells> heard_ = std::make_shared<farewells>();
  home_desk desk_{bytes_max_before_terms};
  std::shared_ptr<transport::socket_endpoint> socket_;
  messages::store_id store_{}; ///< By which the server knows these clients.
  messages::terms_given terms_;
  experiment x_;
  own_data own_;
  workload work_;
  std::vector<client_id> mine_;
  std::shared_ptr<vault> files_;
  const std::shared_ptr<visit_counts> visits_ =
    std::make_shared<visit_counts>(in_.say);
  kernel_worker_actor worker_;
  std::vector<client_actor> all_;
  const std::shared_ptr<line_cache> lines_ = std::make_shared<line_cache>();
  open_question<messages::terms_given, messages::terms_asked> another_;
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
      seen.ended(out);
      return out;
    }
    if (in.say)
      in.say("another run is served there now");
  }
}

} // namespace troupe::node
