// The catalogue names procedures and blocks; the procedures look for blocks by
// name. Here each recipe makes visits on the quadratic, so that the names
// agree.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "models/methods/local_method.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/any_model.hpp"
#include "tests/support/quadratic_federation.hpp"

namespace troupe::test {

namespace {

/// Without those of modules with statistics, which a quadratic has not.
std::set<std::string> names_of(const recipe& method, auto wanted) {
  std::set<std::string> result;
  for (const auto& x : method.blocks)
    if (wanted(x) && !x.name.ends_with(".buffers"))
      result.insert(x.name);
  return result;
}

} // namespace

TEST(catalogue_visits, each_name_in_the_catalogue_is_that_of_a_procedure) {
  const auto& table = models::local_methods();
  const auto has = [&](const std::string& name, auto part) {
    const auto found = table.find(name);
    return found != table.end() && found->second.*part;
  };
  for (const auto& method : policies::catalogue()) {
    for (const auto& x : method.roles)
      EXPECT_TRUE(has(x.procedure.value, &models::local_method::train))
        << method.name << ": " << x.procedure.value;
    for (const auto& x : method.legs)
      EXPECT_TRUE(x.choice.value.empty()
                  || has(x.choice.value, &models::local_method::choose))
        << method.name << ": " << x.choice.value;
  }
}

TEST(catalogue_visits, a_visit_offers_what_travels_and_keeps_what_is_personal) {
  for (const auto& method : methods_of_any_model()) {
    SCOPED_TRACE(method.name);
    quadratic_federation federation{{.method = method,
                                     .how = {.local_steps = 2,
                                             .batch_size = 0,
                                             .method = with_defaults(method)}}};
    const auto found = federation.trainer().train(federation.visit(1, 9));
    ASSERT_TRUE(found) << found.error().context;
    std::set<std::string> offered;
    for (const auto& x : found->parts)
      offered.insert(federation.blocks().find(x.block)->family);
    EXPECT_EQ(offered,
              method.offers ? names_of(
                method, [](const block_spec& x) { return travels(x.where); })
                            : std::set<std::string>{});
    std::set<std::string> kept;
    for (const auto& [name, values] : found->next.blocks)
      kept.insert(name);
    EXPECT_EQ(kept, names_of(method, [](const block_spec& x) {
                return x.where == scope::personal;
              }));
  }
}

} // namespace troupe::test
