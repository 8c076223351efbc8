#include "node/watch/http/copies.hpp"

#include <chrono>

namespace troupe::http {

namespace {

using namespace std::chrono_literals;

constexpr instant fresh = 250ms;

const char* phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

answer answer_of(const page& make, bool json) {
  try {
    return make(json);
  } catch (...) {
    // Whatever a page comes upon, the others are still read.
    return {.status = 500, .body = "this page could not be made\n"};
  }
}

} // namespace

copy copy_of(const answer& x) {
  copy made;
  made.bytes = "HTTP/1.1 " + std::to_string(x.status) + " " + phrase(x.status)
               + "\r\nContent-Type: " + x.type
               + "\r\nContent-Length: " + std::to_string(x.body.size())
               + "\r\nCache-Control: no-store\r\nX-Content-Type-Options: "
                 "nosniff\r\nConnection: close\r\n"
               + (x.status == 405 ? "Allow: GET, HEAD\r\n" : "") + "\r\n";
  made.head = made.bytes.size();
  made.bytes += x.body;
  return made;
}

copy copy_of(const refusal& x) {
  return copy_of(answer{.status = x.status, .body = x.why + "\n"});
}

shared_copy copies::of(const std::string& path, bool json, instant now) {
  const auto found = pages_.find(path);
  if (found == pages_.end())
    return nullptr;
  auto& last = newest_[{path, json}];
  if (!last.made || now >= last.until) {
    last.made = nullptr; // Before the next one is made beside it.
    last.made =
      std::make_shared<const copy>(copy_of(answer_of(found->second, json)));
    last.until = now + fresh;
  }
  return last.made;
}

} // namespace troupe::http
