#pragma once

// What an evaluation found, for the next one: what is as it was is not scored
// a second time, as the last version is that a run evaluates before its end.

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "models/trainer.hpp"

namespace troupe::models {

class known_scores {
public:
  /// Adds what is known of its versions, and of its clients where their states
  /// are what they were.
  void add_to(evaluation_input& x) const;

  /// Nothing is left to score. @pre it was added to
  bool answers(const evaluation_input& x) const noexcept {
    return x.clients_are_known && (has_aside_ || !x.aside);
  }

  /// Takes the place of what was known. Neither versions nor states are kept
  /// in memory for it.
  void keep(const evaluation_input& x, const evaluated& found);

private:
  struct known_block {
    block_id block;
    version base;
    std::weak_ptr<const void> owner; ///< While it is here nobody has its place.
    const float* first = nullptr;
    std::size_t size = 0;
  };

  bool has_versions_of(const evaluation_input& x) const;
  bool has_clients_of(const evaluation_input& x) const;

  std::shared_ptr<const evaluated> found_; ///< Null: nothing is known.
  std::vector<known_block> versions_;
  bool per_client_ = false;
  bool held_out_ = false;
  bool has_aside_ = false;
  std::map<client_id, std::weak_ptr<const client_state>> states_;
};

} // namespace troupe::models
