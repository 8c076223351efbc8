// What is seen of a socket, and of a process that joined a run that is served
// elsewhere.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/metrics/exposition.hpp"
#include "actors/metrics/why.hpp"
#include "core/clock.hpp"
#include "node/commands/why.hpp"
#include "node/watch/pages.hpp"
#include "node/watch/status_file.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::test {

namespace {

using ::testing::HasSubstr;

actors::socket_status some_socket() {
  actors::socket_status x;
  x.connected = 3;
  x.met = 4;
  x.up = {{"values", {2, 512}}};
  x.down = {{"small", {7, 700}}};
  x.refused = {{"unknown_key", 5}, {"denied_key", 0}};
  return x;
}

class process_status : public ::testing::Test {
protected:
  process_status() {
    x.address = "tcp://127.0.0.1:7700";
    x.now_ms = unix_milliseconds();
    x.began_ms = x.now_ms - 60'000;
    x.changed_ms = x.now_ms - 5'000;
    x.clients = 20;
    x.connected = x.ever_connected = true;
    x.at = actors::process_status::step::taking_part;
  }

  std::string code() const {
    return actors::why(x).code;
  }

  actors::process_status x;
};

} // namespace

TEST(socket_status, is_exposed_by_direction_kind_and_reason) {
  actors::seen_run x;
  EXPECT_THAT(actors::exposition_of(x),
              ::testing::Not(HasSubstr("troupe_connections")))
    << "such a run has none";
  x.socket = some_socket();
  const auto text = actors::exposition_of(x);
  for (const auto* line :
       {"troupe_connections 3\n", "troupe_processes_total 4\n",
        "troupe_socket_bytes_total{direction=\"up\",kind=\"values\"} 512\n",
        "troupe_socket_pieces_total{direction=\"down\",kind=\"small\"} 7\n",
        "troupe_refusals_total{reason=\"unknown_key\"} 5\n",
        "troupe_transfers{state=\"arriving\"} 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(socket_status, is_told_where_it_may_be_what_a_run_waits_for) {
  actors::seen_run x;
  x.socket = some_socket();
  EXPECT_THAT(actors::why(x).what, ::testing::Not(HasSubstr("refused")));
  x.socket->refused_lately = {"unknown_key", "expired_key"};
  x.socket->behind = 1;
  x.socket->transfers_waiting = 2;
  const auto what = actors::why(x).what;
  EXPECT_THAT(what, HasSubstr("in the last minute somebody was refused: "
                              "unknown_key, expired_key"));
  EXPECT_THAT(what, HasSubstr("1 process reads slowly what is sent there"));
  EXPECT_THAT(what, HasSubstr("2 large messages wait for room here"));
}

TEST_F(process_status, says_what_it_waits_for) {
  EXPECT_EQ(code(), "invitation");
  EXPECT_THAT(actors::why(x).what, HasSubstr("20 clients of the run wait"));
  x.crew.under_way = {{}};
  EXPECT_EQ(code(), "nothing");
  x.crew.under_way.clear();
  x.socket.transfers_out = 1;
  EXPECT_EQ(code(), "transfer");
  EXPECT_THAT(actors::why(x).what, HasSubstr("an offer is on its way"));
  x.connected = false;
  EXPECT_EQ(code(), "connection");
  EXPECT_EQ(actors::why(x).what,
            "the connection to tcp://127.0.0.1:7700 is lost");
  EXPECT_EQ(actors::why(x).since_ms, x.changed_ms);
  x.server_away = true;
  EXPECT_EQ(code(), "server");
  x.server_away = x.ever_connected = false;
  EXPECT_EQ(actors::why(x).what,
            "nobody has answered at tcp://127.0.0.1:7700 yet");
  x.connected = true;
  x.at = actors::process_status::step::making;
  EXPECT_EQ(code(), "making");
  x.over = true;
  x.reason = "interrupted";
  EXPECT_EQ(actors::why(x).what, "this process has ended: interrupted");
}

TEST_F(process_status, is_on_pages_of_its_own) {
  const auto board = std::make_shared<node::process_board>();
  auto pages = node::pages_of(board);
  EXPECT_EQ(pages.at("/readyz")(false).status, 503);
  EXPECT_THAT(pages.at("/why")(false).body, HasSubstr("nobody has answered"));
  board->publish(std::make_shared<actors::process_status>(x));
  EXPECT_EQ(pages.at("/readyz")(false).status, 200);
  EXPECT_EQ(pages.at("/healthz")(false).status, 200);
  const auto text = pages.at("/metrics")(false).body;
  EXPECT_THAT(text, HasSubstr("troupe_connected 1\n"));
  EXPECT_THAT(text, HasSubstr("troupe_clients_here 20\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("client=")));
  x.connected = false;
  board->publish(std::make_shared<actors::process_status>(x));
  EXPECT_EQ(pages.at("/readyz")(false).status, 503);
  EXPECT_EQ(nlohmann::json::parse(pages.at("/why")(true).body)["code"],
            "connection");
}

// Of two processes with one store the first one speaks.
TEST_F(process_status, of_a_store_is_written_by_one) {
  const scratch_folder scratch;
  const std::string path = scratch.path() + "/status.json";
  node::status_file first{path};
  first.write(node::facts_of(x), "");
  {
    node::status_file second{path};
    auto other = x;
    other.over = true;
    second.write(node::facts_of(other), "");
  }
  std::ostringstream out;
  EXPECT_EQ(
    node::why_command(std::vector<std::string>{scratch.path()}, {out, out}),
    node::exit_code::ok);
  EXPECT_THAT(out.str(), HasSubstr("wait here for an invitation"));
}

} // namespace troupe::test
