#include "models/language/document_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/random.hpp"

namespace troupe::models {

namespace {

struct source_texts {
  std::vector<document> documents;
  std::size_t bytes = 0;
};

/// In the order in which they come.
std::vector<source_texts> by_source(std::vector<document> all) {
  std::vector<source_texts> out;
  std::map<std::string, std::size_t> places;
  for (auto& x : all) {
    const auto place = places.emplace(x.source, out.size()).first->second;
    if (place == out.size())
      out.emplace_back();
    out[place].bytes += x.text.size();
    out[place].documents.push_back(std::move(x));
  }
  return out;
}

std::size_t bytes_of(const std::vector<source_texts>& xs) {
  std::size_t sum = 0;
  for (const auto& x : xs)
    sum += x.bytes;
  return sum;
}

void append_documents(std::vector<document>& to, std::vector<document> from) {
  std::ranges::move(from, std::back_inserter(to));
}

std::vector<document>& part_in(document_parts& all, text_part which) {
  switch (which) {
    case text_part::validation:
      return all.validation;
    case text_part::test:
      return all.test;
    case text_part::train:
      break;
  }
  return all.train;
}

/// Takes out of `from` what comes near to so many bytes, but never all.
std::vector<document> taken(std::vector<source_texts>& from, double wanted) {
  std::vector<document> out;
  if (!(wanted > 0))
    return out;
  const auto take = [&out](source_texts& x) {
    std::ranges::move(x.documents, std::back_inserter(out));
  };
  std::vector<source_texts> left;
  auto rest = from.size();
  double have = 0;
  for (auto& x : from) {
    const auto bytes = static_cast<double>(x.bytes);
    // With it less is missing, or too much, than without.
    if (rest > 1 && have + bytes / 2 <= wanted) {
      have += bytes;
      --rest;
      take(x);
    } else {
      left.push_back(std::move(x));
    }
  }
  from = std::move(left);
  if (out.empty() && from.size() > 1) {
    const auto least = std::ranges::min_element(from, {}, &source_texts::bytes);
    take(*least);
    from.erase(least);
  }
  return out;
}

} // namespace

std::string_view name_of(text_part x) noexcept {
  switch (x) {
    case text_part::train:
      return "training";
    case text_part::validation:
      return "validation";
    case text_part::test:
      break;
  }
  return "test";
}

text_part part_of_source(std::string_view source, const part_shares& shares,
                         std::uint64_t seed) {
  const auto place =
    random_stream{derive_seed(seed, "part of " + std::string{source})}
      .uniform();
  if (place < shares.test)
    return text_part::test;
  return place < shares.test + shares.validation ? text_part::validation
                                                 : text_part::train;
}

document_parts split_documents(std::vector<document> all,
                               const part_shares& shares, std::uint64_t seed,
                               std::string_view user) {
  auto sources = by_source(std::move(all));
  random_stream{derive_seed(seed, "documents of " + std::string{user})}.shuffle(
    sources);
  document_parts out;
  std::vector<source_texts> own;
  for (auto& x : sources) {
    const auto& name = x.documents.front().source;
    if (!name.starts_with('=')) {
      own.push_back(std::move(x));
      continue;
    }
    const auto part = part_of_source(name, shares, seed);
    append_documents(part_in(out, part), std::move(x.documents));
  }
  const auto bytes = static_cast<double>(bytes_of(own));
  append_documents(out.test, taken(own, shares.test * bytes));
  append_documents(out.validation, taken(own, shares.validation * bytes));
  for (auto& x : own)
    append_documents(out.train, std::move(x.documents));
  return out;
}

} // namespace troupe::models
