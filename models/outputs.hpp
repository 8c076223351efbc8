#pragma once

// What a model says of an example before it is judged by it: for procedures
// that mix what several models say, or weigh one example against another.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/objective.hpp"

namespace troupe::models {

/// Rows that are judged or answered at a time, where there are many.
inline constexpr std::size_t rows_at_a_time = 1000;

enum class output_kind : std::uint8_t {
  numbers, ///< As the targets.
  logits,  ///< A class has the softmax of them as its chance.
};

/// Of each row its loss, and how many are right.
struct judgement {
  std::vector<double> losses;
  std::uint64_t correct = 0;
};

/// What a model said of training rows, and the way back.
struct utterance {
  std::vector<float> values; ///< As `say` would write them.
  /// Adds to the gradient what slopes along the values make of it. It may be
  /// called once, while the model lives. @pre the live parameters are those
  /// that spoke, though others may have been live in between
  std::function<result<void>(std::span<const float> slopes)> pull_back;
};

/// The side of an objective that has outputs, `size()` for a row, row by row.
class model_outputs {
public:
  virtual ~model_outputs() = default;

  virtual output_kind kind() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;

  /// Writes what the live parameters say of `rows` in evaluation mode.
  /// @pre out.size() == rows.size() * size()
  [[nodiscard]] virtual result<void> say(split part,
                                         std::span<const std::uint32_t> rows,
                                         std::span<float> out) = 0;

  /// The same of training rows in training mode, with the random draws that
  /// `seed` begins, to learn from it.
  [[nodiscard]] virtual result<utterance>
  speak(std::span<const std::uint32_t> rows, std::uint64_t seed) = 0;

  /// Judges rows by outputs, whoever made them; where `slopes` has room, writes
  /// the slope of each row's loss along its own. @pre outputs.size() ==
  /// rows.size() * size()
  virtual judgement judge(split part, std::span<const std::uint32_t> rows,
                          std::span<const float> outputs,
                          std::span<float> slopes) const = 0;
};

/// `judge` where the target is a class. A row is right if no other logit is
/// larger, and none before its own as large; what is not a number is wrong.
/// @pre labels are below `classes`
judgement judge_logits(std::span<const float> logits,
                       std::span<const std::int64_t> labels,
                       std::size_t classes, std::span<float> slopes);

/// `judge` where targets are numbers, `size` of a row: a row's loss is the sum
/// of the square errors, divided by `by`.
judgement judge_numbers(std::span<const float> said,
                        std::span<const float> targets, std::size_t size,
                        double by, std::span<float> slopes);

/// Adds `share` times what one of several says. @pre of the same size
void add_said(std::span<const float> said, double share, std::span<float> sum);

void divide(std::span<float> slopes, std::size_t by);

std::vector<float> times(std::span<const float> slopes, double share);

/// Each row's slopes times its part. @pre as many for each
void weigh(std::span<const double> parts, std::span<float> slopes);

/// Adds `share` times the chances that one of several gives to `classes`.
void add_chances(std::span<const float> logits, std::size_t classes,
                 double share, std::span<float> sum);

/// Turns chances into logits of the same.
void to_logits(std::span<float> chances);

} // namespace troupe::models
