#include "models/language/stream_cache.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "models/layout.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::models::stream_cache_test {

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A token for each byte, so much above it; counts what it is asked.
class shifted_bytes final : public tokenizer {
public:
  explicit shifted_bytes(token_id by) : by_(by) {
    content_.fill(static_cast<std::uint8_t>(by));
  }

  std::size_t size() const noexcept override {
    return 300 + by_;
  }

  std::string_view kind() const noexcept override {
    return "shifted";
  }

  const digest& content() const noexcept override {
    return content_;
  }

  const special_tokens& special() const noexcept override {
    return special_;
  }

  result<void> encode(std::string_view text, special_rule,
                      std::vector<token_id>& to) const override {
    ++asked;
    if (text == "bad")
      return fail(errc::invalid_data, "byte 0: it is bad");
    for (const char x : text)
      to.push_back(static_cast<unsigned char>(x) + by_);
    return {};
  }

  result<std::string> decode(std::span<const token_id>) const override {
    return std::string{};
  }

  std::vector<token_id> before() const override {
    return before_;
  }

  std::vector<token_id> after() const override {
    return {};
  }

  std::string_view text_of(token_id) const noexcept override {
    return {};
  }

  mutable int asked = 0;
  std::vector<token_id> before_;
  special_tokens special_;

private:
  token_id by_;
  digest content_{};
};

std::vector<token_id> ids_of(const result<token_ids>& x) {
  std::vector<token_id> out;
  EXPECT_TRUE(x) << x.error().context;
  if (x)
    for (std::size_t i = 0; i < x->size(); ++i)
      out.push_back((*x)[i]);
  return out;
}

std::size_t count_in(const std::string& folder) {
  std::size_t n = 0;
  for (const auto& x : std::filesystem::directory_iterator{folder})
    n += x.is_regular_file() ? 1 : 0;
  return n;
}

const std::vector<document> two{{"ab", "1"}, {"c", "2"}};

} // namespace

TEST(streams, have_an_end_behind_each_text) {
  shifted_bytes by{0};
  EXPECT_THAT(ids_of(stream_of(two, by, {})), ElementsAre('a', 'b', 'c'));
  by.special_.end = 256;
  EXPECT_THAT(ids_of(stream_of(two, by, {})),
              ElementsAre('a', 'b', 256, 'c', 256));
  // Where a text has a frame, that is what stands between two.
  by.before_ = {257};
  EXPECT_THAT(ids_of(stream_of(two, by, {})),
              ElementsAre(257, 'a', 'b', 257, 'c'));
}

TEST(streams, name_the_document_that_cannot_be_encoded) {
  const std::vector<document> texts{{"a", "1"}, {"bad", "x.txt"}};
  const auto x = stream_of(texts, shifted_bytes{0}, {});
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::invalid_data);
  EXPECT_EQ(x.error().context, "document 'x.txt': byte 0: it is bad");
}

TEST(stream_cache, keeps_what_was_encoded) {
  const test::scratch_folder at;
  const auto cache = at.path() + "/made/for/it";
  const shifted_bytes by{1};
  const auto first = ids_of(stream_of(two, by, cache));
  EXPECT_THAT(first, ElementsAre('b', 'c', 'd'));
  EXPECT_EQ(by.asked, 2);
  EXPECT_EQ(ids_of(stream_of(two, by, cache)), first);
  EXPECT_EQ(by.asked, 2);
  EXPECT_EQ(count_in(cache), 1u);
}

// What people wrote can be read again from its tokens.
TEST(stream_cache, is_its_owners_alone) {
  using fs::perms;
  const test::scratch_folder at;
  const fs::path cache = at.path() + "/cache";
  ASSERT_TRUE(stream_of(two, shifted_bytes{1}, cache));
  EXPECT_EQ(fs::status(cache).permissions(), perms::owner_all);
  for (const auto& x : fs::directory_iterator{cache})
    EXPECT_EQ(x.status().permissions(), perms::owner_read | perms::owner_write);
  // A folder that was there may be there for others.
  const fs::path other = at.path() + "/other";
  fs::create_directories(other);
  const auto before = fs::status(other).permissions();
  ASSERT_TRUE(stream_of(two, shifted_bytes{1}, other));
  EXPECT_EQ(fs::status(other).permissions(), before);
}

TEST(stream_cache, is_of_these_texts_and_this_tokenizer) {
  const test::scratch_folder at;
  const shifted_bytes one{1};
  const shifted_bytes other{2};
  EXPECT_THAT(ids_of(stream_of(two, one, at.path())),
              ElementsAre('b', 'c', 'd'));
  EXPECT_THAT(ids_of(stream_of(two, other, at.path())),
              ElementsAre('c', 'd', 'e'));
  // The same bytes as other documents.
  shifted_bytes framed{1};
  framed.special_.end = 256;
  const std::vector<document> cut{{"a", "1"}, {"bc", "2"}};
  EXPECT_THAT(ids_of(stream_of(two, framed, at.path())),
              ElementsAre('b', 'c', 256, 'd', 256));
  EXPECT_THAT(ids_of(stream_of(cut, framed, at.path())),
              ElementsAre('b', 256, 'c', 'd', 256));
  EXPECT_EQ(count_in(at.path()), 4u);
}

TEST(stream_cache, makes_a_damaged_file_anew) {
  const test::scratch_folder at;
  const shifted_bytes by{1};
  const auto first = ids_of(stream_of(two, by, at.path()));
  for (const auto& x : std::filesystem::directory_iterator{at.path()})
    std::ofstream{x.path(), std::ios::binary} << "damaged";
  EXPECT_EQ(ids_of(stream_of(two, by, at.path())), first);
  EXPECT_EQ(by.asked, 4);
  EXPECT_EQ(ids_of(stream_of(two, by, at.path())), first);
  EXPECT_EQ(by.asked, 4);
}

TEST(stream_cache, says_where_it_cannot_be) {
  const test::scratch_folder at;
  const auto file = at.path() + "/file";
  std::ofstream{file} << "x";
  const auto x = stream_of(two, shifted_bytes{0}, file + "/cache");
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::storage_failure);
  EXPECT_THAT(x.error().context, HasSubstr("/cache: cannot keep tokens: "));
  EXPECT_THAT(x.error().context, HasSubstr("another 'cache', or none, would "
                                           "do"));
}

} // namespace troupe::models::stream_cache_test
