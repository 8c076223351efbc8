#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "tests/support/sim/faults.hpp"
#include "tests/support/sim/sim_network.hpp"
#include "tests/support/world.hpp"

namespace troupe::test {

/// What those who mean harm know of each other.
struct conspiracy {
  std::vector<messages::ticket> tickets;
  /// All that was ever offered on one, in its order.
  std::map<visit_id, std::vector<messages::offer_made>> offered;
  std::vector<messages::ticket> merged; ///< Some line has an offer on it.
};

/// A peer that means harm: it says whatever decodes, at a seed's whim, to a
/// server that is real. It forges no seal, and knows no key.
class hostile {
public:
  struct parts {
    world& w;
    sim_network& network;
    const models::layout& blocks;
    std::size_t disclosures;
    bool asks; ///< Visits have two experts at most, and say which.
    conspiracy& all;
    tally& happened;
  };

  hostile(parts x, client_id me, std::uint64_t seed, std::uint64_t honest);

  /// Whether it has a habit, and says something on each invitation.
  static bool answers(std::uint64_t seed);

  void begin();
  void heard(const messages::any_message& x);

private:
  struct visit {
    messages::ticket pass;
    std::map<line_id, version> served;
  };

  /// Some do one thing to each invitation; the others, whatever comes to mind.
  enum class habit : std::uint8_t {
    none,
    another_none,
    no_number,
    no_line,
    failure,
    no_offer,
    drop_out,
    leave,
    busy,
    ahead,
    stale,
    hellos
  };

  static habit habit_of(std::uint64_t seed);
  void speak();
  void by_habit();
  void after_a_fetch();
  void one_harm();
  void say(const char* what, messages::any_message x);
  void garbage();
  void silence_for(instant x);

  messages::hello greeting();
  void hello();
  void strange_hello();
  void fetch();
  void strange_fetch();
  void strange_request();
  void strange_choice(messages::fetch_requested x);
  void offer();
  void strange_offer();
  void other_offer();
  void saved_up();
  void decline();
  void go();
  void await();
  void strange_await();
  void servers_words();
  void flood();

  std::optional<messages::offer_made> sound_offer();
  messages::fetch_requested sound_fetch(std::uint32_t leg);
  messages::ticket some_ticket();
  messages::offer_awaited sound_await(const messages::ticket& pass) const;
  std::vector<double> experts_served() const;
  std::vector<line_id> lines_of(const std::string& family) const;

  parts x_;
  client_id me_;
  habit habit_;
  random_stream draw_;
  std::uint64_t honest_;
  std::uint64_t incarnation_ = 1;
  std::uint64_t nonce_ = 0;
  instant quiet_until_{};
  std::optional<visit> now_;
};

} // namespace troupe::test
