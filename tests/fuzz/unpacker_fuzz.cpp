// What snapshots are made of, from bytes that no packer wrote.

#include <cstddef>
#include <cstdint>
#include <set>

#include "actors/record/snapshot.hpp"
#include "core/assert.hpp"

namespace {

struct leaf {
  std::uint32_t number = 0;
  bool flag = false;
  std::string text;

  friend auto operator<=>(const leaf&, const leaf&) = default;

  static constexpr auto fields(auto& x) {
    return std::tie(x.number, x.flag, x.text);
  }
};

struct tree {
  std::map<troupe::client_id, std::vector<leaf>> leaves;
  std::optional<std::shared_ptr<const leaf>> one;
  std::variant<leaf, double, std::set<std::uint16_t>> either;
  std::vector<std::vector<std::optional<std::uint8_t>>> deep;
  troupe::shared_values values;
  troupe::shared_moments moments;

  static constexpr auto fields(auto& x) {
    return std::tie(x.leaves, x.one, x.either, x.deep, x.values, x.moments);
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  const auto some = share({1, 2});
  std::map<models::digest, shared_values> values;
  values.emplace(models::digest_of(std::as_bytes(std::span{*some})), some);
  actors::unpacker unpack{std::as_bytes(std::span{data, size}), values};
  tree x;
  unpack(x);
  if (!unpack.done())
    return 0;
  // What was read is written to what is read as the same again.
  std::map<models::digest, shared_values> used;
  actors::packer pack{used};
  pack(x);
  const auto bytes = pack.take();
  actors::unpacker again{bytes, used};
  tree y;
  again(y);
  TROUPE_ASSERT(again.done());
  actors::packer second{used};
  second(y);
  TROUPE_ASSERT(second.take() == bytes);
  return 0;
}
