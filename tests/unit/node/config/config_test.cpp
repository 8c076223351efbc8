#include "node/config/keys.hpp"
#include "tests/support/config_text.hpp"

#include <gmock/gmock.h>

namespace troupe::node {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

} // namespace

TEST(config, reads_plain_keys_and_tables_alike) {
  const auto flat =
    read("rounds = 3\nclients = 20\nclients_per_round = 5\n"
         "alpha = 0.3\nbatch_size = 7\nserver_learning_rate = 2\n");
  const auto tables = read("rounds = 3\n[clients]\nclients = 20\n"
                           "clients_per_round = 5\n[partition]\nalpha = 0.3\n"
                           "[training]\nbatch_size = 7\n"
                           "[server]\nserver_learning_rate = 2\n");
  ASSERT_TRUE(flat) << flat.error().context;
  ASSERT_TRUE(tables) << tables.error().context;
  EXPECT_EQ(write_config(flat->x), write_config(tables->x));
  EXPECT_EQ(flat->x.length.rounds, 3u);
  EXPECT_EQ(flat->x.clients.clients, 20u);
  EXPECT_EQ(flat->x.partition.kind, partition_options::rule::dirichlet);
  EXPECT_EQ(flat->x.partition.alpha, 0.3);
  EXPECT_EQ(flat->x.training.batch_size, 7u);
  EXPECT_EQ(flat->x.server.rate, 2);
}

TEST(config, reads_tables_inside_of_a_line) {
  const auto read_one = read("versions = 9\nmode = 'fedbuff'\n"
                             "staleness = {kind = 'hinge', slope = 2}\n"
                             "stop = {metric = 'accuracy', target = 0.9}\n"
                             "model = {kind = 'mlp', hidden = [64, 32]}\n"
                             "speed = {kind = 'uniform', slowest = 0.2}\n");
  ASSERT_TRUE(read_one) << read_one.error().context;
  const auto& x = read_one->x;
  EXPECT_EQ(x.pace.mode, pace_kind::fedbuff);
  EXPECT_EQ(x.pace.staleness.kind, staleness_options::shape::hinge);
  EXPECT_EQ(x.pace.staleness.slope, 2);
  EXPECT_EQ(x.stop.target, 0.9);
  EXPECT_THAT(x.model.hidden, ElementsAre(64, 32));
  EXPECT_EQ(x.devices.speed.slowest, 0.2);
}

TEST(config, makes_defaults_that_depend_on_others_explicit) {
  const auto x =
    read("rounds = 1\nmethod = 'fedprox'\nclients = 50\nfraction = 0.1");
  ASSERT_TRUE(x) << x.error().context;
  EXPECT_EQ(x->x.clients.clients_per_round, 5u);
  EXPECT_EQ(x->x.clients.fraction, 0);
  EXPECT_EQ(x->x.pace.concurrency, 5u);
  EXPECT_EQ(x->x.training.method.at("proximal"), 0.01);
  EXPECT_EQ(read("rounds = 1")->x.method, "fedavg");
  EXPECT_EQ(read("rounds = 1\n[data]\nkind = 'synthetic'")->x.partition.kind,
            partition_options::rule::natural);
}

TEST(config, switching_the_mode_is_one_key) {
  const std::string text =
    "versions = 10\nbuffer_size = 5\nwindow_seconds = 3\n";
  for (const auto* mode : {"sync", "semisync", "fedbuff", "fedasync"})
    EXPECT_EQ(refusal(text, {"mode=" + std::string{mode}}), "") << mode;
}

// Texts of errors are an interface: they say where, what was found, what would
// do.
struct bad_config {
  const char* text;
  const char* error;
};

class bad_configs : public ::testing::TestWithParam<bad_config> {};

TEST(config, counts_invitations_as_a_round_does) {
  // 100 times 1.1 is a little more than 110 in binary.
  EXPECT_TRUE(read("rounds = 3\nclients = 110\nclients_per_round = 100\n"
                   "over_selection = 1.1"));
  EXPECT_FALSE(read("rounds = 3\nclients = 109\nclients_per_round = 100\n"
                    "over_selection = 1.1"));
}

