#include "models/safetensors.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace troupe::models::safetensors_test {

namespace {

namespace fs = std::filesystem;

/// A file of this header and so many bytes of values.
std::string file(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string x(sizeof length, '\0');
  std::memcpy(x.data(), &length, sizeof length);
  return x + header + std::string(bytes, '\0');
}

result<tensor_file> parsed(const std::string& x) {
  return parse_safetensors(std::as_bytes(std::span{x}), "some.safetensors");
}

std::string refusal(const std::string& x) {
  const auto y = parsed(x);
  if (y)
    return "read";
  EXPECT_EQ(y.error().code, errc::invalid_data);
  EXPECT_EQ(y.error().context.substr(0, 18), "some.safetensors: ");
  return y.error().context.substr(18);
}

const tensor_file example{
  .tensors = {{"w", {2, 2}}, {"b \"é\"", {2}}, {"s", {}}},
  .values = {1, 2, 3, 4, -5, 0.5, 7},
  .metadata = {{"format", "pt"}}};

fs::path here(const std::string& name) {
  return fs::path{::testing::TempDir()} / ("troupe_" + name);
}

} // namespace

TEST(safetensors, what_was_written_is_read) {
  const auto path = here("round.safetensors");
  const auto ok = write_safetensors(path, example);
  ASSERT_TRUE(ok) << ok.error().context;
  const auto x = read_safetensors(path);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->tensors, example.tensors);
  EXPECT_EQ(x->values, example.values);
  EXPECT_EQ(x->metadata, example.metadata);
  fs::remove(path);
}

TEST(safetensors, reads_a_file_written_by_hand) {
  auto bytes =
    file(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
         R"("a":{"shape":[2,1],"data_offsets":[0,8],"dtype":"F32"}})",
         12);
  const float last = 2.5;
  std::memcpy(bytes.data() + bytes.size() - 4, &last, 4);
  const auto x = parsed(bytes);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->tensors, (tensor_list{{"a", {2, 1}}, {"b", {1}}}));
  EXPECT_EQ(x->values, (std::vector<float>{0, 0, 2.5}));
  EXPECT_TRUE(parsed(file("{}", 0)));
}

TEST(safetensors, values_lie_aligned_in_the_file) {
  const auto path = here("aligned.safetensors");
  for (std::size_t n = 1; n < 9; ++n) {
    const tensor_file x{.tensors = {{std::string(n, 'x'), {1}}}, .values = {1}};
    ASSERT_TRUE(write_safetensors(path, x));
    EXPECT_EQ((fs::file_size(path) - sizeof(float)) % 8, 0u);
  }
  fs::remove(path);
}

TEST(safetensors, refuses_every_truncation_and_every_tail) {
  const auto whole =
    file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  ASSERT_TRUE(parsed(whole));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parsed(whole.substr(0, n))) << n;
  EXPECT_FALSE(parsed(whole + '\0'));
}

TEST(safetensors, reads_no_header_that_takes_gigabytes) {
  EXPECT_EQ(refusal(file(std::string((4 << 20) + 1, ' '), 0)),
            "has a header of 4194305 bytes, and at most 4194304 are read; "
            "fewer tensors in a file would do");
  EXPECT_TRUE(parsed(file("{}" + std::string((4 << 20) - 2, ' '), 0)));
}

// A name may be anything, and errors are read on terminals.
TEST(safetensors, shows_what_names_would_do_to_a_terminal) {
  EXPECT_EQ(refusal(file(R"({"a\u001b[2J\n":3})", 0)),
            "'a\\x1b[2J\\x0a' has no dtype; it is damaged");
}

TEST(safetensors, says_what_is_wrong_and_what_would_do) {
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
    return R"("a":{"dtype":")" + dtype + R"(","shape":)" + shape
           + R"(,"data_offsets":)" + offsets + "}";
  };
  EXPECT_EQ(refusal("abc"), "ends within its header; fetch the file again");
  EXPECT_EQ(refusal(std::string(8, '\xff')),
            "announces a header of 18446744073709551615 bytes behind its "
            "first 8, and the file has 8; it is cut off, or not a safetensors "
            "file: fetch the file again");
  EXPECT_EQ(refusal(file("[1]", 0)),
            "its header is not a JSON object; it is damaged "
            "or not a safetensors file");
  EXPECT_EQ(refusal(file("{" + one("F16", "[2]", "[0,4]") + "}", 4)),
            "'a' is of type F16, which is not read here; F32 would do");
  EXPECT_EQ(refusal(file(R"({"a":3})", 0)), "'a' has no dtype; it is damaged");
  EXPECT_EQ(refusal(file("{" + one("F32", "[-2]", "[0,8]") + "}", 8)),
            "'a' needs a shape and two data_offsets of whole numbers from 0; "
            "it is damaged");
  EXPECT_EQ(refusal(file("{" + one("F32", "[2]", "[0]") + "}", 8)),
            "'a' needs a shape and two data_offsets of whole numbers from 0; "
            "it is damaged");
  EXPECT_EQ(refusal(file("{" + one("F32", "[2]", "[0,4]") + "}", 8)),
            "'a' of shape [2] lies at bytes 0 to 4, which is not its size; it "
            "is damaged");
  EXPECT_EQ(refusal(file("{" + one("F32", "[2]", "[8,0]") + "}", 8)),
            "'a' of shape [2] lies at bytes 8 to 0, which is not its size; it "
            "is damaged");
  // 2^32 * 2^32 wraps around to the 0 bytes that are there.
  EXPECT_EQ(refusal(file(
              "{" + one("F32", "[4294967296,4294967296]", "[0,0]") + "}", 0)),
            "'a' of shape [4294967296, 4294967296] lies at bytes 0 to 0, "
            "which is not its size; it is damaged");
  EXPECT_EQ(refusal(file("{" + one("F32", "[1]", "[4,8]") + "}", 8)),
            "'a' begins at byte 4, but the one before ends at 0; tensors must "
            "neither overlap nor leave gaps");
  EXPECT_EQ(refusal(file(
              "{" + one("F32", "[2]", "[0,8]")
                + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
              12)),
            "'b' begins at byte 4, but the one before ends at 8; "
            "tensors must neither "
            "overlap nor leave gaps");
  EXPECT_EQ(
    refusal(file("{" + one("F32", "[2]", "[0,8]") + "}", 4)),
    "has 4 bytes of values, but its header announces 8; fetch the file again");
}

