#include "node/commands/bench_bare.hpp"

#include <algorithm>
#include <cstdint>

#include "actors/transport/piece.hpp"
#include "node/commands/processes.hpp"

namespace troupe::node {

namespace {

namespace bare = transport::bare;

double p99(std::vector<double> xs) {
  if (xs.empty())
    return 0;
  const auto at =
    xs.begin() + static_cast<std::ptrdiff_t>((xs.size() - 1) * 99 / 100);
  std::ranges::nth_element(xs, at);
  return *at;
}

struct echo_board {
  told_address address;
  std::atomic<bool> stop{false};
  pace_of_frames seen;
  std::uint64_t count = 0;
};

} // namespace

pace_of_frames pace_of(const std::vector<double>& taken, double wall) {
  return {.a_second = static_cast<double>(taken.size()) / wall,
          .p99_seconds = p99(taken)};
}

result<pace_of_frames> echoed(const bare::questions& x) {
  const shared_page<echo_board> board;
  helper_process far{[&]() -> result<void> {
    bare::echo([&](const std::string& at) { board->address.tell(at); },
               board->stop, x.keys);
    return {};
  }};
  helper_process near{[&]() -> result<void> {
    return board->address.get().map([&](const std::string& address) {
      const auto got = bare::ask(address, x);
      board->seen = pace_of(got.seconds, x.seconds);
      board->count = got.count;
    });
  }};
  const auto asked = near.wait();
  board->stop = true;
  const auto answered = far.wait();
  if (!asked || !answered)
    return tl::make_unexpected(!asked ? asked.error() : answered.error());
  if (board->count == 0)
    return fail(errc::invalid_config, "the echo answered nothing");
  board->seen.cpu_seconds = (asked->cpu_seconds + answered->cpu_seconds)
                            / static_cast<double>(board->count);
  return board->seen;
}

result<double> bare_seconds_per_byte(const bare::security& keys) {
  constexpr std::uint64_t bytes = std::uint64_t{2} << 30;
  const shared_page<told_address> address;
  helper_process far{[&]() -> result<void> {
    bare::take([&](const std::string& x) { address->tell(x); }, bytes, keys);
    return {};
  }};
  helper_process near{[&]() -> result<void> {
    return address->get().map([&](const std::string& x) {
      bare::give(x, bytes, transport::piece_head_size, std::size_t{256} << 10,
                 keys);
    });
  }};
  const auto gave = near.wait();
  const auto took = far.wait();
  if (!gave || !took)
    return tl::make_unexpected(!gave ? gave.error() : took.error());
  return (gave->cpu_seconds + took->cpu_seconds) / static_cast<double>(bytes);
}

} // namespace troupe::node
