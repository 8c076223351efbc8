// The server against plain sockets. It takes any port that is free, on the
// loopback alone.

#include "node/watch/http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include <sys/resource.h>

#include "tests/support/plain_socket.hpp"

namespace troupe::http {

namespace {

using namespace std::chrono_literals;

using test::asked;
using test::plain_socket;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// However slow this machine is.
constexpr int long_ms = 20'000;

std::map<std::string, page> hello() {
  return {{"/hello",
           [](bool json) { return answer{.body = json ? "{}" : "hello\n"}; }}};
}

std::string get(const std::string& target, const std::string& host,
                const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more
         + "\r\n";
}

} // namespace

TEST(http_server, answers_on_the_port_that_it_names_and_closes) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee) << testee.error().context;
  const auto text =
    asked((*testee)->address(), get("/hello", (*testee)->address()));
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 6\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\nhello\n"));
}

TEST(http_server, counts_who_was_answered_by_page) {
  const auto counted = std::make_shared<tally>();
  {
    const auto testee =
      server::open("127.0.0.1:0", hello(), {.counted = counted});
    ASSERT_TRUE(testee);
    const auto& address = (*testee)->address();
    for (const auto* target : {"/hello", "/hello", "/none"})
      asked(address, get(target, "localhost"));
    asked(address, "nonsense\r\n\r\n");
  } // Then nobody counts any more.
  const auto found = counted->now().requests;
  EXPECT_EQ(found.at("hello").count, 2u);
  EXPECT_EQ(found.at("other").count, 2u);
  EXPECT_EQ(found.size(), 2u);
}

TEST(http_server, answers_in_json_where_it_is_asked_to) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  const auto& address = (*testee)->address();
  EXPECT_THAT(asked(address, get("/hello?format=json", "localhost")),
              EndsWith("\r\n\r\n{}"));
  EXPECT_THAT(asked(address, get("/hello", "localhost",
                                 "Accept: text/html, application/json\r\n")),
              EndsWith("\r\n\r\n{}"));
}

TEST(http_server, sends_no_body_where_the_head_is_wanted) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  const auto text = asked((*testee)->address(),
                          "HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 6\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\n"));
}

TEST(http_server, knows_no_other_page_and_takes_no_nonsense) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  const auto& address = (*testee)->address();
  EXPECT_THAT(asked(address, get("/../etc", "localhost")),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(asked(address, "zebra\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST(http_server, answers_a_page_that_throws_with_500) {
  const auto testee = server::open(
    "127.0.0.1:0",
    {{"/broken", [](bool) -> answer { throw std::runtime_error{"no"}; }}});
  ASSERT_TRUE(testee);
  EXPECT_THAT(asked((*testee)->address(), get("/broken", "localhost")),
              StartsWith("HTTP/1.1 500"));
}

TEST(http_server, refuses_an_address_that_is_none_and_one_that_is_taken) {
  const auto first = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(first);
  const auto second = server::open((*first)->address(), hello());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::invalid_config);
  EXPECT_THAT(second.error().context, HasSubstr("somebody else may have"));
  for (const std::string wrong :
       {"", "9464", "127.0.0.1", ":9464", "127.0.0.1:", "127.0.0.1:http",
        "127.0.0.1:70000", "[]:1"}) {
    const auto none = server::open(wrong, hello());
    ASSERT_FALSE(none) << wrong;
    EXPECT_THAT(none.error().context, HasSubstr("127.0.0.1:9464 would do"));
  }
}

TEST(http_server, answers_to_its_own_names_and_those_that_it_was_given) {
  const auto testee =
    server::open("0.0.0.0:0", hello(), {.names = {"Troupe.example"}});
  ASSERT_TRUE(testee);
  const auto& address = (*testee)->address();
  for (const std::string host :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:9464", "[::1]:1",
        "0.0.0.0", "troupe.example", "troupe.EXAMPLE:443"})
    EXPECT_THAT(asked(address, get("/hello", host)), StartsWith("HTTP/1.1 200"))
      << host;
  for (const std::string host :
       {"evil.example", "localhost.evil.example", "127.0.0.2", "10.0.0.1",
        "troupe.example.", "x"}) {
    const auto text = asked(address, get("/hello", host));
    EXPECT_THAT(text, StartsWith("HTTP/1.1 421")) << host;
    EXPECT_THAT(text, HasSubstr("--http-hosts " + host));
    EXPECT_THAT(text, Not(HasSubstr("hello")));
  }
  const auto none = server::open("127.0.0.1:0", hello(), {.names = {"a b"}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().context, HasSubstr("troupe.example would do"));
}

TEST(http_server, answers_nothing_but_get_and_head_and_takes_no_body) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  const auto& address = (*testee)->address();
  // The refusal comes before the request is whole.
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    const auto text = asked(address, method + " /hello");
    EXPECT_THAT(text, StartsWith("HTTP/1.1 405")) << method;
    EXPECT_THAT(text, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
  for (const std::string body :
       {"Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n"})
    EXPECT_THAT(asked(address, "GET /hello HTTP/1.1\r\n" + body),
                StartsWith("HTTP/1.1 413"));
}

TEST(http_server, sends_a_page_once_however_many_ranges_are_wanted) {
  const std::string body(100'000, 'x');
  const auto testee = server::open(
    "127.0.0.1:0", {{"/large", [&](bool) { return answer{.body = body}; }}});
  ASSERT_TRUE(testee);
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1500; ++i)
    ranges += ",0-";
  const auto text =
    asked((*testee)->address(), get("/large", "localhost", ranges + "\r\n"));
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_LT(text.size(), body.size() + 500);
}

TEST(http_server, answers_the_first_of_many_requests_on_a_connection) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += get("/hello", "localhost");
  const auto text = asked((*testee)->address(), many);
  EXPECT_THAT(text, EndsWith("\r\n\r\nhello\n"));
  EXPECT_EQ(text.find("HTTP/1.1", 1), text.npos);
}

