// The four methods and three baselines as recipes on quadratics, in the world
// of the simulator with the actors of production: what is said on a visit
// equals a golden trace, every version is the merge of its offers to the bit,
// and what makes each method that method holds, with and without faults.
//
// TROUPE_WRITE_GOLDEN=1 writes the traces anew.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/recipes/skeleton_run.hpp"

namespace troupe::test {

namespace {

struct subject {
  sim_method (*make)();
  pace_kind mode;
};

class skeletons_sim : public testing::TestWithParam<subject> {};

std::string read_file(const std::filesystem::path& x) {
  std::ostringstream text;
  text << std::ifstream{x}.rdbuf();
  return text.str();
}

TEST_P(skeletons_sim, say_what_the_golden_trace_says) {
  const auto [make, mode] = GetParam();
  const auto done = run(make(), {.mode = mode});
  const auto& method = done->how.what;
  const auto text =
    method.name + " under " + name_of(mode) + "\n\n"
    + done->said.text(method, done->blocks(), done->node->store());
  const auto path = std::filesystem::path{TROUPE_SOURCE_DIR}
                    / "tests/golden/traces"
                    / (method.name + "-" + name_of(mode) + ".txt");
  if (std::getenv("TROUPE_WRITE_GOLDEN")) {
    std::ofstream{path} << text;
    return;
  }
  EXPECT_EQ(read_file(path), text) << path << " says otherwise";
}

TEST_P(skeletons_sim, merge_to_the_bit_whatever_fails) {
  const auto [make, mode] = GetParam();
  for (std::uint64_t seed = 1; seed <= 4 && !HasFailure(); ++seed) {
    const auto done = run(make(), {.mode = mode, .seed = seed, .kind = false});
    EXPECT_GT(done->node->store().merges(), 6u);
    EXPECT_GT(done->happened["frame lost"], 0u);
  }
}

constexpr subject subjects[]{
  {ddome_skeleton, pace_kind::sync},
  {ddome_skeleton, pace_kind::fedbuff},
  {+[] { return floral_skeleton(); }, pace_kind::sync},
  {+[] { return floral_skeleton(); }, pace_kind::fedbuff},
  {comigs_skeleton, pace_kind::sync},
  {comigs_skeleton, pace_kind::fedbuff},
  {pf2lora_skeleton, pace_kind::sync},
  {pf2lora_skeleton, pace_kind::fedbuff},
  {ifca_skeleton, pace_kind::sync},
  {ifca_skeleton, pace_kind::fedbuff},
  {scaffold_skeleton, pace_kind::sync},
  {scaffold_skeleton, pace_kind::fedbuff},
  {+[] { return rank_prefix_skeleton(); }, pace_kind::sync},
  {+[] { return rank_prefix_skeleton(); }, pace_kind::fedbuff},
};

INSTANTIATE_TEST_SUITE_P(every, skeletons_sim, testing::ValuesIn(subjects),
                         [](const auto& x) {
                           return x.param.make().what.name + "_"
                                  + name_of(x.param.mode);
                         });

} // namespace

} // namespace troupe::test
