// Visits that are computed in step over a language model, of all methods that
// learn one, over streams of tokens and over labelled rows: how many are in
// step changes nothing of what any comes to.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/every_language_method.hpp"
#include "tests/support/same_visits.hpp"

namespace troupe::test::language_in_step_test {

namespace {

class language_in_step : public ::testing::TestWithParam<language_case> {
protected:
  static bool has(const std::string& option) {
    return find_option(*policies::find_recipe(GetParam().method), option)
           != nullptr;
  }
};

INSTANTIATE_TEST_SUITE_P(all, language_in_step,
                         ::testing::ValuesIn(stream_cases()),
                         [](const auto& x) { return x.param.name; });
INSTANTIATE_TEST_SUITE_P(labelled, language_in_step,
                         ::testing::ValuesIn(labelled_cases()),
                         [](const auto& x) { return x.param.name; });

/// Of each by itself, or why not.
std::vector<result<models::trained>>
trained_alone(routed_federation& by,
              const std::vector<models::visit_input>& visits) {
  auto all = alone(by.trainer(), visits);
  for (const auto& x : all)
    EXPECT_TRUE(x) << x.error().context;
  return all;
}

void expect_bits_of_each_alone(routed_setting how) {
  routed_federation one{how};
  how.in_step = 3;
  routed_federation three{how};
  one.round();
  one.round(); // So that clients have something of their own.
  std::vector<std::uint32_t> roles{0};
  if (const auto& method = one.task().method; !method.finish.value.empty())
    roles.push_back(last_role(method));
  for (const auto role : roles) {
    SCOPED_TRACE(role);
    const auto visits = next_visits(one, role);
    const auto expected = trained_alone(one, visits);
    // Twice: what one visit leaves behind is not the next one's.
    for (int times = 0; times < 2; ++times)
      expect_same(three.trainer().train(visits), expected);
  }
}

} // namespace

TEST_P(language_in_step, visits_come_to_the_bits_of_each_alone) {
  expect_bits_of_each_alone(language_setting_of(GetParam()));
}

// What is drawn is of a client's seed and of its step.
TEST_P(language_in_step, visits_with_noisy_gates_do_so_too) {
  if (has("gate"))
    expect_bits_of_each_alone(language_setting_of(GetParam(), {{"gate", 1}}));
}

TEST_P(language_in_step, visits_with_plain_attention_do_so_too) {
  if (has("plain_attention"))
    expect_bits_of_each_alone(language_setting_of(
      GetParam(), {{"plain_attention", 1}, {"adapted", 1}}));
}

TEST(language_in_step_of, all_methods_that_learn_a_language_model) {
  const auto names = all_language_methods();
  for (const std::string name :
       {"comigs", "comigs_2g", "comigs_2s", "pfedmoe", "fedavg_lora",
        "local_lora", "centralised_lora", "ffa_lora", "fedsa_lora", "hetlora",
        "flexlora", "pcl", "fdlora", "pf2lora", "homlora", "per_fedavg_lora",
        "fedavg", "ditto"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  for (const std::string name : {"floral", "ensemble", "ddome", "pretrained"})
    EXPECT_EQ(std::ranges::count(names, name), 0) << name;
}

} // namespace troupe::test::language_in_step_test
