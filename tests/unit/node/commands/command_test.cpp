#include "node/commands/command.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "node/commands/address.hpp"
#include "node/commands/join.hpp"
#include "node/commands/stop.hpp"
#include "node/config/config.hpp"
#include "node/config/keys.hpp"
#include "node/join/farewells.hpp"
#include "node/keys/invitation_line.hpp"
#include "node/keys/pair.hpp"
#include "node/run/interrupt.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/scratch_folder.hpp"

namespace troupe::node::command_test {

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using parsed = nlohmann::json;

struct outcome {
  exit_code how;
  std::string out;
  std::string err;
};

outcome run(std::vector<std::string> args, model_maker make_model = {}) {
  std::ostringstream out, err;
  const auto all = basic_commands({.arithmetic = [] { return "torch"; },
                                   .make_model = std::move(make_model)});
  const auto how = dispatch(all, args, {out, err});
  return {how, out.str(), err.str()};
}

/// A file of this test, removed with it.
class scratch {
public:
  explicit scratch(std::string_view text)
    : path_(std::filesystem::temp_directory_path()
            / ("troupe_command_test." + std::to_string(::getpid()) + ".toml")) {
    std::ofstream{path_} << text;
  }

  ~scratch() {
    std::filesystem::remove(path_);
  }

  std::string path() const {
    return path_.string();
  }

private:
  std::filesystem::path path_;
};

} // namespace

TEST(command, without_words_lists_what_there_is) {
  const auto x = run({});
  EXPECT_EQ(x.how, exit_code::usage);
  for (const auto& y : basic_commands({}))
    EXPECT_THAT(x.err, HasSubstr("troupe " + y.name));
  EXPECT_EQ(run({"--help"}).how, exit_code::ok);
  EXPECT_THAT(run({"--version"}).out, StartsWith("troupe "));
}

TEST(command, each_has_help_with_an_example) {
  for (const auto& y : basic_commands({})) {
    const auto x = run({y.name, "--help"});
    EXPECT_EQ(x.how, exit_code::ok);
    EXPECT_THAT(x.out, HasSubstr("Example:\n  troupe " + y.name));
  }
}

TEST(command, help_of_one_is_its_own) {
  for (const auto& y : basic_commands({})) {
    const auto x = run({"help", y.name});
    EXPECT_EQ(x.how, exit_code::ok);
    // What excludes what is listed in no order.
    EXPECT_THAT(x.out, HasSubstr("troupe " + y.name));
    EXPECT_THAT(x.out, HasSubstr("Example:\n  troupe " + y.name));
  }
  EXPECT_EQ(run({"help", "docter"}).err, run({"docter"}).err);
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
}

TEST(command, each_refuses_what_it_does_not_know) {
  for (const auto& y : basic_commands({})) {
    const auto x = run({y.name, "--zebra"});
    EXPECT_EQ(x.how, exit_code::usage) << y.name;
    EXPECT_FALSE(x.err.empty());
    const auto object =
      parsed::parse(run({y.name, "--zebra", "--format", "json"}).out);
    EXPECT_EQ(object["success"], false);
    EXPECT_EQ(object["error"]["code"], "usage");
  }
}

TEST(command, an_unknown_name_gets_the_nearest) {
  const auto x = run({"docter"});
  EXPECT_EQ(x.how, exit_code::usage);
  EXPECT_EQ(x.err, "troupe: unknown command 'docter'\n"
                   "hint: did you mean 'troupe doctor'?\n");
}

// A configuration may come from others, and errors are read on terminals.
TEST(command, shows_no_escapes_of_others) {
  const scratch file{"rounds = 1\n\"\\u001b[2Jall is well\" = 1\n"};
  const auto x = run({"check-config", file.path()});
  EXPECT_EQ(x.how, exit_code::configuration);
  EXPECT_THAT(x.err, HasSubstr("'\\x1b[2Jall is well'"));
  EXPECT_EQ(x.err.find('\x1b'), x.err.npos);
}

