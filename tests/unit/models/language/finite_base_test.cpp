// A value that is no number is refused in whatever type a file has it.

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/language/base.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/small_language.hpp"

namespace troupe::models::finite_base_test {

namespace {

using test::counted_values;
using test::gguf_by_hand;
using ::testing::HasSubstr;

constexpr std::string_view down = "blk.1.ffn_down.weight";

/// A type of GGUF, as rows of 32 values lie in it, and where sixteen bits of a
/// row are a value or count in some.
struct stored_kind {
  const char* name;
  std::uint32_t number;
  std::size_t row_bytes;
  std::size_t at;
  std::uint16_t bad; ///< As these bits.
};

constexpr stored_kind kinds[]{
  {.name = "F16", .number = 1, .row_bytes = 64, .at = 62, .bad = 0x7c00},
  {.name = "F16", .number = 1, .row_bytes = 64, .at = 0, .bad = 0xfe00},
  {.name = "BF16", .number = 30, .row_bytes = 64, .at = 10, .bad = 0x7fc0},
  {.name = "BF16", .number = 30, .row_bytes = 64, .at = 62, .bad = 0xff80},
  {.name = "Q8_0", .number = 8, .row_bytes = 34, .at = 0, .bad = 0x7e00},
  {.name = "Q4_0", .number = 2, .row_bytes = 18, .at = 0, .bad = 0x7c00},
  {.name = "Q4_1", .number = 3, .row_bytes = 20, .at = 2, .bad = 0x7e00},
  {.name = "Q5_0", .number = 6, .row_bytes = 22, .at = 0, .bad = 0xfc00},
  {.name = "Q5_1", .number = 7, .row_bytes = 24, .at = 2, .bad = 0x7c00},
};

/// A llama whose last projection down is of this type, and zeros.
void write(const std::string& path, const stored_kind& x, bool is_bad) {
  auto spec = test::small_llama();
  spec.inner = 32;
  auto file = test::keys_of_llama(spec);
  for (const auto& tensor : tensors_of(spec)) {
    const auto name = source_of(spec, weights_format::gguf, tensor.name).name;
    if (name != down) {
      file.tensor(name, tensor.shape, std::vector<float>(tensor.size(), 1));
      continue;
    }
    std::string bytes(8 * x.row_bytes, '\0');
    if (is_bad) {
      const auto at = 5 * x.row_bytes + x.at;
      bytes[at] = static_cast<char>(x.bad & 0xff);
      bytes[at + 1] = static_cast<char>(x.bad >> 8);
    }
    file.stored(name, tensor.shape, {.type = x.number, .bytes = bytes});
  }
  file.write(path);
}

std::string refusal(const std::string& path, base_storage how) {
  const auto x = open_base(path, how);
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

} // namespace

TEST(finite_bases, are_all_that_is_read_of_any_stored_type) {
  const test::scratch_folder folder;
  int count = 0;
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const auto path = folder.path() + "/" + std::to_string(count++);
    write(path + "good.gguf", kind, false);
    write(path + "bad.gguf", kind, true);
    for (const auto how :
         {base_storage::as_stored, base_storage::f32, base_storage::bf16}) {
      EXPECT_EQ(refusal(path + "good.gguf", how), "read");
      const auto said = refusal(path + "bad.gguf", how);
      EXPECT_THAT(said, HasSubstr(path + "bad.gguf: '" + std::string{down}
                                  + "' has values that are not finite as "));
      if (how == base_storage::as_stored) {
        EXPECT_THAT(said, HasSubstr("finite as " + std::string{kind.name}));
      }
    }
  }
}

TEST(finite_bases, are_all_that_is_read_of_a_folder) {
  const test::scratch_folder folder;
  const auto spec = test::small_gpt2();
  const auto all = counted_values(spec);
  // A matrix, and what is kept as f32 in any case.
  for (const std::size_t at : {std::size_t{3}, all.size() - 1}) {
    auto values = all;
    values[at] = std::numeric_limits<float>::quiet_NaN();
    const auto path = folder.path() + "/" + std::to_string(at);
    ASSERT_TRUE(write_base(path, spec, values));
    EXPECT_THAT(refusal(path, base_storage::as_stored),
                HasSubstr("has values that are not finite as F32"));
  }
}

} // namespace troupe::models::finite_base_test
