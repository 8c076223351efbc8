#pragma once

// What clients are worth to themselves: asked of a process for all of its
// clients, on channel 0, and computed there, where their rows and states are.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "actors/messages/schema.hpp"
#include "actors/messages/visit.hpp"

namespace troupe::messages {

/// One client's: on its own test rows, and on those that it has set aside,
/// where the run stops by them; else zeros. Sums over rows. No field says more
/// of a row.
struct told_score {
  static constexpr std::uint64_t rows_max = std::uint64_t{1} << 32;

  client_id client{};
  std::uint64_t count = 0;
  std::uint64_t correct = 0;
  double loss = 0;
  std::uint64_t aside_count = 0;
  std::uint64_t aside_correct = 0;
  double aside_loss = 0;

  static constexpr auto fields(auto& x) {
    return std::tie(x.client, x.count, x.correct, x.loss, x.aside_count,
                    x.aside_correct, x.aside_loss);
  }
};

/// "What are these versions worth to these of your clients?" Who does not
/// answer is not asked again.
struct scores_asked {
  static constexpr schema wire{
    .kind = 0x0401, .readable_since = 1, .field_counts = {3}};

  std::uint64_t question = 0;
  std::vector<client_id> clients;
  std::vector<block_values> blocks; ///< All that travel, sorted.

  static constexpr auto fields(auto& x) {
    return std::tie(x.question, x.clients, x.blocks);
  }
};

/// Of some of them; who has more than this says the others in another.
struct scores_told {
  static constexpr schema wire{
    .kind = 0x0402, .readable_since = 1, .field_counts = {2}};
  static constexpr std::size_t clients_max = 1000;

  std::uint64_t question = 0;
  std::vector<told_score> scores;

  static constexpr auto fields(auto& x) {
    return std::tie(x.question, x.scores);
  }
};

} // namespace troupe::messages
