#include "node/report/flat_record.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/files.hpp"

namespace troupe::node {

namespace {

using plain_json = nlohmann::json;

/// Hands on what nlohmann's parser finds; false ends it.
struct listener {
  flat_record& to;
  std::size_t depth = 0;

  bool null() {
    return depth > 0;
  }

  bool boolean(bool x) {
    return number_float(x ? 1 : 0, {});
  }

  bool number_integer(plain_json::number_integer_t x) {
    return number_float(static_cast<double>(x), {});
  }

  bool number_unsigned(plain_json::number_unsigned_t x) {
    return number_float(static_cast<double>(x), {});
  }

  bool number_float(double x, const std::string&) {
    if (depth > 0)
      to.put(x);
    return depth > 0;
  }

  bool string(std::string& x) {
    if (depth > 0)
      to.put(x);
    return depth > 0;
  }

  bool binary(plain_json::binary_t&) {
    return false;
  }

  bool key(std::string& x) {
    if (depth == 1)
      to.name(x);
    return true;
  }

  bool start_object(std::size_t) {
    ++depth;
    return true;
  }

  bool end_object() {
    --depth;
    return true;
  }

  bool start_array(std::size_t) {
    return depth++ > 0;
  }

  bool end_array() {
    --depth;
    return true;
  }

  static bool parse_error(std::size_t, const std::string&,
                          const nlohmann::detail::exception&) {
    return false;
  }
};

} // namespace

std::uint64_t count_of(double x) noexcept {
  constexpr double most = 1e18; // A cast of more than 2^64 means nothing.
  return x >= 0 ? static_cast<std::uint64_t>(std::min(x, most)) : 0;
}

bool flat_record::read(std::string_view line) {
  used_ = 0;
  listener heard{*this};
  return plain_json::sax_parse(line.begin(), line.end(), &heard);
}

void flat_record::name(const std::string& key) {
  if (used_ == entries_.size())
    entries_.emplace_back();
  auto& e = entries_[used_++];
  e.key = key;
  e.numbers.clear();
  e.texts.clear();
}

void flat_record::put(double x) {
  entries_[used_ - 1].numbers.push_back(x);
}

void flat_record::put(const std::string& x) {
  entries_[used_ - 1].texts.push_back(x);
}

const flat_record::entry* flat_record::find(std::string_view key) const {
  for (std::size_t i = 0; i < used_; ++i)
    if (entries_[i].key == key)
      return &entries_[i];
  return nullptr;
}

bool flat_record::has(std::string_view key) const {
  return find(key) != nullptr;
}

std::optional<double> flat_record::number(std::string_view key) const {
  const auto* e = find(key);
  return e && !e->numbers.empty() ? std::optional{e->numbers.front()}
                                  : std::nullopt;
}

std::uint64_t flat_record::count(std::string_view key) const {
  return count_of(number(key).value_or(0));
}

std::string_view flat_record::text(std::string_view key) const {
  const auto* e = find(key);
  return e && !e->texts.empty() ? std::string_view{e->texts.front()}
                                : std::string_view{};
}

std::span<const double> flat_record::numbers(std::string_view key) const {
  const auto* e = find(key);
  return e ? std::span<const double>{e->numbers} : std::span<const double>{};
}

std::span<const std::string> flat_record::texts(std::string_view key) const {
  const auto* e = find(key);
  return e ? std::span<const std::string>{e->texts}
           : std::span<const std::string>{};
}

std::size_t
for_each_record(const std::filesystem::path& path,
                const std::function<void(const flat_record&)>& take) {
  auto file = models::line_reader::open(path, errc::invalid_data);
  if (!file)
    return 0;
  flat_record x;
  std::size_t unreadable = 0;
  while (file->next()) {
    if (x.read(file->line()))
      take(x);
    else
      ++unreadable;
  }
  return unreadable + (file->cut_off() ? 1 : 0);
}

} // namespace troupe::node
