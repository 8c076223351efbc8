// A process that has heard its server once waits for its next words without an
// end, and knows whose these are.

#include "node/join/join.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "actors/transport/zmq/socket_endpoint.hpp"
#include "node/run/process_book.hpp"
#include "node/run/serving_terms.hpp"
#include "tests/support/ear.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::first_contact_test {
namespace {

/// A server that gives its terms at once, and no place until it was asked so
/// often. Who asks for places before terms has one that the run has not.
class hesitant {
public:
  hesitant(messages::terms_given terms, int silent,
           std::string address = "tcp://127.0.0.1:*")
    : terms_(std::move(terms)),
      silent_(silent) {
    transport::socket_endpoint::options x;
    x.address = std::move(address);
    x.bytes_max = [](std::uint16_t) { return std::uint64_t{1} << 20; };
    x.instance = terms_.run.front();
    x.arrived = [this](const transport::frame_arrived& y) { hear(y); };
    auto made = transport::socket_endpoint::listen(std::move(x));
    EXPECT_TRUE(made) << (made ? "" : made.error().context);
    const std::lock_guard guard{mutex_};
    if (made)
      socket_ = *made;
  }

  hesitant(const hesitant&) = delete;
  hesitant& operator=(const hesitant&) = delete;

  ~hesitant() {
    if (socket_)
      socket_->close();
  }

  std::string address() const {
    return socket_ ? socket_->address() : std::string{};
  }

  bool was_asked_for_places() {
    const std::lock_guard guard{mutex_};
    return times_ > 0;
  }

private:
  void hear(const transport::frame_arrived& x) {
    const auto message = x.what.open();
    const std::lock_guard guard{mutex_};
    if (!message || !socket_)
      return;
    if (const auto* asked = std::get_if<messages::terms_asked>(&**message)) {
      knows_us_ = true;
      auto out = terms_;
      out.nonce = asked->nonce;
      socket_->send(x.peer, std::move(out));
    }
    if (const auto* asked = std::get_if<messages::places_asked>(&**message);
        asked && (!knows_us_ || ++times_ > silent_))
      socket_->send(
        x.peer,
        knows_us_
          ? messages::places_given{asked->nonce, {}, "all are taken"}
          : messages::places_given{asked->nonce, {client_id{1000}}, {}});
  }

  messages::terms_given terms_;
  int silent_;
  std::mutex mutex_;
  int times_ = 0;
  bool knows_us_ = false;
  std::shared_ptr<transport::socket_endpoint> socket_;
};

messages::terms_given terms_of_run(std::uint8_t number) {
  const auto x = configured(quadratic_run, {"clock=wall"}, {});
  const auto work = node::prepare(x, no_model);
  EXPECT_TRUE(work) << (work ? "" : work.error().context);
  if (!work)
    return {};
  const node::process_book book{.run = {number}, .places = actors::leases{}};
  return node::terms_of(book, x, *work);
}

node::join_context to(const std::string& address) {
  node::join_context in;
  in.address = address;
  in.make_model = no_model;
  return in;
}

// It asks each second.
TEST(first_contact, is_all_that_a_process_waits_for_with_an_end) {
  const hesitant server{terms_of_run(1), 2};
  auto in = to(server.address());
  in.wait = 1.5;
  const auto out = node::join(in);
  EXPECT_EQ(out.how, node::join_summary::end::refused);
  EXPECT_EQ(out.why, "all are taken");
}

/// Of a run whose clients bring examples, for a model that is not there.
messages::terms_given terms_of_brought() {
  messages::terms_given out;
  out.protocol = messages::protocol_version;
  out.run = {1};
  out.config = {
    "rounds = 1",   "method = \"fedavg\"", "[data]",    "kind = \"elsewhere\"",
    "inputs = [2]", "classes = 2",         "[clients]", "clients = 3",
    "[model]",      "kind = \"softmax\""};
  out.inputs = {2};
  out.classes = 2;
  out.examples_max = 100;
  return out;
}

// Nobody gives a name back.
TEST(first_contact, asks_for_no_name_that_its_work_does_not_fit) {
  const scratch_folder scratch;
  std::ofstream rows{scratch.path() + "/ward.csv"};
  rows << "a,b,label\n";
  for (int i = 0; i < 20; ++i)
    rows << i << ",1," << i % 2 << '\n';
  rows.close();
  hesitant server{terms_of_brought(), 0};
  auto in = to(server.address());
  in.name = "ward";
  in.data = scratch.path() + "/ward.csv";
  in.store = scratch.path() + "/store";
  const auto out = node::join(in);
  EXPECT_EQ(out.how, node::join_summary::end::misfit);
  EXPECT_EQ(out.why, "this test has quadratics only");
  EXPECT_FALSE(server.was_asked_for_places());
  EXPECT_FALSE(std::filesystem::exists(in.store));
}

TEST(first_contact, leaves_nothing_where_no_place_is_given) {
  const scratch_folder scratch;
  const hesitant server{terms_of_run(1), 0};
  auto in = to(server.address());
  in.store = scratch.path() + "/runs/store";
  EXPECT_EQ(node::join(in).why, "all are taken");
  EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/runs"));
  std::filesystem::create_directories(in.store);
  std::ofstream{in.store + "/note"} << "mine";
  EXPECT_EQ(node::join(in).why, "all are taken");
  const std::filesystem::directory_iterator left{in.store};
  EXPECT_EQ(left->path().filename(), "note");
  EXPECT_EQ(std::distance(left, {}), 1);
}

// A socket that nobody ends keeps its threads, and what these have open.
TEST(first_contact, leaves_nothing_open_where_it_is_all) {
  const hesitant server{terms_of_run(1), 0};
  const auto in = to(server.address());
  const auto ends = [&in] {
    EXPECT_EQ(node::join(in).why, "all are taken");
    const std::filesystem::directory_iterator open{"/proc/self/fd"};
    return std::distance(open, {});
  };
  const auto once = ends();
  EXPECT_TRUE(transport::comes_to_be([&] { return ends() <= once; }));
}

// A place that another run gives is none of the run whose terms it has.
TEST(first_contact, begins_anew_with_another_run_where_it_waits_for_a_place) {
  auto server = std::make_unique<hesitant>(terms_of_run(1), 1 << 20);
  const auto next = terms_of_run(2);
  auto in = to(server->address());
  std::vector<std::string> said;
  in.say = [&said](const std::string& line) { said.push_back(line); };
  std::atomic<bool> stop{false};
  in.stop = &stop;
  auto ending =
    std::async(std::launch::async, [&in] { return node::join(in); });
  EXPECT_TRUE(
    transport::comes_to_be([&] { return server->was_asked_for_places(); }));
  server.reset();
  server = std::make_unique<hesitant>(next, 0, in.address);
  stop = ending.wait_for(std::chrono::seconds{60}) != std::future_status::ready;
  const auto out = ending.get();
  EXPECT_EQ(out.how, node::join_summary::end::refused);
  EXPECT_EQ(out.why, "all are taken");
  EXPECT_EQ(
    std::count(said.begin(), said.end(), "another run is served there now"), 1);
}

} // namespace
} // namespace troupe::test::first_contact_test
