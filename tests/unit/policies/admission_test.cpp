#include "policies/admission.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace troupe::policies {

// The decision table is in the header, where the compiler runs it.

TEST(verdict, each_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < verdict_count; ++i)
    names.insert(to_string(static_cast<verdict>(i)));
  EXPECT_EQ(names.size(), verdict_count);
  EXPECT_TRUE(known(verdict::withdrawn));
  EXPECT_FALSE(known(static_cast<verdict>(verdict_count)));
}

TEST(admit, more_staleness_or_more_pending_never_helps) {
  const admission_limits limits{.staleness_max = 3, .pending_max = 3};
  for (std::uint64_t behind = 0; behind < 6; ++behind)
    for (std::size_t pending = 0; pending < 6; ++pending)
      EXPECT_EQ(admit(limits, {.versions_behind = behind, .pending = pending})
                  == verdict::accepted,
                behind <= 3 && pending < 3);
}

} // namespace troupe::policies
