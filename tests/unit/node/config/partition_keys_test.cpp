// Clients that share rows, and data that is made, as keys say them.

#include <gmock/gmock.h>

#include <string>
#include <variant>
#include <vector>

#include "models/data/partition.hpp"
#include "node/config/policies_of.hpp"
#include "tests/support/config_text.hpp"

namespace troupe::node {

namespace {

using ::testing::HasSubstr;
using rule = partition_options::rule;

const std::string combined = "rounds = 1\nclients = 100\nheld_out = 20\n"
                             "[partition]\nkind = 'combinations'\n";

/// A method whose experts have anchors: two, where nobody says another number.
std::string refusal_with_anchors(const std::string& text,
                                 std::vector<std::string> more = {}) {
  static const recipe gated{.name = "gated",
                            .summary = "with anchors",
                            .options = {{.name = "anchors",
                                         .says = "clients with an expert each",
                                         .kind = option_kind::whole,
                                         .value = 2,
                                         .range = {.max = 10},
                                         .unit = "clients"}}};
  static const method_list methods{{&gated}, {}};
  const auto x = parse_config({text, "a.toml"}, more, methods);
  return x ? std::string{} : x.error().context;
}

} // namespace

TEST(config, reads_a_partition_by_combinations) {
  const auto x = read(combined
                      + "kinds_per_client = 3\nanchors = 5\nrows_per_kind = 9\n"
                        "withheld = 2\ngroups = 1\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  const auto made = partitioner_of(x->x.partition, 0);
  const auto* how = std::get_if<models::combinations_partition>(&made);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->kinds, 3u);
  EXPECT_EQ(how->anchors, 5u);
  EXPECT_FALSE(how->all_rows);
  EXPECT_EQ(how->rows, 0u);
  EXPECT_EQ(how->rows_per_kind, 9u);
  EXPECT_TRUE(how->unseen);
  EXPECT_EQ(how->withheld, 2u);
  EXPECT_EQ(how->groups, 1u);
  const auto full = read(combined + "sizes = 'full_label'\nunseen = false\n");
  ASSERT_TRUE(full) << full.error().context;
  const auto all = partitioner_of(full->x.partition, 0);
  EXPECT_TRUE(std::get<models::combinations_partition>(all).all_rows);
  EXPECT_FALSE(std::get<models::combinations_partition>(all).unseen);
  const auto again = read(write_config(x->x));
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_TRUE(again->notes.empty());
  EXPECT_TRUE(same(again->x, x->x));
}

TEST(config, reads_a_partition_by_mixtures) {
  const std::string text =
    "rounds = 1\n[partition]\nkind = 'mixtures'\nalpha = 0.1\n"
    "anchors = 2\nrows_per_client = 50\n";
  const auto x = read(text);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_TRUE(x->notes.empty());
  const auto made = partitioner_of(x->x.partition, 0);
  const auto* how = std::get_if<models::mixtures_partition>(&made);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->alpha, 0.1);
  EXPECT_EQ(how->anchors, 2u);
  EXPECT_EQ(how->rows, 50u);
  // Its alpha is its own, and not another rule's.
  const auto other = read(text, {"partition.alpha=0.4"});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->x.partition.kind, rule::mixtures);
  EXPECT_EQ(other->x.partition.alpha, 0.4);
}

TEST(config, a_number_of_kinds_means_combinations) {
  const auto x = read("rounds = 1\nkinds_per_client = 2\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.partition.kind, rule::combinations);
  EXPECT_EQ(x->x.partition.kinds_per_client, 2u);
}

TEST(config, notes_what_a_partition_has_no_use_for) {
  const auto x = read(combined
                      + "sizes = 'full_label'\nrows_per_kind = 3\n"
                        "unseen = false\nwithheld = 2\n");
  ASSERT_TRUE(x);
  EXPECT_THAT(
    x->notes,
    ::testing::UnorderedElementsAre(
      "a.toml:7: 'partition.rows_per_kind' has no effect: it needs kind = "
      "\"combinations\" with sizes = \"equal_share\"",
      "a.toml:9: 'partition.withheld' has no effect: it needs kind = "
      "\"combinations\" with unseen = true"));
}

TEST(config, refuses_partitions_that_cannot_be) {
  EXPECT_EQ(refusal(combined + "anchors = 81"),
            "a.toml:6: 'anchors' must be at most 80, the clients that can be "
            "invited, found 81");
  EXPECT_EQ(refusal(combined + "rows_per_client = 3\nrows_per_kind = 3"),
            "a.toml:7: give 'rows_per_client' or 'rows_per_kind', not both");
  EXPECT_THAT(refusal("rounds = 1\n[data]\nkind = 'quadratic'\n[model]\n"
                      "kind = 'quadratic'\n[partition]\n"
                      "kind = 'combinations'"),
              HasSubstr("a.toml:7: this data is a model of its own, and has no "
                        "rows to share: kind = \"natural\" would do"));
  for (const std::string shift : {"rotation", "labels"})
    EXPECT_EQ(refusal(combined + "[data]\nshift = '" + shift + "'"),
              "a.toml:7: 'shift' changes what a client holds by its number, "
              "and clients of this partition share rows: shift = \"domains\" "
              "or \"none\" would do");
  EXPECT_EQ(refusal(combined + "[data]\nshift = 'domains'"), "");
}

TEST(config, has_an_anchor_for_each_anchor_of_the_method) {
  EXPECT_EQ(refusal_with_anchors(combined + "anchors = 2\n"), "");
  EXPECT_EQ(refusal_with_anchors(combined + "anchors = 5\n"),
            "a.toml:6: partition.anchors is 5, and option 'anchors' 2: an "
            "anchor holds the kinds of its expert; equal numbers would do, or "
            "anchors = 0");
  EXPECT_EQ(refusal_with_anchors(combined, {"options.anchors=3"}),
            "a.toml: partition.anchors is 0, and option 'anchors' 3: an anchor "
            "holds the kinds of its expert; equal numbers would do, or anchors "
            "= 0");
  // Former anchors are common clients where the method has none.
  EXPECT_EQ(
    refusal_with_anchors(combined + "anchors = 5\n", {"options.anchors=0"}),
    "");
  EXPECT_EQ(refusal_with_anchors("rounds = 1\n"), "");
}

TEST(config, of_modes_is_of_few_dimensions) {
  const std::string text = "rounds = 1\n[data]\nkind = 'modes'\n";
  const auto x = read(text);
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.data.dimension, 32u);
  EXPECT_EQ(x->x.data.rows_per_class, 1000u);
  EXPECT_EQ(x->x.partition.kind, rule::iid);
  EXPECT_EQ(read(text + "dimension = 60\n")->x.data.dimension, 60u);
  EXPECT_EQ(read("rounds = 1\n[data]\nkind = 'synthetic'\n")->x.data.dimension,
            60u);
  EXPECT_EQ(refusal(text + "classes = 1"),
            "a.toml:4: data.kind = \"modes\" needs 2 'classes' or more, found "
            "1");
  EXPECT_EQ(refusal(text + "rows_per_class = 1000000"),
            "a.toml:4: data.kind = \"modes\" of 10 classes, 1000000 rows of "
            "each and dimension 32 has more than 2^28 values; fewer of them "
            "would do");
}

TEST(config, of_domains_is_not_of_clusters) {
  const auto x = read("rounds = 1\nclients = 1\n[data]\nshift = 'domains'\n");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.data.shift, models::cluster_shift::domains);
  EXPECT_FALSE(x->x.in_clusters());
}

} // namespace troupe::node
