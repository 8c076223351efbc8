// A store is as it was where a process that came with it was refused.

#include "node/join/traces.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "actors/client_store/disk_vault.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node {
namespace {

namespace fs = std::filesystem;

struct traces_test : ::testing::Test {
  void make(const std::string& name) const {
    fs::create_directories((store / name).parent_path());
    std::ofstream{store / name} << "x";
  }

  bool has(const std::string& name) const {
    return fs::exists(store / name);
  }

  test::scratch_folder scratch;
  fs::path store = fs::path{scratch.path()} / "stores" / "one";
};

} // namespace

TEST_F(traces_test, go_with_the_folders_that_are_new) {
  traces made{store};
  made.opens("a");
  make("id");
  make("status.json");
  make("frozen/1");
  make("run-a/clients.lock");
  made.remove();
  EXPECT_FALSE(fs::exists(store.parent_path()));
  EXPECT_TRUE(fs::exists(scratch.path()));
}

TEST_F(traces_test, are_none_of_what_was_there_before) {
  make("id");
  make("frozen/1");
  make("run-a/clients.lock");
  traces made{store};
  made.opens("a");
  made.opens("b");
  make("status.json");
  make("run-b/clients.lock");
  made.remove();
  EXPECT_TRUE(has("id") && has("frozen/1") && has("run-a/clients.lock"));
  EXPECT_FALSE(has("status.json") || has("run-b"));
}

// By its key it may be known already.
TEST_F(traces_test, are_no_keys) {
  const traces made{store};
  make("id");
  make("pair");
  make("servers/1");
  made.remove();
  EXPECT_TRUE(has("pair") && has("servers/1"));
  EXPECT_FALSE(has("id"));
}

TEST_F(traces_test, stay_with_clients_that_somebody_may_know) {
  traces made{store};
  make("id");
  made.stay();
  made.remove();
  EXPECT_TRUE(has("id"));
}

TEST_F(traces_test, stay_where_another_process_has_come) {
  traces made{store};
  made.opens("a");
  make("id");
  make("run-b/clients.lock"); // It has ended meanwhile.
  made.remove();
  EXPECT_TRUE(has("id") && has("run-b/clients.lock"));
  fs::remove_all(store / "run-b");
  {
    const auto other = actors::disk_vault::open(store, "a", {});
    ASSERT_TRUE(other) << other.error().context;
    made.remove();
    EXPECT_TRUE(has("id") && has("run-a"));
  }
  made.remove();
  EXPECT_FALSE(fs::exists(store));
}

} // namespace troupe::node