TEST(check_config, says_what_a_method_discloses_and_how_it_stands) {
  const scratch file{"versions = 5\nmode = 'fedbuff'\n"};
  const auto x = run({"check-config", file.path()});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  EXPECT_THAT(x.out, HasSubstr(": ok\n  method     "));
  EXPECT_THAT(x.out, HasSubstr("fedbuff, extension: "));
  EXPECT_THAT(x.out, HasSubstr("nothing beside the deltas"));
  const auto exact = parsed::parse(
    run({"check-config", file.path(), "--set", "mode=sync", "--format", "json"})
      .out);
  EXPECT_EQ(exact["success"], true);
  EXPECT_EQ(exact["standing"], "exact");
  EXPECT_EQ(exact["discloses"], parsed::array());
}

TEST(check_config, knows_every_built_method) {
  const scratch file{"rounds = 5\n"};
  for (const auto& method : policies::catalogue())
    EXPECT_EQ(
      run({"check-config", file.path(), "--set", "method=" + method.name}).how,
      exit_code::ok)
      << method.name;
}

TEST(check_config, a_refusal_has_its_exit_code_and_its_object) {
  const scratch file{"rounds = 5\nbuffer_sise = 3\n"};
  const auto x = run({"check-config", file.path()});
  EXPECT_EQ(x.how, exit_code::configuration);
  EXPECT_EQ(x.out, "");
  EXPECT_THAT(x.err, HasSubstr(file.path()
                               + ":2: unknown key 'buffer_sise'; did you "
                                 "mean 'pace.buffer_size'?"));
  const auto object =
    parsed::parse(run({"check-config", file.path(), "--format", "json"}).out);
  EXPECT_EQ(object["success"], false);
  EXPECT_EQ(object["error"]["code"], "invalid_config");
  EXPECT_THAT(object["error"]["why"], HasSubstr("buffer_sise"));
  EXPECT_EQ(run({"check-config", "/nowhere.toml"}).how,
            exit_code::configuration);
  EXPECT_EQ(run({"check-config"}).how, exit_code::usage);
}

TEST(check_config, prepares_a_run_as_the_run_would) {
  const auto refusal = [](std::string_view text) {
    const scratch file{text};
    const auto x =
      run({"check-config", file.path()},
          [](const auto&, auto) -> result<std::unique_ptr<models::objective>> {
            return fail(errc::unsupported, "no such model");
          });
    EXPECT_NE(x.how, exit_code::ok) << text;
    return x.err;
  };
  EXPECT_THAT(refusal("rounds = 1\n[data]\npath = '/nowhere'\n"),
              HasSubstr("/nowhere"));
  const auto quadratic = [](const std::string& line, const char* model) {
    return "rounds = 1\n" + line + "\n[data]\nkind = 'quadratic'\n[model]\n"
           + "kind = '" + model + "'\n";
  };
  EXPECT_THAT(refusal(quadratic("", "mlp")), HasSubstr("quadratic"));
  EXPECT_THAT(refusal(quadratic("init = '/none.safetensors'", "quadratic")),
              HasSubstr("/none.safetensors"));
  EXPECT_THAT(refusal(quadratic("scenario = '/none.toml'", "quadratic")),
              HasSubstr("/none.toml"));
}

TEST(check_config, lists_every_key) {
  const auto x = run({"check-config", "--keys"});
  for (const auto& y : known_keys())
    EXPECT_THAT(x.out, HasSubstr(y.path + ' '));
}

