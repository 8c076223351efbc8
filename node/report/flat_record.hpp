#pragma once

// A line of metrics.jsonl or events.jsonl, read without building a tree: a long
// run has millions of them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::node {

/// The nearest that is a count: 0 for what is no number.
std::uint64_t count_of(double x) noexcept;

/// The keys of one JSON object. What stands below a key, however deep, is one
/// list of numbers and one of texts; `null` leaves nothing.
class flat_record {
public:
  /// Takes the place of what it held. False if this is no JSON object.
  bool read(std::string_view line);

  bool has(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::uint64_t count(std::string_view key) const;   ///< 0: there is none.
  std::string_view text(std::string_view key) const; ///< Empty: there is none.
  std::span<const double> numbers(std::string_view key) const;
  std::span<const std::string> texts(std::string_view key) const;

  // What the parser calls.
  void name(const std::string& key);
  void put(double x);
  void put(const std::string& x);

private:
  struct entry {
    std::string key;
    std::vector<double> numbers;
    std::vector<std::string> texts;
  };

  const entry* find(std::string_view key) const;

  std::vector<entry> entries_; ///< Used again, so that lines cost no memory.
  std::size_t used_ = 0;
};

/// Gives each line of a file to `take`, one after the other, and counts those
/// that are no objects: a run that was killed may leave half a line. A file
/// that is not there has no lines.
std::size_t
for_each_record(const std::filesystem::path& path,
                const std::function<void(const flat_record&)>& take);

} // namespace troupe::node
