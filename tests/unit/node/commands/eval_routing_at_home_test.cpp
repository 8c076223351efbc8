// Where tokens go in the models of clients that joined a run from here: what is
// kept of looks, what is shown, and what is refused before anything is read.

#include "node/commands/eval_routing_at_home.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "actors/client_store/disk_vault.hpp"
#include "core/hex.hpp"
#include "node/join/store.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::eval_routing_at_home_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> steps_of(const json::list& looks) {
  std::vector<double> all;
  for (const auto& x : looks)
    all.push_back(x.find("steps")->number().value());
  return all;
}

json look(double steps) {
  return {{"steps", steps}, {"scores", std::vector<double>{0.5, 0.25}}};
}

/// A store whose process was told so of a run.
class store_of_clients : public ::testing::Test {
protected:
  void joins(std::vector<std::string> config) {
    joined_task x;
    x.in.store = at.path();
    x.clients = {{1}};
    x.terms.run = run;
    x.terms.config = std::move(config);
    ASSERT_TRUE(store_id_of(at.path()));
    ASSERT_TRUE(opened());
    ASSERT_TRUE(keep_joined(x));
  }

  std::shared_ptr<actors::disk_vault> opened() {
    auto made = actors::disk_vault::open(at.path(), to_hex(run), {});
    return made ? std::move(*made) : nullptr;
  }

  std::string refusal() {
    const auto found = routing_at_home_of(at.path(), {});
    return found ? "it was looked at" : found.error().context;
  }

  const messages::run_id run{1};
  const test::scratch_folder at;
};

} // namespace

TEST(eval_routing_at_home, keeps_looks_of_fewer_steps) {
  const json before{{"looks", json::list{look(8), look(16), look(24)}}};
  EXPECT_THAT(steps_of(looks_with(before.dump(), look(32))),
              ElementsAre(8, 16, 24, 32));
  // The same again, and clients that came from a copy.
  EXPECT_THAT(steps_of(looks_with(before.dump(), look(24))),
              ElementsAre(8, 16, 24));
  EXPECT_THAT(steps_of(looks_with(before.dump(), look(12))),
              ElementsAre(8, 12));
}

TEST(eval_routing_at_home, keeps_no_looks_that_are_none) {
  const json other{
    {"looks",
     json::list{{{"steps", 8}, {"scores", std::vector<double>{0.5}}},
                {{"steps", "8"}, {"scores", std::vector<double>{0.5, 0.5}}},
                {{"steps", 8}}}}};
  for (const auto& before :
       {std::string{}, std::string{"{"}, std::string{"{}"}, other.dump()})
    EXPECT_THAT(steps_of(looks_with(before, look(16))), ElementsAre(16));
}

TEST(eval_routing_at_home, knows_a_text_that_has_no_looks) {
  EXPECT_TRUE(has_looks(R"({"looks": []})"));
  for (const auto* other : {"", "{", "[]", "{}", R"({"looks": 7})"})
    EXPECT_FALSE(has_looks(other)) << other;
}

TEST(eval_routing_at_home, shows_a_line_for_each_layer) {
  const models::token_routes x{.experts = 12,
                               .mean_of_first = {0, 0, 0, 0},
                               .first_places = {},
                               .window = {0, 1, 1, 0, 2, 2, 11, 40}};
  EXPECT_EQ(map_of(x), "layer 1   01\n"
                       "layer 2   10\n"
                       "layer 4   b+\n");
}

TEST(eval_routing_at_home, shows_the_beginning_of_a_long_window) {
  const models::token_routes x{.experts = 2,
                               .mean_of_first = {0},
                               .first_places = {},
                               .window = std::vector<std::uint32_t>(100, 1)};
  EXPECT_EQ(map_of(x), "layer 1   " + std::string(96, '1')
                         + "\nthe first 96 of its 100 tokens\n");
}

TEST_F(store_of_clients, is_not_looked_at_while_a_process_works_there) {
  joins({"rounds = 1", "[data]", "kind = \"synthetic\""});
  const auto other = opened();
  ASSERT_TRUE(other);
  EXPECT_THAT(refusal(), HasSubstr("works in this folder"));
}

TEST_F(store_of_clients, has_nothing_to_look_at_without_a_language_model) {
  joins({"rounds = 1", "[data]", "kind = \"synthetic\"", "[model]",
         "kind = \"softmax\""});
  EXPECT_EQ(refusal(), "these clients learn no language model, and route no "
                       "tokens");
}

// Also where its own text would be gone, and before that is looked for.
TEST_F(store_of_clients, has_need_of_the_model_that_it_joined_with) {
  joins({"rounds = 1", "method = \"comigs\"", "[data]", "kind = \"language\"",
         "brought = true", "context = 8", "[model]", "kind = \"language\"",
         "path = \"/of/the/server\""});
  EXPECT_THAT(refusal(), HasSubstr("this run adapts a language model of a "
                                   "file; what this process joined with "
                                   "would do, or to join once more"));
}

} // namespace troupe::node::eval_routing_at_home_test
