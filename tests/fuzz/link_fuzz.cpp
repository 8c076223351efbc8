// A link's end hears pieces in an order that nobody would choose: of a stranger
// who knows the format, or of an honest end behind a network that cuts, and
// brings what was under way too late.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <vector>

#include "actors/transport/envelope.hpp"
#include "actors/transport/link_end.hpp"
#include "core/assert.hpp"
#include "tests/fuzz/whim.hpp"

namespace {

using namespace troupe;
using namespace troupe::transport;
using fuzz::whim;

constexpr std::size_t frame_bytes_max = 100;
constexpr std::uint64_t message_bytes_max = 2000;
constexpr std::uint64_t room_bytes = 3000;

link_end::options options_of(std::uint64_t instance,
                             std::shared_ptr<held_bytes> room,
                             std::size_t chunk_bytes) {
  link_end::options x;
  x.out.frame_bytes_max = frame_bytes_max;
  x.out.chunk_bytes = chunk_bytes;
  x.in.bytes_max = [](std::uint16_t kind) {
    return kind == messages::offer_made::wire.kind ? message_bytes_max : 0;
  };
  x.in.frame_bytes_max = frame_bytes_max;
  x.in.window_bytes = 300;
  x.in.room = std::move(room);
  x.in.landing = std::make_shared<landing_pool>(room_bytes);
  x.instance = instance;
  return x;
}

messages::any_message large(std::uint64_t number, std::size_t values) {
  std::vector<float> delta(values);
  std::iota(delta.begin(), delta.end(), static_cast<float>(number));
  messages::offer_made x;
  x.pass.visit = {{1}, {number}};
  messages::offer_block part;
  part.block = {1};
  part.delta = share(std::move(delta));
  x.blocks.push_back(std::move(part));
  return x;
}

/// A piece as it is on a wire.
struct wire {
  piece_head head;
  buffer body;
};

wire wire_of(const piece& x) {
  return {head_of(x), {x.body.bytes.begin(), x.body.bytes.end()}};
}

strand some_bytes(std::size_t size) {
  const auto bytes = std::make_shared<const buffer>(size, std::byte{7});
  return {*bytes, bytes};
}

/// Of a bundle, which may claim what is not so.
strand some_frames(whim& w) {
  buffer out;
  for (auto n = w.below(4); n > 0; --n) {
    const std::array<std::uint32_t, 2> head{
      static_cast<std::uint32_t>(w.below(4)),
      static_cast<std::uint32_t>(w.below(8) == 0 ? w.number() : 9)};
    const auto bytes = std::as_bytes(std::span{head});
    out.insert(out.end(), bytes.begin(), bytes.end());
    out.resize(out.size() + 9, std::byte{7});
  }
  const auto bytes = std::make_shared<const buffer>(std::move(out));
  return {*bytes, bytes};
}

strand any_body(whim& w, piece_kind kind) {
  if (w.below(8) == 0)
    return some_bytes(w.byte());
  switch (kind) {
    case piece_kind::opened: {
      opening x;
      x.protocol = w.below(8) == 0 ? 9 : link_protocol;
      x.instance = w.below(3);
      return body_of(x);
    }
    case piece_kind::began:
      return body_of(beginning{
        .kind = w.coin() ? messages::offer_made::wire.kind : std::uint16_t{9},
        .size = w.coin() ? w.byte() * std::uint64_t{8} : w.number()});
    case piece_kind::reached:
      return body_of(allowance{w.number()});
    case piece_kind::bundled:
      return some_frames(w);
    default:
      return some_bytes(w.byte());
  }
}

piece any_piece(whim& w) {
  const auto kind = static_cast<piece_kind>(1 + w.below(8));
  auto x = make_piece(kind, {w.below(4)}, {w.number()},
                      w.coin() ? w.number() : w.below(5));
  x.connection = static_cast<std::uint32_t>(w.below(3));
  x.body = any_body(w, kind);
  return x;
}

/// Whatever is heard, little is held for it, less is said, and nothing stays.
void hear_a_stranger(whim w) {
  const auto room = std::make_shared<held_bytes>(room_bytes);
  link_end testee{options_of(1, room, 50)};
  std::vector<arrival> heard;
  std::uint64_t whole = 0; ///< What small frames that are held count for.
  if (w.coin())
    testee.connected(1);
  if (w.coin())
    testee.say({2}, large(1, 300));
  while (!w.done()) {
    const auto what = w.below(16);
    if (what == 0) {
      testee.abandoned();
      TROUPE_ASSERT(!testee.holds_room());
    } else if (what == 1) {
      testee.lost();
    } else if (what == 2) {
      heard.clear();
      whole = 0;
    } else if (what == 3) {
      testee.probe();
    } else {
      const auto on_wire = wire_of(any_piece(w));
      const auto x = read_piece(on_wire.head, on_wire.body);
      TROUPE_ASSERT(x);
      if (auto found = testee.heard(*x); found && !found->empty()) {
        whole += x->kind != piece_kind::chunk ? x->body.bytes.size() : 0;
        whole += found->size() * held_bytes::frame_costs;
        TROUPE_ASSERT(found->size() <= frames_per_bundle_max);
        for (auto& one : *found) {
          TROUPE_ASSERT(one.what.size() <= message_bytes_max + envelope_size);
          (void)one.what.open();
          heard.push_back(std::move(one));
        }
      }
    }
    TROUPE_ASSERT(room->now() <= room_bytes + whole);
    // No piece has it say more than what it was to say anyhow, and two words.
    int said = 0;
    while (testee.next())
      TROUPE_ASSERT(++said < 64);
  }
  heard.clear();
  testee.abandoned();
  TROUPE_ASSERT(room->now() == 0);
}

/// Bytes of which only the sum is made to fit: what can be read says the same
/// when it is written again.
void read_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < piece_head_size)
    return;
  const buffer body{bytes.begin() + piece_head_size, bytes.end()};
  piece_head head{};
  std::memcpy(head.data(), bytes.data(), head.size());
  const auto size = static_cast<std::uint32_t>(body.size());
  std::memcpy(head.data() + 32, &size, sizeof size);
  const auto sum = crc32c(body, crc32c(std::span{head}.first(36)));
  std::memcpy(head.data() + 36, &sum, sizeof sum);
  if (const auto x = read_piece(head, body))
    TROUPE_ASSERT(head_of(*x) == head);
}