TEST(safetensors, gives_the_tensors_that_a_model_wants_in_its_order) {
  EXPECT_EQ(values_of(example, {{"s", {}}, {"w", {2, 2}}}, "init").value(),
            (std::vector<float>{7, 1, 2, 3, 4}));
  EXPECT_EQ(values_of(example, {{"v", {2, 3}}}, "init").error().context,
            "init: has no tensor 'v' of shape [2, 3], which the model needs");
  EXPECT_EQ(values_of(example, {{"w", {4}}}, "init").error().context,
            "init: tensor 'w' has shape [2, 2]; [4] would do");
}

TEST(safetensors, does_not_write_what_could_not_be_read) {
  const auto path = here("names.safetensors");
  for (const auto* name : {"a", "__metadata__"}) {
    const auto ok = write_safetensors(
      path, {.tensors = {{"a", {1}}, {name, {1}}}, .values = {1, 2}});
    ASSERT_FALSE(ok);
    EXPECT_EQ(ok.error().code, errc::invalid_argument);
  }
  EXPECT_FALSE(fs::exists(path));
  const auto lost = write_safetensors("/nowhere/x.safetensors", example);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, errc::storage_failure);
  EXPECT_EQ(lost.error().context,
            "/nowhere/x.safetensors: cannot create the file: "
            "No such file or directory");
}

TEST(safetensors_file, reads_what_is_asked_for_and_no_more) {
  const auto path = here("part.safetensors");
  ASSERT_TRUE(write_safetensors(
    path,
    {.tensors = {{"model.0/w", {2}}, {"model.1/w", {2}}, {"model.1/b", {1}}},
     .values = {1, 2, 3, 4, 5}}));
  auto x = safetensors_file::open(path);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->bytes_read(), 0u);
  const auto found = x->values_of({{"b", {1}}, {"w", {2}}}, "model.1/");
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(*found, (std::vector<float>{5, 3, 4}));
  EXPECT_EQ(x->bytes_read(), 3 * sizeof(float));
  fs::remove(path);
}

TEST(safetensors_file, says_what_it_lacks) {
  const auto path = here("lacks.safetensors");
  ASSERT_TRUE(write_safetensors(
    path, {.tensors = {{"model.0/w", {2}}}, .values = {1, 2}}));
  auto x = safetensors_file::open(path);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->values_of({{"w", {2}}}, "model.1/").error().context,
            path.string()
              + ": has no tensor 'model.1/w' of shape [2], which the model "
                "needs");
  EXPECT_EQ(x->values_of({{"w", {3}}}, "model.0/").error().context,
            path.string() + ": tensor 'model.0/w' has shape [2]; [3] would do");
  fs::remove(path);
}

// As the whole of it would be.
TEST(safetensors_file, of_what_is_damaged_is_refused) {
  const auto path = here("damaged.safetensors");
  const auto refused = [&](const std::string& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
    const auto x = safetensors_file::open(path);
    EXPECT_FALSE(x);
    return x ? "" : x.error().context.substr(path.string().size());
  };
  const std::string one =
    R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(refused("abc"), ": ends within its header; fetch the file again");
  EXPECT_EQ(refused(file(one, 4)),
            ": has 4 bytes of values, but its header announces 8; fetch the "
            "file again");
  EXPECT_EQ(refused(file("[]", 0)),
            ": its header is not a JSON object; it is damaged or not a "
            "safetensors file");
  fs::remove(path);
  const auto gone = safetensors_file::open(path);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, errc::invalid_data);
}

} // namespace troupe::models::safetensors_test