TEST(http_server, answers_who_has_closed_its_own_direction) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  plain_socket x{(*testee)->address()};
  x.say(get("/hello", "localhost"));
  x.say_no_more();
  EXPECT_THAT(x.hear(), EndsWith("\r\n\r\nhello\n"));
}

TEST(http_server, closes_at_the_deadline_whatever_is_said) {
  const auto testee = server::open(
    "127.0.0.1:0",
    {{"/large",
      [](bool) { return answer{.body = std::string(3 << 20, 'x')}; }}},
    {.deadline = 300ms});
  ASSERT_TRUE(testee);
  const auto begin = steady_now();
  plain_socket silent{(*testee)->address()};
  plain_socket slow{(*testee)->address()};
  plain_socket unread{(*testee)->address()};
  unread.say(get("/large", "localhost"));
  slow.say("GET /hello HTTP/1.1\r\nX: ");
  while (!slow.is_closed(20) && steady_now() - begin < 10s)
    slow.say("x");
  const auto took = steady_now() - begin;
  EXPECT_TRUE(silent.is_closed(long_ms)) << "a silent connection stays";
  EXPECT_TRUE(unread.is_closed(long_ms)) << "who does not read stays";
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 8s) << "a byte now and then keeps a connection open";
  EXPECT_LT(unread.hear().size(), 3u << 20);
}

TEST(http_server, holds_no_more_pages_than_its_limit_for_who_does_not_read) {
  std::map<std::string, page> pages;
  for (int i = 0; i < 8; ++i)
    pages["/" + std::to_string(i)] = [](bool) {
      return answer{.body = std::string(3 << 20, 'x')};
    };
  const auto testee = server::open("127.0.0.1:0", pages, {.deadline = 60s});
  ASSERT_TRUE(testee);
  std::vector<plain_socket> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back((*testee)->address());
    readers.back().say(get("/" + std::to_string(i), "localhost"));
  }
  EXPECT_GT(readers.back().hear().size(), 3u << 20);
  // Two of three MiB fit into the limit beside the newest.
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(readers[static_cast<std::size_t>(i)].is_closed(long_ms))
      << "the pages of who does not read have no bound";
  EXPECT_GT(readers[6].hear().size(), 3u << 20);
}

TEST(http_server, puts_out_who_comes_often_and_nobody_else) {
  const auto testee = server::open("127.0.0.1:0", hello(),
                                   {.deadline = 60s, .connections_max = 10});
  ASSERT_TRUE(testee);
  const auto& address = (*testee)->address();
  plain_socket slow{address};
  slow.say("GET /hello HTTP/1.1\r\n");
  std::vector<plain_socket> others;
  for (int i = 0; i < 30; ++i)
    others.emplace_back(address, "127.0.0.2");
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(others[static_cast<std::size_t>(i)].is_closed(long_ms));
  slow.say("Host: localhost\r\n\r\n");
  EXPECT_THAT(slow.hear(), StartsWith("HTTP/1.1 200"));
}

TEST(http_server, waits_where_the_process_may_open_no_more) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  rlimit normal{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &normal), 0);
  const auto busy = process_cpu_time();
  const int next = dup(0);
  close(next);
  // One more, which is the reader's own.
  const rlimit tight{.rlim_cur = static_cast<rlim_t>(next) + 1,
                     .rlim_max = normal.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  plain_socket reader{(*testee)->address()};
  reader.say(get("/hello", "localhost"));
  EXPECT_FALSE(reader.is_closed(300));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &normal), 0);
  EXPECT_THAT(reader.hear(), StartsWith("HTTP/1.1 200"));
  EXPECT_LT(process_cpu_time() - busy, 200ms);
}

TEST(http_server, ends_at_once_whoever_is_connected) {
  auto testee = server::open("127.0.0.1:0", hello(), {.deadline = 60s});
  ASSERT_TRUE(testee);
  std::vector<plain_socket> all;
  for (int i = 0; i < 50; ++i) {
    all.emplace_back((*testee)->address());
    all.back().say(i % 2 == 0 ? "" : "GET /hello HTTP/1.1\r\n");
  }
  // Who is answered came after all of them.
  asked((*testee)->address(), get("/hello", "localhost"));
  const auto begin = steady_now();
  testee->reset();
  EXPECT_LT(steady_now() - begin, 10s);
  for (auto& x : all)
    EXPECT_TRUE(x.is_closed(long_ms));
}

} // namespace troupe::http
