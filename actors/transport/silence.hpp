#pragma once

#include <chrono>

#include "core/clock.hpp"

namespace troupe::transport {

/// How long who dialled bears to hear nothing, before it dials anew. What
/// ZeroMQ makes of a connection that broke a rule, or of a way that forgot it,
/// is to wait.
class silence {
public:
  struct options {
    instant unopened_max = std::chrono::seconds{10};
    instant open_max = std::chrono::seconds{90}; ///< Three beats.
  };

  silence(options x, instant now) : options_(x), since_(now) {
    // nop
  }

  void broken(instant now) noexcept {
    since_ = now;
  }

  /// When it is over, as things are.
  instant ends(bool is_open) const noexcept {
    return since_ + (is_open ? options_.open_max : options_.unopened_max);
  }

private:
  options options_;
  instant since_;
};

} // namespace troupe::transport
