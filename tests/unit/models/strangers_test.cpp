// Who is served without training: an answer for each row, by the one expert of
// those asked for that a gate made by hand prefers, and no label anywhere.

#include "models/strangers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "models/aligned.hpp"
#include "models/embedder.hpp"
#include "models/gate.hpp"
#include "models/layout.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/blind_model.hpp"

namespace troupe::test::strangers_test {

namespace {

using namespace models;

/// One that counts something of what it sees.
class counting_model final : public blind_model {
public:
  const tensor_list& buffer_list() const noexcept override {
    return counts_;
  }

  std::span<float> buffers() noexcept override {
    return buffers_;
  }

  std::vector<float> initial_buffers() override {
    return {0};
  }

private:
  tensor_list counts_{{"mean", {1}}};
  aligned_floats buffers_ = aligned_floats(1);
};

/// Says `c` of every row.
std::vector<float> always(std::size_t c) {
  std::vector<float> x(9);
  for (std::size_t d = 0; d < 3; ++d)
    x[c * 3 + d] = 1;
  return x;
}

/// Of the kinds of rows, in their order, the logits are (4, 0, 0), (0, 0, 4)
/// and (1, 2, 1.5): all rows together ask for the experts 0 and 2, though the
/// last would rather have 1.
std::vector<float> gate_by_hand() {
  return {1, 0, 0, 0, 1, 0, 0, 0, 1,    // The layer before: as it is.
          0, 0, 0,                      //
          4, 0, 1, 0, 0, 2, 0, 4, 1.5f, //
          0, 0, 0};
}

struct site {
  std::shared_ptr<local_task> task = std::make_shared<local_task>();
  visit_input visit;
};

void add(site& to, const std::string& block, std::vector<float> values) {
  const auto id = to.task->blocks.find(block)->id;
  to.visit.fetched.push_back({id, {}, share(std::move(values))});
}

site site_of(const std::string& name, const options& said) {
  site x;
  auto& task = *x.task;
  auto method = policies::with_options(*policies::find_recipe(name), said);
  EXPECT_TRUE(method) << method.error().context;
  task.method = *method;
  task.how.method = with_defaults(*method, said);
  const auto model = blind_model{}.parameter_list();
  auto blocks =
    make_layout(*method,
                {{"common", model},
                 {"common.buffers", {}},
                 {"gate", tensors_of({.inputs = 3, .hidden = 3, .experts = 3})},
                 {"model", model},
                 {"model.buffers", {}}},
                {});
  EXPECT_TRUE(blocks) << blocks.error().context;
  task.blocks = *blocks;
  const auto who = stranger_of(*method);
  task.clients.train.resize(who.value);
  task.clients.test.resize(who.value);
  task.clients.train.back() = {0, 1, 2, 3};
  task.clients.held_out = 1;
  task.frozen["common"] = share(std::vector<float>(9));
  task.make_common = []() -> result<std::unique_ptr<objective>> {
    return std::make_unique<blind_model>();
  };
  task.embedded = std::make_shared<embedding_table>();
  x.visit.visit = {who, {1}};
  x.visit.progress = 1;
  return x;
}

const options three_of_which_two{
  {"experts", 3}, {"chosen", 2}, {"anchors", 0}, {"anchors_per_round", 0}};

/// One that has chosen, and fetched what it chose.
site gated(options said = three_of_which_two) {
  auto x = site_of("ddome", said);
  add(x, "gate", gate_by_hand());
  return x;
}

stranger who_is(const site& x) {
  auto made = stranger::make(x.task, std::make_unique<blind_model>(),
                             *kernels::make_backend({}));
  EXPECT_TRUE(made) << made.error().context;
  return std::move(*made);
}

/// Empty where they are served.
std::string refusal_of(const site& x, std::unique_ptr<objective> model) {
  const auto made =
    stranger::make(x.task, std::move(model), *kernels::make_backend({}));
  return made ? "" : made.error().context;
}

std::string refusal(const std::string& name) {
  local_task task;
  task.method = *policies::find_recipe(name);
  const auto found = check_serves_strangers(task);
  EXPECT_FALSE(found) << name;
  return found ? "" : found.error().context;
}

using places = std::vector<std::uint32_t>;
using classes = std::vector<std::int64_t>;

} // namespace

TEST(strangers, need_no_labels) {
  auto x = gated();
  auto testee = who_is(x);
  const auto asked = testee.choose(x.visit);
  ASSERT_TRUE(asked) << asked.error().context;
  const auto& blocks = x.task->blocks;
  EXPECT_EQ(asked->chosen, (std::vector<block_id>{blocks.find("model.0")->id,
                                                  blocks.find("model.2")->id}));
  EXPECT_EQ(asked->disclosures.at("request"), (std::vector<double>{0, 2}));
  EXPECT_EQ(x.task->embedded->made(), blind_rows.size());
}

// Random requests are of training.
TEST(strangers, ask_as_the_gate_says_where_clients_ask_at_random) {
  auto said = three_of_which_two;
  said["request"] = 1;
  auto x = gated(said);
  const auto requests = [&] {
    auto testee = who_is(x);
    std::set<std::vector<double>> all;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      x.visit.seed = seed;
      const auto asked = testee.choose(x.visit);
      EXPECT_TRUE(asked) << asked.error().context;
      all.insert(asked->disclosures.at("request"));
    }
    return all;
  };
  EXPECT_EQ(requests(), (std::set{std::vector<double>{0, 2}}));
  x.task->clients.held_out = 0; // It would train.
  EXPECT_GT(requests().size(), 1u);
}

