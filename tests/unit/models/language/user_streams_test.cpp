#include "models/language/user_streams.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "models/language/language_data.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::user_streams_test {

namespace {

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
           + count + " of these: more would do";
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
}

} // namespace troupe::models::user_streams_test
