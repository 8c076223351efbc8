// What is said, and chooses nothing where it stands.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "node/config/config.hpp"

namespace troupe::node::unused_choices_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> notes_of(const std::string& text) {
  const auto x = parse_config({text, "a.toml"});
  EXPECT_TRUE(x) << x.error().context;
  return x ? x->notes : std::vector<std::string>{};
}

/// @param more keys of [model]
std::string of_language(const std::string& more) {
  return "rounds = 1\nmethod = 'comigs'\n[data]\nkind = 'language'\n"
         "path = 'texts'\nusers = ['a', 'b']\ntokenizer = 'bytes'\n"
         "context = 8\n[model]\nkind = 'language'\nlayers = 1\n"
         "embedding = 8\nheads = 2\n"
         + more;
}

/// @param gate of the options
std::string with_experts(const std::string& experts, const std::string& gate) {
  return "rounds = 1\nmethod = 'comigs'\n[options]\ngate = '" + gate
         + "'\n[training]\nexperts = " + experts + "\n";
}

} // namespace

TEST(unused_choices, are_noted_of_gates_where_no_client_has_a_router) {
  const auto note = HasSubstr("a.toml:4: 'options.gate' has no effect: each "
                              "client has one expert by 'training.experts', "
                              "and no router");
  EXPECT_THAT(notes_of(with_experts("[1, 1]", "noisy")), Contains(note));
  EXPECT_THAT(notes_of(with_experts("[1, 2]", "noisy")), Not(Contains(note)));
  EXPECT_THAT(notes_of(with_experts("[2]", "noisy")), Not(Contains(note)));
  // As a run's own config.toml has it, where nobody said so.
  EXPECT_THAT(notes_of(with_experts("[1]", "linear")), Not(Contains(note)));
}

TEST(unused_choices, are_noted_of_what_chosen_experts_count_where_all_are) {
  const auto notes = [](const std::string& experts, const std::string& option) {
    return notes_of("rounds = 1\nmethod = 'comigs'\n[options]\n" + option
                    + "\n[training]\n" + experts + "\n");
  };
  for (const std::string option :
       {"top_weights = 'of_all'", "balance_of = 'output'",
        "balance_chances = 'kept'"}) {
    const auto name = option.substr(0, option.find(' '));
    const auto note = HasSubstr("a.toml:4: 'options." + name
                                + "' has no effect: no client has more than "
                                  "two experts, and both are chosen");
    EXPECT_THAT(notes("", option), Contains(note));
    EXPECT_THAT(notes("experts = [1, 2]", option), Contains(note));
    EXPECT_THAT(notes("experts = [2, 4]", option), Not(Contains(note)));
    EXPECT_THAT(notes("expert_memory = [9.0]", option), Not(Contains(note)));
    EXPECT_THAT(notes("experts = [1]", option),
                Contains(HasSubstr("'options." + name
                                   + "' has no effect: each client has one "
                                     "expert")));
  }
  EXPECT_THAT(notes("", "router_bias = true"),
              Not(Contains(HasSubstr("router_bias"))));
}

TEST(unused_choices, are_noted_of_factors_of_a_language_model) {
  const auto note = HasSubstr("a.toml:14: 'model.factors' has no effect: "
                              "adapters of a language model stand inside its "
                              "layers always");
  EXPECT_THAT(notes_of(of_language("factors = 'composed'\n")), Contains(note));
  EXPECT_THAT(notes_of(of_language("")), Not(Contains(HasSubstr("factors"))));
  EXPECT_THAT(notes_of("rounds = 1\nmethod = 'homlora'\n[model]\n"
                       "factors = 'composed'\n"),
              Not(Contains(HasSubstr("factors"))));
}

} // namespace troupe::node::unused_choices_test
