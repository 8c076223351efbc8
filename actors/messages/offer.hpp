#pragma once

// The way up: what a visit offers, and what becomes of it.

#include <cstdint>
#include <tuple>
#include <vector>

#include "actors/messages/schema.hpp"
#include "actors/messages/ticket.hpp"
#include "core/offered_block.hpp"
#include "policies/admission.hpp"

namespace troupe::messages {

/// The difference between what was fetched as version `base` of a block and
/// what training made of it.
struct offer_block : offered_block {
  version base{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.block, x.base, x.rank, x.weight, x.delta);
  }
};

/// Values of the recipe's declared disclosure number `index`.
struct disclosed_values {
  std::uint32_t index = 0;
  std::vector<double> values;

  static constexpr auto fields(auto& x) {
    return std::tie(x.index, x.values);
  }
};

/// A version that a visit trained on.
struct fetched_line {
  line_id line{};
  version base{};

  static constexpr auto fields(auto& x) {
    return std::tie(x.line, x.base);
  }
};

/// The whole visit in one message: the gateway screens it whole, then splits
/// it. Version 2 has `fetched`.
struct offer_made {
  static constexpr schema wire{
    .kind = 0x0101, .readable_since = 1, .field_counts = {4, 5}};

  ticket pass;
  std::vector<disclosed_values> disclosures;
  std::vector<offer_block> blocks; ///< Sorted by block; groups complete.
  double loss = 0; ///< Mean training loss: what selection may record.
  /// Of lines that it does not offer to, by line: a server that has forgotten
  /// the visit puts it into its record again.
  std::vector<fetched_line> fetched;

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.disclosures, x.blocks, x.loss, x.fetched);
  }
};

/// The answer for one line. `accepted` means durable, so it comes with the
/// version that holds the offer; refusals come at once.
struct offer_answered {
  static constexpr schema wire{
    .kind = 0x0102, .readable_since = 1, .field_counts = {5, 6}};

  visit_id visit{};
  line_id line{};
  policies::verdict verdict = policies::verdict::overloaded;
  version head{}; ///< Rides on every answer: announcements are only hints.
  /// `overloaded`: when to offer again; 0: as after a loss.
  std::uint64_t retry_ms = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.line, x.verdict, x.head,
                    x.retry_ms);
  }
};

/// A line has the offer and will answer; in this session it need not be said
/// again.
struct offer_held {
  static constexpr schema wire{
    .kind = 0x0103, .readable_since = 1, .field_counts = {4}};

  visit_id visit{};
  line_id line{};
  std::uint8_t durable = 0; ///< 1: also after the server's end.

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.line, x.durable);
  }
};

/// What becomes of an offer whose values its client has let go of, since they
/// are durable? Who holds it says so again, or answers; of whom it is not known
/// the answer is `withdrawn`.
struct offer_awaited {
  static constexpr schema wire{
    .kind = 0x0104, .readable_since = 1, .field_counts = {2}};

  ticket pass;
  std::vector<line_id> lines; ///< Without an answer.

  static constexpr auto fields(auto& x) {
    return std::tie(x.pass, x.lines);
  }
};

} // namespace troupe::messages
