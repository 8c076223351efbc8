#include "models/data/idx.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include "core/random.hpp"

namespace troupe::models::idx_test {

namespace {

namespace fs = std::filesystem;

using bytes = std::string;

bytes big_endian(std::uint32_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16),
          static_cast<char>(x >> 8), static_cast<char>(x)};
}

bytes idx(const std::vector<std::uint32_t>& shape, const bytes& values) {
  bytes x{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  for (const auto extent : shape)
    x += big_endian(extent);
  return x + values;
}

bytes packed(const bytes& x) {
  z_stream stream{};
  EXPECT_EQ(
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  bytes out(x.size() + x.size() / 100 + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(x.data()));
  stream.avail_in = static_cast<uInt>(x.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

result<idx_tensor> parsed(const bytes& x) {
  return parse_idx(std::as_bytes(std::span{x}), "some.idx");
}

std::string refusal(const bytes& x) {
  const auto y = parsed(x);
  if (y)
    return "read";
  EXPECT_EQ(y.error().code, errc::invalid_data);
  return y.error().context;
}

class folder {
public:
  explicit folder(const std::string& name)
    : path(fs::path{::testing::TempDir()} / ("troupe_" + name)) {
    fs::remove_all(path);
    fs::create_directories(path);
  }

  ~folder() {
    fs::remove_all(path);
  }

  void write(const std::string& name, const bytes& x) const {
    std::ofstream{path / name, std::ios::binary} << x;
  }

  const fs::path path;
};

/// Two training and one test image of 1 × 2 pixels.
void fill(const folder& to) {
  to.write("train-images-idx3-ubyte", idx({2, 1, 2}, "abcd"));
  to.write("train-labels-idx1-ubyte", idx({2}, bytes{"\x02\x00", 2}));
  to.write("t10k-images-idx3-ubyte.gz", packed(idx({1, 1, 2}, "ef")));
  to.write("t10k-labels-idx1-ubyte.gz", packed(idx({1}, "\x01")));
}

} // namespace

TEST(idx, reads_plain_and_packed_bytes_alike) {
  const auto file = idx({2, 3}, "abcdef");
  for (const auto& x : {file, packed(file)}) {
    const auto y = parsed(x);
    ASSERT_TRUE(y) << y.error().context;
    EXPECT_EQ(y->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(bytes(y->values.begin(), y->values.end()), "abcdef");
  }
}

TEST(idx, refuses_every_truncation) {
  const auto plain = idx({2, 3}, "abcdef");
  for (const auto& x : {plain, packed(plain)})
    for (std::size_t n = 0; n < x.size(); ++n)
      EXPECT_FALSE(parsed(x.substr(0, n))) << n;
}

TEST(idx, refuses_a_packed_file_with_any_flipped_byte_in_its_content) {
  const auto whole = packed(idx({2, 3}, "abcdef"));
  for (std::size_t i = 10; i < whole.size();
       ++i) { // The gzip header has hints.
    auto x = whole;
    x[i] = static_cast<char>(x[i] ^ 0x10);
    EXPECT_FALSE(parsed(x)) << i;
  }
}

TEST(idx, says_what_is_wrong_and_what_would_do) {
  EXPECT_EQ(
    refusal("PK\x03\x04"),
    "some.idx: begins with 50 4b 03 04, which is not IDX; 00 00 08 and the "
    "number of dimensions would do");
  EXPECT_EQ(
    refusal(bytes{"\0\0\x0d\x01\0\0\0\0", 8}),
    "some.idx: holds elements of type 0d; unsigned bytes (08) would do");
  EXPECT_EQ(refusal(bytes{"\0\0\x08", 3}),
            "some.idx: ends within its header; fetch the file again");
  EXPECT_EQ(
    refusal(idx({4}, "abc")),
    "some.idx: cannot hold the 4 bytes that its header announces; fetch the "
    "file again");
  EXPECT_EQ(
    refusal(idx({2}, "abc")),
    "some.idx: goes on after the 2 bytes that its header announces; fetch "
    "the file again");
  EXPECT_EQ(
    refusal(packed(idx({5}, "abc"))),
    "some.idx: is damaged or ends after 3 of the 5 bytes that its header "
    "announces; fetch the file again");
  EXPECT_EQ(
    refusal(packed(idx({2}, "abc"))),
    "some.idx: fails its checksum or goes on after the 2 bytes that its "
    "header announces; fetch the file again");
}

TEST(idx, does_not_allocate_what_cannot_be_there) {
  // Four extents of 2^32 - 1 wrap a 64-bit product around.
  const std::uint32_t most = 0xffffffff;
  const auto huge = idx({most, most, most, most}, "abc");
  EXPECT_NE(refusal(huge).find("cannot hold"), bytes::npos);
  EXPECT_NE(refusal(packed(huge)).find("cannot hold"), bytes::npos);
  EXPECT_NE(refusal(packed(idx({1u << 30}, "abc"))).find("cannot hold"),
            bytes::npos);
}

// Three megabytes that claim to be two gigabytes.
TEST(idx, takes_room_as_it_is_unpacked) {
  random_stream draw{1};
  bytes noise(3 << 20, '\0');
  for (auto& x : noise)
    x = static_cast<char>(draw.below(256));
  const auto file = packed(idx({3'000'000, 28, 28}, noise));
  const auto peak = [] {
    rusage x{};
    getrusage(RUSAGE_SELF, &x);
    return x.ru_maxrss;
  };
  const auto before = peak();
  EXPECT_NE(refusal(file).find("ends after 3145728 of the 2352000000 bytes"),
            bytes::npos);
  EXPECT_LT(peak() - before, 64 << 10) << "kilobytes";
}

TEST(idx_folder, holds_both_sets_as_bytes) {
  const folder at{"idx_folder"};
  fill(at);
  const auto x = read_idx_folder(at.path);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->classes, 3);
  EXPECT_EQ(x->train.size, 2u);
  EXPECT_EQ(x->train.labels, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(x->test.labels, std::vector<std::int64_t>{1});
  const auto& image = x->train.inputs.at(0);
  EXPECT_EQ(image.name, "image");
  EXPECT_EQ(image.shape, (std::vector<std::int64_t>{1, 1, 2}));
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(image.values),
            (std::vector<std::uint8_t>{'a', 'b', 'c', 'd'}));
}

TEST(idx_folder, a_damaged_label_makes_no_model_of_hundreds_of_classes) {
  const folder at{"idx_classes"};
  fill(at);
  at.write("train-labels-idx1-ubyte", idx({2}, {"\xff\x00", 2}));
  const auto where = at.path.string()
                     + "/train-labels-idx1-ubyte: label 255 "
                       "of example 0 ";
  EXPECT_EQ(read_idx_folder(at.path).error().context,
            where
              + "stands far from the others: of 256 labels up to it only 2 "
                "occur; if all of them are meant, data.classes = 256 says so");
  EXPECT_EQ(read_idx_folder(at.path, 10).error().context,
            where + "is out of range; 0 to 9, as data.classes says, would do");
  EXPECT_EQ(read_idx_folder(at.path, 256)->classes, 256);
  EXPECT_EQ(read_idx_folder(at.path, 300)->classes, 300);
}

TEST(idx_folder, names_the_file_that_does_not_fit) {
  const folder at{"idx_misfits"};
  const auto text = [&](const std::string& name, const bytes& x) {
    fill(at);
    at.write(name, x);
    const auto y = read_idx_folder(at.path);
    return y ? "read" : y.error().context;
  };
  const auto where = at.path.string();
  EXPECT_EQ(text("train-labels-idx1-ubyte", idx({3}, "abc")),
            where
              + ": train-images-idx3-ubyte holds 2 images and "
                "train-labels-idx1-ubyte 3 labels; as many of both would do");
  EXPECT_EQ(
    text("t10k-labels-idx1-ubyte", idx({1}, "\x03")),
    where
      + "/t10k-labels-idx1-ubyte: label 3 of example 0 is out of range; "
        "0 to 2 would do");
  fs::remove(at.path / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(text("train-images-idx3-ubyte", idx({4}, "abcd")),
            where + "/train-images-idx3-ubyte: has 1 dimensions; 3 would do");
  EXPECT_EQ(text("t10k-images-idx3-ubyte", idx({1, 2, 1}, "ef")),
            where
              + ": the images of the two sets differ in size; the files belong "
                "to different data");
  EXPECT_EQ(text("train-images-idx3-ubyte", idx({0, 1, 2}, "")),
            where
              + ": train-images-idx3-ubyte holds 0 images and "
                "train-labels-idx1-ubyte 2 labels; as many of both would do");
  fs::remove(at.path / "train-images-idx3-ubyte");
  const auto missing = read_idx_folder(at.path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().context.substr(0, where.size() + 26),
            where + "/train-images-idx3-ubyte: ");
}

TEST(idx_folder, reads_fashion_mnist_as_debian_ships_it) {
  const fs::path at = "/usr/share/datasets/fashion-mnist";
  if (!fs::exists(at))
    GTEST_SKIP() << at << " is not there: install dataset-fashion-mnist";
  const auto x = read_idx_folder(at);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->name, "fashion-mnist");
  EXPECT_EQ(x->classes, 10);
  EXPECT_EQ(x->train.size, 60'000u);
  EXPECT_EQ(x->test.size, 10'000u);
  EXPECT_EQ(x->train.inputs[0].shape, (std::vector<std::int64_t>{1, 28, 28}));
  std::vector<int> count(10);
  for (const auto label : x->train.labels)
    ++count[static_cast<std::size_t>(label)];
  EXPECT_EQ(count, std::vector<int>(10, 6000));
  // The mean pixel that everybody normalises with: 0.2860.
  const auto& pixels =
    std::get<std::vector<std::uint8_t>>(x->train.inputs[0].values);
  ASSERT_EQ(pixels.size(), 60'000u * 784);
  const auto sum =
    std::accumulate(pixels.begin(), pixels.end(), std::uint64_t{0});
  EXPECT_NEAR(static_cast<double>(sum) / 255 / (60'000 * 784), 0.2860, 0.0001);
}

} // namespace troupe::models::idx_test
