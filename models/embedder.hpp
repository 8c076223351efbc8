#pragma once

// Rows as the common model sees them. It never changes, so a row is looked at
// once in a process, whoever holds it:
//
//   visit ──▶ embedder (one trainer's common model)
//                │  make one row
//                ▼
//         embedding_table (all trainers') ──▶ copies

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "models/embeddings.hpp"
#include "models/objective.hpp"

namespace troupe::models {

/// Rows as the common model sees them, for all who hold them in this process.
/// From several threads. Recomputable; in no file.
class embedding_table {
public:
  /// @param bytes_max of values are kept at most. What finds a row takes some
  /// hundred bytes on top: with 64 values of a row 1.4 bytes for each that is
  /// counted, with 512 of them 1.05
  explicit embedding_table(std::size_t bytes_max = std::size_t{1} << 30);

  using maker =
    std::function<result<void>(std::uint32_t row, std::span<float> out)>;

  /// Copies those of `rows` to `out`, made by `make` where they are not here;
  /// who comes while another makes one waits for it. Beyond `bytes_max` what is
  /// made is not kept. An error ends it, and the row is made again by whoever
  /// asks next. @pre out.size() == rows.size() * width, and width is always the
  /// same
  [[nodiscard]] result<void> take(split part,
                                  std::span<const std::uint32_t> rows,
                                  std::size_t width, std::span<float> out,
                                  const maker& make);

  /// Rows embedded so far, each time counted.
  std::uint64_t made() const;

  /// Rows that are here.
  std::uint64_t kept() const;

private:
  using place = std::pair<split, std::uint32_t>;
  using lock = std::unique_lock<std::mutex>;

  /// Copies it once it is here. Returns false where the caller has to make it.
  bool find(lock& held, place x, std::span<float> out);
  result<void> make_one(lock& held, place x, std::span<float> out,
                        const maker& make);
  void keep(place x, std::span<const float> values);

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<place, std::vector<float>> rows_;
  std::set<place> under_way_;
  std::size_t bytes_ = 0;
  std::uint64_t made_ = 0;
};

/// One trainer's common model. One thread at a time.
class embedder {
public:
  /// @pre it has embeddings, and its values are live
  embedder(std::unique_ptr<objective> common,
           std::shared_ptr<embedding_table> rows);

  /// Live with the common values, always: whoever loads others brings them
  /// back.
  objective& model() noexcept {
    return *model_;
  }

  std::size_t width() const noexcept {
    return embeddings_->width();
  }

  /// `invalid_data` naming part and row (from 1) if one is not finite.
  /// @pre out.size() == rows.size() * width()
  [[nodiscard]] result<void>
  embed(split part, std::span<const std::uint32_t> rows, std::span<float> out);

private:
  result<void> embed_one(split part, std::uint32_t row, std::span<float> out);

  std::unique_ptr<objective> model_;
  model_embeddings* embeddings_; ///< Of the model.
  std::shared_ptr<embedding_table> rows_;
};

} // namespace troupe::models
