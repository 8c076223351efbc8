// A node whose clients score themselves, in processes of their own.

#include "actors/wiring_of_serving.hpp"
#include "tests/support/sim/sim_parts.hpp"

namespace troupe::test {

using namespace std::chrono_literals;

void sim_node::ask_at_home(std::uint64_t seed) {
  auto& p = *p_;
  auto& links = *p.network->links();
  p.scorer = p.how.make_trainer(*p.blocks);
  auto& a = p.args;
  a.score_clients = true;
  a.waits.scores = 8s;
  a.processes = {
    .of = [](peer_id x) { return actors::process_of(actors::link_of(x)); },
    .here = [&links] { return links.here(); },
    .spoke = [&links](instant lately) { return links.spoke(lately); }};
  a.first_question = [draw = random_stream{derive_seed(
                        seed, "questions")}]() mutable { return draw(); };
  p.homes.emplace(
    sim_homes::parts{.w = p.w,
                     .luck = p.luck,
                     .links = links,
                     .is_gone = [&p](auto who) { return p.dead.contains(who); },
                     .evaluator = *p.scorer,
                     .wait = a.waits.scores,
                     .clients = p.what.clients},
    seed);
  p.watching->scored = [&p](const auto& x) { p.homes->judge(x); };
  actors::reception_args door;
  door.network = p.network->server_side();
  door.scored = [&p](const messages::scores_heard& x) {
    p.homes->told(x);
    if (p.cast.assessor)
      caf::anon_send(p.cast.assessor, x);
  };
  p.reception = actors::start_reception(p.w.system(), std::move(door));
  links.bind(p.reception);
}

} // namespace troupe::test