TEST(check_config, lists_each_option_of_each_method) {
  const auto x = run({"check-config", "--keys"});
  EXPECT_THAT(x.out,
              HasSubstr("options.own_rank                 an integer from 1 to "
                        "65536 (ranks), 2 by default: of each client's own "
                        "adapter (pf2lora)\n"));
  const auto keys =
    parsed::parse(run({"check-config", "--keys", "--format", "json"}).out)
      .at("keys");
  for (const auto* method : all_methods().built)
    for (const auto& y : method->options) {
      const auto is_it = [&](const parsed& item) {
        const auto of = item.value("methods", std::vector<std::string>{});
        return item.at("key") == "options." + y.name
               && std::ranges::count(of, method->name) == 1;
      };
      const auto found = std::find_if(keys.begin(), keys.end(), is_it);
      ASSERT_NE(found, keys.end()) << method->name << ": " << y.name;
      EXPECT_EQ(found->at("takes"), takes(y));
      EXPECT_EQ(found->at("says"), y.says);
      EXPECT_EQ(found->contains("unit"), !y.unit.empty());
      EXPECT_EQ(found->contains("choices"), !y.words.empty());
      EXPECT_TRUE(found->contains("type") && found->contains("default"));
      EXPECT_THAT(x.out, HasSubstr("options." + y.name + ' '));
    }
}

TEST(check_config, what_it_resolves_is_a_configuration_again) {
  const scratch file{"rounds = 5\nfraction = 0.5\n"};
  const auto x = run({"check-config", file.path(), "--resolved"});
  const scratch again{x.out};
  EXPECT_EQ(run({"check-config", again.path(), "--resolved"}).out, x.out);
}

TEST(check_config, the_examples_are_usable) {
  std::size_t seen = 0;
  const std::filesystem::path folder{TROUPE_SOURCE_DIR "/deploy/examples"};
  for (const auto& y : std::filesystem::recursive_directory_iterator{folder}) {
    if (y.is_directory())
      continue;
    const auto x = run({"check-config", y.path().string()});
    EXPECT_EQ(x.how, exit_code::ok) << x.err;
    EXPECT_THAT(x.out, Not(HasSubstr("note"))) << "an example has no idle keys";
    ++seen;
  }
  EXPECT_GE(seen, 2u);
}

TEST(data_inspect, shows_each_client_and_each_label) {
  const scratch file{"rounds = 1\nclients = 3\nseed = 4\ndata = 'synthetic'\n"};
  const auto x = run({"data", "inspect", file.path()});
  EXPECT_EQ(x.how, exit_code::ok) << x.err;
  const auto object = parsed::parse(
    run({"data", "inspect", file.path(), "--format", "json"}).out);
  ASSERT_EQ(object["clients"].size(), 3u);
  std::size_t sum = 0;
  for (const auto& y : object["clients"]) {
    std::size_t rows = 0;
    for (const auto& n : y["labels"])
      rows += n.get<std::size_t>();
    EXPECT_EQ(rows, y["rows"]);
    EXPECT_THAT(x.out, HasSubstr(std::to_string(rows)));
    sum += rows;
  }
  EXPECT_EQ(sum, object["train"]);
}

TEST(data_inspect, missing_data_is_a_data_problem) {
  const scratch file{"rounds = 1\n[data]\npath = '/nowhere'\n"};
  const auto x = run({"data", "inspect", file.path()});
  EXPECT_EQ(x.how, exit_code::data);
  EXPECT_THAT(x.err, HasSubstr("/nowhere"));
}

TEST(stop, says_what_goes_on_with_a_run_that_nobody_serves) {
  const test::scratch_folder folder;
  const auto said = [&](const std::string& clock) {
    std::ofstream{folder.path() + "/config.toml"} << "rounds = 1\nclock = '"
                                                  << clock << "'\n";
    std::ostringstream out, err;
    const std::vector<std::string> args{folder.path()};
    EXPECT_EQ(stop_command(args, {out, err}), exit_code::unreachable);
    return err.str();
  };
  EXPECT_THAT(said("virtual"), HasSubstr("hint: troupe run --resume "
                                         + folder.path() + " goes on with it"));
  EXPECT_THAT(said("wall"), HasSubstr("hint: troupe serve " + folder.path()
                                      + " goes on with it"));
}

