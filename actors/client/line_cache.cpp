#include "actors/client/line_cache.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe::actors {

namespace {

bool has(const line_cache::entry& x, std::uint32_t wanted) noexcept {
  return x.rank == 0 || (wanted != 0 && wanted <= x.rank);
}

// By their bits: zeros have two, and the digest of a run sees which.
bool say_the_same(const messages::block_values& a,
                  const messages::block_values& b) {
  return a.block == b.block && a.values && b.values
         && a.values->size() == b.values->size()
         && std::memcmp(a.values->data(), b.values->data(),
                        a.values->size_bytes())
              == 0;
}

} // namespace

void line_cache::forget() {
  const std::lock_guard guard{mutex_};
  newest_.clear();
  ++server_;
}

std::uint32_t line_cache::server() const {
  const std::lock_guard guard{mutex_};
  return server_;
}

std::optional<line_cache::entry> line_cache::find(line_id line,
                                                  std::uint32_t rank) const {
  const std::lock_guard guard{mutex_};
  const auto found = newest_.find(line);
  if (found == newest_.end() || !has(found->second, rank))
    return std::nullopt;
  return found->second;
}

// Others do not wait while blocks are compared, or given back.
std::vector<messages::block_values> line_cache::put(line_id line, entry x) {
  auto blocks = x.blocks;
  const auto here = take_place(line, x);
  if (!here)
    return blocks;
  if (std::ranges::equal(here->blocks, blocks, say_the_same))
    return here->blocks;
  const std::lock_guard guard{mutex_};
  if (x.server == server_)
    std::swap(newest_[line], x);
  return blocks;
}

// Leaves in `x` what was there instead.
std::optional<line_cache::entry> line_cache::take_place(line_id line,
                                                        entry& x) {
  const std::lock_guard guard{mutex_};
  if (x.server != server_)
    return std::nullopt;
  const auto [at, is_first] = newest_.try_emplace(line);
  if (!is_first && at->second.base == x.base && at->second.rank == x.rank)
    return at->second;
  std::swap(at->second, x);
  return std::nullopt;
}

} // namespace troupe::actors
