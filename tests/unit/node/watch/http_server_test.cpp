// The server against plain sockets. It takes any port that is free, on the
// loopback alone.

#include "node/watch/http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::http {

namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::map<std::string, page> hello() {
  return {{"/hello",
           [](bool json) { return answer{.body = json ? "{}" : "hello\n"}; }}};
}

/// What comes back on a connection of its own until the other side closes.
std::string asked(const std::string& address, const std::string& text) {
  const auto port = std::stoi(address.substr(address.rfind(':') + 1));
  const auto socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(write(socket, text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  std::string heard;
  char part[4096];
  for (ssize_t n = 0; (n = read(socket, part, sizeof part)) > 0;)
    heard.append(part, static_cast<std::size_t>(n));
  close(socket);
  return heard;
}

} // namespace

TEST(http_server, answers_on_the_port_that_it_names_and_closes) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee) << testee.error().context;
  const auto text =
    asked((*testee)->address(), "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(text, HasSubstr("\r\n\r\nhello\n"));
}

TEST(http_server, answers_in_json_where_it_is_asked_to) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  EXPECT_THAT(asked((*testee)->address(),
                    "GET /hello?format=json HTTP/1.1\r\nHost: x\r\n\r\n"),
              HasSubstr("\r\n\r\n{}"));
}

TEST(http_server, knows_no_other_page_and_takes_no_nonsense) {
  const auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  EXPECT_THAT(
    asked((*testee)->address(), "GET /../etc HTTP/1.1\r\nHost: x\r\n\r\n"),
    StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(asked((*testee)->address(), "zebra\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
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

TEST(http_server, ends_while_a_connection_says_nothing) {
  auto testee = server::open("127.0.0.1:0", hello());
  ASSERT_TRUE(testee);
  const auto address = (*testee)->address();
  const auto port = std::stoi(address.substr(address.rfind(':') + 1));
  const auto socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  ASSERT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  testee->reset();
  close(socket);
}

} // namespace troupe::http
