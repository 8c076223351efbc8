// Two hundred connections that mean harm, of each kind, and a reader who does
// not. The full length is tests/experiments/hostile_http.py, over a process.

#include "node/watch/http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "tests/support/plain_socket.hpp"

namespace troupe::http {

namespace {

using namespace std::chrono_literals;

using test::asked;
using test::plain_socket;
using ::testing::EndsWith;

/// What one connection does; it never reads.
struct harm {
  std::string name;
  std::string first = {};
  std::string again = {}; ///< As often as the other side takes it.
  bool half_closed = false;
};

std::string times(int n, const std::string& x) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += x;
  return all;
}

std::vector<harm> all_harms() {
  using namespace std::string_literals;
  const auto host = "Host: localhost\r\n"s;
  const auto get = "GET /hello HTTP/1.1\r\n"s;
  return {
    {.name = "body_in_chunks",
     .first =
       "POST /hello HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n",
     .again = "10000\r\n" + std::string(0x10000, 'x') + "\r\n"},
    {.name = "body_of_a_get",
     .first = get + host + "Content-Length: 1000000000\r\n\r\n",
     .again = std::string(0x10000, 'x')},
    {.name = "slow_bytes", .first = get, .again = "X"},
    {.name = "silence"},
    {.name = "headers_without_end",
     .first = get,
     .again = times(1000, "X: y\r\n")},
    {.name = "many_ranges",
     .first = "GET /large HTTP/1.1\r\n" + host + "Range: bytes=0-"
              + times(2000, ",0-") + "\r\n\r\n"},
    {.name = "wrong_host", .first = get + "Host: evil.example\r\n\r\n"},
    {.name = "pipelined",
     .first = times(100, get + host + "\r\n"),
     .again = times(100, get + host + "\r\n")},
    {.name = "endless_target",
     .first = "GET /",
     .again = std::string(0x10000, 'x')},
    {.name = "http_0_9", .first = "GET /large\r\n"},
    {.name = "zeros", .again = std::string(4096, '\0')},
    {.name = "half_closed", .first = get, .half_closed = true},
    {.name = "asked_and_half_closed",
     .first = "GET /large HTTP/1.1\r\n" + host + "\r\n",
     .half_closed = true},
    {.name = "never_reads", .first = "GET /large HTTP/1.1\r\n" + host + "\r\n"},
  };
}

class attackers {
public:
  attackers(std::string address, harm what, std::size_t count)
    : address_(std::move(address)),
      what_(std::move(what)),
      count_(count) {
    while (all_.size() < count_)
      come();
    thread_ = std::jthread{[this] { go_on(); }};
  }

  ~attackers() {
    done_ = true;
  }

  int closed() const {
    return closed_;
  }

private:
  void come() {
    auto& x = all_.emplace_back(address_);
    x.say(what_.first);
    if (what_.half_closed)
      x.say_no_more();
  }

  void go_on() {
    while (!done_) {
      for (auto& x : all_)
        if (!what_.again.empty())
          x.say(what_.again);
      closed_ += static_cast<int>(
        std::erase_if(all_, [](auto& x) { return x.is_closed(); }));
      for (int i = 0; i < 4 && all_.size() < count_; ++i)
        come();
      std::this_thread::sleep_for(1ms);
    }
  }

  const std::string address_;
  const harm what_;
  const std::size_t count_;
  std::vector<plain_socket> all_;
  std::atomic<bool> done_{false};
  std::atomic<int> closed_{0};
  std::jthread thread_;
};

class http_hostile : public ::testing::TestWithParam<harm> {};

std::size_t resident_bytes() {
  std::size_t pages = 0;
  auto* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*u %zu", &pages) != 1)
    pages = 0;
  if (file != nullptr)
    std::fclose(file);
  return pages * 4096;
}

// Sanitizers keep what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_tells = false;
#else
constexpr bool memory_tells = true;
#endif

} // namespace

TEST_P(http_hostile, connections_keep_nobody_waiting_and_fill_no_memory) {
  auto testee = server::open(
    "127.0.0.1:0",
    {{"/hello", [](bool) { return answer{.body = "hello\n"}; }},
     {"/large",
      [](bool) { return answer{.body = std::string(2 << 20, 'x')}; }}},
    {.connections_max = 100});
  ASSERT_TRUE(testee) << testee.error().context;
  const auto address = (*testee)->address();
  const auto before = resident_bytes();
  std::vector<instant> waits;
  {
    const attackers those{address, GetParam(), 200};
    const auto begun = steady_now();
    const auto goes_on = [&] {
      const auto lasts = steady_now() - begun;
      return lasts < 300ms || waits.size() < 5
             || (those.closed() == 0 && lasts < 20s);
    };
    while (goes_on()) {
      const auto asks = steady_now();
      EXPECT_THAT(
        asked(address, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        EndsWith("\r\n\r\nhello\n"));
      waits.push_back(steady_now() - asks);
    }
    EXPECT_GT(those.closed(), 0) << "connections that mean harm stay";
  }
  // A machine has other things to do, too. Who waited for the others would
  // wait for the five seconds that each of them has.
  std::ranges::sort(waits);
  EXPECT_LT(waits[(waits.size() - 1) * 9 / 10], 1s) << "an honest reader waits";
  EXPECT_LT(waits.back(), 3s) << "an honest reader waits";
  const auto after = resident_bytes();
  if (memory_tells) {
    EXPECT_LT(after, before + (20u << 20)) << "memory grows";
  }
  RecordProperty("longest_wait_us", static_cast<int>(waits.back() / 1us));
  const auto begin = steady_now();
  testee->reset();
  EXPECT_LT(steady_now() - begin, 3s) << "the end is not at once";
}

INSTANTIATE_TEST_SUITE_P(all, http_hostile, ::testing::ValuesIn(all_harms()),
                         [](const auto& x) { return x.param.name; });

} // namespace troupe::http
