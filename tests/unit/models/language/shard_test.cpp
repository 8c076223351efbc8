#include "models/language/shard.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace troupe::models::shard_test {

namespace {

/// A file of this header and so many bytes of values, which count up.
std::string file(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string x(sizeof length, '\0');
  std::memcpy(x.data(), &length, sizeof length);
  x += header;
  for (std::size_t i = 0; i < bytes; ++i)
    x += static_cast<char>(i);
  return x;
}

/// What the header says of a tensor.
std::string said(const std::string& name, const std::string& type,
                 const std::string& shape, int begin, int end) {
  return '"' + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape
         + R"(,"data_offsets":[)" + std::to_string(begin) + ','
         + std::to_string(end) + "]}";
}

result<weights_shard> parsed(const std::string& x) {
  return parse_shard(std::as_bytes(std::span{x}), "PATH");
}

std::string refusal(const std::string& x) {
  const auto y = parsed(x);
  if (y)
    return "read";
  EXPECT_EQ(y.error().code, errc::invalid_data);
  return y.error().context;
}

/// Of a file whose header has these.
std::string refusal_of(const std::string& all, std::size_t bytes) {
  return refusal(file("{" + all + "}", bytes));
}

std::string refusal_of_index(const std::string& text) {
  const auto x = parse_shard_index(text, "INDEX");
  if (x)
    return "read";
  EXPECT_EQ(x.error().code, errc::invalid_data);
  return x.error().context;
}

} // namespace

TEST(shard, has_values_of_three_types_where_they_lie) {
  const auto bytes = file("{" + said("b", "BF16", "[2,1]", 6, 10) + ','
                            + said("a", "F16", "[3]", 0, 6)
                            + R"(,"__metadata__":{"format":"pt"},)"
                            + said("c", "F32", "[]", 10, 14) + ','
                            + said("none", "F32", "[0,7]", 14, 14) + "}",
                          14);
  const auto x = parsed(bytes);
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->tensors.size(), 4u);
  const auto& a = x->tensors[0];
  const auto& b = x->tensors[1];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.type, stored_type::f16);
  EXPECT_EQ(a.size(), 3u);
  EXPECT_EQ(b.type, stored_type::bf16);
  EXPECT_EQ(b.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(b.bytes.size(), 4u);
  EXPECT_EQ(b.bytes[0], std::byte{6});
  EXPECT_EQ(x->tensors[2].size(), 1u);
  EXPECT_EQ(x->tensors[3].size(), 0u);
  EXPECT_TRUE(x->left_out.empty());
}

TEST(shard, leaves_out_whole_numbers_and_bools) {
  const auto bytes = file("{" + said("ids", "I64", "[2]", 0, 16) + ','
                            + said("mask", "BOOL", "[3]", 16, 19) + ','
                            + said("w", "F16", "[1]", 19, 21) + "}",
                          21);
  const auto x = parsed(bytes);
  ASSERT_TRUE(x) << x.error().context;
  ASSERT_EQ(x->tensors.size(), 1u);
  EXPECT_EQ(x->tensors[0].bytes[0], std::byte{19});
  EXPECT_EQ(x->left_out, (std::vector<std::string>{"ids", "mask"}));
}

TEST(shard, refuses_types_that_it_does_not_read) {
  EXPECT_EQ(refusal_of(said("h.0.w", "F64", "[1]", 0, 8), 8),
            "PATH: 'h.0.w' is of type F64, which is not read here; F32, F16 or "
            "BF16 would do");
  EXPECT_EQ(refusal_of(said("w", "F8_E4M3", "[1]", 0, 1), 1),
            "PATH: 'w' is of type F8_E4M3, which is not read here; F32, F16 or "
            "BF16 would do");
  EXPECT_EQ(refusal_of(R"("w":{"shape":[],"data_offsets":[0,4]})", 4),
            "PATH: 'w' has no dtype; it is damaged");
}

