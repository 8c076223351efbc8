#include "models/language/language_data.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::language_data_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using row = std::vector<std::int32_t>;

/// So many ids, from one on.
token_ids counting(token_id first, std::size_t count) {
  std::vector<token_id> xs(count);
  std::iota(xs.begin(), xs.end(), first);
  return token_ids{xs};
}

struct read_row {
  row ids;
  row targets;
};

read_row at(const language_data& data, split part, std::uint32_t number) {
  read_row x{row(data.context(), 77), row(data.context(), 77)};
  data.read(part, number, x.ids, x.targets);
  return x;
}

/// Two users of 10 and 7 tokens, each with 4 to validate, and 9 and 3 to test.
std::shared_ptr<const language_data> two_users() {
  const auto made = language_data::make(
    {counting(100, 10), counting(200, 7)}, {counting(300, 4), counting(400, 4)},
    {counting(500, 9), counting(600, 3)}, 3, 1000);
  EXPECT_TRUE(made) << made.error().context;
  return *made;
}

struct texts : ::testing::Test {
  texts() {
    how.path = at.path() + "/users";
    how.context = 4;
    how.seed = 1;
    std::filesystem::create_directories(how.path);
  }

  /// Documents of ten letters, each of one that no other user has.
  void write(const std::string& name, char letter, int documents) const {
    std::ofstream out{how.path / (name + ".txt"), std::ios::binary};
    for (int i = 0; i < documents; ++i)
      out << std::string(10, letter) << '\f';
  }

  std::shared_ptr<const language_data> load() const {
    const auto x = language_data::load(how, byte_tokenizer());
    EXPECT_TRUE(x) << x.error().context;
    return x ? *x : nullptr;
  }

  std::string refusal() const {
    const auto x = language_data::load(how, byte_tokenizer());
    if (x)
      return "read";
    EXPECT_EQ(x.error().code, errc::invalid_data);
    return x.error().context;
  }

  const test::scratch_folder at;
  language_options how;
};

/// What is in some rows of a set, without ends of texts.
std::set<char> letters_of(const language_data& data, split part,
                          const std::vector<std::uint32_t>& rows) {
  std::set<char> out;
  for (const auto number : rows)
    for (const auto id : at(data, part, number).ids)
      if (id < 256)
        out.insert(static_cast<char>(id));
  return out;
}

} // namespace

TEST(language_data, has_windows_without_overlap) {
  const auto data = two_users();
  const auto& clients = data->clients();
  // Of 10 tokens three windows, of 7 two: each token foretells the next.
  EXPECT_THAT(clients.train[0], ElementsAre(0, 3, 6));
  EXPECT_THAT(clients.own_validation[0], ElementsAre(10));
  EXPECT_THAT(clients.train[1], ElementsAre(14, 17));
  EXPECT_THAT(clients.own_validation[1], ElementsAre(21));
  EXPECT_THAT(clients.test[0], ElementsAre(0, 1));
  EXPECT_TRUE(clients.test[1].empty());
  EXPECT_TRUE(clients.validation.empty());
  EXPECT_EQ(data->size(split::train), 25u);
  EXPECT_EQ(data->size(split::test), 2u);
  EXPECT_EQ(data->context(), 3u);
  EXPECT_EQ(data->vocabulary(), 1000u);
  EXPECT_THAT(data->users(), ElementsAre("1", "2"));
}

TEST(language_data, reads_what_comes_next_as_the_target) {
  const auto data = two_users();
  EXPECT_THAT(at(*data, split::train, 6).ids, ElementsAre(106, 107, 108));
  EXPECT_THAT(at(*data, split::train, 6).targets, ElementsAre(107, 108, 109));
  EXPECT_THAT(at(*data, split::train, 14).ids, ElementsAre(200, 201, 202));
  EXPECT_THAT(at(*data, split::train, 21).targets, ElementsAre(401, 402, 403));
  EXPECT_THAT(at(*data, split::test, 1).ids, ElementsAre(503, 504, 505));
  EXPECT_THAT(at(*data, split::test, 1).targets, ElementsAre(504, 505, 506));
}

