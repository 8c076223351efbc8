#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "actors/messages/assessment.hpp"
#include "models/trainer.hpp"
#include "tests/support/sim/sim_links.hpp"

namespace troupe::test {

/// What processes of simulated clients say when they are asked what versions
/// are worth to them: at once, late, never, twice, in part, or what cannot be;
/// and what an evaluation may make of it.
///
///   gateway ─ asked ─► process ─ heard ─► told ─► reception ─► assessor
///                                            audience ◄─ judged ─┘
class sim_homes {
public:
  struct parts {
    world& w;
    chances& luck;
    sim_links& links;
    std::function<bool(client_id)> is_gone; ///< It does not answer.
    models::trainer& evaluator;             ///< The server's own scores.
    instant wait;                           ///< That an evaluation has.
    std::uint64_t clients;                  ///< Of all processes.
  };

  sim_homes(parts x, std::uint64_t seed);

  /// The server asks a process.
  void asked(peer_id process, const messages::scores_asked& x);

  /// A process hears it.
  void heard(std::uint64_t process, const messages::scores_asked& x);

  /// What one says arrives.
  void told(const messages::scores_heard& x);

  /// What an evaluation comes to.
  void judge(const messages::evaluation_finished& x);

private:
  /// The last one; an evaluation that is done is of it.
  struct question {
    std::uint64_t number = 0;
    instant at;
    std::map<client_id, peer_id> clients;
    std::vector<messages::block_values> blocks;
    bool done = false;
  };

  /// What a process does with one.
  struct plan {
    std::uint64_t process = 0;
    std::uint64_t life = 0;
    std::uint32_t dialled = 0;
    messages::scores_asked what;
  };

  enum class lie : std::uint8_t {
    more_hits_than_rows,
    no_number,
    beyond_all_losses,
    rows_without_end,
    another_question,
    another_processes_client,
    nobodys_client,
    wrong_aside
  };
  static constexpr std::uint64_t lies = 8;

  void answer_after(instant delay, const plan& x,
                    std::function<void(const plan&)> how);
  bool still_there(const plan& x);
  void say_at_work(const plan& x, instant until);
  std::vector<messages::told_score> truth(const plan& x);
  void say(const plan& x, std::vector<messages::told_score> scores);
  void say_truth(const plan& x);
  void say_twice(const plan& x);
  void say_in_part(const plan& x);
  void say_a_lie(const plan& x);
  void judge(client_id who, const models::scores& x, bool aside) const;

  parts x_;
  random_stream draw_;
  std::optional<question> now_;
};

} // namespace troupe::test
