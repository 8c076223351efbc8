// What a process keeps of a run that it joined, so that its clients can be
// looked at without a server.

#include "node/join/joined_task.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/hex.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::joined_task_test {
namespace {

namespace fs = std::filesystem;
using test::scratch_folder;
using ::testing::EndsWith;
using ::testing::HasSubstr;

joined_task some_task() {
  joined_task x;
  x.in.name = "north";
  x.in.data = "texts/de/";
  x.in.model = "/models/small";
  x.in.experts = 3;
  x.in.expert_memory = 0.5;
  x.clients = {{7}, {9}};
  x.texts = {4};
  x.terms.run = {1};
  x.terms.layout = {2};
  x.terms.data = {3};
  x.terms.model = {5};
  x.terms.config = {"rounds = 1", "method = \"comigs\""};
  x.terms.inputs = {32};
  x.terms.classes = 257;
  x.terms.examples_max = 1 << 20;
  x.terms.frozen = {{"common", {6}}};
  return x;
}

json without(const json& x, std::string_view key) {
  auto out = json::object();
  for (const auto& [name, value] : *x.fields())
    if (name != key)
      out.add(name, value);
  return out;
}

bool is_taken(const json& x) {
  return joined_task_of(x).has_value();
}

/// A store with clients of such runs.
void have_clients(const scratch_folder& at, const std::string& run) {
  const auto folder = fs::path{at.path()} / ("run-" + run);
  fs::create_directories(folder);
  std::ofstream{folder / "clients.sqlite"};
  std::ofstream{at.path() + "/id"};
}

std::string why(const result<place_in_store>& x) {
  return x ? "found " + x->run : x.error().context;
}

} // namespace

TEST(joined_task, comes_back_as_it_was_kept) {
  const auto x = some_task();
  const auto text = to_json(x).dump(2);
  const auto read = json::parse(text);
  ASSERT_TRUE(read);
  const auto found = joined_task_of(*read);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->in.name, "north");
  EXPECT_EQ(found->in.model, "/models/small");
  EXPECT_EQ(found->in.common, "");
  EXPECT_EQ(found->in.experts, 3u);
  EXPECT_EQ(found->in.expert_memory, 0.5);
  EXPECT_EQ(found->clients, x.clients);
  EXPECT_EQ(found->texts, x.texts);
  EXPECT_EQ(found->terms.layout, x.terms.layout);
  EXPECT_EQ(found->terms.data, x.terms.data);
  EXPECT_EQ(found->terms.model, x.terms.model);
  EXPECT_EQ(found->terms.config, x.terms.config);
  EXPECT_EQ(found->terms.inputs, x.terms.inputs);
  EXPECT_EQ(found->terms.classes, 257u);
  EXPECT_EQ(found->terms.examples_max, x.terms.examples_max);
  ASSERT_EQ(found->terms.frozen.size(), 1u);
  EXPECT_EQ(found->terms.frozen.front().name, "common");
  EXPECT_EQ(found->terms.frozen.front().content, models::digest{6});
}

// Who looks may stand elsewhere than who joined.
TEST(joined_task, says_where_files_are_from_anywhere) {
  const auto found = joined_task_of(to_json(some_task()));
  ASSERT_TRUE(found);
  EXPECT_TRUE(fs::path{found->in.data}.is_absolute()) << found->in.data;
  EXPECT_THAT(found->in.data, EndsWith("/texts/de/"));
}

TEST(joined_task, is_refused_where_something_lacks) {
  const auto whole = to_json(some_task());
  ASSERT_TRUE(is_taken(whole));
  for (const auto& [name, value] : *whole.fields())
    EXPECT_FALSE(is_taken(without(whole, name))) << name;
  const auto& terms = *whole.find("terms");
  for (const auto& [name, value] : *terms.fields()) {
    auto x = whole;
    x["terms"] = without(terms, name);
    EXPECT_FALSE(is_taken(x)) << name;
  }
}