TEST(shard, refuses_tensors_that_lie_otherwise) {
  EXPECT_EQ(refusal_of(said("a", "F16", "[2]", 0, 4) + ','
                         + said("b", "F16", "[2]", 2, 6),
                       6),
            "PATH: 'b' begins at byte 2, but the one before ends at 4; tensors "
            "must neither overlap nor leave gaps");
  EXPECT_EQ(refusal_of(said("a", "I8", "[2]", 0, 2) + ','
                         + said("b", "F16", "[2]", 4, 8),
                       8),
            "PATH: 'b' begins at byte 4, but the one before ends at 2; tensors "
            "must neither overlap nor leave gaps");
  EXPECT_EQ(
    refusal_of(said("a", "F16", "[2]", 0, 5), 5),
    "PATH: 'a' of shape [2] lies at bytes 0 to 5, which is not its size; it is "
    "damaged");
  EXPECT_EQ(
    refusal_of(said("a", "F16", "[2]", 4, 0), 4),
    "PATH: 'a' of shape [2] lies at bytes 4 to 0, which is not its size; it is "
    "damaged");
  EXPECT_EQ(refusal_of(said("a", "F32", "[4611686018427387904,4]", 0, 0), 0),
            "PATH: 'a' of shape [4611686018427387904, 4] lies at bytes 0 to 0, "
            "which is not its size; it is damaged")
    << "2^66 bytes are none";
  EXPECT_EQ(refusal_of(said("a", "F16", "[1,1,1,1,1,1,1,1,1]", 0, 2), 2),
            "PATH: 'a' has 9 extents; at most 8 would do");
  EXPECT_EQ(refusal_of(said("a", "F16", "[-1]", 0, 2), 2),
            "PATH: 'a' needs a shape and two data_offsets of whole numbers "
            "from 0; it is damaged");
  EXPECT_EQ(refusal_of(said("a", "F16", "[2]", 0, 4), 6),
            "PATH: has 6 bytes of values, but its header announces 4; fetch "
            "the file again");
  EXPECT_EQ(refusal_of(said("a", "F16", "[2]", 0, 4), 3),
            "PATH: has 3 bytes of values, but its header announces 4; fetch "
            "the file again");
  EXPECT_EQ(refusal_of(said("a", "F16", "[1]", 0, 2) + ','
                         + said("a", "F16", "[1]", 2, 4),
                       4),
            "PATH: 'a' is there twice; a file that has it once would do");
}

TEST(shard, refuses_headers_that_cannot_be) {
  EXPECT_EQ(refusal("1234567"),
            "PATH: ends within its header; fetch the file again");
  EXPECT_EQ(refusal(std::string(8, '\xff')),
            "PATH: announces a header of 18446744073709551615 bytes behind its "
            "first 8, and the file has 8; it is cut off, or not a safetensors "
            "file: fetch the file again");
  EXPECT_EQ(refusal(file(std::string(100, ' '), 0).substr(0, 60)),
            "PATH: announces a header of 100 bytes behind its first 8, and the "
            "file has 60; it is cut off, or not a safetensors file: fetch the "
            "file again");
  EXPECT_EQ(refusal(file(std::string((4 << 20) + 1, ' '), 0)),
            "PATH: has a header of 4194305 bytes, and at most 4194304 are "
            "read; fewer tensors in a file would do");
  EXPECT_EQ(refusal(file("[]", 0)),
            "PATH: its header is not a JSON object; it is damaged or not a "
            "safetensors file");
}

TEST(shard, is_refused_wherever_it_is_cut_off) {
  const auto whole = file("{" + said("a", "F16", "[2]", 0, 4) + "}", 4);
  ASSERT_EQ(refusal(whole), "read");
  for (std::size_t n = 0; n < whole.size(); ++n)
    ASSERT_NE(refusal(whole.substr(0, n)), "read") << n;
}

TEST(shard_index, says_the_file_of_each_tensor) {
  const auto x = parse_shard_index(
    R"({"metadata":{"total_size":8},"weight_map":{"a":"one","b":"two"}})",
    "INDEX");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(*x,
            (std::map<std::string, std::string>{{"a", "one"}, {"b", "two"}}));
}

TEST(shard_index, leads_out_of_no_folder) {
  const std::string would_do = "; the name of a file beside the index would do";
  for (const std::string name : {"../one", "/etc/passwd", "..", ".", ""})
    EXPECT_EQ(refusal_of_index(R"({"weight_map":{"a":")" + name + "\"}}"),
              "INDEX: 'a' is in '" + name + "'" + would_do);
  EXPECT_EQ(refusal_of_index(R"({"weight_map":{"a":1}})"),
            "INDEX: 'a' is in what is no text" + would_do);
  EXPECT_EQ(refusal_of_index(R"({"weight_map":{"a":"x","a":"y"}})"),
            "INDEX: 'a' is there twice; an index that has it once would do");
  for (const auto* text : {"", "[]", R"({"weight_map":[]})"})
    EXPECT_EQ(refusal_of_index(text),
              "INDEX: it has no weight_map, an object; it is damaged, or no "
              "index of shards");
}

} // namespace troupe::models::shard_test
