#include "node/watch/http/request.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/limits.hpp"

namespace troupe::http {

namespace {

using verdict = std::optional<refusal>;

refusal refuse(int status, std::string why) {
  return {.status = status, .why = std::move(why)};
}

// The C library's own depend on a locale.
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_alphanumeric(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

constexpr bool is_hexadecimal(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

constexpr bool is_visible(char c) {
  return c > ' ' && c < '\x7f';
}

/// Control characters have no place in a value; bytes above ASCII may be there.
constexpr bool is_of_value(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

constexpr bool is_of_token(char c) {
  return is_alphanumeric(c)
         || std::string_view{"!#$%&'*+-.^_`|~"}.find(c)
              != std::string_view::npos;
}

bool is_token(std::string_view x) {
  return !x.empty() && std::ranges::all_of(x, is_of_token);
}

std::string in_lower_case(std::string_view x) {
  std::string text{x};
  std::ranges::transform(text, text.begin(), lower);
  return text;
}

std::string_view trimmed_value(std::string_view x) {
  const auto first = x.find_first_not_of(" \t");
  if (first == x.npos)
    return {};
  return x.substr(first, x.find_last_not_of(" \t") - first + 1);
}

bool asks_for_json(std::string_view query) {
  while (!query.empty()) {
    const auto end = query.find('&');
    if (query.substr(0, end) == "format=json")
      return true;
    query.remove_prefix(end == query.npos ? query.size() : end + 1);
  }
  return false;
}

/// @param whole no byte of this line is still to come
verdict read_target(std::string_view target, bool whole, request& x) {
  if (target.size() > limits::http_target_bytes_max)
    return refuse(414, "the target is too long");
  if (!target.empty() && target.front() != '/')
    return refuse(400, "the target does not begin with a '/'");
  if (!std::ranges::all_of(target, is_visible))
    return refuse(400, "the target has bytes that no target has");
  if (!whole)
    return {};
  if (target.empty())
    return refuse(400, "there is no target");
  const auto mark = target.find('?');
  x.path = target.substr(0, mark);
  x.json = mark != target.npos && asks_for_json(target.substr(mark + 1));
  return {};
}

verdict read_first(std::string_view line, bool whole, request& x) {
  const auto space = line.find(' ');
  const auto method = line.substr(0, space);
  if (method.size() > 16 || (!method.empty() && !is_token(method)))
    return refuse(400, "this is no request");
  if (space == line.npos)
    return whole ? verdict{refuse(400, "this is no request")} : verdict{};
  if (method != "GET" && method != "HEAD")
    return refuse(405, "only GET and HEAD are answered");
  x.head = method == "HEAD";
  line.remove_prefix(space + 1);
  const auto end = line.find(' ');
  if (auto wrong =
        read_target(line.substr(0, end), whole || end != line.npos, x))
    return wrong;
  if (!whole)
    return {};
  const auto version =
    end == line.npos ? line.substr(0, 0) : line.substr(end + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken");
  return {};
}

verdict read_header(std::string_view line, request& x) {
  const auto colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon)))
    return refuse(400, "a header has no name");
  const auto name = in_lower_case(line.substr(0, colon));
  const auto value = trimmed_value(line.substr(colon + 1));
  if (!std::ranges::all_of(value, is_of_value))
    return refuse(400, "a header has bytes that no header has");
  if ((name == "content-length" && value != "0") || name == "transfer-encoding")
    return refuse(413, "a body is not taken");
  if (name == "accept")
    x.json = x.json || value.find("application/json") != value.npos;
  if (name != "host")
    return {};
  auto host = host_name(value);
  if (!host || !x.host.empty())
    return refuse(400, host ? "there are two hosts" : "the host is none");
  x.host = std::move(*host);
  return {};
}

} // namespace

parsed parse_request(std::string_view bytes) {
  const bool full = bytes.size() >= limits::http_head_bytes_max;
  auto rest = bytes.substr(0, limits::http_head_bytes_max);
  request x;
  for (std::size_t lines = 0;; ++lines) {
    const auto end = rest.find('\n');
    const bool whole = end != rest.npos;
    auto line = rest.substr(0, end);
    // A carriage return that is not followed by the line's end is found below
    // among the bytes that have no place in a line.
    if (whole && (line.empty() || line.back() != '\r'))
      return refuse(400, "a line does not end with CR LF");
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (lines == 0)
      if (auto wrong = read_first(line, whole, x))
        return *std::move(wrong);
    if (lines > limits::http_headers_max && !line.empty())
      return refuse(431, "there are too many headers");
    if (!whole)
      return full ? parsed{refuse(431, "the headers are too long")}
                  : parsed{incomplete{}};
    if (lines > 0 && line.empty())
      return x.host.empty() ? parsed{refuse(400, "there is no host")}
                            : parsed{std::move(x)};
    if (lines > 0)
      if (auto wrong = read_header(line, x))
        return *std::move(wrong);
    rest.remove_prefix(end + 1);
  }
}

std::optional<std::string> host_name(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const auto end = bracketed ? host.find(']') : host.find(':');
  if (bracketed && end == host.npos)
    return std::nullopt;
  const auto name = bracketed ? host.substr(1, end - 1) : host.substr(0, end);
  auto port = end == host.npos ? std::string_view{}
                               : host.substr(end + (bracketed ? 1 : 0));
  if (!port.empty()) {
    if (port.front() != ':' || port.size() > 6)
      return std::nullopt;
    port.remove_prefix(1);
  }
  const auto belongs = [&](char c) {
    return bracketed ? is_hexadecimal(c) || c == ':' || c == '.'
                     : is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
  };
  if (name.empty() || name.size() > 253 || !std::ranges::all_of(name, belongs)
      || !std::ranges::all_of(port, is_digit))
    return std::nullopt;
  return in_lower_case(name);
}

} // namespace troupe::http