TEST_P(bad_configs, are_refused_with_this_text) {
  const auto& [text, error] = GetParam();
  const auto found = refusal(text);
  EXPECT_EQ(found, error) << text;
}

INSTANTIATE_TEST_SUITE_P(
  texts, bad_configs,
  ::testing::Values(
    bad_config{
      "rounds = 1\nbuffer_sise = 3",
      "a.toml:2: unknown key 'buffer_sise'; did you mean 'pace.buffer_size'?"},
    bad_config{"rounds = 1\n[pace]\nbuffersize = 3",
               "a.toml:3: unknown key 'pace.buffersize'; did you mean "
               "'pace.buffer_size'?"},
    bad_config{"rounds = 1\n[trainning]\nbatch_size = 3",
               "a.toml:2: unknown table 'trainning'; did you mean 'training'?"},
    bad_config{
      "rounds = 1\nzebra = 3",
      "a.toml:2: unknown key 'zebra'; 'troupe check-config --keys' lists all "
      "keys"},
    bad_config{
      "rounds = 1\n[pace]\nbuffer_size = 0",
      "a.toml:3: 'pace.buffer_size' must be an integer from 1 to 4096, found "
      "0"},
    bad_config{"rounds = 1\nbatch_size = 'big'",
               "a.toml:2: 'batch_size' must be an integer from 0 to "
               "1000000000, found \"big\""},
    bad_config{
      "rounds = 1\nlearning_rate = -1.5",
      "a.toml:2: 'learning_rate' must be a number above 0, up to 1e+30, "
      "found -1.5"},
    bad_config{
      "rounds = 1\nlearning_rate = nan",
      "a.toml:2: 'learning_rate' must be a number above 0, up to 1e+30, "
      "found nan"},
    bad_config{
      "rounds = 1\nmode = 'async'",
      "a.toml:2: 'mode' must be \"sync\", \"semisync\", \"fedbuff\" or "
      "\"fedasync\", found \"async\""},
    bad_config{
      "rounds = 1\nkind = 'iid'",
      "a.toml:2: 'kind' may mean 'pace.staleness.kind', "
      "'clients.selection.kind', 'partition.kind', 'data.kind', 'model.kind', "
      "'training.schedule.kind', 'devices.speed.kind' or "
      "'availability.kind': write one of these"},
    bad_config{"rounds = 1\nmethod = 'fedprox'\n[options]\nproximal = -1",
               "a.toml:4: 'proximal' must be a number from 0 to 1e+30, "
               "found -1"},
    bad_config{"rounds = 1\n[clients]\nclients = 3\n"
               "[data]\nshift = 'labels'\nclusters = 4",
               "a.toml:6: 'clusters' must be at most 'clients', which is 3, or "
               "some are without a client; found 4"},
    bad_config{
      "rounds = 1\nalpha = 0.1\n[partition]\nalpha = 0.2",
      "a.toml:4: 'partition.alpha' is given twice, also at a.toml:2"}));

INSTANTIATE_TEST_SUITE_P(
  pixels_lists_and_methods, bad_configs,
  ::testing::Values(
    bad_config{"rounds = 1\nmethod = 'floral'",
               "a.toml:2: method 'floral' is not built yet"},
    bad_config{
      "rounds = 1\nmethod = 'fedavgg'",
      "a.toml:2: unknown method 'fedavgg', did you mean 'fedavg'? There are: "
      "fedavg, fedprox, scaffold, local"},
    bad_config{"rounds = 1\nmethod = 'fedavg,fedprox,scaffold'",
               "a.toml:2: unknown method 'fedavg,fedprox,scaffold'; there are: "
               "fedavg, fedprox, scaffold, local"},
    bad_config{
      "rounds = 1\nmethod = 'fedprox'\n[options]\nproximol = 1",
      "a.toml:4: method 'fedprox' has no option 'proximol'; did you mean "
      "'proximal'?"},
    bad_config{
      "rounds = 1\n[data]\nmean = 0.5",
      "a.toml:3: 'data.mean' must be a list of up to 64, each a number "
      "from -1e+30 to 1e+30, found 0.5; [0.5] would do"},
    bad_config{
      "rounds = 1\ndeviation = [1, 0.0]",
      "a.toml:2: 'deviation' must be a list of up to 64, each a number "
      "above 0, up to 1e+30, found [1, 0]"},
    bad_config{
      "rounds = 1\ndeviation = [9007199254740993, -0.5]",
      "a.toml:2: 'deviation' must be a list of up to 64, each a number "
      "above 0, up to 1e+30, found [9.0072e+15, -0.5]"},
    bad_config{
      "rounds = 1\nmean = [1, nan]",
      "a.toml:2: 'mean' must be a list of up to 64, each a number from "
      "-1e+30 to 1e+30, found "
      "[1, nan]"},
    bad_config{
      "rounds = 1\nmean = [1, 'two']",
      "a.toml:2: 'mean' must be a list of up to 64, each a number from -1e+30 "
      "to 1e+30, "
      "found a list "
      "with something else"},
    bad_config{"rounds = 1\nhidden = [1.5]",
               "a.toml:2: 'hidden' must be a list of up to 64, each an integer "
               "from 1 to 1048576, found [1.5]"},
    bad_config{"rounds = 1\naugment = 'flip'",
               "a.toml:2: 'augment' must be \"none\" or \"crop_flip\", found "
               "\"flip\""}));

