#pragma once

// Pages as bytes that can be sent. A page is made four times a second at most,
// however many ask for it: they share a copy, so that neither work nor memory
// grows with the readers.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "node/watch/http/answer.hpp"
#include "node/watch/http/request.hpp"

namespace troupe::http {

struct copy {
  std::string bytes;
  std::size_t head = 0; ///< Of these, what stands before the body.
};

using shared_copy = std::shared_ptr<const copy>;

copy copy_of(const answer& x);
copy copy_of(const refusal& x);

class copies {
public:
  explicit copies(std::map<std::string, page> pages)
    : pages_(std::move(pages)) {
    // nop
  }

  /// Returns nullptr where there is no such page. One that throws says 500.
  shared_copy of(const std::string& path, bool json, instant now);

private:
  struct newest {
    shared_copy made;
    instant until{};
  };

  std::map<std::string, page> pages_;
  std::map<std::pair<std::string, bool>, newest> newest_;
};

} // namespace troupe::http
