#include "models/torch/block_cache.hpp"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace troupe::models {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_watched = true;
#else
constexpr bool is_watched = false;
#endif

/// What torch's vectors ask for; a block begins with its size.
constexpr std::size_t alignment = 64;

struct head {
  std::size_t bytes; ///< With the head.
};
static_assert(sizeof(head) <= alignment);

/// Of more than any machine has it is as much, and does not begin anew.
std::size_t with_head(std::size_t bytes) {
  constexpr auto most = SIZE_MAX / alignment * alignment;
  return bytes > most - 2 * alignment
           ? most
           : (bytes + alignment + alignment - 1) / alignment * alignment;
}

class block_cache final : public c10::Allocator {
public:
  // One of the two is torch's, by its version, and so is `copy_data`: so none
  // of them says `override`.
  c10::DataPtr allocate(std::size_t bytes) const {
    return allocated(bytes);
  }

  c10::DataPtr allocate(std::size_t bytes) {
    return allocated(bytes);
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return &give_back;
  }

  block_cache_facts facts() const {
    const std::lock_guard lock{mutex_};
    return facts_;
  }

  /// Never destroyed: tensors may outlive it else.
  static block_cache& instance() {
    static auto* const one = new block_cache;
    return *one;
  }

private:
  using block_lists = std::map<std::size_t, std::vector<head*>>; ///< By size.

  c10::DataPtr allocated(std::size_t bytes) const {
    if (bytes == 0)
      return {nullptr, nullptr, &give_back, c10::DeviceType::CPU};
    const auto all = with_head(bytes);
    auto* block = all < block_cache_least ? nullptr : take(all);
    if (block == nullptr)
      block = new_block(all, bytes);
    auto* data = reinterpret_cast<std::byte*>(block) + alignment;
    c10::profiledCPUMemoryReporter().New(data, bytes);
    return {data, data, &give_back, c10::DeviceType::CPU};
  }

  head* new_block(std::size_t all, std::size_t bytes) const {
    auto* at = std::aligned_alloc(alignment, all);
    if (at == nullptr) { // What is kept of other sizes may stand in its way.
      free_all(take_all());
      at = std::aligned_alloc(alignment, all);
    }
    TORCH_CHECK(at != nullptr, "there is no memory for a tensor of ", bytes,
                " bytes");
    return ::new (at) head{all};
  }

  static void give_back(void* data) {
    if (data == nullptr)
      return;
    c10::profiledCPUMemoryReporter().Delete(data);
    auto* block =
      reinterpret_cast<head*>(static_cast<std::byte*>(data) - alignment);
    if (block->bytes < block_cache_least || block->bytes > block_cache_most
        || is_watched)
      std::free(block);
    else
      instance().keep(block);
  }

  /// The least that is kept of so many bytes, if it is not half as large again.
  head* take(std::size_t bytes) const {
    const std::lock_guard lock{mutex_};
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end() || found->first > bytes + bytes / 2)
      return nullptr;
    auto* block = found->second.back();
    found->second.pop_back();
    if (found->second.empty())
      free_.erase(found);
    facts_.kept_bytes -= block->bytes;
    ++facts_.reused;
    return block;
  }

  void keep(head* block) {
    block_lists given;
    {
      const std::lock_guard lock{mutex_};
      if (facts_.kept_bytes + block->bytes > block_cache_most)
        given = give_all();
      free_[block->bytes].push_back(block);
      facts_.kept_bytes += block->bytes;
    }
    free_all(given);
  }

  block_lists take_all() const {
    const std::lock_guard lock{mutex_};
    return give_all();
  }

  /// @pre the mutex is held
  block_lists give_all() const {
    facts_.kept_bytes = 0;
    return std::exchange(free_, {});
  }

  static void free_all(const block_lists& given) {
    for (const auto& [bytes, blocks] : given)
      for (auto* x : blocks)
        std::free(x);
  }

  mutable std::mutex mutex_;
  mutable block_lists free_;
  mutable block_cache_facts facts_;
};

} // namespace

void keep_blocks_of_tensors() {
  static std::once_flag once;
  std::call_once(once,
                 [] { c10::SetCPUAllocator(&block_cache::instance(), 1); });
}

block_cache_facts facts_of_block_cache() {
  return block_cache::instance().facts();
}

} // namespace troupe::models
