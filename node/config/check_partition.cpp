// What a partition in which clients share rows, and data that is made, cannot
// be. The rest depends on the examples: `models::make_partition` says it.

#include <cstdint>
#include <string>
#include <string_view>

#include "node/config/checks.hpp"
#include "node/config/entries.hpp"
#include "node/config/experiment.hpp"

namespace troupe::node {

namespace {

class partition_checker {
public:
  partition_checker(const experiment& x, const entries& said,
                    std::string_view origin, problems& wrong)
    : x_(x),
      said_(said),
      origin_(origin),
      wrong_(wrong) {
    // nop
  }

  void data() {
    const auto& d = x_.data;
    if (d.kind != data_options::format::modes)
      return;
    const auto classes = d.classes ? d.classes : 10u;
    const auto rows = std::uint64_t{classes} * d.rows_per_class;
    if (classes < 2)
      refuse("data.classes",
             "data.kind = \"modes\" needs 2 'classes' or more, found "
               + std::to_string(classes));
    if (rows > values_max / d.dimension)
      refuse("data.rows_per_class",
             "data.kind = \"modes\" of " + std::to_string(classes)
               + " classes, " + std::to_string(d.rows_per_class)
               + " rows of each and dimension " + std::to_string(d.dimension)
               + " has more than 2^28 values; fewer of " + "them would do");
  }

  void partition() {
    const auto& p = x_.partition;
    const auto& c = x_.clients;
    if (!p.shares_rows())
      return;
    if (x_.data.has_own_model())
      refuse("partition.kind",
             "this data is a model of its own, and has no rows to share: "
             "kind = \"natural\" would do");
    // A row of two clients would be changed twice.
    if (x_.data.shifts_clusters())
      refuse("data.shift",
             "'shift' changes what a client holds by its number, and clients "
             "of this partition share rows: shift = \"domains\" or \"none\" "
             "would do");
    if (c.held_out < c.clients && p.anchors > c.invitable())
      refuse("partition.anchors", "'anchors' must be at most "
                                    + std::to_string(c.invitable())
                                    + ", the clients that can be invited, "
                                      "found "
                                    + std::to_string(p.anchors));
    if (p.rows_per_client > 0 && p.rows_per_kind > 0)
      refuse("partition.rows_per_kind",
             "give 'rows_per_client' or 'rows_per_kind', not both");
    const auto option = x_.training.method.find("anchors");
    if (option == x_.training.method.end() || option->second == 0
        || option->second == p.anchors)
      return;
    const auto experts = static_cast<std::uint64_t>(option->second);
    refuse("partition.anchors",
           "partition.anchors is " + std::to_string(p.anchors)
             + ", and option 'anchors' " + std::to_string(experts)
             + ": an anchor holds the kinds of its expert; equal numbers would "
               "do, or anchors = 0");
  }

private:
  static constexpr std::uint64_t values_max = 1 << 28;

  void refuse(const std::string& path, std::string_view what) {
    const auto at = said_.find(path);
    wrong_.add(at == said_.end() ? origin_ : std::string_view{at->second.where},
               what);
  }

  const experiment& x_;
  const entries& said_;
  std::string_view origin_;
  problems& wrong_;
};

} // namespace

void check_partition(const experiment& x, const entries& said,
                     std::string_view origin, problems& wrong) {
  partition_checker all{x, said, origin, wrong};
  all.data();
  all.partition();
}

} // namespace troupe::node