// Only what was asked for is here: the expert that the last row would rather
// have is not.
TEST(strangers, are_answered_row_by_row) {
  auto x = gated();
  auto testee = who_is(x);
  x.visit.chosen = testee.choose(x.visit)->chosen;
  ++x.visit.leg;
  add(x, "model.0", always(0));
  add(x, "model.2", always(2));
  const auto found = testee.answer(x.visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->instances, (places{0, 0, 2, 2}));
  EXPECT_EQ(found->classes, (classes{0, 0, 2, 2}));
  EXPECT_EQ(x.task->embedded->made(), blind_rows.size()); // Not once more.
}

TEST(strangers, are_answered_by_all_together_where_the_method_says_so) {
  auto said = three_of_which_two;
  said["answer"] = 1;
  said["renormalise"] = 1;
  auto x = gated(said);
  auto testee = who_is(x);
  x.visit.chosen = testee.choose(x.visit)->chosen;
  ++x.visit.leg;
  // Of a row of the last kind, expert 0 weighs 1 / (1 + e^0.5) = 0.378, and
  // what it says counts twice as much as what 2 says: 0.755 is more than 0.622.
  auto loud = always(0);
  for (auto& value : loud)
    value *= 2;
  add(x, "model.0", loud);
  add(x, "model.2", always(2));
  const auto found = testee.answer(x.visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->classes, (classes{0, 0, 2, 0}));
  EXPECT_EQ(found->instances, (places{0, 0, 2, 2})); // Who weighs most.
}

TEST(strangers, are_answered_by_the_shared_model_where_there_is_one) {
  auto x = site_of("fedavg", {});
  x.task->make_common = {};
  add(x, "model", {0, 1, 0, 1, 0, 0, 0, 0, 1});
  auto testee = who_is(x);
  const auto asked = testee.choose(x.visit);
  ASSERT_TRUE(asked) << asked.error().context;
  EXPECT_TRUE(asked->chosen.empty());
  const auto found = testee.answer(x.visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->classes, (classes{1, 1, 0, 2}));
  EXPECT_TRUE(found->instances.empty());
}

TEST(strangers, are_answered_by_the_common_model_where_nobody_trains) {
  auto x = site_of("common_expert", {});
  x.task->frozen["common"] =
    share(std::vector<float>{0, 1, 0, 1, 0, 0, 0, 0, 1});
  auto testee = who_is(x);
  const auto asked = testee.choose(x.visit);
  ASSERT_TRUE(asked) << asked.error().context;
  EXPECT_TRUE(asked->chosen.empty());
  const auto found = testee.answer(x.visit);
  ASSERT_TRUE(found) << found.error().context;
  EXPECT_EQ(found->classes, (classes{1, 1, 0, 2}));
  EXPECT_TRUE(found->instances.empty());
}

TEST(strangers, are_refused_where_nothing_serves_them) {
  EXPECT_EQ(refusal("ditto"),
            "method 'ditto' gives each client a part of its own, which a "
            "stranger has not; one without personal parts would do");
  EXPECT_EQ(refusal("local"),
            "method 'local' merges nothing, so there is nothing to serve a "
            "stranger with; one that does would do");
  EXPECT_EQ(refusal("average_ensemble"),
            "method 'average_ensemble' has several models, and nothing says "
            "which of them answers a stranger; one with a gate would do");
}

// By fresh ones it would be answered as nobody is.
TEST(strangers, are_refused_where_statistics_stay_with_clients) {
  using policies::buffer_policy;
  auto x = site_of("fedavg", {});
  x.task->make_common = {};
  const auto plain = x.task->method;
  x.task->method = policies::with_buffers(plain, buffer_policy::local);
  EXPECT_EQ(refusal_of(x, std::make_unique<counting_model>()),
            "method 'fedavg' has buffers = \"local\", and the batch statistics "
            "of this model stay with each client, so a stranger has none; a "
            "run with \"average\" would do");
  EXPECT_EQ(refusal_of(x, std::make_unique<blind_model>()), "")
    << "there are none";
  for (const auto policy : {buffer_policy::average, buffer_policy::freeze}) {
    x.task->method = policies::with_buffers(plain, policy);
    EXPECT_EQ(refusal_of(x, std::make_unique<counting_model>()), "")
      << "all have the same";
  }
}

// A client's own variate is no part of what answers.
TEST(strangers, are_served_where_clients_keep_what_they_learn_by) {
  local_task task;
  task.method = *policies::find_recipe("scaffold");
  const auto model = blind_model{}.parameter_list();
  auto blocks = make_layout(
    task.method, {{"model", model}, {"control", model}, {"model.buffers", {}}},
    {});
  ASSERT_TRUE(blocks) << blocks.error().context;
  task.blocks = *blocks;
  const auto found = check_serves_strangers(task);
  EXPECT_TRUE(found) << found.error().context;
}

TEST(strangers, behind_a_common_model_of_another_size_are_refused) {
  auto x = gated();
  x.task->frozen["common"] = share(std::vector<float>(8));
  EXPECT_EQ(refusal_of(x, std::make_unique<blind_model>()),
            "frozen block 'common' has 8 values where the common model here "
            "has 9");
  x.task->frozen.erase("common");
  EXPECT_EQ(refusal_of(x, std::make_unique<blind_model>()),
            "there are no values of a frozen block 'common'");
}

// It has no place among anchors, whose expert is theirs by their number.
TEST(strangers, are_no_members_of_any_role) {
  const auto& method = *policies::find_recipe("ddome");
  EXPECT_EQ(stranger_of(method).value, 6U);
  EXPECT_EQ(stranger_of(*policies::find_recipe("fedavg")).value, 1U);
}

} // namespace troupe::test::strangers_test
