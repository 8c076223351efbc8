#include "actors/transport/zmq/set_up.hpp"

#include <gtest/gtest.h>

#include "actors/transport/piece.hpp"
#include "actors/transport/zmq/pieces.hpp"

// What ZeroMQ does of itself would wait, lose or hold too much.

namespace troupe::transport {
namespace {

constexpr auto nobody_there = "tcp://127.0.0.1:9";

struct socket_set_up : testing::Test {
  socket_set_up() {
    set_up_dialler(dialler, nobody_there);
    set_up_server(server, nobody_there);
  }

  zmq::context_t context = lean_context();
  zmq::socket_t dialler{context, zmq::socket_type::dealer};
  zmq::socket_t server{context, zmq::socket_type::router};
};

// ZeroMQ adds up to the first pause at random, and doubles it each time.
TEST_F(socket_set_up, has_who_dials_wait_longer_each_time_and_not_all_as_long) {
  EXPECT_EQ(dialler.get(zmq::sockopt::reconnect_ivl), 100);
  EXPECT_EQ(dialler.get(zmq::sockopt::reconnect_ivl_max), 800);
}

// At worst the first call or its repeat, a second later, is just too early.
// Then the answer to the repeat has to come in time, or the next one.
TEST_F(socket_set_up, has_who_dials_be_back_in_two_seconds_over_a_long_way) {
  constexpr int repeat = 1000, answer = 300, bar = 2000;
  // Of 100 ms there and back: TCP, ZMTP, CURVE, the link's opening, a hello.
  constexpr int until_welcome = 650;
  const auto pause = dialler.get(zmq::sockopt::reconnect_ivl_max)
                     + dialler.get(zmq::sockopt::reconnect_ivl);
  const auto patience = dialler.get(zmq::sockopt::connect_timeout);
  EXPECT_GE(patience, repeat + answer) << "connect_timeout";
  EXPECT_LE(patience - repeat + pause + until_welcome, bar);
}

// It would be handed to whoever comes.
TEST_F(socket_set_up, queues_nothing_for_a_server_that_is_away) {
  dialler.connect(nobody_there);
  EXPECT_EQ(send_piece(dialler, {}, make_piece(piece_kind::framed, {}, {})),
            sending::blocked);
}

// It would be dropped in silence.
TEST_F(socket_set_up, says_where_nobody_is) {
  EXPECT_EQ(send_piece(server, {.route = "who was here"},
                       make_piece(piece_kind::framed, {}, {})),
            sending::nobody);
}

// As it is set by itself a process would wait for ever for who does not read.
TEST_F(socket_set_up, ends_a_moment_after_its_last_words) {
  for (auto* x : {&dialler, &server}) {
    EXPECT_GT(x->get(zmq::sockopt::linger), 0);
    EXPECT_LE(x->get(zmq::sockopt::linger), 1000);
  }
}

TEST_F(socket_set_up, holds_little_within_zeromq) {
  for (auto* x : {&dialler, &server}) {
    EXPECT_EQ(x->get(zmq::sockopt::sndhwm), 64);
    EXPECT_EQ(x->get(zmq::sockopt::rcvhwm), 64);
    EXPECT_EQ(x->get(zmq::sockopt::maxmsgsize),
              static_cast<std::int64_t>(piece_bytes_max + piece_head_size));
    EXPECT_LE(x->get(zmq::sockopt::handshake_ivl), 5000);
  }
}

// Who is there beats, so only who is not is asked; then all goes fast.
TEST_F(socket_set_up, asks_who_is_silent_beyond_three_beats_and_waits_for_3_s) {
  for (auto* x : {&dialler, &server}) {
    EXPECT_EQ(x->get(zmq::sockopt::tcp_keepalive), 1);
    EXPECT_EQ(x->get(zmq::sockopt::tcp_keepalive_idle), 100);
    EXPECT_EQ(x->get(zmq::sockopt::tcp_keepalive_intvl), 1);
    EXPECT_EQ(x->get(zmq::sockopt::tcp_keepalive_cnt), 3);
    EXPECT_EQ(x->get(zmq::sockopt::tcp_maxrt), 3000);
  }
}

TEST_F(socket_set_up, has_large_messages_cross_in_pieces_of_256_kib) {
  EXPECT_EQ(link_options({}, nullptr, nullptr, 1).out.chunk_bytes, 262'144U);
}

} // namespace
} // namespace troupe::transport
