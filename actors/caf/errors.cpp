#include "actors/caf/errors.hpp"

#include <caf/atom.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

namespace troupe::actors {

namespace {

constexpr auto category = caf::atom("troupe");

} // namespace

caf::error to_caf(const error& x) {
  return {static_cast<std::uint8_t>(x.code), category,
          caf::make_message(x.context)};
}

bool is(const caf::error& x, errc code) {
  return x.category() == category
         && x.code() == static_cast<std::uint8_t>(code);
}

std::string context_of(const caf::error& x) {
  if (x.category() == category && x.context().match_elements<std::string>())
    return x.context().get_as<std::string>(0);
  return caf::deep_to_string(x);
}

} // namespace troupe::actors
