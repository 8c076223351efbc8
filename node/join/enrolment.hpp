#pragma once

// How a process that was given a line makes its own key known by it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/transport/piece.hpp"
#include "actors/transport/server_keys.hpp"
#include "core/keys.hpp"

namespace troupe::node {

struct enrolment {
  std::string address;
  transport::dialler_keys keys; ///< Of the invitation, and of the server.
  public_key own{};             ///< To be enrolled.
  /// As of an endpoint. May be empty.
  std::function<bool(const transport::piece&)> leaving = {};
  double wait = 60; ///< Seconds for an answer; 0: no end.
  const std::atomic<bool>* stop = nullptr;
  std::function<void()> meanwhile = {}; ///< Called while it waits.
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
