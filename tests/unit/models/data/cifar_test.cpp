#include "models/data/cifar.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace troupe::models::cifar_test {

namespace {

namespace fs = std::filesystem;

std::string record(const std::string& labels, char pixel) {
  return labels + std::string(3071, pixel) + '!';
}

std::string refusal(const std::string& x, cifar_kind kind) {
  example_set set;
  std::vector<std::int64_t> coarse;
  const auto ok =
    append_cifar(std::as_bytes(std::span{x}), kind, "some.bin", set, coarse);
  EXPECT_EQ(set.size, 0u);
  EXPECT_TRUE(set.inputs.empty());
  return ok ? "read" : ok.error().context;
}

fs::path fresh_folder(const std::string& name) {
  const auto path = fs::path{::testing::TempDir()} / ("troupe_" + name);
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

void write(const fs::path& path, const std::string& x) {
  std::ofstream{path, std::ios::binary} << x;
}

} // namespace

TEST(cifar, reads_the_batches_of_cifar_10_in_order) {
  const auto at = fresh_folder("cifar10");
  for (char i = 1; i <= 5; ++i)
    write(at / ("data_batch_" + std::to_string(i) + ".bin"),
          record({i}, static_cast<char>('a' + i)));
  write(at / "test_batch.bin", record("\x09", 'x') + record("\x08", 'y'));
  const auto x = read_cifar(at, cifar_kind::cifar10);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->classes, 10);
  EXPECT_EQ(x->train.size, 5u);
  EXPECT_EQ(x->train.labels, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(x->test.labels, (std::vector<std::int64_t>{9, 8}));
  EXPECT_TRUE(x->partition_column.empty());
  const auto& image = x->test.inputs.at(0);
  EXPECT_EQ(image.shape, (std::vector<std::int64_t>{3, 32, 32}));
  const auto& pixels = std::get<std::vector<std::uint8_t>>(image.values);
  ASSERT_EQ(pixels.size(), 2 * 3072u);
  EXPECT_EQ(pixels[3070], 'x');
  EXPECT_EQ(pixels[3071], '!');
  EXPECT_EQ(pixels[3072], 'y');
  fs::remove_all(at);
}

TEST(cifar, reads_both_labels_of_cifar_100) {
  const auto at = fresh_folder("cifar100");
  write(at / "train.bin", record("\x13\x63", 'a') + record({3, 7}, 'b'));
  write(at / "test.bin", record({1, 2}, 'c'));
  const auto x = read_cifar(at, cifar_kind::cifar100);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->classes, 100);
  EXPECT_EQ(x->train.labels, (std::vector<std::int64_t>{99, 7}));
  EXPECT_EQ(x->partition_column, (std::vector<std::int64_t>{19, 3}));
  EXPECT_EQ(x->test.labels, std::vector<std::int64_t>{2});
  fs::remove_all(at);
}

TEST(cifar, says_what_is_wrong_and_what_would_do) {
  EXPECT_EQ(refusal("", cifar_kind::cifar10),
            "some.bin: has 0 bytes; whole records of 3073 would do");
  EXPECT_EQ(refusal(record("\x01", 'a') + "x", cifar_kind::cifar10),
            "some.bin: has 3074 bytes; whole records of 3073 would do");
  EXPECT_EQ(
    refusal(record("\x01", 'a') + record("\x0a", 'a'), cifar_kind::cifar10),
    "some.bin: label 10 of record 1 is out of range; 0 to 9 would do");
  EXPECT_EQ(refusal(record({20, 7}, 'a'), cifar_kind::cifar100),
            "some.bin: label 20 of record 0 is out of range; 0 to 19 would do");
  EXPECT_EQ(
    refusal(record({2, 100}, 'a'), cifar_kind::cifar100),
    "some.bin: label 100 of record 0 is out of range; 0 to 99 would do");
  const auto missing = read_cifar("/nowhere", cifar_kind::cifar100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::invalid_data);
  EXPECT_EQ(missing.error().context,
            "/nowhere/train.bin: cannot be read: there is no such file; is the "
            "path right?");
}

} // namespace troupe::models::cifar_test
