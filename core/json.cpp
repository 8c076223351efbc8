#include "core/json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/assert.hpp"
#include "core/text.hpp"

namespace troupe {

struct json::writer {
  using text = nlohmann::ordered_json;

  text operator()(const list& xs) const {
    auto result = text::array();
    for (const auto& x : xs)
      result.push_back(std::visit(*this, x.value_));
    return result;
  }

  // Of a key that is there twice, the last, where the first one stands. The
  // library looks at all keys before it takes one.
  text operator()(const members& xs) const {
    auto result = text::object();
    auto& all = result.get_ref<text::object_t&>();
    std::map<std::string_view, std::size_t> places;
    for (const auto& [key, x] : xs) {
      const auto [at, is_new] = places.emplace(key, all.size());
      auto value = std::visit(*this, x.value_);
      if (is_new)
        all.emplace_back(key, std::move(value));
      else
        (all.begin() + static_cast<std::ptrdiff_t>(at->second))->second =
          std::move(value);
    }
    return result;
  }

  text operator()(const auto& x) const {
    return x;
  }
};

/// Takes what the library finds; false ends it.
struct json::builder {
  static constexpr std::size_t depth_max = 64;

  json top{};
  std::vector<json*> open{}; ///< Lists and objects that have not ended.
  std::string name{};        ///< Of what comes next in an object.
  std::string problem{};
  std::size_t end = 0;    ///< Bytes until it is no JSON; 0: it is.
  bool keys_once = false; ///< An object that has one twice ends it.

  json* put(json x) {
    if (open.empty()) {
      top = std::move(x);
      return &top;
    }
    if (auto* xs = std::get_if<list>(&open.back()->value_))
      return &xs->emplace_back(std::move(x));
    auto& xs = std::get<members>(open.back()->value_);
    return &xs.emplace_back(std::move(name), std::move(x)).second;
  }

  bool enter(json x) {
    if (open.size() == depth_max) {
      problem = "it has more than " + std::to_string(depth_max) + " levels";
      return false;
    }
    open.push_back(put(std::move(x)));
    return true;
  }

  bool leave() {
    open.pop_back();
    return true;
  }

  bool null() {
    return put(nullptr) != nullptr;
  }

  bool boolean(bool x) {
    return put(x) != nullptr;
  }

  bool number_integer(std::int64_t x) {
    return put(x) != nullptr;
  }

  bool number_unsigned(std::uint64_t x) {
    return put(x) != nullptr;
  }

  bool number_float(double x, const std::string&) {
    return put(x) != nullptr;
  }

  bool string(std::string& x) {
    return put(std::move(x)) != nullptr;
  }

  bool binary(nlohmann::json::binary_t&) {
    return false;
  }

  bool start_object(std::size_t) {
    return enter(object());
  }

  bool key(std::string& x) {
    name = std::move(x);
    return true;
  }

  bool end_object() {
    return (!keys_once || has_keys_once()) && leave();
  }

  bool has_keys_once() {
    std::vector<std::string_view> keys;
    for (const auto& [key, x] : std::get<members>(open.back()->value_))
      keys.emplace_back(key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice == keys.end())
      return true;
    problem = "it has " + in_quotes(shortened(*twice)) + " twice";
    return false;
  }

  bool start_array(std::size_t) {
    return enter(array());
  }

  bool end_array() {
    return leave();
  }

  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception& x) {
    problem = x.what();
    end = at;
    return false;
  }
};

result<json> json::parse(std::string_view text) {
  builder made;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &made))
    return std::move(made.top);
  return fail(errc::invalid_data, std::move(made.problem));
}

result<json> json::parse_line(std::string_view text) {
  if (!is_utf8(text))
    return fail(errc::invalid_data, "it is no UTF-8");
  builder made;
  made.keys_once = true;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &made))
    return std::move(made.top);
  return fail(errc::invalid_data, made.end == 0
                                    ? std::move(made.problem)
                                    : "it is no JSON from byte "
                                        + std::to_string(made.end) + " on");
}

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

void json::add(std::string key, json x) {
  if (std::holds_alternative<std::nullptr_t>(value_))
    value_ = members{};
  auto* all = std::get_if<members>(&value_);
  TROUPE_ASSERT(all);
  all->emplace_back(std::move(key), std::move(x));
}

const json* json::find(std::string_view key) const {
  const auto* all = fields();
  if (all == nullptr)
    return nullptr;
  const auto found = std::find_if(
    all->rbegin(), all->rend(), [&](const auto& x) { return x.first == key; });
  return found == all->rend() ? nullptr : &found->second;
}

std::optional<double> json::number() const {
  if (const auto* x = std::get_if<double>(&value_))
    return *x;
  if (const auto* x = std::get_if<std::int64_t>(&value_))
    return static_cast<double>(*x);
  if (const auto* x = std::get_if<std::uint64_t>(&value_))
    return static_cast<double>(*x);
  return std::nullopt;
}

std::optional<std::uint64_t> json::count() const {
  if (const auto* x = std::get_if<std::uint64_t>(&value_))
    return *x;
  if (const auto* x = std::get_if<std::int64_t>(&value_); x && *x >= 0)
    return static_cast<std::uint64_t>(*x);
  return std::nullopt;
}

std::optional<bool> json::flag() const {
  const auto* x = std::get_if<bool>(&value_);
  return x ? std::optional{*x} : std::nullopt;
}

const std::string* json::text() const {
  return std::get_if<std::string>(&value_);
}

const json::list* json::items() const {
  return std::get_if<list>(&value_);
}

const json::members* json::fields() const {
  return std::get_if<members>(&value_);
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

} // namespace troupe