TEST(language_data, has_a_row_at_each_place_between_the_first_and_the_last) {
  const auto data = two_users();
  for (const auto* rows : {&data->clients().train[0], &data->clients().train[1],
                           &data->clients().own_validation[1]})
    for (auto place = rows->front(); place <= rows->back(); ++place) {
      const auto x = at(*data, split::train, place);
      for (std::size_t i = 0; i < x.ids.size(); ++i) {
        EXPECT_GE(x.ids[i], 0);
        EXPECT_EQ(x.targets[i], x.ids[i] + 1);
      }
    }
}

TEST(language_data, reads_nothing_of_another_stream) {
  const auto data = two_users();
  for (std::uint32_t place = 0; place < data->size(split::train); ++place) {
    const auto x = at(*data, split::train, place);
    ASSERT_GE(x.ids[0], 100);
    for (std::size_t i = 0; i < x.ids.size(); ++i)
      for (const auto id : {x.ids[i], x.targets[i]})
        EXPECT_TRUE(id == -1 || id / 100 == x.ids[0] / 100) << place;
  }
  EXPECT_THAT(at(*data, split::train, 8).ids, ElementsAre(108, 109, -1));
  EXPECT_THAT(at(*data, split::train, 8).targets, ElementsAre(109, -1, -1));
}

TEST(language_data, may_have_streams_without_a_token) {
  const auto made = language_data::make({{}, counting(200, 7)}, {{}, {}},
                                        {{}, counting(600, 7)}, 3, 1000);
  ASSERT_TRUE(made) << made.error().context;
  EXPECT_TRUE((*made)->clients().train[0].empty());
  EXPECT_THAT((*made)->clients().train[1], ElementsAre(0, 3));
  EXPECT_THAT(at(**made, split::train, 0).ids, ElementsAre(200, 201, 202));
  EXPECT_THAT(at(**made, split::test, 1).ids, ElementsAre(603, 604, 605));
}

TEST(language_data, has_a_digest_of_all_that_it_reads) {
  const auto made = [](token_id first, std::uint32_t context) {
    return (*language_data::make({counting(first, 10)}, {counting(1, 4)},
                                 {counting(1, 4)}, context, 1000))
      ->content();
  };
  EXPECT_EQ(made(5, 3), made(5, 3));
  EXPECT_NE(made(5, 3), made(6, 3));
  EXPECT_NE(made(5, 3), made(5, 2));
}

TEST(language_data, refuses_a_token_that_is_none) {
  const auto made = language_data::make({counting(8, 3)}, {{}}, {{}}, 2, 10);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_data);
  EXPECT_EQ(made.error().context,
            "user '1' has token 10, and the tokenizer has 10; without the "
            "'cache' it is made anew");
}

// Rows are numbers of 32 bits. Streams here share what they have.
TEST(language_data, refuses_more_rows_than_have_a_number) {
  constexpr std::size_t users = 65'537;
  const std::vector<token_ids> many(users, counting(0, users)), none(users);
  const auto to_train =
    language_data::make(many, none, none, 1, std::uint32_t{users});
  ASSERT_FALSE(to_train);
  EXPECT_EQ(to_train.error().context,
            "there are 4295098369 tokens to train on and to validate with, and "
            "at most 4294967296 have a number; 'tokens' says how many each "
            "user has");
  const auto to_test =
    language_data::make(none, none, many, 1, std::uint32_t{users});
  ASSERT_FALSE(to_test);
  EXPECT_EQ(to_test.error().context,
            "there are 4295032832 windows to test with, and at most 4294967296 "
            "have a number; 'test_tokens' says how many each user has");
}