INSTANTIATE_TEST_SUITE_P(
  combinations, bad_configs,
  ::testing::Values(
    bad_config{"seed = 1",
               "a.toml: nothing ends this run: give 'rounds', 'versions', "
               "'updates' or 'time_budget'"},
    bad_config{
      "mode = 'fedbuff'\nrounds = 3",
      "a.toml:2: 'rounds' is for mode = \"sync\" or \"semisync\": write "
      "'versions' here"},
    bad_config{"rounds = 3\nversions = 3",
               "a.toml:1: give 'rounds' or 'versions', not both"},
    bad_config{"rounds = 3\nclients_per_round = 2\nfraction = 0.5",
               "a.toml:3: give 'clients_per_round' or 'fraction', not both"},
    bad_config{
      "rounds = 3\nclients = 5\nclients_per_round = 6",
      "a.toml:3: 'clients_per_round' must be at most 5, the clients that can "
      "be invited, found 6"},
    bad_config{"rounds = 3\nclients = 5\nheld_out = 5",
               "a.toml:3: 'held_out' leaves nobody to invite: it must be below "
               "'clients', 5, found 5"},
    bad_config{
      "versions = 3\nmode = 'fedbuff'\nrefill = 'version'\nconcurrency = 4\n"
      "buffer_size = 5",
      "a.toml:5: 'buffer_size' must be at most 'concurrency', 4, with refill "
      "= \"version\", or no version would ever be made; found 5"},
    bad_config{
      "versions = 3\nmode = 'fedbuff'\nbuffer_size = 9\nclient_share = 0.1",
      "a.toml:4: 'client_share' must be large enough that 10 clients fill a "
      "buffer of 9"},
    bad_config{
      "versions = 3\nmode = 'fedbuff'\nconcurrency = 11",
      "a.toml:3: 'concurrency' must be at most 10, the clients that can be "
      "invited, found 11"},
    bad_config{"rounds = 3\n[server]\noptimiser = 'momentum'\nbeta1 = 1",
               "a.toml:4: 'server.beta1' must be a number from 0 to below 1, "
               "found 1"},
    bad_config{"rounds = 3\n[server]\noptimiser = 'yogi'\nbeta2 = 1.0",
               "a.toml:4: 'server.beta2' must be a number from 0 to below 1, "
               "found 1"},
    bad_config{"rounds = 3\n[devices]\nseconds_per_step = 1e9",
               "a.toml:3: 'devices.seconds_per_step' must be a number above 0 "
               "to below 1e+09, found 1e+09"},
    bad_config{"rounds = 3\nover_selection = 0.5",
               "a.toml:2: 'over_selection' must be a number from 1 to 10, "
               "found 0.5"},
    bad_config{
      "rounds = 3\nover_selection = 1.3",
      "a.toml:2: 'over_selection' invites more than the 10 clients that can "
      "be invited"}));

