#pragma once

// What a record says further on. It is looked through once before it is
// followed, since what is noted late belongs before what was noted early: an
// offer that crossed with a withdrawal, or one that a server heard again after
// its record had lost it.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "actors/record/event_reader.hpp"

namespace troupe::node {

class outlook {
public:
  /// A visit of which the record has the client's last word after something
  /// that its client met later.
  struct late_visit {
    messages::invitation_made made;
    std::vector<messages::line_served> fetched; ///< Last, of each line.
    actors::recorded_event word;
  };

  /// Looks at the next event of the record.
  void note(const actors::recorded_event& x);

  /// An event is behind us.
  void pass(const actors::recorded_event& x);

  /// The late visits, once each, that its client ended before it met this
  /// event, in their order.
  std::vector<late_visit> take_before(const actors::recorded_event& x);

  /// Whether its client ever began it. A server that began anew invites whom it
  /// does not know to be at work, and hears that it is busy; or is killed
  /// before it does, and then nothing is heard of that visit again.
  bool is_begun(visit_id x) const {
    return !not_begun_.contains(x);
  }

  /// Whether a version will be fetched.
  bool is_fetched(line_id line, version x) const {
    return fetches_.contains({line, x});
  }

  /// Whether a line will say what became of an offer. Known where the record is
  /// of more than one process, and after the end of the first.
  bool is_answered(visit_id x, line_id by) const {
    return answers_.contains({x, by});
  }

private:
  void note_fetch(const messages::line_served& x);
  void note_word(visit_id of, const actors::recorded_event& x);
  void note_not_begun(visit_id x);
  void note_heard_of(visit_id x);

  std::uint64_t processes_ = 0;
  /// Invited to what it may have begun, and whether it was heard of since; of
  /// those with a word some are left out.
  std::map<client_id, std::map<visit_number, bool>> invited_;
  std::set<visit_id> not_begun_;
  std::set<visit_id> withdrawn_;
  std::map<visit_id, late_visit> begun_; ///< Without a word so far.
  std::map<client_id, std::map<visit_number, late_visit>> late_;
  std::map<std::pair<line_id, version>, std::uint64_t> fetches_;
  std::set<std::pair<visit_id, line_id>> answers_;
};

} // namespace troupe::node
