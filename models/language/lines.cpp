#include "models/language/lines.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text.hpp"

namespace troupe::models {

std::string about_keys(const json& in) {
  constexpr std::size_t listed_max = 6;
  const auto* all = in.fields();
  if (all == nullptr || all->empty())
    return {};
  std::string out;
  for (std::size_t i = 0; i < std::min(listed_max, all->size()); ++i)
    out += (i > 0 ? ", " : "") + in_quotes(shortened((*all)[i].first));
  return ", and has " + out + (all->size() > listed_max ? " and others" : "");
}

std::string about_no_text(const json& in, const std::string& key) {
  if (in.fields() == nullptr)
    return ": it is no object";
  if (in.find(key) != nullptr)
    return ": its " + in_quotes(key) + " is no text";
  return ": it has no " + in_quotes(key) + about_keys(in);
}

std::string about_list(std::string_view line) {
  return trimmed(line).starts_with('[') ? " a line, and no list around them,"
                                        : "";
}

} // namespace troupe::models
