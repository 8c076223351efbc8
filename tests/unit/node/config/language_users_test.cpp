// Clients of texts of users: each is one, and who is left out is named.

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "node/commands/data.hpp"
#include "node/config/config.hpp"
#include "tests/support/config_text.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::language_users_test {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Of twelve users, in the order of their names u1, u10, u11, u12, u2, …
struct users_of_a_folder : ::testing::Test {
  users_of_a_folder() {
    for (int i = 1; i <= 12; ++i) {
      std::ofstream text{at.path() + "/u" + std::to_string(i) + ".txt"};
      for (int k = 0; k < 20; ++k)
        text << "document " << k << " of " << i << '\f';
    }
    std::ofstream{file} << "rounds = 1\n[data]\nkind = 'language'\npath = '"
                        << at.path()
                        << "'\ntokenizer = 'bytes'\ncontext = 8\n"
                           "[model]\nkind = 'language'\n";
  }

  loaded_config loaded(const std::vector<std::string>& changes) const {
    auto x = load_config(file, changes, sample_methods());
    EXPECT_TRUE(x) << x.error().context;
    return x ? std::move(*x) : loaded_config{};
  }

  const test::scratch_folder at;
  const std::string file = at.path() + "/run.toml";
};

} // namespace

TEST_F(users_of_a_folder, are_all_clients_where_nobody_says_how_many) {
  for (const auto& changes : {std::vector<std::string>{}, {"users=[]"}}) {
    const auto x = loaded(changes);
    EXPECT_EQ(x.x.clients.clients, 12u);
    EXPECT_TRUE(x.notes.empty());
    // That it is so is in the folder of a run, wherever the texts are by then.
    EXPECT_THAT(write_config(x.x), HasSubstr("clients = 12\n"));
  }
  EXPECT_EQ(loaded({"pooled=true"}).x.clients.clients, 1u);
  EXPECT_EQ(loaded({"data.path=/nowhere"}).x.clients.clients, 10u);
}

TEST_F(users_of_a_folder, are_named_where_they_are_left_out) {
  const auto x = loaded({"clients=3"});
  EXPECT_EQ(x.x.clients.clients, 3u);
  EXPECT_THAT(x.notes,
              ElementsAre("--set clients=3: 'clients': 3 of 12 users are "
                          "clients, 'u1' to 'u11', and the others, from 'u12' "
                          "on, are left out"));
  EXPECT_THAT(loaded({"clients=1", "users=['u7', 'u2']"}).notes,
              ElementsAre("--set clients=1: 'clients': 1 of 2 users is a "
                          "client, 'u7', and the others, from 'u2' on, are "
                          "left out"));
  EXPECT_TRUE(loaded({"clients=12"}).notes.empty());
  std::ostringstream out, err;
  const std::vector<std::string> args{"inspect", file, "--set", "clients=3"};
  ASSERT_EQ(data(args, {out, err}), exit_code::ok) << err.str();
  EXPECT_THAT(out.str(), StartsWith("3 users, windows of 8 tokens"));
  EXPECT_THAT(err.str(), HasSubstr("note: --set clients=3: 'clients': 3 of 12 "
                                   "users are clients"));
}

TEST_F(users_of_a_folder, are_as_many_as_have_a_bound_of_their_own) {
  const auto said = [this](const std::string& bounds) {
    std::ostringstream out, err;
    const std::vector<std::string> args{"inspect", file, "--set",
                                        "data.user_tokens=" + bounds};
    return data(args, {out, err}) == exit_code::ok ? out.str() : err.str();
  };
  EXPECT_THAT(said("[40, 10]"), StartsWith("12 users, windows of 8 tokens"));
  EXPECT_THAT(said("[9,9,9,9,9,9,9,9,9,9,9,9,9]"),
              HasSubstr(at.path()
                        + ": has 12 users, and 'data.user_tokens' says how "
                          "much 13 have; 12 numbers would do"));
}

TEST_F(users_of_a_folder, are_not_looked_up_for_somebody_else) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  const auto x = read(text.str());
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.clients.clients, 10u);
}

// As a shell leaves what was quoted.
TEST_F(users_of_a_folder, may_be_words_in_brackets) {
  const auto named = [this](const std::string& said) {
    return loaded({"users=" + said}).x.data.users;
  };
  EXPECT_THAT(named("[u7,u2]"), ElementsAre("u7", "u2"));
  EXPECT_THAT(named("[ u7, u 2 ]"), ElementsAre("u7", "u 2"));
  EXPECT_THAT(named("[u7]"), ElementsAre("u7"));
  EXPECT_THAT(named("[1, 2]"), ElementsAre("1", "2"));
  EXPECT_THAT(named("['u7', 'u2']"), ElementsAre("u7", "u2"));
  EXPECT_THAT(named("[u7,,u2]"), ElementsAre("[u7,,u2]")) << "no list";
  EXPECT_THAT(named("[u7]u2]"), ElementsAre("[u7]u2]")) << "no list";
  EXPECT_THAT(named("\"[u7,u2]\""), ElementsAre("[u7,u2]")) << "a name";
}

// The key that was said, and not the table that it is short for.
TEST_F(users_of_a_folder, are_dealt_nothing) {
  const auto refusal = [this](const std::vector<std::string>& changes) {
    const auto x = load_config(file, changes, all_methods());
    return x ? "taken" : x.error().context;
  };
  for (const std::string key :
       {"partition.kind", "train_share", "alpha", "partition.alpha"})
    EXPECT_EQ(refusal({key + (key == "partition.kind" ? "=iid" : "=0.5")}),
              "--set " + key + (key == "partition.kind" ? "=iid" : "=0.5")
                + ": data.kind = \"language\" deals nothing, a client is a "
                  "user: 'partition."
                + key.substr(key.find('.') + 1)
                + "' must not be given; 'tokens' says how much each has");
  EXPECT_THAT(
    refusal({"alpha=1", "method=homlora"}),
    HasSubstr("'partition.alpha' must not be given, and the method's option is "
              "'options.alpha'; 'tokens' says how much each has"));
}

} // namespace troupe::node::language_users_test
