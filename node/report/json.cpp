#include "node/report/json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/assert.hpp"

namespace troupe::node {

struct json::writer {
  using text = nlohmann::ordered_json;

  text operator()(const list& xs) const {
    auto result = text::array();
    for (const auto& x : xs)
      result.push_back(std::visit(*this, x.value_));
    return result;
  }

  text operator()(const members& xs) const {
    auto result = text::object();
    for (const auto& [key, x] : xs)
      result[key] = std::visit(*this, x.value_);
    return result;
  }

  text operator()(const auto& x) const {
    return x;
  }
};

json::json(std::initializer_list<json> items) {
  const auto is_member = [](const json& x) {
    const auto* pair = std::get_if<list>(&x.value_);
    return pair && pair->size() == 2
           && std::holds_alternative<std::string>(pair->front().value_);
  };
  if (!std::ranges::all_of(items, is_member)) {
    value_ = list(items);
    return;
  }
  members all;
  for (const auto& x : items) {
    const auto& pair = std::get<list>(x.value_);
    all.emplace_back(std::get<std::string>(pair[0].value_), pair[1]);
  }
  value_ = std::move(all);
}

json& json::operator[](std::string_view key) {
  if (std::holds_alternative<std::nullptr_t>(value_))
    value_ = members{};
  auto* all = std::get_if<members>(&value_);
  TROUPE_ASSERT(all);
  const auto found = std::ranges::find(*all, key, &members::value_type::first);
  return found != all->end() ? found->second
                             : all->emplace_back(key, nullptr).second;
}

void json::push_back(json x) {
  if (std::holds_alternative<std::nullptr_t>(value_))
    value_ = list{};
  auto* all = std::get_if<list>(&value_);
  TROUPE_ASSERT(all);
  all->push_back(std::move(x));
}

std::string json::dump(int indent) const {
  return std::visit(writer{}, value_)
    .dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace troupe::node