TEST(joined_task, is_refused_where_something_is_other) {
  const auto is_taken_with = [](std::string_view key, json value) {
    auto x = to_json(some_task());
    x[key] = std::move(value);
    return is_taken(x);
  };
  EXPECT_FALSE(is_taken_with("clients", json::array()));
  EXPECT_FALSE(is_taken_with("clients", json::parse("[-1]").value()));
  EXPECT_FALSE(is_taken_with("experts", std::uint64_t{1} << 32));
  EXPECT_TRUE(is_taken_with("expert_memory", 0));
  EXPECT_FALSE(is_taken_with("expert_memory", -1));
  EXPECT_FALSE(is_taken_with("texts", "0a"));
  EXPECT_FALSE(is_taken_with("name", 7));
  EXPECT_FALSE(is_taken(json::array()));
}

TEST(joined_task, is_of_the_one_run_of_a_store) {
  const scratch_folder at;
  have_clients(at, "aa");
  EXPECT_TRUE(is_of_store(at.path()));
  EXPECT_EQ(why(place_of_clients(at.path())), "found aa");
  EXPECT_EQ(why(place_of_clients(at.path() + "/")), "found aa");
  have_clients(at, "bb");
  EXPECT_THAT(why(place_of_clients(at.path())),
              HasSubstr("has clients of several runs; one of " + at.path()
                        + "/run-aa, " + at.path() + "/run-bb would do"));
  EXPECT_TRUE(is_of_store(at.path() + "/run-bb"));
  const auto one = place_of_clients(at.path() + "/run-bb/");
  EXPECT_EQ(why(one), "found bb");
  EXPECT_EQ(one->store, fs::path{at.path()});
}

TEST(joined_task, is_of_no_other_folder) {
  const scratch_folder at;
  EXPECT_FALSE(is_of_store(at.path()));
  std::ofstream{at.path() + "/id"};
  EXPECT_TRUE(is_of_store(at.path()));
  EXPECT_THAT(why(place_of_clients(at.path())),
              HasSubstr("of a process that has no clients yet"));
  std::ofstream{at.path() + "/config.toml"};
  EXPECT_FALSE(is_of_store(at.path()));
}

TEST(joined_task, is_read_where_it_was_kept) {
  const scratch_folder at;
  auto x = some_task();
  x.in.store = at.path();
  const auto run = to_hex(x.terms.run);
  have_clients(at, run);
  const place_in_store place{at.path(), run};
  const auto refusal = [&] {
    const auto found = read_joined(place, {});
    return found ? "it is read" : found.error().context;
  };
  EXPECT_THAT(refusal(), HasSubstr("joined.json is not there, which says what "
                                   "these clients learn; an earlier build"));
  const auto ok = keep_joined(x);
  ASSERT_TRUE(ok) << ok.error().context;
  const auto found = read_joined(place, {});
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->in.store, at.path());
  EXPECT_EQ(found->clients, x.clients);
  std::ofstream{place.folder() / joined_file} << "{}";
  EXPECT_THAT(refusal(), HasSubstr("joined.json is damaged: it is not what was "
                                   "written there; to join once more"));
}

// A number is a place among rows: it is looked at before anything is read.
TEST(joined_task, is_of_clients_that_the_run_may_have) {
  const scratch_folder at;
  joined_task x;
  x.terms.config = {"rounds = 1", "[data]", "kind = \"synthetic\"", "[model]",
                    "kind = \"softmax\""};
  const auto as = experiment_of(x);
  ASSERT_TRUE(as) << as.error().context;
  x.in.data = at.path() + "/none";
  const auto refusal = [&](std::uint64_t who) {
    x.clients = {{1}, {who}};
    const auto made = work_at_home(x, *as);
    return made ? "it is made" : made.error().context;
  };
  EXPECT_THAT(refusal(2), HasSubstr("there is no such file"));
  for (const auto who : {std::uint64_t{0}, std::uint64_t{1} << 40})
    EXPECT_EQ(refusal(who), "joined.json is of client " + std::to_string(who)
                              + ", and the run has none of that number; to "
                                "join once more would do");
}

TEST(joined_task, is_kept_by_nobody_who_has_no_store) {
  EXPECT_TRUE(keep_joined(some_task()));
}

} // namespace troupe::node::joined_task_test
