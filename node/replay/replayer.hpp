#pragma once

// Does again what a record says was done: production's dialogues, trainers and
// merges, led by the record where actors would lead them.

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/client/dialogue.hpp"
#include "actors/gateway/screen.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "actors/record/event_reader.hpp"
#include "actors/record/kept_offers.hpp"
#include "node/config/experiment.hpp"
#include "node/replay/comparison.hpp"
#include "node/replay/outlook.hpp"
#include "node/replay/replayed_line.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

class replayer {
public:
  /// Of a run from its beginning, whose record was looked through. `x` and `w`
  /// outlive it.
  static result<std::unique_ptr<replayer>> make(const experiment& x,
                                                const workload& w,
                                                outlook ahead,
                                                actors::kept_offers kept);

  /// Follows the record by one event. Returns `invalid_data` if it cannot come
  /// after those before it, and `unsupported` if it is an offer that can
  /// neither be computed nor read here. After a difference there is no sense in
  /// going on.
  [[nodiscard]] result<comparison> hear(const actors::recorded_event& x);

  /// Of the last merge of each adapter, by block.
  const std::map<std::string, double>& product_gaps() const {
    return gaps_;
  }

  /// The record says that the run ended.
  bool ended() const noexcept {
    return ended_;
  }

  /// Of the last visit of each client that is here the record has the client's
  /// own word: what it keeps is what it kept then.
  bool is_settled() const noexcept {
    return under_way_.empty();
  }

  version head(line_id x) const {
    return lines_.at(x).head();
  }

  /// The heads of all lines, and what clients whose data is here keep.
  models::evaluation_input standing() const;

  /// What that is worth, as a run scores it at its end.
  [[nodiscard]] result<models::evaluated> scores() const;

  /// Of all lines, by block's name.
  std::map<std::string, models::digest> digests() const;

private:
  struct open_visit {
    std::uint64_t process = 0; ///< That recorded it first.
    std::vector<messages::line_served> fetched = {}; ///< As recorded.
  };

  /// Work for a client; whoever does it finds it gone if it was withdrawn.
  struct job {
    std::shared_ptr<std::promise<messages::job_finished>> outcome;
    bool drops_out = false; ///< Its client gives it up.
  };

  /// Of a client whose data is elsewhere.
  struct visit_of_other {
    bool offered = false;
    bool awaited = false; ///< Its offer stands behind its withdrawal.
    std::vector<std::pair<line_id, version>> held = {}; ///< That it fetched.
  };

  /// A list that lines merge already is merged, though another is announced.
  struct round_lists {
    std::set<visit_id> last;
    std::set<visit_id> all;
    std::set<std::pair<visit_id, line_id>> parts; ///< Of `last`; none: all.
  };

  replayer(const experiment& x, const workload& w, outlook ahead,
           actors::kept_offers kept);

  result<void> check_client(client_id x) const;
  result<comparison> follow(const actors::recorded_event& x);
  result<void> bring_forward(const outlook::late_visit& x);
  result<comparison> on(const actors::process_began& x);
  result<comparison> on(const messages::clients_admitted& x);
  result<comparison> on(const messages::invitation_made& x);
  result<comparison> on(const messages::line_served& x);
  result<comparison> on(const actors::offer_recorded& x);
  result<comparison> on(const messages::visit_withdrawn& x);
  result<comparison> on(const messages::visit_failed& x);
  result<comparison> on(const messages::part_answered& x);
  result<comparison> on(const messages::client_began_anew& x);
  result<comparison> on(const actors::version_recorded& x);
  result<comparison> on(const actors::round_recorded& x);
  result<comparison> on(const actors::end_recorded& x);
  result<comparison> on(const auto&) {
    return comparison{};
  }

  actors::dialogue& client(client_id x);
  void say(client_id who, const messages::any_message& x);
  void settle(visit_id x);
  void forget_answers(client_id x);
  std::optional<messages::offer_made>
  carry_out(actors::dialogue& talk, const actors::dialogue::actions& what);
  void begin(const messages::train_job& x);
  std::optional<messages::offer_made> deliver(visit_id x);
  void give_up(visit_id x, policies::verdict why);
  void serve(messages::line_served x);
  void begin_again(visit_id x);
  void close_if_over(visit_id x);
  result<void> check_work(const actors::offer_recorded& x);
  result<void> check_batch(const actors::version_recorded& x) const;
  void adopt(const actors::version_recorded& x,
             const messages::merge_finished& made);
  actors::screening_rules screening() const;
  bool is_elsewhere(client_id x) const;
  void hold_for_other(const messages::line_served& x);
  result<comparison> offer_of_other(const actors::offer_recorded& x);
  void refuse_other(visit_id x);
  void let_go_of_other(visit_id x);
  void forget_others();

  const experiment& x_;
  const workload& w_;
  std::function<bool(const models::visit_input&)> drops_out_;
  outlook ahead_;
  std::uint64_t processes_ = 0; ///< That have worked on the run so far.
  std::unique_ptr<kernels::backend> arithmetic_;
  std::unique_ptr<models::trainer> chooser_;
  std::map<line_id, replayed_line> lines_;
  std::map<client_id, actors::dialogue> clients_;
  std::map<visit_id, open_visit> open_;
  std::map<client_id, visit_number> under_way_; ///< Without a word so far.
  /// Brought forward, until the record has them.
  std::map<visit_id, std::optional<messages::offer_made>> early_;
  std::map<visit_id, job> jobs_;
  actors::kept_offers kept_;
  std::map<visit_id, visit_of_other> others_;
  std::string problem_; ///< Of the last job that was delivered.
  std::map<std::string, double> gaps_;
  std::map<round_number, round_lists> rounds_; ///< The last few.
  bool ended_ = false;
  std::unique_ptr<actors::crew> workers_;
};

} // namespace troupe::node
