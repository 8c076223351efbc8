// Streams that are made of several users' texts: where one user's end.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/language/language_data.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::mixed_texts_test {

namespace {

/// Of two users, each with 40 texts of ten letters, all one letter: 44 tokens
/// of either to validate with, and to test.
struct mixed_texts : ::testing::Test {
  mixed_texts() {
    how.path = at.path() + "/users";
    how.context = 4;
    how.seed = 1;
    how.mixed = true;
    std::filesystem::create_directories(how.path);
    for (const std::string name : {"d", "f"}) {
      std::ofstream out{how.path / (name + ".txt"), std::ios::binary};
      for (int i = 0; i < 40; ++i)
        out << std::string(10, name.front()) << '\f';
    }
  }

  result<std::shared_ptr<const language_data>> load() const {
    return language_data::load(how, byte_tokenizer());
  }

  const test::scratch_folder at;
  language_options how;
};

/// The letters that a row has, or that it should foretell. Nothing of it is
/// padding.
std::set<char> letters_in(const language_data& data, split part,
                          std::uint32_t number) {
  std::vector<std::int32_t> ids(data.context()), targets(data.context());
  data.read(part, number, ids, targets);
  std::set<char> out;
  for (const auto* all : {&ids, &targets})
    for (const auto id : *all) {
      EXPECT_GE(id, 0) << number;
      if (id >= 0 && id < 256)
        out.insert(static_cast<char>(id));
    }
  return out;
}

} // namespace

TEST_F(mixed_texts, have_no_window_of_two_users) {
  const auto data = load();
  ASSERT_TRUE(data) << data.error().context;
  const auto& clients = (*data)->clients();
  for (const auto& rows : clients.test) {
    EXPECT_EQ(rows.size(), 10u); // Five windows of either.
    for (const auto number : rows)
      EXPECT_EQ(letters_in(**data, split::test, number).size(), 1u) << number;
  }
  // Also where places are drawn from the first row to the last one.
  for (const auto& rows : clients.own_validation) {
    EXPECT_EQ(rows.size(), 10u);
    for (auto place = rows.front(); place <= rows.back(); ++place)
      EXPECT_EQ(letters_in(**data, split::train, place).size(), 1u) << place;
  }
}

TEST_F(mixed_texts, have_none_where_they_are_all_one_clients) {
  how.pooled = true;
  const auto data = load();
  ASSERT_TRUE(data) << data.error().context;
  const auto& clients = (*data)->clients();
  ASSERT_EQ(clients.users_test.size(), 2u);
  EXPECT_EQ(clients.users_test[0].size(), 10u);
  for (const auto number : clients.test.at(0))
    EXPECT_EQ(letters_in(**data, split::test, number).size(), 1u) << number;
  const auto& aside = clients.own_validation.at(0);
  EXPECT_EQ(aside.size(), 20u);
  for (auto place = aside.front(); place <= aside.back(); ++place)
    EXPECT_EQ(letters_in(**data, split::train, place).size(), 1u) << place;
}

// As the authors' program has it: at random, but the same ones at each look.
TEST_F(mixed_texts, are_tested_on_windows_that_are_drawn) {
  const auto whole = load();
  how.test_windows = 50;
  const auto data = load(), again = load();
  how.seed = 2;
  const auto other = load();
  ASSERT_TRUE(whole && data && again && other);
  EXPECT_EQ((*data)->size(split::test), 100u);
  for (const auto& rows : (*data)->clients().test) {
    EXPECT_EQ(rows.size(), 50u);
    std::map<char, int> of_users;
    for (const auto number : rows) {
      const auto letters = letters_in(**data, split::test, number);
      ASSERT_EQ(letters.size(), 1u) << number;
      ++of_users[*letters.begin()];
    }
    EXPECT_EQ(of_users.size(), 2u) << "of all that there is";
  }
  EXPECT_EQ((*data)->content(), (*again)->content());
  EXPECT_NE((*data)->content(), (*whole)->content());
  EXPECT_NE((*data)->content(), (*other)->content());
}

TEST_F(mixed_texts, are_drawn_at_any_place) {
  const auto windows_of = [](const language_data& data) {
    std::set<std::vector<std::int32_t>> found;
    std::vector<std::int32_t> ids(data.context()), targets(data.context());
    for (std::uint32_t row = 0; row < data.size(split::test); ++row) {
      data.read(split::test, row, ids, targets);
      EXPECT_TRUE(std::equal(ids.begin() + 1, ids.end(), targets.begin()));
      found.insert(ids);
    }
    return found;
  };
  how.mixed = false;
  how.test_windows = 200;
  const auto data = load();
  ASSERT_TRUE(data);
  // Of either letter, with the end of a text at each of four places, or none.
  EXPECT_EQ(windows_of(**data).size(), 10u);
  // A user draws for itself, whoever else there is.
  how.users = {"f"};
  const auto alone = load();
  ASSERT_TRUE(alone);
  std::vector<std::int32_t> ids(4), targets(4), own_ids(4), own_targets(4);
  for (std::uint32_t i = 0; i < 200; ++i) {
    (*data)->read(split::test, (*data)->clients().test.at(1).at(i), ids,
                  targets);
    (*alone)->read(split::test, i, own_ids, own_targets);
    EXPECT_EQ(ids, own_ids);
  }
}

TEST_F(mixed_texts, need_a_window_of_each_user) {
  how.test_tokens = 8;
  const auto data = load();
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, errc::invalid_data);
  EXPECT_THAT(data.error().context,
              ::testing::HasSubstr("user 'd' has 8 tokens for test, 4 of each "
                                   "user, and a window takes 5, "));
}

} // namespace troupe::models::mixed_texts_test