INSTANTIATE_TEST_SUITE_P(
  rules_and_methods, bad_configs,
  ::testing::Values(
    bad_config{
      "rounds = 3\nclients_per_round = 4\n[merge]\nrule = 'trimmed_mean'\n"
      "trim = 2",
      "a.toml:5: 'trim' must be below half of the 4 offers of a version, "
      "found 2"},
    bad_config{
      "rounds = 3\nclients_per_round = 4\nmerge = {rule = 'krum', bad = 2}",
      "a.toml:3: 'bad' must be at most 0 with 4 offers in a version, found "
      "2"},
    bad_config{
      "versions = 3\nmode = 'fedasync'\nmerge = {rule = 'median'}",
      "a.toml:3: mode = \"fedasync\" merges one offer at a time: rule must be "
      "\"mean\""},
    bad_config{
      "rounds = 3\nquorum = 3",
      "a.toml:2: 'quorum' counts at the deadline: give 'round_deadline'"},
    bad_config{
      "rounds = 3\nevaluate_every = 0\nstop = {metric = 'loss', patience = 2}",
      "a.toml:3: 'stop' needs evaluations: 'evaluate_every' must be at least "
      "1, found 0"},
    bad_config{"rounds = 3\nmodel = {kind = 'torchscript'}",
               "a.toml:2: kind = \"torchscript\" needs the 'path' of a module"},
    bad_config{
      "versions = 3\nmode = 'fedbuff'\nmethod = 'scaffold'",
      "a.toml:2: method 'scaffold' refuses mode = \"fedbuff\": Its offers mean "
      "nothing outside of the round that they were made in."},
    bad_config{
      "versions = 3\nmethod = 'local'",
      "a.toml:2: method 'local' merges nothing, so only 'time_budget', "
      "or 'rounds' of \"sync\" or \"semisync\", can end it"},
    bad_config{"rounds = 3\nmethod = 'local'\nmerge = {rule = 'median', "
               "clip_norm = 1}\n[server]\noptimiser = 'adam'",
               "a.toml:3: 'merge.rule' is about offers, and method 'local' "
               "merges nothing: \"mean\" would do\n"
               "a.toml:3: 'merge.clip_norm' is about offers, and method "
               "'local' merges nothing: 0 would do\n"
               "a.toml:5: 'server.optimiser' is about offers, and method "
               "'local' merges nothing: \"plain\" would do"},
    bad_config{
      "rounds = 3\npartition = {kind = 'natural'}",
      "a.toml:2: kind = \"natural\" needs data that says who holds what: "
      "data.kind = \"synthetic\", \"quadratic\", \"clusters\", "
      "\"low_rank\" or \"language\""}));

// Else something overflows that is computed from it.
TEST(config, has_two_ends_for_every_number) {
  for (const auto& x : known_keys())
    if (x.takes.find("a number") != std::string::npos
        || x.takes.find("an integer") != std::string::npos) {
      EXPECT_NE(x.takes.find(" to "), std::string::npos) << x.path;
    }
}

TEST(config, refuses_times_that_no_clock_can_tell) {
  for (const auto* text :
       {"round_deadline = 1e10", "time_budget = 1e10", "window_seconds = 1e10",
        "availability = {kind = 'windows', period = 1e-6}",
        "snapshot_seconds = 1e-9", "learning_rate = 1e308"})
    EXPECT_NE(refusal("rounds = 1\n" + std::string{text}).find(" to "),
              std::string::npos)
      << text;
}

TEST(config, says_everything_that_is_wrong_and_at_most_ten_things) {
  EXPECT_EQ(refusal("seed = -1\nbatch_size = 0.5\n"),
            "a.toml:1: 'seed' must be an integer from 0 to "
            "9223372036854775807, found -1\n"
            "a.toml:2: 'batch_size' must be an integer from 0 to 1000000000, "
            "found 0.5");
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += "zebra" + std::to_string(i) + " = 1\n";
  EXPECT_THAT(refusal(text), HasSubstr("zebra9"));
  EXPECT_THAT(refusal(text), HasSubstr("\nand 2 more"));
  EXPECT_THAT(refusal(text), Not(HasSubstr("zebra10")));
}

