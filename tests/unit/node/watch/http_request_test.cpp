#include "node/watch/http/request.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace troupe::http {

namespace {

using namespace std::string_literals;

/// 0 for what may still become a request, 200 for one.
int status_of(const std::string& bytes) {
  const auto x = parse_request(bytes);
  if (const auto* wrong = std::get_if<refusal>(&x))
    return wrong->status;
  return std::holds_alternative<request>(x) ? 200 : 0;
}

const std::string plain = "GET /why?x=1 HTTP/1.1\r\nHost: [::1]:80\r\n"
                          "Accept: text/html\r\n\r\n";

} // namespace

TEST(http_request, is_read_from_its_first_line_and_headers) {
  const auto x = parse_request(plain);
  ASSERT_TRUE(std::holds_alternative<request>(x));
  EXPECT_EQ(
    std::get<request>(x),
    (request{.head = false, .json = false, .path = "/why", .host = "::1"}));
  const auto y = parse_request("HEAD /why?a&format=json HTTP/1.0\r\n"
                               "hOST:Troupe.Example\r\n\r\n");
  ASSERT_TRUE(std::holds_alternative<request>(y));
  EXPECT_EQ(
    std::get<request>(y),
    (request{
      .head = true, .json = true, .path = "/why", .host = "troupe.example"}));
}

TEST(http_request, is_the_same_however_its_bytes_come_and_what_follows) {
  for (std::size_t n = 0; n < plain.size(); ++n)
    EXPECT_EQ(status_of(plain.substr(0, n)), 0) << n;
  for (const std::string& more : {"GET"s, "\0"s, std::string(100'000, 'x')})
    EXPECT_EQ(status_of(plain + more), 200);
}

TEST(http_request, is_refused_by_what_is_wrong_with_it) {
  const std::string host = "Host: x\r\n";
  const std::pair<std::string, int> cases[] = {
    {"POST ", 405},
    {"get / HTTP/1.1\r\n", 405},
    {"GET /\r\n", 505}, // HTTP/0.9
    {"GET / HTTP/2.0\r\n", 505},
    {"GET / HTTP/1.1 \r\n", 505},
    {"GET http://x/ HTTP/1.1\r\n", 400},
    {"GET  HTTP/1.1\r\n", 400},
    {"\r\n", 400},
    {"\0"s, 400},
    {"\x16\x03\x01"s, 400}, // TLS
    {"GET /\x01", 400},
    {"GET /\0 HTTP/1.1\r\n"s, 400},
    {"GET / HTTP/1.1\n", 400},
    {"GET / HTTP/1.1\r\nX: a\nHost: x\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nX: a\rb\r\n", 400},
    {"GET / HTTP/1.1\r\nX: a\0b\r\n"s, 400},
    {"GET / HTTP/1.1\r\n: a\r\n", 400},
    {"GET / HTTP/1.1\r\nX : a\r\n", 400},
    {"GET / HTTP/1.1\r\n folded\r\n", 400},
    {"GET / HTTP/1.1\r\n\r\n", 400},
    {"GET / HTTP/1.1\r\nHost: \r\n", 400},
    {"GET / HTTP/1.1\r\n" + host + host, 400},
    {"GET / HTTP/1.1\r\nContent-Length: 1\r\n", 413},
    {"GET / HTTP/1.1\r\nContent-Length: 0\r\n" + host + "\r\n", 200},
    {"GET / HTTP/1.1\r\nTRANSFER-encoding: gzip\r\n", 413},
  };
  for (const auto& [text, status] : cases)
    EXPECT_EQ(status_of(text), status) << text;
}

TEST(http_request, has_bounds) {
  const auto target = [](std::size_t bytes) {
    return "GET /" + std::string(bytes - 1, 'x');
  };
  EXPECT_EQ(status_of(target(limits::http_target_bytes_max)), 0);
  EXPECT_EQ(status_of(target(limits::http_target_bytes_max + 1)), 414);
  std::string headers = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (std::size_t i = 1; i < limits::http_headers_max; ++i)
    headers += "X: y\r\n";
  EXPECT_EQ(status_of(headers + "\r\n"), 200);
  EXPECT_EQ(status_of(headers + "X"), 431) << "headers have no bound";
  const auto filled = [](std::size_t bytes) {
    std::string text = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
    text.append(bytes - text.size() - 4, 'y');
    return text + "\r\n\r\n";
  };
  EXPECT_EQ(status_of(filled(limits::http_head_bytes_max)), 200);
  EXPECT_EQ(status_of(filled(limits::http_head_bytes_max + 1)), 431);
  EXPECT_EQ(status_of(filled(1 << 20)), 431);
}

TEST(http_request, names_a_host_without_its_port) {
  EXPECT_EQ(host_name("Host.example:9464"), "host.example");
  EXPECT_EQ(host_name("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(host_name("[FE80::1]"), "fe80::1");
  EXPECT_EQ(host_name("a_b-c:"), "a_b-c");
  for (const std::string wrong :
       {"", ":80", "a:b", "a:123456", "a b", "a/b", "user@a", "[::1", "[]",
        "[::1]80", "[g]", "::1", "a,b", "\xc3\xa4"})
    EXPECT_EQ(host_name(wrong), std::nullopt) << wrong;
  EXPECT_EQ(host_name(std::string(254, 'a')), std::nullopt);
}

} // namespace troupe::http