TEST_F(texts, are_users_rows) {
  write("de", 'd', 20);
  write("fr", 'f', 20);
  const auto data = load();
  ASSERT_TRUE(data);
  EXPECT_THAT(data->users(), ElementsAre("de", "fr"));
  const auto& clients = data->clients();
  for (std::size_t k = 0; k < 2; ++k) {
    const std::set<char> own{k == 0 ? 'd' : 'f'};
    EXPECT_EQ(letters_of(*data, split::train, clients.train[k]), own);
    EXPECT_EQ(letters_of(*data, split::train, clients.own_validation[k]), own);
    EXPECT_EQ(letters_of(*data, split::test, clients.test[k]), own);
    // Each of ten letters and an end: 16 documents, 2 and 2.
    EXPECT_EQ(data->tokens()[k].train, 176u);
    EXPECT_EQ(data->tokens()[k].validation, 22u);
    EXPECT_EQ(data->tokens()[k].test, 22u);
    EXPECT_EQ(data->tokens()[k].documents, 20u);
  }
  EXPECT_EQ(data->dropped_paragraphs(), 0u);
}

TEST_F(texts, are_the_same_whoever_else_there_is) {
  std::filesystem::create_directories(how.path / "de");
  for (int i = 0; i < 20; ++i)
    std::ofstream{how.path / "de" / std::to_string(i)}
      << std::string(10, static_cast<char>('a' + i));
  write("fr", 'F', 20);
  how.users = {"de"};
  const auto alone = load();
  how.users = {"fr", "de"};
  const auto both = load();
  ASSERT_TRUE(alone && both);
  EXPECT_EQ(letters_of(*alone, split::test, alone->clients().test[0]),
            letters_of(*both, split::test, both->clients().test[1]));
}

TEST_F(texts, have_no_document_in_two_parts) {
  std::filesystem::create_directories(how.path / "x");
  for (int i = 0; i < 26; ++i)
    std::ofstream{how.path / "x" / std::to_string(i)}
      << std::string(10, static_cast<char>('a' + i));
  how.context = 1;
  const auto data = load();
  ASSERT_TRUE(data);
  const auto& clients = data->clients();
  const auto train = letters_of(*data, split::train, clients.train[0]);
  const auto validation =
    letters_of(*data, split::train, clients.own_validation[0]);
  const auto test = letters_of(*data, split::test, clients.test[0]);
  EXPECT_EQ(train.size() + validation.size() + test.size(), 26u);
  for (const char x : validation)
    EXPECT_FALSE(train.contains(x) || test.contains(x)) << x;
  for (const char x : test)
    EXPECT_FALSE(train.contains(x)) << x;
}

TEST_F(texts, are_bounded) {
  write("de", 'd', 20);
  how.tokens = 50;
  how.validation_tokens = 9;
  how.test_tokens = 5;
  const auto data = load();
  ASSERT_TRUE(data);
  EXPECT_EQ(data->tokens()[0].train, 50u);
  EXPECT_EQ(data->tokens()[0].validation, 9u);
  EXPECT_EQ(data->tokens()[0].test, 5u);
  EXPECT_EQ(data->clients().test[0].size(), 1u);
}

TEST_F(texts, are_mixed_for_who_is_tested) {
  write("de", 'd', 40);
  write("fr", 'f', 40);
  how.mixed = true;
  const auto data = load();
  ASSERT_TRUE(data);
  const auto& clients = data->clients();
  const std::set<char> all{'d', 'f'};
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(letters_of(*data, split::train, clients.train[k]),
              std::set<char>{k == 0 ? 'd' : 'f'});
    EXPECT_EQ(letters_of(*data, split::train, clients.own_validation[k]), all);
    EXPECT_EQ(letters_of(*data, split::test, clients.test[k]), all);
    // 44 tokens of each: 21 of each for each, five windows and what is behind.
    EXPECT_EQ(data->tokens()[k].test, 42u);
    EXPECT_EQ(data->tokens()[k].validation, 42u);
    EXPECT_EQ(clients.test[k].size(), 10u);
    EXPECT_EQ(clients.own_validation[k].size(), 10u);
  }
}