TEST(config, a_file_that_is_not_toml_is_refused_with_its_line) {
  EXPECT_THAT(refusal("rounds = 1\nrounds = 2"),
              HasSubstr("a.toml:2: this is not TOML: "));
  for (const auto* header : {"[.a]", "[ #]", "[@model]", "[\x01"})
    EXPECT_THAT(refusal("rounds = 1\n" + std::string{header} + "\nseed = 1"),
                HasSubstr("a.toml:2: this is not TOML: "))
      << header;
}

TEST(config, letters_of_all_languages_stand_in_quotes_and_comments_alone) {
  for (const auto* text : {"rounds = 1 # für später\nname = \"gr\\\"ün\"\n",
                           "\xEF\xBB\xBFrounds = 1\nname = '''a\n''é'''\n"}) {
    const auto x = read(text);
    EXPECT_TRUE(x) << (x ? "" : x.error().context);
  }
  EXPECT_THAT(refusal("rounds = 1\nname = 'ü'\nläuft = 1"),
              HasSubstr("a.toml:3: this is not TOML: letters beyond ASCII"));
  EXPECT_THAT(refusal("name = \"\"\"\n\n\"\"\" é"),
              HasSubstr("a.toml:3: this is not TOML: letters beyond ASCII"));
}

TEST(config, notes_keys_that_have_no_effect) {
  EXPECT_THAT(
    read("rounds = 1\nproximal = 1")->notes,
    ElementsAre("a.toml:2: 'proximal' has no effect: method 'fedavg' has "
                "no such option"));
  const auto x = read("rounds = 1\n[partition]\nkind = 'iid'\nalpha = 0.5\n");
  ASSERT_TRUE(x);
  EXPECT_THAT(x->notes,
              ElementsAre("a.toml:4: 'partition.alpha' has no effect: it needs "
                          "kind = \"dirichlet\" or \"mixtures\""));
  const auto plain = read("rounds = 1\n[model]\nadapt = ['query']\n");
  ASSERT_TRUE(plain);
  EXPECT_THAT(plain->notes,
              ElementsAre("a.toml:3: 'model.adapt' has no effect: method "
                          "'fedavg' attaches no adapters"));
  EXPECT_THAT(plain->x.model.adapt, ElementsAre());
}

TEST(config, names_layers_for_methods_with_adapters) {
  const auto adapted = [](std::string_view text) {
    return parse_config({text, "a.toml"},
                        std::vector<std::string>{"method=floral"});
  };
  const auto two =
    adapted("rounds = 1\n[model]\nadapt = ['query', '0.value']\n");
  ASSERT_TRUE(two) << two.error().context;
  EXPECT_THAT(two->x.model.adapt, ElementsAre("query", "0.value"));
  EXPECT_THAT(write_config(two->x),
              HasSubstr("adapt = [\"query\", \"0.value\"]\n"));
  EXPECT_THAT(parse_config({write_config(two->x), "b.toml"})->x.model.adapt,
              ElementsAre("query", "0.value"));
  EXPECT_THAT(adapted("rounds = 1\nadapt = 'query'")->x.model.adapt,
              ElementsAre("query"));
  const auto none = adapted("rounds = 1\nadapt = []");
  EXPECT_THAT(none->x.model.adapt, ElementsAre());
  EXPECT_THAT(write_config(none->x), Not(HasSubstr("adapt =")));
  for (const auto& [list, found] :
       {std::pair{"[1, 2]", "[1, 2]"},
        {"true", "true"},
        {"['query', 1]", "a list with something else"}})
    EXPECT_EQ(
      adapted("rounds = 1\nadapt = " + std::string{list}).error().context,
      "a.toml:2: 'adapt' must be a list of up to 64, each a string, found "
        + std::string{found});
  EXPECT_EQ(refusal("rounds = 1\nseed = ['a', 'b']"),
            "a.toml:2: 'seed' must be an integer from 0 to "
            "9223372036854775807, found [\"a\", \"b\"]");
}

TEST(config, a_missing_file_is_named) {
  const auto x = load_config("/nowhere/a.toml", {}, sample_methods());
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::storage_failure);
  EXPECT_EQ(x.error().context, "/nowhere/a.toml: cannot be read: there is no "
                               "such file; is the path right?");
}

} // namespace troupe::node
