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
  EXPECT_THAT(notes("", "balance_of = 'output'\nfavoured = 0.25"),
              Not(Contains(HasSubstr("balance_of"))));
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

TEST(unused_choices, are_noted_of_how_weights_of_the_seed_are_kept) {
  const auto note = HasSubstr("a.toml:14: 'model.storage' has no effect: it "
                              "needs kind = \"language\" with a 'path'");
  EXPECT_THAT(notes_of(of_language("storage = 'bf16'\n")), Contains(note));
  EXPECT_THAT(notes_of(of_language("storage = 'bf16'\npath = 'm.gguf'\n")),
              Not(Contains(HasSubstr("storage"))));
}

TEST(unused_choices, are_noted_of_weights_where_no_offer_weighs_by_examples) {
  const auto of = [](const std::string& method, const std::string& more = "") {
    return notes_of("rounds = 1\nmethod = '" + method
                    + "'\n[clients]\nexample_weight = 'sqrt'\n" + more);
  };
  const std::string none = "a.toml:4: 'clients.example_weight' has no effect: "
                           "under method '";
  for (const std::string method : {"comigs", "hetlora", "ditto", "local"})
    EXPECT_THAT(of(method),
                Contains(none + method + "' no offer weighs by its examples"));
  EXPECT_THAT(of("pf2lora"),
              Contains(none
                       + "pf2lora' no offer weighs by its examples; "
                         "options.weights = \"examples\" would do"));
  const auto note = HasSubstr("example_weight");
  EXPECT_THAT(of("pf2lora", "[options]\nweights = 'examples'\n"),
              Not(Contains(note)));
  for (const std::string method : {"fedavg", "floral", "flexlora"})
    EXPECT_THAT(of(method), Not(Contains(note)));
  // As a run's own config.toml has it, where nobody said so.
  EXPECT_THAT(notes_of("rounds = 1\nmethod = 'comigs'\n[clients]\n"
                       "example_weight = 'n'\n"),
              Not(Contains(note)));
}

TEST(unused_choices, are_noted_of_moments_of_plain_steps) {
  const auto of = [](const std::string& moments, const std::string& more) {
    return notes_of("rounds = 1\nmethod = 'homlora'\n[options]\nmoments = '"
                    + moments + "'\n[training]\n" + more);
  };
  const auto note =
    HasSubstr("a.toml:4: 'options.moments' has no effect: plain "
              "SGD has no moments");
  EXPECT_THAT(of("reset", "optimiser = 'sgd'\n"), Contains(note));
  EXPECT_THAT(of("reset", "optimiser = 'adamw'\n"), Not(Contains(note)));
  EXPECT_THAT(of("reset", "momentum = 0.9\n"), Not(Contains(note)));
  EXPECT_THAT(of("kept", "optimiser = 'sgd'\n"), Not(Contains(note)));
}

TEST(unused_choices, are_noted_of_heads_where_there_is_none) {
  const auto of = [](const std::string& head, const std::string& task) {
    return notes_of("rounds = 1\nmethod = 'homlora'\n[options]\nhead = '" + head
                    + "'\n[data]\nkind = 'language'\npath = 'texts'\n"
                      "users = ['a', 'b']\ntokenizer = 'bytes'\ncontext = 8\n"
                    + task + "[model]\nkind = 'language'\n");
  };
  const auto note = HasSubstr("a.toml:4: 'options.head' has no effect: only "
                              "texts that are classified");
  EXPECT_THAT(of("private", ""), Contains(note));
  EXPECT_THAT(of("private", "task = 'describe'\n"), Contains(note));
  EXPECT_THAT(of("private", "task = 'classify'\n"), Not(Contains(note)));
  EXPECT_THAT(of("shared", ""), Not(Contains(note)));
}

/// @param options of CoMiGS
std::vector<std::string> of_bursts(const std::string& options,
                                   const std::string& more) {
  return notes_of("rounds = 2\nmethod = 'comigs'\n[options]\n" + options
                  + "\n[training]\n" + more);
}

TEST(unused_choices, are_noted_of_routers_that_no_burst_comes_to) {
  const std::string note =
    "no router learns: its burst comes after 30 steps of a client's own "
    "('options.router_every'), and none comes to more than 4; router_every = "
    "4, or more 'rounds' or 'local_steps', would do";
  EXPECT_THAT(of_bursts("", "local_steps = 2\n"), Contains(note));
  EXPECT_THAT(of_bursts("", "local_steps = 2\nexperts = [1, 2]\n"),
              Contains(note));
  EXPECT_THAT(of_bursts("", "local_steps = 2\nexperts = [1]\n"),
              Not(Contains(note)));
  const auto any = Contains(HasSubstr("no router learns"));
  EXPECT_THAT(of_bursts("", "local_steps = 15\n"), Not(any));
  EXPECT_THAT(of_bursts("router_every = 4", "local_steps = 2\n"), Not(any));
  // Nobody knows how many these are.
  EXPECT_THAT(of_bursts("", ""), Not(any));
  EXPECT_THAT(of_bursts("", "local_steps = 2\n[pace]\nmode = 'semisync'\n"),
              Not(any));
}

