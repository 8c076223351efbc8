#include "node/commands/command_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "core/text.hpp"
#include "node/config/keys.hpp"

namespace troupe::node {

struct command_line::library {
  explicit library(const words& x) : app{x.says, "troupe " + x.name} {
    // nop
  }

  CLI::App app;
};

namespace {

/// Neither `nan` nor `inf`, which are numbers and pass bounds.
CLI::Validator is_finite() {
  return CLI::Validator{
    [](const std::string& said) {
      const bool is_one = std::isfinite(std::strtod(said.c_str(), nullptr));
      return is_one ? std::string{}
                    : in_quotes(shortened(said))
                        + " is no finite number; one above 0 would do";
    },
    ""};
}

CLI::Option* add_to(CLI::App& app, const std::string& name, bool* to,
                    const std::string& says) {
  return app.add_flag(name, *to, says);
}

// One word has them all: the next may be FILE.
CLI::Option* add_to(CLI::App& app, const std::string& name,
                    std::vector<std::string>* to, const std::string& says) {
  return app.add_option(name, *to, says)->allow_extra_args(false);
}

CLI::Option* add_to(CLI::App& app, const std::string& name, auto* to,
                    const std::string& says) {
  return app.add_option(name, *to, says);
}

/// Like the first word that looks like an option and is none; empty: nothing.
std::string near_option(CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames())
      names.push_back("--" + name);
  for (const auto& word : app.remaining())
    if (word.starts_with("--"))
      return nearest(word.substr(0, word.find('=')), names);
  return {};
}

} // namespace

command_line::command_line(const words& x)
  : inner_(std::make_unique<library>(x)) {
  const auto of_texts =
    x.of_texts.empty() ? "" : "\nOf texts:\n  troupe " + x.of_texts;
  inner_->app.footer("Example:\n  troupe " + x.example + of_texts);
  add("--format", &format_, "text, or json for programs",
      {.one_of = {"text", "json"}});
}

command_line::~command_line() = default;

void command_line::add(const std::string& name, target to,
                       const std::string& says, const manner& how) {
  auto* x =
    how.bare.empty() ? std::visit(
      [&](auto* where) { return add_to(inner_->app, name, where, says); }, to)
                     : inner_->app.add_flag(name + '{' + how.bare + '}',
                                            *std::get<std::string*>(to), says);
  x->required(how.required);
  if (!how.one_of.empty())
    x->check(CLI::IsMember(how.one_of));
  for (const auto& other : how.excludes)
    x->excludes(inner_->app.get_option(other));
  if (how.range)
    x->check(CLI::Range(how.range->first, how.range->second));
  if (how.above_zero)
    x->check(is_finite())->check(CLI::PositiveNumber);
  if (how.not_empty)
    x->check(CLI::Validator{
      [](const std::string& said) {
        return std::string{said.empty() ? "it is empty; a value would do" : ""};
      },
      ""});
  if (how.shows_default)
    x->capture_default_str();
  if (how.delimiter)
    x->delimiter(*how.delimiter);
}

void command_line::add_chunks(std::size_t* kib) {
  add("--chunk-kib", kib,
      "of a large message, KiB that cross in one piece; less is kinder to what "
      "is slow",
      {.range = {{1, 4096}}, .shows_default = true});
}

void command_line::add_config(bool required, const std::string& says) {
  add("FILE", &file_, says, {.required = required});
  inner_->app
    .add_option("--set", overrides_,
                "key=value, in place of what the file says")
    ->allow_extra_args(false)
    ->take_all();
}

std::optional<exit_code> command_line::parse(arguments args, streams io) {
  auto& app = inner_->app;
  // CLI11 takes its arguments from the back.
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    io.out << app.help();
    return exit_code::ok;
  } catch (const CLI::ParseError& e) {
    const bool json = std::ranges::find(args, "json") != args.end()
                      || std::ranges::find(args, "--format=json") != args.end();
    const auto near = near_option(app);
    return report({.code = "usage",
                   .what = e.what(),
                   .hint = near.empty()
                             ? app.get_name() + " --help shows an example"
                             : "did you mean '" + near + "'?"},
                  exit_code::usage, json, io);
  }
  return std::nullopt;
}

} // namespace troupe::node
