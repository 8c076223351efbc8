// What a process with clients says when its run is over.

#include "node/commands/join.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/json.hpp"
#include "node/join/join.hpp"

namespace troupe::node {

namespace {

/// The server hears none of its figures.
join_summary with_figures() {
  join_summary x{
    .why = "after 2 rounds", .hint = {}, .clients = 2, .visits = 4};
  x.method_results = {{"perplexity_merged", 33.5},
                      {"perplexity_merged.1", 30},
                      {"perplexity_merged.2", 37},
                      {"loss_merged", std::numeric_limits<double>::infinity()}};
  return x;
}

} // namespace

TEST(last_words, have_the_method_s_figures_of_clients_for_people) {
  EXPECT_EQ(last_words(with_figures(), false),
            "the run is over (after 2 rounds); 2 clients took part, with 4 "
            "visits\n"
            "  loss_merged  null\n"
            "  perplexity_merged  33.5\n");
}

TEST(last_words, have_each_client_s_for_programs) {
  const auto said = json::parse(last_words(with_figures(), true));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->find("visits")->count(), 4u);
  const auto* results = said->find("method_results");
  ASSERT_TRUE(results && results->fields());
  EXPECT_EQ(results->dump(), R"({"loss_merged":null,"perplexity_merged":33.5,)"
                             R"("perplexity_merged.1":30.0,)"
                             R"("perplexity_merged.2":37.0})");
}

TEST(last_words, have_no_figures_where_the_method_has_none) {
  const join_summary x{.why = "done", .hint = {}, .clients = 1, .visits = 1};
  EXPECT_EQ(last_words(x, false),
            "the run is over (done); 1 client took part, with 1 visit\n");
  EXPECT_EQ(json::parse(last_words(x, true))->find("method_results")->dump(),
            "{}");
}

} // namespace troupe::node
