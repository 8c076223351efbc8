#include "node/commands/data.hpp"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/data/kinds.hpp"
#include "models/data/partition.hpp"
#include "models/data/shared_facts.hpp"
#include "models/language/weight_files.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/data_tokenizer.hpp"
#include "node/commands/data_tokens.hpp"
#include "node/commands/inspect_folder.hpp"
#include "node/commands/inspect_language.hpp"
#include "node/commands/inspect_model.hpp"
#include "node/config/config.hpp"
#include "node/task/data.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

std::uint64_t total(const std::vector<std::uint64_t>& xs) {
  return std::accumulate(xs.begin(), xs.end(), std::uint64_t{0});
}

void print(const models::dataset& data, const models::label_counts& table,
           const models::partition& parts, std::ostream& out) {
  out << data.name << ": " << data.train.size << " training and "
      << data.test.size << " test examples, " << data.classes << " labels, "
      << table.size() << " clients\n\nclient   rows";
  for (std::int64_t c = 0; c < data.classes; ++c)
    out << std::setw(6) << c;
  out << "   test\n";
  for (std::size_t k = 0; k < table.size(); ++k) {
    out << std::setw(6) << k + 1 << std::setw(7) << total(table[k]);
    for (const auto n : table[k])
      if (n == 0)
        out << "     ."; // What is missing is what one looks for.
      else
        out << std::setw(6) << n;
    out << std::setw(7) << parts.test[k].size()
        << (k + parts.held_out >= table.size() ? "  held out" : "") << '\n';
  }
}

std::string in_braces(const models::kind_set& kinds) {
  std::string out;
  for (const auto kind : kinds)
    out += (out.empty() ? "" : " ") + std::to_string(kind);
  return '{' + out + '}';
}

std::string about_anchors(const models::shared_facts& x, std::size_t anchors,
                          const std::string& kinds) {
  if (anchors == 0)
    return "There are no anchors.";
  return std::to_string(anchors) + " anchors have "
         + (x.anchors_disjoint ? "disjoint " : "overlapping ") + kinds
         + (x.anchors_cover ? ", together all of them."
                            : ", and not all of them together.");
}

std::string about_strangers(const models::shared_facts& x,
                            std::size_t held_out) {
  if (held_out == 0)
    return "No client is held out.";
  constexpr std::size_t listed_max = 20;
  std::string out =
    std::to_string(held_out) + " held-out clients have "
    + std::to_string(x.withheld.size())
    + (x.withheld.size() == 1 ? " combination" : " combinations")
    + (x.unseen()
         ? " that nobody trains on:"
         : ", and somebody trains on " + std::to_string(x.seen) + " of them:");
  for (std::size_t i = 0; i < std::min(listed_max, x.withheld.size()); ++i)
    out += ' ' + in_braces(x.withheld[i]);
  return out + (x.withheld.size() > listed_max ? " and others." : ".");
}

/// What a partition with shared rows promises.
struct promises {
  models::shared_facts facts;
  std::size_t anchors = 0;
  bool combined = false; ///< Of combinations, about which more is said.
};

std::optional<promises> promises_of(const experiment& x,
                                    const models::dataset& data,
                                    const models::partition& parts) {
  if (!x.partition.shares_rows())
    return std::nullopt;
  return promises{.facts = models::facts_of(data, parts, x.partition.anchors),
                  .anchors = x.partition.anchors,
                  .combined =
                    x.partition.kind == partition_options::rule::combinations};
}

void print(const promises& x, const models::dataset& data,
           const models::partition& parts, std::ostream& out) {
  out << '\n'
      << x.facts.shared_rows << " of " << data.train.size
      << " training examples are held by more than one client.\n";
  if (!x.combined)
    return;
  const std::string kinds{models::name_of_kinds(data)};
  out << about_anchors(x.facts, x.anchors, kinds) << '\n'
      << about_strangers(x.facts, parts.held_out) << '\n';
}

json describe(const models::dataset& data, const models::label_counts& table,
              const models::partition& parts,
              const std::optional<promises>& shared) {
  auto clients = json::array();
  auto anchors = json::array();
  for (std::size_t k = 0; k < table.size(); ++k) {
    json client = {{"client", k + 1},
                   {"rows", total(table[k])},
                   {"labels", table[k]},
                   {"test_rows", parts.test[k].size()},
                   {"held_out", k + parts.held_out >= table.size()}};
    if (shared)
      client.add("kinds", shared->facts.kinds[k]);
    clients.push_back(std::move(client));
    if (shared && k < shared->anchors)
      anchors.push_back({{"client", k + 1}, {"kinds", shared->facts.kinds[k]}});
  }
  json out = {{"success", true},          {"data", data.name},
              {"train", data.train.size}, {"test", data.test.size},
              {"labels", data.classes},   {"clients", clients}};
  if (!shared)
    return out;
  out.add("shared_rows", shared->facts.shared_rows);
  if (!shared->combined)
    return out;
  out.add("anchors", anchors);
  out.add("anchors_disjoint", shared->facts.anchors_disjoint);
  out.add("anchors_cover", shared->facts.anchors_cover);
  out.add("unseen", shared->facts.unseen());
  out.add("withheld", shared->facts.withheld);
  out.add("seen", shared->facts.seen);
  return out;
}

