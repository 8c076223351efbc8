// Which client holds which examples.

#include "core/limits.hpp"
#include "node/config/schema.hpp"

namespace troupe::node {

namespace {

constexpr count_range up_to_clients{.max = limits::clients_max};

/// Of the rules in which clients share rows.
void visit_shared(schema_visitor& v, partition_options& x) {
  using enum partition_options::rule;
  const bool combined = x.kind == combinations;
  constexpr std::string_view needs = "kind = \"combinations\"";
  constexpr std::string_view needs_either =
    "kind = \"combinations\" or \"mixtures\"";
  v.count(
    {"kinds_per_client", "labels, or domains, of a client", combined, needs},
    x.kinds_per_client, positive);
  v.count({"anchors",
           "the first so many: of a combination each, with no kind in two",
           x.shares_rows(), needs_either},
          x.anchors, up_to_clients);
  v.choice({"sizes", "as many rows for each client, or all of its kinds",
            combined, needs},
           x.sizes, {"equal_share", "full_label"});
  const bool equal = x.sizes == partition_options::sizing::equal_share;
  constexpr std::string_view shares =
    "kind = \"mixtures\", or \"combinations\" with sizes = \"equal_share\"";
  v.count({"rows_per_client", "0: the rows over the clients that train",
           x.kind == mixtures || (combined && equal), shares},
          x.rows_per_client, {});
  v.count({"rows_per_kind", "in its place: so many of each kind, or all",
           combined && equal,
           "kind = \"combinations\" with sizes = \"equal_share\""},
          x.rows_per_kind, {});
  v.flag({"unseen", "whether held-out clients have combinations of their own",
          combined, needs},
         x.unseen);
  v.count({"withheld",
           "combinations that are kept for them; 0: one for each of them",
           combined && x.unseen, "kind = \"combinations\" with unseen = true"},
          x.withheld, up_to_clients);
  v.count({"groups", "of clients and of kinds; client k is in k - 1 mod this",
           combined, needs},
          x.groups, positive);
}

} // namespace

void visit_partition(schema_visitor& v, partition_options& x) {
  using enum partition_options::rule;
  v.begin({"partition", "which client holds which examples"});
  v.choice({"kind"}, x.kind,
           {"iid", "dirichlet", "labels", "shards", "disjoint", "size_skew",
            "power", "column", "natural", "combinations", "mixtures",
            "sorted"});
  v.number({"alpha", "small: few labels per client",
            x.kind == dirichlet || x.kind == mixtures,
            "kind = \"dirichlet\" or \"mixtures\""},
           x.alpha, above_zero);
  v.count({"labels_per_client", "", x.kind == labels, "kind = \"labels\""},
          x.labels_per_client, positive);
  v.count({"shards_per_client", "of the examples sorted by label",
           x.kind == shards, "kind = \"shards\""},
          x.shards_per_client, positive);
  v.number({"skew", "how much sizes differ: sigma, or the exponent",
            x.kind == size_skew || x.kind == power,
            "kind = \"size_skew\" or \"power\""},
           x.skew, {.max = 10});
  v.text({"column", "one client per value of it", x.kind == column,
          "kind = \"column\""},
         x.column);
  v.count({"samples_per_client", "the others are left out; 0: all"},
          x.samples_per_client, {});
  v.number({"train_share",
            "of its training rows that each client keeps, but ten; its test "
            "rows stay as they are"},
           x.train_share, {.max = 1, .above_min = true});
  visit_shared(v, x);
  v.number({"sorted_fraction", "of the rows, that are dealt sorted by label",
            x.kind == sorted, "kind = \"sorted\""},
           x.sorted_fraction, {.max = 1});
  v.choice({"reading",
            "what the fraction is of: the rows that are sorted, or "
            "those that are not",
            x.kind == sorted, "kind = \"sorted\""},
           x.reading, {"heterogeneity", "iid"});
  // Where it is not said nothing is written: earlier builds do not know it.
  const key tests{"tests",
                  "of labelled texts: test rows have the labels that a client "
                  "learns, or all of them",
                  x.deals_labels(),
                  "kind = \"sorted\", \"labels\" or \"dirichlet\""};
  if (v.has(tests, x.tests != partition_options::test_rule::as_training))
    v.choice(tests, x.tests, {"as_training", "even"});
  v.end();
}

} // namespace troupe::node
