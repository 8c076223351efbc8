#include "node/run/served_way.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "core/hex.hpp"
#include "models/files.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"
#include "node/run/process_book.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

using ::testing::HasSubstr;

class served_way_of : public ::testing::Test {
protected:
  served_way_of() {
    std::filesystem::create_directory(run);
  }

  void endpoint(const std::string& text) const {
    std::ofstream{run / "endpoint"} << text << '\n';
  }

  /// The public key of a new pair.
  std::string pair_in(const std::filesystem::path& folder) const {
    const auto made = draw_pair();
    EXPECT_TRUE(make_private(folder));
    EXPECT_TRUE(write_pair(folder / "pair", made));
    return to_hex(made.open);
  }

  std::string refusal(served_way asked) const {
    const auto found = way_on(run, std::move(asked));
    return found ? "none" : found.error().context;
  }

  const test::scratch_folder scratch;
  const std::filesystem::path run = std::filesystem::path{scratch.path()} / "r";
  const std::filesystem::path keys =
    std::filesystem::path{scratch.path()} / "k";
};

TEST_F(served_way_of, a_run_without_keys_is_without_keys) {
  endpoint("tcp://192.0.2.1:7700");
  ASSERT_TRUE(
    write_way(run, {.address = "tcp://192.0.2.1:7700", .insecure = true}));
  EXPECT_EQ(way_on(run, {})->insecure, "anywhere");
  EXPECT_EQ(way_on(run, {.insecure = "here"})->insecure, "here");
  EXPECT_THAT(refusal({.keys = keys}), HasSubstr("was served without keys"));
}

TEST_F(served_way_of, a_run_with_keys_has_the_same) {
  const auto known = pair_in(keys);
  endpoint("tcp://127.0.0.1:7700 " + known);
  ASSERT_TRUE(write_way(run, {.keys = keys, .serves_frozen = true}));
  EXPECT_EQ(way_on(run, {})->keys, keys);
  EXPECT_TRUE(way_on(run, {})->serves_frozen);
  EXPECT_THAT(refusal({.insecure = "here"}), HasSubstr("served with a key"));
  const std::filesystem::path other{std::string{scratch.path()} + "/o"};
  EXPECT_THAT(refusal({.keys = other}), HasSubstr(known + "; there is none"));
  pair_in(other);
  EXPECT_THAT(refusal({.keys = other}), HasSubstr("another key than that"));
  std::filesystem::remove_all(other);
  std::filesystem::rename(keys, other);
  EXPECT_THAT(refusal({}), HasSubstr("--keys DIR says where it is now"));
  EXPECT_EQ(way_on(run, {.keys = other})->keys, other) << "it may move";
}

TEST_F(served_way_of, a_run_with_keys_of_its_own_moves_with_them) {
  const auto known = pair_in(run / "keys");
  endpoint("tcp://127.0.0.1:7700 " + known);
  ASSERT_TRUE(write_way(run, {.keys = run / "keys"}));
  const auto moved = std::filesystem::path{scratch.path()} / "m";
  std::filesystem::rename(run, moved);
  EXPECT_EQ(way_on(moved, {})->keys, moved / "keys");
}

TEST_F(served_way_of, an_earlier_build_is_told_from_its_endpoint) {
  endpoint("tcp://127.0.0.1:7700");
  EXPECT_EQ(way_on(run, {})->insecure, "here");
  const auto known = pair_in(keys);
  endpoint("tcp://127.0.0.1:7700 " + known);
  EXPECT_THAT(refusal({}), HasSubstr("--keys DIR says where it is now"));
  EXPECT_EQ(way_on(run, {.keys = keys})->keys, keys);
}

TEST_F(served_way_of, what_nobody_could_join_is_served_as_it_is_said) {
  EXPECT_EQ(way_on(run, {})->keys, run / "keys");
  EXPECT_EQ(way_on(run, {.insecure = "here"})->insecure, "here");
  EXPECT_EQ(way_on(run, {.keys = keys})->keys, keys);
}

TEST_F(served_way_of, what_is_damaged_is_named) {
  std::ofstream{run / "served.json"} << "{\"insecure\": 1";
  EXPECT_THAT(refusal({}), HasSubstr("served.json is not what was written"));
}

TEST_F(served_way_of, a_number_that_two_processes_have_is_named) {
  const actors::leases::room room{.clients = 6};
  process_book book{.run = {1}, .places = actors::leases{room}};
  ASSERT_TRUE(book.places.give({1}, 2));
  ASSERT_TRUE(book.places.give({2}, 1));
  const auto path = run / "processes.json";
  ASSERT_TRUE(book.keep(path));
  auto text = *models::read_text(path, errc::storage_failure);
  const auto third = text.find('3');
  ASSERT_NE(third, text.npos);
  text[third] = '2';
  std::ofstream{path} << text;
  const auto found = process_book::read(path, room);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().context,
              HasSubstr("processes.json is not what was written there: client "
                        "2 is given to two processes; without it"));
}

} // namespace
} // namespace troupe::node
