#include "models/archive.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>
#include <vector>

namespace troupe::models::archive_test {

namespace {

template <class T>
std::string number(T x) {
  std::string bytes(sizeof x, '\0');
  std::memcpy(bytes.data(), &x, sizeof x);
  return bytes;
}

std::uint32_t sum_of(const std::string& x) {
  return static_cast<std::uint32_t>(
    crc32_z(0, reinterpret_cast<const Bytef*>(x.data()), x.size()));
}

struct file {
  std::string name;
  std::string bytes;
};

/// As the format has it, of files that are not packed.
std::string archive(const std::vector<file>& files) {
  std::string all;
  std::string list;
  for (const auto& x : files) {
    const auto sizes = number(sum_of(x.bytes))
                       + number(std::uint32_t(x.bytes.size()))
                       + number(std::uint32_t(x.bytes.size()));
    const auto name = number(std::uint16_t(x.name.size()));
    list += "PK\x01\x02" + std::string(12, '\0') + sizes + name
            + std::string(12, '\0') + number(std::uint32_t(all.size()))
            + x.name;
    all += "PK\x03\x04" + std::string(10, '\0') + sizes + name
           + std::string(2, '\0') + x.name + x.bytes;
  }
  const auto count = number(std::uint16_t(files.size()));
  return all + list + "PK\x05\x06" + std::string(4, '\0') + count + count
         + number(std::uint32_t(list.size()))
         + number(std::uint32_t(all.size())) + std::string(2, '\0');
}

std::string refusal(const std::string& x) {
  const auto ok = check_archive(std::as_bytes(std::span{x}), "a.pt");
  return ok ? "fine" : ok.error().context;
}

} // namespace

TEST(archive, is_fine_with_each_file_as_its_checksum_says) {
  EXPECT_EQ(refusal(archive({{"a", "some"}, {"b", ""}})), "fine");
  EXPECT_EQ(refusal(archive({})), "fine");
}

TEST(archive, refuses_any_byte_that_is_another) {
  const auto whole = archive({{"one", "some bytes"}, {"two", "others"}});
  for (const auto at : {whole.find("some"), whole.find("others"),
                        whole.find("one"), whole.rfind("two")}) {
    auto x = whole;
    x[at] = 'X';
    EXPECT_NE(refusal(x), "fine") << at;
  }
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(refusal(whole.substr(0, n)), "fine") << n;
}

TEST(archive, has_no_folders) {
  EXPECT_NE(refusal(archive({{"one/", "some bytes"}})), "fine");
  auto x = archive({{"one", "some bytes"}});
  x[x.find("PK\x01\x02") + 38] = '\x10';
  EXPECT_NE(refusal(x), "fine");
}

TEST(archive, says_what_is_wrong) {
  auto x = archive({{"one\x1b", "some bytes"}});
  EXPECT_EQ(refusal("abc"), "a.pt: is no archive, or one that was cut off; "
                            "save or fetch the file again");
  EXPECT_EQ(refusal(archive({{"a", "1"}, {"a", "2"}})),
            "a.pt: has two files of the name 'a'; save or fetch the file "
            "again");
  x[x.find("some")] = 'S';
  EXPECT_EQ(refusal(x), "a.pt: 'one\\x1b' in it is damaged; save or fetch the "
                        "file again");
}

} // namespace troupe::models::archive_test