/// Of what is no configuration and may be a text.
std::string hint_about(const std::string& file, const std::string& why) {
  const auto ending = std::filesystem::path{file}.extension();
  if (ending == ".toml" || why.find("this is not TOML") == std::string::npos)
    return {};
  return "of a text, troupe data tokens FILE --tokenizer PATH says what it is "
         "in tokens";
}

exit_code inspect(const command_line& line, streams io) {
  if (models::names_a_model(line.file()))
    return inspect_model(line.file(), line.json(), io);
  if (std::error_code none; std::filesystem::is_directory(line.file(), none))
    return report(unknown_folder(line.file()), exit_code::data, line.json(),
                  io);
  const auto loaded = load_config(line.file(), line.overrides());
  if (!loaded)
    return report({.code = "invalid_config",
                   .what = "this configuration cannot be used",
                   .why = loaded.error().context,
                   .hint = hint_about(line.file(), loaded.error().context)},
                  exit_code::configuration, line.json(), io);
  for (const auto& note : loaded->notes)
    io.err << "note: " << printable(note) << '\n';
  if (loaded->x.data.is_elsewhere())
    return report(
      {.code = "invalid_data",
       .what = "this run has no data here: its clients bring theirs",
       .hint = "where it is, the file itself would do"},
      exit_code::data, line.json(), io);
  if (loaded->x.data.kind == data_options::format::language)
    return inspect_language(loaded->x, line.json(), io);
  if (loaded->x.data.has_own_model())
    return report(
      {.code = "invalid_data",
       .what = "data that is a model of its own has no examples to show",
       .hint = "data.kind = \"synthetic\" has"},
      exit_code::data, line.json(), io);
  const auto data = told_while(io.err, "reading the data", [&](const auto&) {
    return load_data(loaded->x);
  });
  if (!data)
    return report(data.error(), line.json(), io);
  const auto parts = deal(loaded->x, *data);
  if (!parts)
    return report(parts.error(), line.json(), io);
  const auto table = models::label_table(*data, *parts);
  const auto shared = promises_of(loaded->x, *data, *parts);
  if (line.json()) {
    io.out << describe(*data, table, *parts, shared).dump(2) << '\n';
    return exit_code::ok;
  }
  print(*data, table, *parts, io.out);
  if (shared)
    print(*shared, *data, *parts, io.out);
  return exit_code::ok;
}

constexpr std::size_t size_when_not_said = 4096;

/// What was said beside FILE.
struct data_wishes {
  std::string verb;
  std::string tokenizer;
  bool ids = false;
  std::size_t size = 0; ///< 0: not said.
  std::string to;

  void add_to(command_line& line) {
    line.add("VERB", &verb,
             "inspect a configuration's data or a model, count the tokens of a "
             "text, or learn a tokenizer from texts",
             {.required = true, .one_of = {"inspect", "tokens", "tokenizer"}});
    line.add_config(true, "a configuration in TOML, a model, a text, or for "
                          "tokenizer a folder of texts");
    line.add("--tokenizer", &tokenizer,
             "of tokens: a tokenizer's file or folder, a .gguf, or bytes",
             {.not_empty = true});
    line.add("--ids", &ids, "of tokens: the ids of each line of the text");
    line.add("--size", &size,
             "of tokenizer: tokens that it has at most, of which 257 are bytes "
             "and an end of text; 4096 without it",
             {.range = {{258, 1 << 20}}});
    line.add("--to", &to, "of tokenizer: the folder for tokenizer.json",
             {.not_empty = true});
  }
};

/// The first option that was said and is of another verb.
std::string without_use(const data_wishes& x, const command_line& line) {
  if (x.verb != "tokens" && !x.tokenizer.empty())
    return "--tokenizer";
  if (x.verb != "tokens" && x.ids)
    return "--ids";
  if (x.verb != "tokenizer" && x.size > 0)
    return "--size";
  if (x.verb != "tokenizer" && !x.to.empty())
    return "--to";
  if (x.verb != "inspect" && !line.overrides().empty())
    return "--set";
  return {};
}

std::string missing(const data_wishes& x) {
  if (x.verb == "tokens" && x.tokenizer.empty())
    return "--tokenizer PATH";
  if (x.verb == "tokenizer" && x.to.empty())
    return "--to FOLDER";
  return {};
}

} // namespace

exit_code data(arguments args, streams io) {
  command_line line{
    {"data",
     "Shows which client holds which labels, what a model is, or what a text "
     "is in tokens, and learns a tokenizer.",
     "data inspect deploy/examples/quickstart.toml --set alpha=0.1",
     "data tokens report.txt --tokenizer bytes"}};
  data_wishes wish;
  wish.add_to(line);
  if (const auto end = line.parse(args, io))
    return *end;
  if (const auto option = without_use(wish, line); !option.empty())
    return report({.code = "usage",
                   .what = option + " is of no use to 'data " + wish.verb + "'",
                   .hint = "without it would do; troupe data --help says what "
                           "each is for"},
                  exit_code::usage, line.json(), io);
  if (const auto option = missing(wish); !option.empty())
    return report({.code = "usage",
                   .what = "'data " + wish.verb + "' lacks an option",
                   .hint = option + " would do"},
                  exit_code::usage, line.json(), io);
  if (wish.verb == "tokens")
    return data_tokens(line.file(), wish.tokenizer, wish.ids, line.json(), io);
  if (wish.verb == "tokenizer")
    return data_tokenizer(line.file(),
                          wish.size > 0 ? wish.size : size_when_not_said,
                          wish.to, line.json(), io);
  return inspect(line, io);
}

} // namespace troupe::node