struct end {
  explicit end(link_end::options x) : link(std::move(x)) {}

  link_end link;
  std::deque<wire> out = {};
  std::deque<wire> late = {}; ///< Of a connection that is gone.
};

/// What has come to one memory of the other end.
class come {
public:
  void take(const arrival& x, const std::vector<std::size_t>& sizes) {
    const auto message = x.what.open();
    TROUPE_ASSERT(message);
    const auto& offer = std::get<messages::offer_made>(**message);
    const auto number = offer.pass.visit.number.value;
    TROUPE_ASSERT(number == last_ + 1);
    TROUPE_ASSERT(encode(**message)
                  == encode(large(number, sizes.at(number - 1))));
    last_ = number;
  }

  /// Who said them has met another end, for which none of them is.
  void forget(std::uint64_t all) {
    last_ = all;
  }

  std::uint64_t last() const noexcept {
    return last_;
  }

private:
  std::uint64_t last_ = 0;
};

class network {
public:
  explicit network(whim w)
    : w_(w),
      a_(options_of(1, std::make_shared<held_bytes>(room_bytes),
                    1 + w_.below(200))),
      b_(options_of(instance_, std::make_shared<held_bytes>(room_bytes), 50)) {
    a_.link.connected(++connection_);
  }

  void run() {
    while (!w_.done())
      step();
    // Then it is kind, and all of it comes.
    while (send(a_) || send(b_) || deliver(a_.out, b_, true)
           || deliver(b_.out, a_, false)) {}
    if (a_.link.is_open() && b_.link.is_open())
      TROUPE_ASSERT(found_.last() == sizes_.size());
  }

private:
  void step() {
    switch (w_.below(12)) {
      case 0:
        if (sizes_.size() < 20) {
          sizes_.push_back(50 + w_.byte());
          a_.link.say({1}, large(sizes_.size(), sizes_.back()));
        }
        return;
      case 1:
        return cut(w_.coin());
      case 2:
        b_.link.abandoned();
        return cut(false);
      case 3:
        deliver(w_.coin() ? a_.late : a_.out, b_, true);
        return;
      case 4:
        deliver(w_.coin() ? b_.late : b_.out, a_, false);
        return;
      case 5:
      case 6:
      case 7:
        send(a_);
        return;
      case 8:
        send(b_);
        return;
      case 9:
      case 10:
        deliver(a_.out, b_, true);
        return;
      default:
        deliver(b_.out, a_, false);
    }
  }

  void cut(bool anew) {
    for (auto* x : {&a_, &b_}) {
      if (w_.coin())
        x->late.insert(x->late.end(), x->out.begin(), x->out.end());
      x->out.clear();
    }
    if (anew) {
      auto late = std::move(b_.late);
      b_ = end{
        options_of(++instance_, std::make_shared<held_bytes>(room_bytes), 50)};
      b_.late = std::move(late);
      a_.late.clear(); // Nothing of before comes to another process.
    }
    a_.link.lost();
    a_.link.connected(++connection_);
  }

  static bool send(end& from) {
    const auto x = from.link.next();
    if (x)
      from.out.push_back(wire_of(*x));
    return x.has_value();
  }

  bool deliver(std::deque<wire>& from, end& to, bool to_b) {
    if (from.empty())
      return false;
    const auto x = std::move(from.front());
    from.pop_front();
    const auto before = to.link.other();
    const auto found = to.link.heard(*read_piece(x.head, x.body));
    TROUPE_ASSERT(found);
    if (!to_b && before && before != to.link.other())
      found_.forget(sizes_.size());
    for (const auto& one : *found)
      if (to_b)
        found_.take(one, sizes_);
    return true;
  }

  whim w_;
  std::uint64_t instance_ = 2;
  std::uint32_t connection_ = 0;
  end a_;
  end b_;
  std::vector<std::size_t> sizes_; ///< Of what was said.
  come found_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0)
    return 0;
  const std::span rest{data + 1, size - 1};
  switch (data[0] % 3) {
    case 0:
      hear_a_stranger(whim{rest});
      break;
    case 1:
      network{whim{rest}}.run();
      break;
    default:
      read_bytes(std::as_bytes(rest));
  }
  return 0;
}
