#include "actors/record/snapshot.hpp"

namespace troupe::actors {

models::digest packer::place(const shared_values& x) {
  const auto name = models::digest_of(std::as_bytes(std::span{*x}));
  values_.emplace(name, x);
  return name;
}

shared_values unpacker::named() {
  models::digest name{};
  (*this)(name);
  const auto found = values_.find(name);
  failed_ |= found == values_.end();
  return failed_ ? nullptr : found->second;
}

} // namespace troupe::actors