// Bounds are each user's.
TEST_F(texts, may_all_be_one_clients) {
  write("de", 'd', 40);
  write("fr", 'f', 40);
  how.tokens = 50;
  const auto apart = load();
  how.pooled = true;
  const auto data = load();
  ASSERT_TRUE(apart && data);
  ASSERT_EQ(data->clients().train.size(), 1u);
  EXPECT_THAT(data->users(), ElementsAre("all"));
  EXPECT_EQ(data->tokens()[0].train, 100u);
  EXPECT_EQ(data->tokens()[0].test,
            apart->tokens()[0].test + apart->tokens()[1].test);
  EXPECT_EQ(data->tokens()[0].documents, 80u);
  const auto& clients = data->clients();
  const std::set<char> all{'d', 'f'};
  EXPECT_EQ(letters_of(*data, split::train, clients.train[0]), all);
  EXPECT_EQ(letters_of(*data, split::train, clients.own_validation[0]), all);
  EXPECT_EQ(letters_of(*data, split::test, clients.test[0]), all);
  // Each user's test rows are known, and none goes on into the next user's.
  ASSERT_EQ(clients.users_test.size(), 2u);
  EXPECT_EQ(letters_of(*data, split::test, clients.users_test[0]),
            std::set<char>{'d'});
  EXPECT_EQ(letters_of(*data, split::test, clients.users_test[1]),
            std::set<char>{'f'});
  EXPECT_EQ(clients.users_test[0].size() + clients.users_test[1].size(),
            clients.test[0].size());
  EXPECT_EQ(data->size(split::test), clients.test[0].size());
  EXPECT_TRUE(apart->clients().users_test.empty());
  // What is drawn anywhere between the first row and the last one is trained
  // on by somebody.
  EXPECT_LT(clients.train[0].back(), clients.own_validation[0].front());
}

// Who learns from all users' texts is tested on none of them, though several
// users have them.
TEST_F(texts, of_one_source_are_in_one_part_of_all) {
  for (const auto* user : {"x", "y"}) {
    std::ofstream out{how.path / (std::string{user} + ".jsonl")};
    for (char letter = 'a'; letter <= 'z'; ++letter)
      out << "{\"text\": \"" << std::string(10, letter) << "\", \"source\": \""
          << letter << "\"}\n";
  }
  how.context = 1;
  how.validation_share = how.test_share = 0.3;
  how.pooled = true;
  const auto data = load();
  ASSERT_TRUE(data);
  const auto& clients = data->clients();
  const auto train = letters_of(*data, split::train, clients.train[0]);
  const auto validation =
    letters_of(*data, split::train, clients.own_validation[0]);
  const auto test = letters_of(*data, split::test, clients.test[0]);
  EXPECT_EQ(train.size() + validation.size() + test.size(), 26u);
}

TEST_F(texts, may_be_kept) {
  write("de", 'd', 20);
  how.cache = at.path() + "/cache";
  const auto first = load();
  const auto second = load();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->content(), second->content());
  how.cache.clear();
  const auto third = load();
  ASSERT_TRUE(third);
  EXPECT_EQ(first->content(), third->content());
}

TEST_F(texts, are_refused_where_a_part_has_no_window) {
  write("it", 'i', 20);
  how.context = 32;
  how.validation_share = 0.1;
  const auto path = how.path.string();
  EXPECT_EQ(refusal(),
            path
              + ": user 'it' has 22 tokens for validation, and a window takes "
                "33, 'context' and the one behind; more text, a smaller "
                "'context' or a larger 'validation_share' would do");
  how.validation_share = 0; // Then there is none.
  EXPECT_THAT(refusal(), HasSubstr("has 22 tokens for test, "));
  how.test_share = 0;
  EXPECT_EQ(refusal(), "read");
  how.tokens = 32;
  EXPECT_THAT(refusal(), HasSubstr("has 32 tokens for training, and a window "
                                   "takes 33"));
}

// The second user has nothing that the first one has not.
TEST_F(texts, say_that_repeats_were_left_out_where_too_little_is_left) {
  for (const auto* user : {"it", "nl"}) {
    std::ofstream out{how.path / (std::string{user} + ".txt")};
    for (char letter = 'a'; letter < 'u'; ++letter)
      out << std::string(100, letter) << '\f';
  }
  EXPECT_EQ(refusal(),
            how.path.string()
              + ": user 'nl' has 0 tokens for training, and a window takes 5, "
                "'context' and the one behind: 20 paragraphs were left out, "
                "which earlier documents have too; more text that is not "
                "repeated or a smaller 'context' would do");
}

} // namespace troupe::models::language_data_test
