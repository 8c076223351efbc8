#include "actors/transport/zmq/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/clock.hpp"

namespace troupe::transport {

namespace {

constexpr std::size_t joined_max = 100; ///< 60 bytes of body.

/// Two ends of a connection within the process.
struct pieces : testing::Test {
  pieces() {
    there.bind("inproc://pieces");
    here.connect("inproc://pieces");
  }

  static piece chunk_of(std::size_t bytes) {
    auto out = make_piece(piece_kind::chunk, {3}, {5}, 7);
    const auto body =
      std::make_shared<const buffer>(bytes, static_cast<std::byte>(9));
    out.body = {*body, body};
    return out;
  }

  /// What arrives of it.
  parts cross(const piece& x, std::size_t most) {
    EXPECT_EQ(send_piece(here, {{}, most}, x), sending::done);
    return *receive(there, false);
  }

  zmq::context_t context;
  zmq::socket_t there{context, zmq::socket_type::pair};
  zmq::socket_t here{context, zmq::socket_type::pair};
};

/// Over TCP, with an end that takes no more than is asked of it.
struct far_pieces : testing::Test {
  static constexpr std::size_t count = 24;
  static constexpr std::size_t size = 256 << 10;
  static constexpr std::chrono::seconds patience{20};

  far_pieces() {
    for (auto* x : {&there, &here}) {
      x->set(zmq::sockopt::rcvhwm, 1);
      x->set(zmq::sockopt::rcvbuf, 8 << 10);
      x->set(zmq::sockopt::sndbuf, 8 << 10);
      x->set(zmq::sockopt::linger, 0);
    }
    there.bind("tcp://127.0.0.1:*");
    here.connect(there.get(zmq::sockopt::last_endpoint));
  }

  /// Nothing: it does not come.
  std::optional<parts> next() {
    std::vector<zmq::pollitem_t> wait{{there.handle(), 0, ZMQ_POLLIN, 0}};
    zmq::poll(wait, std::chrono::milliseconds{patience});
    return receive(there, false);
  }

  zmq::context_t context;
  zmq::socket_t there{context, zmq::socket_type::pair};
  zmq::socket_t here{context, zmq::socket_type::pair};
};

} // namespace

TEST_F(pieces, cross_in_one_part_up_to_a_size_where_the_other_end_takes_it) {
  struct row {
    std::size_t bytes, most, parts;
  };
  for (const auto& x :
       {row{0, joined_max, 1}, row{60, joined_max, 1}, row{61, joined_max, 2},
        row{0, 0, 2}, row{1, 0, 2}, row{5000, 0, 2}}) {
    const auto sent = chunk_of(x.bytes);
    const auto got = cross(sent, x.most);
    EXPECT_EQ(got.rest.size(), x.parts) << x.bytes;
    const auto read = piece_in(got);
    ASSERT_TRUE(read) << x.bytes;
    EXPECT_EQ(head_of(*read), head_of(sent));
    EXPECT_TRUE(std::ranges::equal(read->body.bytes, sent.body.bytes));
  }
}

TEST_F(far_pieces, are_copied_by_neither_end) {
  const auto all = std::make_shared<const buffer>(count * size, std::byte{9});
  const auto part = [&](std::size_t i) {
    return std::span{*all}.subspan(i * size, size);
  };
  for (std::size_t i = 0; i < count; ++i) {
    auto x = make_piece(piece_kind::chunk, {3}, {5}, i * size);
    x.body = {part(i), all};
    ASSERT_EQ(send_piece(here, {}, x), sending::done);
  }
  // Each that waits lies where it lay: who had a copy would let go of this.
  EXPECT_GE(all.use_count(), 1 + static_cast<long>(count) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const auto got = next();
    ASSERT_TRUE(got && got->rest.size() == 2) << i;
    const auto read = piece_in(*got);
    ASSERT_TRUE(read) << i;
    EXPECT_TRUE(std::ranges::equal(read->body.bytes, part(i)));
    EXPECT_EQ(read->body.bytes.data(), got->rest[1].data<std::byte>());
  }
  const auto end = steady_now() + patience;
  while (all.use_count() > 1 && steady_now() < end)
    std::this_thread::yield();
  EXPECT_EQ(all.use_count(), 1) << "what is sent is let go of";
}

TEST_F(pieces, are_nothing_else) {
  for (const std::size_t size : {0, 1, 39}) {
    here.send(zmq::message_t(size), zmq::send_flags::none);
    EXPECT_FALSE(piece_in(*receive(there, false))) << size;
  }
  const auto head = head_of(chunk_of(0));
  for (int i = 0; i < 3; ++i)
    here.send(zmq::buffer(head),
              i < 2 ? zmq::send_flags::sndmore : zmq::send_flags::none);
  EXPECT_FALSE(piece_in(*receive(there, false)));
}

} // namespace troupe::transport
