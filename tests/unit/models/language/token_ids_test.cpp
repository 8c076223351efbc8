#include "models/language/token_ids.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace troupe::models::token_ids_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ids = std::vector<token_id>;

std::vector<std::int32_t> all_of(const token_ids& x) {
  std::vector<std::int32_t> out(x.size());
  x.read(0, out);
  return out;
}

struct token_file : ::testing::Test {
  std::string refusal() const {
    const auto x = token_ids::open(path);
    if (x)
      return "read";
    EXPECT_EQ(x.error().code, errc::invalid_data);
    EXPECT_EQ(x.error().context.rfind(path + ": ", 0), 0u);
    return x.error().context.substr(path.size() + 2);
  }

  std::string text() const {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  void write(const std::string& x) const {
    // Not into the file: what is mapped would change under its readers.
    std::filesystem::remove(path);
    std::ofstream{path, std::ios::binary} << x;
  }

  const test::scratch_folder at;
  const std::string path = at.path() + "/some.tokens";
};

} // namespace

TEST(token_ids, have_two_bytes_unless_one_needs_four) {
  const token_ids narrow{ids{0, 65'535, 7}};
  EXPECT_EQ(narrow.width(), 2u);
  EXPECT_THAT(all_of(narrow), ElementsAre(0, 65'535, 7));
  const token_ids wide{ids{0, 65'536, 7}};
  EXPECT_EQ(wide.width(), 4u);
  EXPECT_EQ(wide[1], 65'536u);
  EXPECT_THAT(all_of(wide), ElementsAre(0, 65'536, 7));
  EXPECT_EQ(token_ids{}.size(), 0u);
  EXPECT_EQ(token_ids{ids{}}.size(), 0u);
}

TEST(token_ids, share_a_part) {
  const token_ids all{ids{1, 2, 70'000, 4}};
  const auto some = all.part(1, 2);
  EXPECT_THAT(all_of(some), ElementsAre(2, 70'000));
  EXPECT_EQ(some.bytes().data(), all.bytes().data() + 4);
  EXPECT_EQ(all.part(4, 0).size(), 0u);
}

TEST_F(token_file, has_what_was_written) {
  for (const auto& x : {ids{}, ids{3}, ids{1, 2, 3, 70'000}}) {
    const token_ids written{x};
    ASSERT_TRUE(written.write(path));
    const auto read = token_ids::open(path);
    ASSERT_TRUE(read) << read.error().context;
    EXPECT_EQ(read->width(), written.width());
    EXPECT_EQ(all_of(*read), all_of(written));
  }
}

TEST_F(token_file, is_refused_at_any_length_but_its_own) {
  ASSERT_TRUE((token_ids{ids{1, 2, 3, 4}}.write(path)));
  const auto whole = text();
  ASSERT_EQ(whole.size(), 72u);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write(whole.substr(0, n));
    EXPECT_FALSE(token_ids::open(path)) << n;
  }
  write(whole.substr(0, 71));
  EXPECT_EQ(refusal(), "claims 4 tokens of 2 bytes, and has 7 bytes of them; "
                       "without the file it is made anew");
  write(whole + "xy");
  EXPECT_EQ(refusal(), "claims 4 tokens of 2 bytes, and has 10 bytes of them; "
                       "without the file it is made anew");
  write(whole.substr(0, 10));
  EXPECT_EQ(refusal(), "has 10 bytes, and what tokens begin with has 64; "
                       "without the file it is made anew");
}

TEST_F(token_file, is_refused_where_a_bit_is_another) {
  ASSERT_TRUE((token_ids{ids{1, 2, 3, 4}}.write(path)));
  const auto whole = text();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write(changed);
    EXPECT_FALSE(token_ids::open(path)) << i;
  }
  auto changed = whole;
  changed[15] = '2';
  write(changed);
  EXPECT_EQ(refusal(), "has no tokens as this build keeps them; without the "
                       "file it is made anew");
  changed = whole;
  changed.back() = 'x';
  write(changed);
  EXPECT_EQ(refusal(), "is damaged: its tokens have another digest than it "
                       "says; without the file it is made anew");
}

TEST_F(token_file, is_a_file) {
  EXPECT_FALSE(token_ids::open(at.path()));
  EXPECT_FALSE(token_ids::open(at.path() + "/none"));
  const auto x = token_ids{ids{1}}.write(at.path());
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::storage_failure);
  EXPECT_THAT(x.error().context, HasSubstr("is a folder"));
}

} // namespace troupe::models::token_ids_test
