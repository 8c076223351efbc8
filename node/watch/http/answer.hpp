#pragma once

#include <functional>
#include <string>

namespace troupe::http {

struct answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// Called on the server's thread. @param json the reader asked for JSON
using page = std::function<answer(bool json)>;

} // namespace troupe::http