TEST(stop, waits_for_no_run_that_has_ended) {
  const test::scratch_folder folder;
  std::ofstream{folder.path() + "/config.toml"} << "rounds = 1\n";
  std::ofstream{folder.path() + "/summary.json"}
    << R"({"interrupted": false, "reason": "1 round"})";
  std::ostringstream out, err;
  const std::vector<std::string> args{folder.path()};
  EXPECT_EQ(stop_command(args, {out, err}), exit_code::unreachable);
  EXPECT_EQ(err.str(), "troupe: '" + folder.path()
                         + "' has ended\n1 round\nhint: its results are "
                           "there; nobody serves it any more\n");
}

namespace {

/// What `join` says that is used wrongly.
std::string misused(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  EXPECT_EQ(join_command({}, args, {out, err}), exit_code::usage);
  return err.str();
}

} // namespace

TEST(join, shows_an_address_that_is_none_and_no_secret_of_a_line) {
  const auto said = [](const std::string& address) {
    return misused({address, "--insecure"});
  };
  EXPECT_THAT(said("tcp://ward:99999"),
              HasSubstr("troupe: 'tcp://ward:99999' is no address\n"));
  EXPECT_THAT(said("tcp://ward:99999"), HasSubstr("a port up to 65535"));
  EXPECT_THAT(said("ward:7700"), HasSubstr("'ward:7700' is no address"));
  const auto line = write_line({"tcp://ward:99999", {}, draw_pair()});
  const auto secret = line.substr(line.rfind('/') + 1);
  const auto whole = misused({line, "--store", "/nowhere"});
  EXPECT_THAT(whole, HasSubstr("'tcp://ward:99999' is no address"));
  for (const auto& text : {whole, said(line.substr(6)), said(line.substr(12))})
    EXPECT_EQ(text.find(secret), text.npos) << text;
}

TEST(address, of_all_of_a_machine_is_known_as_that) {
  for (const auto* every : {"tcp://0.0.0.0:7700", "tcp://[::]:7700",
                            "tcp://*:7700", "tcp://[::0]:7700", "tcp://0:7700"})
    EXPECT_TRUE(is_every_address(every)) << every;
  for (const auto* one : {"tcp://10.0.0.1:7700", "tcp://[::1]:7700",
                          "tcp://host:0", "tcp://0.example:7700", "0.0.0.0:1"})
    EXPECT_FALSE(is_every_address(one)) << one;
}

// It is pasted, with what stands around it.
TEST(join, takes_an_address_or_a_line_with_blanks_around_it) {
  for (const std::string before : {"", " ", "\n", "\t "})
    for (const std::string after : {"", " ", "\n", "\r\n"}) {
      EXPECT_THAT(
        misused({before + "tcp://192.0.2.1:7700" + after, "--insecure"}),
        HasSubstr("and not at 'tcp://192.0.2.1:7700'\n"));
      const auto line = write_line({"tcp://192.0.2.1:7700", {}, draw_pair()});
      EXPECT_THAT(misused({before + line + after}),
                  HasSubstr("with keys there is a --store"));
    }
}

// Else it would bring clients of the run's own partition.
TEST(join, refuses_a_name_that_is_empty) {
  EXPECT_THAT(misused({"tcp://127.0.0.1:9", "--insecure", "--id", ""}),
              StartsWith("troupe: --id: it is empty; a value would do\n"));
}

TEST(join, says_of_a_host_whether_it_is_known) {
  for (const auto* address : {"tcp://127.0.0.1:7700", "tcp://[::1]:7700"})
    EXPECT_EQ(unknown_host(address), "");
  EXPECT_THAT(unknown_host("tcp://no..host:7700"),
              StartsWith("'no..host' does not resolve: "));
}

// What a process ends with hangs on it.
TEST(interruption, knows_by_which_signal_it_came) {
  for (const int which : {SIGTERM, SIGINT, SIGTERM}) {
    const interruption x{"\na signal of a test\n"};
    EXPECT_FALSE(x.requested() || x.is_dismissal());
    EXPECT_EQ(std::raise(which), 0);
    EXPECT_TRUE(x.requested().load());
    EXPECT_EQ(x.is_dismissal(), which == SIGTERM);
  }
}

} // namespace troupe::node::command_test
