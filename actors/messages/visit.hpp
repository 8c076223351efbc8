#pragma once

// The way down: an invitation, and what is fetched on it.

#include <cstdint>
#include <tuple>
#include <vector>

#include "actors/messages/schema.hpp"
#include "actors/messages/ticket.hpp"
#include "core/values.hpp"
#include "policies/admission.hpp"

namespace troupe::messages {

struct invited {
  static constexpr schema wire{
    .kind = 0x0201, .readable_since = 1, .field_counts = {1}};

  ticket pass;

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass);
  }
};

/// "No version": in `held`, the client has none; in `exact`, the newest will
/// do.
inline constexpr version no_version{~std::uint64_t{0}};

struct want {
  line_id line{};
  version held = no_version;  ///< Need not be sent again.
  version exact = no_version; ///< A resumed visit asks for what it had fetched.
  std::uint32_t rank = 0;     ///< Of a prefix; 0 is all.

  static constexpr auto fields(auto& x) {
    return std::tie(x.line, x.held, x.exact, x.rank);
  }
};

struct fetch_requested {
  static constexpr schema wire{
    .kind = 0x0202, .readable_since = 1, .field_counts = {3}};

  ticket pass;
  std::uint32_t leg = 0;
  std::vector<want> wanted;

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.leg, x.wanted);
  }
};

struct block_values {
  block_id block{};
  shared_values values;

  static constexpr auto fields(auto& x) {
    return std::tie(x.block, x.values);
  }
};

/// One line's part of the answer to a fetch.
struct line_served {
  static constexpr schema wire{
    .kind = 0x0203, .readable_since = 1, .field_counts = {7}};

  visit_id visit{};
  std::uint32_t leg = 0;
  line_id line{};
  version base{};
  std::uint8_t unchanged = 0; ///< 1: the client holds this version; no blocks.
  std::vector<block_values> blocks;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.leg, x.line, x.base,
                    x.unchanged, x.blocks);
  }
};

/// The server gives a visit up, or knows nothing of it.
struct visit_ended {
  static constexpr schema wire{
    .kind = 0x0204, .readable_since = 1, .field_counts = {3}};

  visit_id visit{};
  policies::verdict why = policies::verdict::withdrawn;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.why);
  }
};

enum class decline_reason : std::uint8_t {
  busy,     ///< Another visit is open here.
  failed,   ///< Training failed or diverged.
  no_offer, ///< Done, and the recipe or the data makes no offer.
  dropped,  ///< Neither done nor failed: given up or withdrawn before its end.
};

constexpr bool known(decline_reason x) noexcept {
  return x <= decline_reason::dropped;
}

/// The client ends a visit without an offer. Version 2 has `dropped`.
struct visit_declined {
  static constexpr schema wire{
    .kind = 0x0205, .readable_since = 2, .field_counts = {2, 2}};

  ticket pass;
  decline_reason why = decline_reason::busy;

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.why);
  }
};

/// A hint, which may be lost: the head rides on every answer to an offer.
struct version_announced {
  static constexpr schema wire{
    .kind = 0x0301, .readable_since = 1, .field_counts = {2}};

  line_id line{};
  version head{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.line, x.head);
  }
};

} // namespace troupe::messages
