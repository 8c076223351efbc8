#include "models/embedder.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/assert.hpp"

namespace troupe::models {

namespace {

/// Ends what is under way, also where it throws: others wait for it.
class ending {
public:
  ending(std::set<std::pair<split, std::uint32_t>>& all,
         std::pair<split, std::uint32_t> one,
         std::unique_lock<std::mutex>& held, std::condition_variable& told)
    : all_(all),
      one_(one),
      held_(held),
      told_(told) {
    // nop
  }

  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;

  ~ending() {
    if (!held_.owns_lock())
      held_.lock();
    all_.erase(one_);
    told_.notify_all();
  }

private:
  std::set<std::pair<split, std::uint32_t>>& all_;
  std::pair<split, std::uint32_t> one_;
  std::unique_lock<std::mutex>& held_;
  std::condition_variable& told_;
};

} // namespace

embedding_table::embedding_table(std::size_t bytes_max)
  : bytes_max_(bytes_max) {
  // nop
}

result<void> embedding_table::take(split part,
                                   std::span<const std::uint32_t> rows,
                                   std::size_t width, std::span<float> out,
                                   const maker& make) {
  TROUPE_ASSERT(out.size() == rows.size() * width);
  lock held{mutex_};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const place x{part, rows[i]};
    const auto to = out.subspan(i * width, width);
    if (find(held, x, to))
      continue;
    if (auto done = make_one(held, x, to, make); !done)
      return done;
  }
  return {};
}

bool embedding_table::find(lock& held, place x, std::span<float> out) {
  changed_.wait(held, [&] { return !under_way_.contains(x); });
  const auto found = rows_.find(x);
  if (found == rows_.end())
    return false;
  TROUPE_ASSERT(found->second.size() == out.size());
  std::ranges::copy(found->second, out.begin());
  return true;
}

// One row at a time is under way, and nobody waits who makes one: so nobody
// waits for ever.
result<void> embedding_table::make_one(lock& held, place x,
                                       std::span<float> out,
                                       const maker& make) {
  under_way_.insert(x);
  const ending whatever_happens{under_way_, x, held, changed_};
  held.unlock();
  auto done = make(x.second, out);
  held.lock();
  if (!done)
    return done;
  ++made_;
  keep(x, out);
  return {};
}

void embedding_table::keep(place x, std::span<const float> values) {
  const auto bytes = values.size_bytes();
  if (bytes > bytes_max_ - bytes_)
    return;
  rows_.emplace(x, std::vector<float>{values.begin(), values.end()});
  bytes_ += bytes;
}

std::uint64_t embedding_table::made() const {
  const std::lock_guard held{mutex_};
  return made_;
}

std::uint64_t embedding_table::kept() const {
  const std::lock_guard held{mutex_};
  return rows_.size();
}

embedder::embedder(std::unique_ptr<objective> common,
                   std::shared_ptr<embedding_table> rows)
  : model_(std::move(common)),
    embeddings_(model_->embeddings()),
    rows_(std::move(rows)) {
  TROUPE_ASSERT(embeddings_ != nullptr && rows_ != nullptr);
}

result<void> embedder::embed(split part, std::span<const std::uint32_t> rows,
                             std::span<float> out) {
  return rows_->take(part, rows, width(), out,
                     [&](std::uint32_t row, std::span<float> to) {
                       return embed_one(part, row, to);
                     });
}

result<void> embedder::embed_one(split part, std::uint32_t row,
                                 std::span<float> out) {
  if (auto done = embeddings_->embed(part, row, out); !done)
    return done;
  const auto bad =
    std::ranges::find_if(out, [](float x) { return !std::isfinite(x); });
  if (bad == out.end())
    return {};
  return fail(
    errc::invalid_data,
    std::string{"the common model's embedding of "}
      + (part == split::train ? "training" : "test") + " row "
      + std::to_string(row + std::uint64_t{1}) + " is not finite: value "
      + std::to_string(bad - out.begin() + 1) + " of "
      + std::to_string(out.size()) + " is "
      + (std::isnan(*bad) ? "no number" : "infinite")
      + "; other data, or a common model of smaller values, would do");
}

} // namespace troupe::models
