#include "node/run/server.hpp"

#include <chrono>
#include <utility>

#include <caf/send.hpp>

#include "kernels/backend.hpp"
#include "node/run/home_states.hpp"
#include "node/run/plan.hpp"
#include "node/run/rules.hpp"

namespace troupe::node {

using namespace actors;

namespace {

/// A node that breaks more often within this, or cannot be made, is not mended
/// by beginning again.
constexpr std::size_t breaks_max = 3;
constexpr std::chrono::minutes breaks_within{10};

} // namespace

server::server(const federation& f, caf::actor_system& system)
  : f_(f),
    system_(system) {
  // nop
}

result<void> server::start(neighbours in) {
  auto trainer = f_.work.make_trainer();
  auto arithmetic = kernels::make_backend({});
  if (!trainer)
    return tl::make_unexpected(trainer.error());
  if (!arithmetic)
    return tl::make_unexpected(arithmetic.error());
  auto args =
    f_.serves ? plan_from_afar(f_.x, f_.work) : plan_of(f_.x, f_.work);
  args.books = f_.books;
  args.arithmetic = std::move(*arithmetic);
  args.evaluator =
    std::make_shared<home_states>(std::move(*trainer), std::move(in.files));
  args.watching = std::move(in.watching);
  args.asked = f_.asked;
  args.network = in.hub->server_side();
  args.counted = f_.counted;
  args.resumed = [from = f_.resumed]() mutable {
    return std::exchange(from, nullptr);
  };
  args.found = [from = f_.found]() mutable {
    return std::exchange(from, nullptr);
  };
  args.started_as = [this, hub = std::move(in.hub)](const cast& x) {
    hub->bind(x.gateway);
    if (f_.desk)
      f_.desk->whole();
    const std::lock_guard guard{mutex_};
    cast_ = x;
    told_ = false; // The one before may have broken before it did so.
    for (const auto client : denied_)
      tell_denied(client);
    bound_.notify_all();
  };
  args.started = in.started;
  args.keeps = std::move(in.keeps);
  if (f_.serves)
    serve_others(args);
  // Merges and commits take no simulated time. CAF keeps the timer of a request
  // until it would have fired: these are to be few.
  if (is_virtual(f_.x))
    args.waits.merge = args.waits.store = std::chrono::seconds{1};
  node_ = start_node(system_, args, [this](const std::string& why) {
    const auto now = steady_now();
    std::erase_if(breaks_, [=](instant x) { return x < now - breaks_within; });
    breaks_.push_back(now);
    if (f_.desk)
      f_.desk->broke(why);
    if (breaks_.size() > breaks_max)
      f_.watching->fail(
        as_it_ends(f_, "the node broke again and again: " + why));
  });
  if (!is_virtual(f_.x))
    wait_for_node();
  return {};
}

void server::serve_others(node_args& args) const {
  args.attendance.run = f_.serves->run();
  args.may_speak = f_.serves->may_speak();
  args.processes = {
    .of = [](peer_id x) { return process_of(link_of(x)); },
    .here = [serves = f_.serves] { return serves->here(); },
    .spoke = [serves =
                f_.serves](instant lately) { return serves->spoke(lately); }};
  args.first_question = drawn_number;
  args.refused = f_.serves->refused();
  args.tickets = f_.serves->tickets();
  args.offered = [to = f_.watching](visit_id x, double loss) {
    to->offered(x, loss);
  };
}

// What is said to nobody is lost. Under the virtual clock the node is first in
// line. One that cannot be made is given up, or somebody has enough of it.
void server::wait_for_node() {
  constexpr std::chrono::milliseconds glance{50};
  std::unique_lock guard{mutex_};
  while (!cast_.director && !f_.watching->over() && !(f_.stop && *f_.stop))
    bound_.wait_for(guard, glance);
}

void server::obey() {
  const bool full = *f_.record_full;
  const bool ordered = f_.serves && f_.serves->stop_wanted();
  if (!full && !ordered && (!f_.stop || !*f_.stop))
    return;
  const std::lock_guard guard{mutex_};
  if (cast_.director && !told_) {
    caf::anon_send(cast_.director,
                   messages::stop_requested{full      ? record_full_text
                                            : ordered ? ordered_text
                                                      : interrupted_text});
    told_ = true;
  }
}

void server::look_after_keys() {
  if (!f_.serves)
    return;
  f_.serves->look_after_pair();
  const std::lock_guard guard{mutex_};
  if (!cast_.director)
    return;
  for (const auto client : f_.serves->newly_denied()) {
    denied_.insert(client);
    tell_denied(client);
  }
}

// It tells the others.
void server::tell_denied(client_id x) {
  caf::anon_send(cast_.gateway,
                 messages::client_left{.client = x, .said = true});
}

void server::ask_for_state(const std::shared_ptr<snapshot_draft>& draft) {
  const messages::state_asked question{draft};
  caf::anon_send(cast_.gateway, question);
  caf::anon_send(cast_.roster, question);
  caf::anon_send(cast_.director, question);
  caf::anon_send(cast_.router, question);
}

void server::answer(const std::shared_ptr<status_draft>& draft) {
  questions_.ask(node_, draft);
  const std::lock_guard guard{mutex_};
  if (!cast_.director)
    return;
  questions_.ask(cast_.director, draft);
  questions_.ask(cast_.router, draft);
  questions_.ask(cast_.gateway, draft);
  questions_.ask(cast_.roster, draft);
  questions_.ask(cast_.publisher, draft);
  questions_.ask(cast_.archivist, draft);
  questions_.ask(cast_.merger, draft);
  questions_.ask(cast_.evaluator, draft);
}

void server::heard(const messages::scores_heard& x) {
  const std::lock_guard guard{mutex_};
  if (cast_.assessor)
    caf::anon_send(cast_.assessor, x);
}

void server::close() {
  caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
  node_ = nullptr;
  const std::lock_guard guard{mutex_};
  cast_ = {};
}

} // namespace troupe::node
