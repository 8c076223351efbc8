#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "actors/director/course.hpp"

namespace troupe::actors {

using messages::invitation_made;
using messages::round_closed;
using messages::save_requested;

inline const line_id lead{1}, other{2};

/// A course whose saves succeed at once, and what it has said.
struct run_of {
  explicit run_of(course::options o, course::durable found = {})
    : testee(prepared(o), with_heads(std::move(found))) {
    // nop
  }

  static course::options prepared(course::options o) {
    o.lines = {lead, other};
    o.lead = lead;
    o.selection.window_size = 3;
    return o;
  }

  static course::durable with_heads(course::durable x) {
    x.heads.insert({{lead, {0}}, {other, {0}}});
    return x;
  }

  void did(course::actions what) {
    for (const auto& x : what) {
      said.push_back(x);
      if (const auto* save = std::get_if<save_requested>(&x);
          save && saves_succeed)
        did(testee.saved(save->token, now));
    }
  }

  void join(std::uint64_t clients) {
    for (std::uint64_t i = 1; i <= clients; ++i)
      did(testee.joined({{i}, 10}, now));
  }

  void take(visit_id x) {
    for (const auto line : {lead, other})
      did(testee.taken({.visit = x, .line = line, .lines_total = 2}, now));
  }

  template <class T>
  std::vector<T> all() const {
    std::vector<T> result;
    for (const auto& x : said)
      if (const auto* one = std::get_if<T>(&x))
        result.push_back(*one);
    return result;
  }

  bool saves_succeed = true;
  instant now = std::chrono::seconds{1};
  course testee;
  course::actions said;
};

inline course::options rounds_of(std::uint32_t n) {
  course::options x;
  x.mode = pace_kind::sync;
  x.clients_per_round = n;
  x.round_deadline = std::chrono::seconds{10};
  x.clients_expected = 3;
  return x;
}

inline course::options slots_of(std::uint32_t n) {
  course::options x;
  x.mode = pace_kind::fedbuff;
  x.concurrency = n;
  x.clients_expected = 3;
  return x;
}

inline std::vector<visit_id> visits_of(const round_closed& x) {
  std::vector<visit_id> result;
  for (const auto& visit : x.visits)
    result.push_back(visit.visit);
  return result;
}

} // namespace troupe::actors
