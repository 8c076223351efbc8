#pragma once

// How a process that was given a line makes its own key known by it.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "core/keys.hpp"

namespace troupe::node {

struct enrolment {
  std::string address;
  public_key server{};
  key_pair line;    ///< Of the invitation.
  public_key own{}; ///< To be enrolled.
  double wait = 60; ///< Seconds for an answer; 0: no end.
  const std::atomic<bool>* stop = nullptr;
};

struct enrolment_outcome {
  enum class how : std::uint8_t {
    done,
    refused,     ///< And why.
    not_let_in,  ///< The line has expired, or was never given out.
    not_theirs,  ///< Whoever answers is not the server.
    unreachable, ///< Or interrupted.
  };

  how what = how::done;
  std::string why = {};
};

[[nodiscard]] enrolment_outcome enrol(const enrolment& x);

} // namespace troupe::node
