#pragma once

// The gateway alone, between a network and others that only listen. What a
// client says comes as frames.

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "actors/gateway/gateway.hpp"
#include "actors/metrics/status.hpp"
#include "core/json.hpp"
#include "tests/support/recipes/two_leg.hpp"
#include "tests/support/world.hpp"

namespace troupe::actors {

using messages::farewell_reason;
using policies::verdict;

using said = std::vector<std::pair<peer_id, messages::any_message>>;

class ear final : public transport::endpoint {
public:
  explicit ear(said& all) : all_(all) {
    // nop
  }

  std::size_t send(peer_id to, messages::any_message x) override {
    all_.emplace_back(to, x);
    return still_queued ? 0 : transport::encoded_size(x);
  }

  void has_session(peer_id x) override {
    known.push_back(x);
  }

  bool still_queued = false;
  std::vector<peer_id> known; ///< To have a session.

private:
  said& all_;
};

using heard = std::vector<caf::message>;

inline caf::behavior listener(caf::event_based_actor* self, heard* all) {
  self->set_default_handler(
    [all](caf::scheduled_actor*,
          caf::message_view& x) -> caf::result<caf::message> {
      all->push_back(x.move_content_to_message());
      return caf::message{};
    });
  return {[](caf::unit_t) {}};
}

class gateway_test : public ::testing::Test {
protected:
  static constexpr client_id ann{1};
  static constexpr client_id ben{2};
  static constexpr peer_id first{11};
  static constexpr peer_id second{12};

  gateway_test()
    : method(test::two_leg_recipe(state_rule::on_offer)),
      blocks(std::make_shared<const models::layout>(
        *models::make_layout(method,
                             {{"base", {{"w", {2}}}},
                              {"tally", {{"w", {2}}}},
                              {"expert", {{"w", {2}}}}},
                             {.weight_max = 64, .delta_max = 8}))) {
    start();
  }

  ~gateway_test() override {
    for (const auto& x : cast_of)
      test::world::kill(x);
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    testee = nullptr;
    others = {};
    cast_of.clear();
  }

  std::function<std::optional<bool>(peer_id, client_id)> may_speak;
  std::function<bool(const messages::offer_made&, std::uint64_t)> keeps;
  instant elapsed{}; ///< Of the run, in processes before.
  bool outlived = false;
  std::map<line_id, version> found; ///< The process began with these.
  bool silence_counts = false;
  const std::shared_ptr<transport::refusals> refused =
    std::make_shared<transport::refusals>();

  void start() {
    const auto listen = [this](heard& all) {
      cast_of.push_back(w.system().spawn(listener, &all));
      return cast_of.back();
    };
    auto made = std::make_shared<cast>();
    made->roster = caf::actor_cast<roster_actor>(listen(roster));
    made->director = caf::actor_cast<director_actor>(listen(director));
    made->router = caf::actor_cast<router_actor>(listen(router));
    made->archivist = caf::actor_cast<archivist_actor>(listen(archivist));
    made->whole = true;
    others = made;
    gateway_args args;
    args.network = network;
    args.counted = counted;
    args.blocks = blocks;
    args.method = &method;
    args.rules.disclosures = method.disclosures;
    args.may_speak = may_speak;
    args.refused = refused;
    args.key = {7};
    args.tickets = tickets;
    args.others = others;
    args.started = w.clock_now() - elapsed;
    args.keeps = keeps;
    args.events = true;
    args.outlived = outlived;
    args.found = found;
    args.silence_counts = silence_counts;
    testee = w.system().spawn(gateway, std::move(args));
    w.settle();
  }

  /// Another process, to which she says hello.
  void begin_again() {
    test::world::kill(caf::actor_cast<caf::actor>(testee));
    start();
    open(ann, first);
  }

  /// What was signed until now is good no more.
  void change_key() {
    auto keys = *tickets->keys_now();
    keys.before.insert(keys.before.begin(), {keys.now, 0});
    ++keys.now.front();
    tickets->use(keys);
  }

  void tell(const auto& x) {
    caf::anon_send(testee, x);
    w.settle();
  }

  /// Returns what the server answers.
  said say(peer_id from, messages::any_message x) {
    answers.clear();
    tell(transport::frame_arrived{from, transport::frame{std::move(x)}});
    return answers;
  }

  void open(client_id who, peer_id peer) {
    messages::hello x;
    x.client = who;
    x.examples = 10;
    x.nonce = ++nonce;
    say(peer, x);
    tell(messages::hello_judged{peer, x, {1}, {}, {}});
  }

  messages::ticket invite(client_id who,
                          instant expires = std::chrono::hours{1}) {
    messages::invitation_made x;
    x.pass.visit = {who, {++number}};
    x.pass.expires_ns = expires.count();
    answers.clear();
    tell(x);
    for (const auto& [peer, any] : answers)
      if (const auto* y = std::get_if<messages::invited>(&any))
        return y->pass;
    ADD_FAILURE() << "nobody was invited";
    return {};
  }

  messages::fetch_requested fetch_of(const messages::ticket& pass) const {
    return {.pass = pass,
            .leg = 0,
            .wanted = {{.line = blocks->find(block_id{1})->line}}};
  }

  /// Why the visit ended, if that is all that the server says.
  static std::optional<verdict> end_of(const said& x) {
    if (x.size() != 1)
      return std::nullopt;
    const auto* end = std::get_if<messages::visit_ended>(&x.front().second);
    return end ? std::optional{end->why} : std::nullopt;
  }

  template <class T>
  static std::size_t count(const heard& all) {
    return static_cast<std::size_t>(std::ranges::count_if(
      all, [](const auto& x) { return x.template match_elements<T>(); }));
  }

  /// What was noted since the last call, as `event line:version`.
  std::vector<std::string> noted() {
    std::vector<std::string> all;
    for (auto& x : archivist)
      if (x.match_elements<messages::line_noted>()) {
        const auto line =
          json::parse(x.get_as<messages::line_noted>(0).text).value();
        auto& text = all.emplace_back(*line.find("event")->text());
        if (const auto* of = line.find("version"))
          text += " "
                  + std::to_string(std::lround(*line.find("line")->number()))
                  + ":" + std::to_string(std::lround(*of->number()));
      }
    archivist.clear();
    return all;
  }

  /// An offer on version 3 of its line by who also fetched version 4 of the
  /// other.
  messages::offer_made offer_of(const messages::ticket& pass) const {
    messages::offer_made x;
    x.pass = pass;
    const auto line = blocks->find(block_id{1})->line;
    for (const auto block : blocks->find(line)->blocks) {
      auto& part = x.blocks.emplace_back();
      part.block = block;
      part.base = {3};
      part.weight = 1;
      part.delta = share({0.f, 0.f});
    }
    x.fetched = {{blocks->find(block_id{3})->line, {4}}};
    return x;
  }

  const recipe method;
  const std::shared_ptr<seals> tickets = std::make_shared<seals>();
  const std::shared_ptr<const models::layout> blocks;
  said answers;
  const std::shared_ptr<ear> network = std::make_shared<ear>(answers);
  heard roster;
  heard director;
  heard router;
  heard archivist;
  const std::shared_ptr<traffic> counted = std::make_shared<traffic>();
  test::world w{1};
  std::vector<caf::actor> cast_of;
  cast_ptr others;
  gateway_actor testee;
  std::uint64_t number = 0;
  std::uint64_t nonce = 0;
};

} // namespace troupe::actors
