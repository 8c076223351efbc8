#include "models/language/user_streams.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "models/language/language_data.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::user_streams_test {

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct streams_of_users : ::testing::Test {
  streams_of_users() {
    how.path = at.path();
    how.context = 4;
    how.seed = 1;
    how.validation_share = how.test_share = 0.1;
  }

  /// Documents of ten letters.
  void write(int documents) const {
    std::ofstream out{how.path / "it.txt", std::ios::binary};
    for (int i = 0; i < documents; ++i)
      out << "abcdefghij\f";
  }

  std::string refusal() const {
    const auto x = read_streams(how, *byte_tokenizer());
    return x ? "read" : x.error().context;
  }

  test::scratch_folder at;
  language_options how;
};

} // namespace

// More text of the same documents, or a larger share, would lie in one part.
TEST_F(streams_of_users, need_as_many_documents_as_there_are_parts) {
  const auto refused = [this](const std::string& count) {
    return how.path.string()
           + ": user 'it' has 0 tokens for validation, and a window takes 5, "
             "'context' and the one behind; a document, or all that is of one "
             "'source', goes whole into one part, and there "
           + count
           + " of these: more would do; documents of a .txt have form feeds "
             "between them, those of a .jsonl are its lines, and those of a "
             "folder its files";
  };
  write(2);
  EXPECT_EQ(refusal(), refused("are 2"));
  how.validation_share = 0.8;
  EXPECT_EQ(refusal(), refused("are 2"));
  write(3);
  EXPECT_EQ(refusal(), "read");
  how.test_share = 0;
  write(1);
  EXPECT_EQ(refusal(), refused("is 1"));
  // Neither has its training stream a window: that is no reason to say less.
  how.context = 64;
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("has 11 tokens for training, "),
                    HasSubstr("and there is 1 of these: more would do; ")));
}

// A larger number would do nothing where it bounds nothing, nor would a larger
// share where no part can have a window.
TEST_F(streams_of_users, that_are_short_say_what_would_do) {
  write(10);
  const auto remedy = [this] {
    const auto text = refusal();
    return text.substr(text.rfind("; "));
  };
  how.context = 100;
  EXPECT_EQ(remedy(), "; more text or a smaller 'context' would do");
  how.context = 20;
  EXPECT_EQ(remedy(), "; more text, a smaller 'context' or a larger "
                      "'validation_share' would do");
  how.context = 8;
  how.validation_tokens = 7;
  EXPECT_EQ(remedy(),
            "; a smaller 'context' or a larger 'validation_tokens' would do");
}

// Of three users' pieces each has six of twenty.
TEST_F(streams_of_users, that_are_mixed_have_their_share_of_a_bound) {
  for (const char* name : {"de", "fr", "it"}) {
    std::ofstream out{how.path / (name + std::string{".txt"})};
    for (int i = 0; i < 20; ++i)
      out << std::string(10, name[0]) << '\f';
  }
  how.mixed = true;
  how.context = 8;
  how.validation_tokens = 20;
  EXPECT_THAT(refusal(), HasSubstr("; a smaller 'context' or a larger "
                                   "'validation_tokens' would do"));
}

TEST_F(streams_of_users, are_bounded_for_each_user) {
  // Of ten letters and an end: 16 documents of 20 to learn from, two to test.
  for (const char* name : {"de", "fr", "it"}) {
    std::ofstream out{how.path / (name + std::string{".txt"})};
    for (int i = 0; i < 20; ++i)
      out << std::string(10, name[0]) << '\f';
  }
  const auto sizes = [this](std::vector<std::uint32_t> said) {
    how.user_tokens = std::move(said);
    std::vector<std::size_t> all;
    const auto x = read_streams(how, *byte_tokenizer());
    for (std::size_t k = 0; x && k < x->users.size(); ++k) {
      all.push_back(x->users[k].train.size());
      EXPECT_EQ(x->users[k].test.size(), 22u);
    }
    return all;
  };
  EXPECT_THAT(sizes({}), ElementsAre(176, 176, 176));
  EXPECT_THAT(sizes({25, 100}), ElementsAre(25, 100, 25));
  how.users = {"fr", "it", "de"};
  EXPECT_THAT(sizes({0, 100, 25}), ElementsAre(176, 100, 25));
  how.user_tokens = {0, 100, 4};
  EXPECT_EQ(refusal(), how.path.string()
                         + ": user 'de' has 4 tokens for training, and a "
                           "window takes 5, 'context' and the one behind; a "
                           "smaller 'context' or a larger 'user_tokens' would "
                           "do");
}

} // namespace troupe::models::user_streams_test