TEST(unused_choices, are_noted_of_bursts_without_a_step) {
  EXPECT_THAT(of_bursts("router_steps = 0", ""),
              Contains("no router learns: 'options.router_steps' is 0, and a "
                       "burst has no step; 1 or more would do"));
  EXPECT_THAT(of_bursts("router_rate = 0", ""),
              Contains("no router learns: 'options.router_rate' is 0; one "
                       "above 0 would do"));
}

TEST(unused_choices, are_noted_of_bursts_and_balances_without_a_router) {
  for (const std::string option :
       {"balance = 0.5", "favoured = 0.25", "balance_scale = 'printed'",
        "router_steps = 3", "router_every = 2", "router_rate = 0.1"}) {
    const auto name = option.substr(0, option.find(' '));
    const auto note = HasSubstr("'options." + name
                                + "' has no effect: each client has one "
                                  "expert by 'training.experts', and no "
                                  "router");
    EXPECT_THAT(of_bursts(option, "experts = [1]\n"), Contains(note));
    EXPECT_THAT(of_bursts(option, "experts = [1, 2]\n"),
                Not(Contains(note)));
  }
}

TEST(unused_choices, are_noted_of_two_levels_whose_inner_one_stands_still) {
  const auto of = [](const std::string& method, const std::string& rate) {
    return notes_of("rounds = 1\nmethod = '" + method
                    + "'\n[options]\ninner_rate = " + rate + "\n");
  };
  const auto note = HasSubstr("no adapter of a client's own learns: "
                              "'options.inner_rate' is 0");
  EXPECT_THAT(of("pf2lora", "0"), Contains(note));
  EXPECT_THAT(of("pf2lora", "0.001"), Not(Contains(note)));
  // There nothing is a client's own.
  EXPECT_THAT(of("per_fedavg", "0"), Not(Contains(note)));
}

TEST(unused_choices, are_noted_of_experts_that_nobody_trains) {
  const auto of = [](const std::string& clients, const std::string& anchors) {
    return notes_of("rounds = 1\nmethod = 'ddome'\nclients = " + clients
                    + "\nclients_per_round = 2\n[options]\nexperts = 5\n"
                      "anchors_per_round = 1\nanchors = "
                    + anchors + "\n");
  };
  EXPECT_THAT(of("3", "5"),
              Contains("2 of 5 experts keep the values of the seed: all of "
                       "the 3 clients that can be invited are among the 5 "
                       "anchors ('options.anchors'), each of which trains its "
                       "own, and no other client asks for the rest; "
                       "options.anchors = 2, or more than 5 clients, would "
                       "do"));
  const auto any = Contains(HasSubstr("keep the values of the seed"));
  EXPECT_THAT(of("3", "2"), Not(any));
  EXPECT_THAT(of("5", "5"), Not(any));
  EXPECT_THAT(of("9", "5"), Not(any));
}

TEST(unused_choices, are_noted_of_bounds_below_the_least_of_a_delta) {
  const auto of = [](const std::string& bound) {
    return notes_of("rounds = 1\n[merge]\ndelta_max = " + bound + "\n");
  };
  EXPECT_THAT(of("1e-30"),
              Contains("a.toml:3: 'merge.delta_max' counts as 1: bounds of a "
                       "delta are powers of two from 1 on; 'merge.clip_norm' "
                       "bounds smaller ones"));
  EXPECT_THAT(of("1"), Not(Contains(HasSubstr("delta_max"))));
}

TEST(unused_choices, are_noted_of_texts_that_nothing_is_tested_with) {
  const auto of = [](const std::string& more) {
    return notes_of("rounds = 1\nmethod = 'homlora'\n[data]\n"
                    "kind = 'language'\npath = 'texts'\nusers = ['a', 'b']\n"
                    "tokenizer = 'bytes'\ncontext = 8\n"
                    + more + "[model]\nkind = 'language'\n");
  };
  const auto note = HasSubstr("nothing is tested: 'data.test_share' is 0");
  EXPECT_THAT(of("test_share = 0\n"), Contains(note));
  EXPECT_THAT(of(""), Not(Contains(note)));
  EXPECT_THAT(of("test_share = 0\ntask = 'classify'\npart = 'part'\n"),
              Not(Contains(note)));
}

} // namespace troupe::node::unused_choices_test
