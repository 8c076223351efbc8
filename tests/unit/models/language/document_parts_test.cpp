#include "models/language/document_parts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace troupe::models::document_parts_test {

namespace {

std::size_t bytes_of(const std::vector<document>& xs) {
  std::size_t sum = 0;
  for (const auto& x : xs)
    sum += x.text.size();
  return sum;
}

/// Documents of 1 to 100 bytes, some of one source.
std::vector<document> drawn(std::size_t count, std::uint64_t seed) {
  random_stream random{seed};
  std::vector<document> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({std::to_string(i) + std::string(random.below(100), 'x'),
                   std::to_string(random.below(count))});
  return out;
}

std::vector<document> equal(std::size_t count) {
  std::vector<document> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({std::string(10, 'x'), std::to_string(i)});
  return out;
}

} // namespace

TEST(document_parts, have_each_document_once_and_no_source_twice) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto all = drawn(60, seed);
    const auto x =
      split_documents(all, {.validation = 0.2, .test = 0.1}, seed, "de");
    std::multiset<std::string> found, wanted;
    std::map<std::string, int> places;
    int place = 0;
    for (const auto* part : {&x.train, &x.validation, &x.test}) {
      ++place;
      for (const auto& y : *part) {
        found.insert(y.text);
        EXPECT_EQ(places.emplace(y.source, place).first->second, place);
      }
    }
    for (const auto& y : all)
      wanted.insert(y.text);
    EXPECT_EQ(found, wanted);
  }
}

TEST(document_parts, have_their_shares) {
  const auto all = drawn(2000, 3);
  const auto x =
    split_documents(all, {.validation = 0.2, .test = 0.1}, 7, "de");
  const auto sum = static_cast<double>(bytes_of(all));
  EXPECT_NEAR(static_cast<double>(bytes_of(x.validation)) / sum, 0.2, 0.01);
  EXPECT_NEAR(static_cast<double>(bytes_of(x.test)) / sum, 0.1, 0.01);
  const auto none = split_documents(all, {}, 7, "de");
  EXPECT_TRUE(none.validation.empty());
  EXPECT_TRUE(none.test.empty());
  EXPECT_EQ(none.train.size(), all.size());
}

TEST(document_parts, are_a_function_of_the_seed) {
  const auto texts = [](std::uint64_t seed) {
    const auto x = split_documents(
      drawn(60, 1), {.validation = 0.2, .test = 0.1}, seed, "de");
    std::string all;
    for (const auto& y : x.test)
      all += y.text + ' ';
    return all;
  };
  EXPECT_EQ(texts(5), texts(5));
  EXPECT_NE(texts(5), texts(6));
}

TEST(document_parts, have_one_document_where_all_are_large) {
  const auto x =
    split_documents(equal(3), {.validation = 0.1, .test = 0.1}, 1, "de");
  EXPECT_EQ(x.train.size(), 1u);
  EXPECT_EQ(x.validation.size(), 1u);
  EXPECT_EQ(x.test.size(), 1u);
}

TEST(document_parts, leave_one_to_train_on) {
  const auto one =
    split_documents(equal(1), {.validation = 0.5, .test = 0.4}, 1, "de");
  EXPECT_EQ(one.train.size(), 1u);
  const auto two =
    split_documents(equal(2), {.validation = 0.5, .test = 0.4}, 1, "de");
  EXPECT_EQ(two.train.size(), 1u);
  EXPECT_EQ(two.test.size(), 1u);
}

TEST(document_parts, of_a_said_source_are_one_whoever_has_it) {
  std::vector<document> all;
  for (int i = 0; i < 300; ++i)
    all.push_back({std::string(10, 'x'), "=" + std::to_string(i)});
  std::map<std::string, int> places;
  for (const auto* user : {"de", "fr"}) {
    const auto x =
      split_documents(all, {.validation = 0.2, .test = 0.1}, 7, user);
    EXPECT_EQ(x.train.size() + x.validation.size() + x.test.size(), 300u);
    EXPECT_NEAR(static_cast<double>(x.validation.size()), 60, 35);
    EXPECT_NEAR(static_cast<double>(x.test.size()), 30, 25);
    int place = 0;
    for (const auto* part : {&x.train, &x.validation, &x.test}) {
      ++place;
      for (const auto& y : *part)
        EXPECT_EQ(places.emplace(y.source, place).first->second, place)
          << y.source;
    }
  }
}

} // namespace troupe::models::document_parts_test
