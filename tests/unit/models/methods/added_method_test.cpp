// docs/adding-a-method.md adds this method and says that its text is enough.
// What stands there is compiled here, word for word, and a test compares them.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/visit/visit.hpp"
#include "policies/catalogue.hpp"
#include "policies/methods/methods.hpp"
#include "tests/support/quadratic_federation.hpp"
#include "tests/support/same_visits.hpp"

// The declarations that the page tells to add.
namespace troupe::policies::methods {
recipe tuned();
} // namespace troupe::policies::methods

namespace troupe::models {
extern const local_method tuned_sgd;
} // namespace troupe::models

// The page's files.
namespace troupe::policies {

/// Yu et al. (2020), "Salvaging Federated Learning by Local Adaptation", by
/// fine-tuning: FedAvg, and clients that use what they make of its model.
recipe methods::tuned() {
  return {
    .name = "tuned",
    .summary = "FedAvg, fine-tuned by each client for itself",
    .blocks = {{.name = "model"},
               {.name = "model.buffers"},
               {.name = "own_model", .where = scope::personal},
               {.name = "own_model.buffers", .where = scope::personal}},
    .legs = {{.fetch = {{.family = "model"}, {.family = "model.buffers"}}}},
    .roles = {{.procedure = {"tuned_sgd"}}},
    .personal = true,
    .options = {{.name = "tuning_passes",
                 .says = "over the shared model's steps, for the client",
                 .kind = option_kind::whole,
                 .value = 1,
                 .range = {.max = 1e6},
                 .unit = "times the steps of a visit"}}};
}

} // namespace troupe::policies

namespace troupe::models {

namespace {

std::uint64_t tuning_passes(const training_options& how) {
  return static_cast<std::uint64_t>(option_of(how, "tuning_passes"));
}

task<done> train(visit& v) {
  const auto base = co_await v.take();
  v.out.loss = co_await v.descend(v.plan.steps, v.in.seed);
  co_await v.offer_model(base);
  co_await v.take();
  co_await v.descend(tuning_passes(v.on.how) * v.plan.steps,
                     derive_seed(v.in.seed, "tuning"));
  co_await v.keep(own_model_family, v.parameters());
  co_await v.keep_buffers(own_buffers_family);
  co_return {};
}

std::uint64_t passes(const training_options& how) {
  return 1 + tuning_passes(how);
}

} // namespace

const local_method tuned_sgd{.train = train, .passes = passes};

} // namespace troupe::models
// Their end.

namespace troupe::test::added_method_test {

namespace {

using namespace models;

constexpr std::uint64_t steps = 3, passes = 2;
constexpr double rate = 0.1;

quadratic_setting tuned(std::size_t in_step) {
  quadratic_setting x{.method = policies::methods::tuned(),
                      .how = {.local_steps = steps,
                              .batch_size = 0,
                              .learning_rate = rate,
                              .method = {{"tuning_passes", passes}}},
                      .problem = {.clients = 3, .rows_per_client = 4},
                      .in_step = in_step,
                      .methods = {
                        {"tuned_sgd", tuned_sgd},
                      }};
  return x;
}

std::vector<visit_input> visits_of(const quadratic_federation& x) {
  return {x.visit(1, 101), x.visit(2, 102), x.visit(3, 103)};
}

std::string text_of(const std::string& path) {
  std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/" + path};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// The code of a page, block by block, without what comes before a namespace.
std::vector<std::string> code_of(const std::string& page) {
  const std::string fence = "\n```";
  std::vector<std::string> all;
  for (std::size_t at = 0; (at = page.find(fence, at)) != page.npos;) {
    const auto begin = page.find('\n', at + 1) + 1;
    const auto end = page.find(fence, begin - 1);
    if (page.compare(at + 1, 6, "```cpp") == 0) {
      const auto block = page.substr(begin, end - begin);
      const auto first = block.find("namespace ");
      all.push_back(block.substr(first == block.npos ? 0 : first));
    }
    at = end + fence.size();
  }
  return all;
}

} // namespace

TEST(added_method, has_a_recipe_that_makes_sense) {
  const auto found = policies::check(policies::methods::tuned());
  EXPECT_TRUE(found) << found.error().context;
}

TEST(added_method, offers_what_plain_sgd_does) {
  quadratic_federation testee{tuned(1)};
  auto how = tuned(1);
  how.method = *policies::find_recipe("fedavg");
  quadratic_federation plain{how};
  testee.rounds(3);
  plain.rounds(3);
  EXPECT_EQ(testee.model(), plain.model());
}

// A step maps w - c to (1 - rate a)(w - c).
TEST(added_method, keeps_what_its_own_steps_make_of_the_shared_model) {
  quadratic_federation testee{tuned(1)};
  testee.round();
  const auto& problem = testee.problem();
  for (const auto& visit : visits_of(testee)) {
    EXPECT_EQ(testee.trainer().steps(visit), (1 + passes) * steps);
    const auto found = testee.trainer().train(visit);
    ASSERT_TRUE(found) << found.error().context;
    const auto own = found->next.blocks.at("own_model").own_view();
    const auto client = visit.visit.client.value - 1;
    const auto centre = problem.mean_centre(client);
    for (std::size_t j = 0; j < own.size(); ++j) {
      const auto a = problem.curvature[client * own.size() + j];
      EXPECT_NEAR(own[j],
                  centre[j]
                    + std::pow(1 - rate * a, passes * steps)
                        * (testee.model()[j] - centre[j]),
                  1e-5);
    }
  }
}

TEST(added_method, in_step_with_others_has_the_bits_of_each_alone) {
  quadratic_federation one{tuned(1)};
  one.rounds(2);
  const auto visits = visits_of(one);
  quadratic_federation three{tuned(3)};
  expect_same(three.trainer().train(visits), alone(one.trainer(), visits));
}

TEST(added_method, is_what_the_page_shows) {
  const auto tested = text_of("tests/unit/models/methods/added_method_test.cpp")
                      + text_of("tests/unit/policies/adding_a_method_test.cpp");
  const auto shown = code_of(text_of("docs/adding-a-method.md"));
  EXPECT_EQ(shown.size(), 5u);
  for (const auto& x : shown)
    EXPECT_NE(tested.find(x), tested.npos) << x;
}

} // namespace troupe::test::added_method_test
