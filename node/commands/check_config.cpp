#include "node/commands/check_config.hpp"

#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "node/commands/command_line.hpp"
#include "node/config/config.hpp"
#include "node/config/keys.hpp"
#include "node/config/method_options.hpp"
#include "node/config/policies_of.hpp"
#include "node/sweep/sweep_plan.hpp"
#include "node/task/recipe_of.hpp"
#include "node/task/workload.hpp"
#include "node/watch/wait_notice.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

const char* to_string(scope x) {
  constexpr const char* names[]{"frozen", "shared", "expert", "personal"};
  return names[static_cast<std::size_t>(x)];
}

json disclosures_of(const recipe& method) {
  auto list = json::array();
  for (const auto& x : method.disclosures) {
    json item{{"name", x.name},
              {"count_max", x.count_max},
              {"min", x.min},
              {"max", x.max}};
    if (x.sum)
      item["sum"] = *x.sum;
    list.push_back(std::move(item));
  }
  return list;
}

json roles_of(const recipe& method) {
  auto list = json::array();
  for (const auto& x : method.roles)
    list.push_back(
      {{"name", x.name}, {"members", x.members}, {"quota", x.quota}});
  return list;
}

/// What clients choose from; of it at most so many, 0: all.
json asked_of(const recipe& method) {
  auto list = json::array();
  for (const auto& leg : method.legs)
    for (const auto& x : leg.fetch)
      if (x.chosen)
        list.push_back({{"family", x.family}, {"most", x.chosen_max}});
  return list;
}

/// Who is invited how often, and what is asked for, where that is not the same
/// for all.
void print_roles(const recipe& method, std::ostream& out) {
  const char* which = "first ";
  for (const auto& x : method.roles) {
    if (method.roles.size() < 2)
      break;
    out << (&x == &method.roles.front() ? "\n  roles      " : ", ") << x.name;
    if (x.members == 0)
      out << " (all others)";
    else
      out << " (the " << std::exchange(which, "next ") << x.members
          << " clients, " << x.quota << " in each window)";
  }
  const char* before = "\n  asks for   ";
  for (const auto& leg : method.legs)
    for (const auto& x : leg.fetch)
      if (x.chosen) {
        out << std::exchange(before, ", ");
        if (x.chosen_max > 0)
          out << "at most " << x.chosen_max << " of " << x.family;
        else
          out << "some of " << x.family;
      }
}

void print(const loaded_config& loaded, const recipe& method,
           const std::string& file, std::ostream& out) {
  const auto mode = loaded.x.pace.mode;
  const auto around = circumstances_of(loaded.x);
  const auto remark = policies::remark_on(method, around);
  const auto formula = policies::formula_of(method, around);
  out << file << ": ok\n  method     " << method.name << ", " << method.summary
      << "\n  pace       " << policies::to_string(mode) << ", "
      << policies::to_string(policies::standing_of(method, around))
      << (remark.empty() ? "" : ": " + remark);
  if (!formula.empty())
    out << "\n  merges     x <- " << formula << "   (docs/methods.md)";
  out << "\n  blocks     ";
  for (const auto& x : method.blocks)
    out << (&x == &method.blocks.front() ? "" : ", ") << x.name << " ("
        << to_string(x.where) << ')';
  print_roles(method, out);
  out << "\n  discloses  ";
  if (method.disclosures.empty())
    out << "nothing beside the deltas and their weights";
  for (const auto& x : method.disclosures) {
    out << (&x == &method.disclosures.front() ? "" : ", ") << x.name
        << " (up to " << x.count_max << " numbers from " << x.min << " to "
        << x.max;
    if (x.sum)
      out << ", which add up to " << *x.sum;
    out << ')';
  }
  out << '\n';
  for (const auto& x : loaded.notes)
    out << "  note       " << printable(x) << '\n';
}

json describe(const loaded_config& loaded, const recipe& method) {
  const auto mode = loaded.x.pace.mode;
  const auto around = circumstances_of(loaded.x);
  auto blocks = json::array();
  for (const auto& x : method.blocks)
    blocks.push_back({{"name", x.name}, {"scope", to_string(x.where)}});
  return {
    {"success", true},
    {"method", method.name},
    {"mode", policies::to_string(mode)},
    {"standing", policies::to_string(policies::standing_of(method, around))},
    {"remark", policies::remark_on(method, around)},
    {"merges", policies::formula_of(method, around)},
    {"blocks", blocks},
    {"roles", roles_of(method)},
    {"asks_for", asked_of(method)},
    {"discloses", disclosures_of(method)},
    {"notes", loaded.notes},
    {"resolved", write_config(loaded.x)}};
}

/// A value as people write it: true, "balanced_2d", 0.01.
std::string written(const option_spec& x, double value) {
  if (x.kind == option_kind::flag)
    return value != 0 ? "true" : "false";
  if (x.kind == option_kind::choice)
    return '"' + std::string{x.words.at(static_cast<std::size_t>(value))} + '"';
  std::ostringstream text;
  text << value;
  return text.str();
}

json described(const listed_option& x) {
  constexpr const char* kinds[]{"number", "whole", "flag", "choice"};
  const auto& of = x.what;
  json item{{"key", std::string{method_section} + '.' + of.name},
            {"takes", takes(of)},
            {"says", of.says},
            {"methods", x.methods},
            {"type", kinds[static_cast<std::size_t>(of.kind)]},
            {"default", of.value}};
  if (of.kind == option_kind::flag)
    item["default"] = of.value != 0;
  else if (of.kind == option_kind::choice) {
    item["choices"] = of.words;
    item["default"] = of.words.at(static_cast<std::size_t>(of.value));
  } else {
    item["min"] = of.range.min;
    item["max"] = of.range.max;
    item["above_min"] = of.range.above_min;
    item["below_max"] = of.range.below_max;
    item["unit"] = of.unit;
  }
  return item;
}

std::string option_summary(const listed_option& x) {
  std::string text =
    takes(x.what) + (x.what.unit.empty() ? "" : " (" + x.what.unit + ')') + ", "
    + written(x.what, x.what.value) + " by default: " + x.what.says + " (";
  for (const auto& method : x.methods)
    text += (&method == &x.methods.front() ? "" : ", ") + method;
  return text + ')';
}

void print_keys(const method_list& methods, bool as_json, std::ostream& out) {
  const auto options = all_options(methods);
  if (!as_json) {
    const auto line = [&](const std::string& key, const std::string& says) {
      out << std::left << std::setw(32) << key << ' ' << says << '\n';
    };
    for (const auto& x : known_keys())
      line(x.path, x.takes + (x.says.empty() ? "" : ": " + x.says));
    for (const auto& x : options)
      line(std::string{method_section} + '.' + x.what.name, option_summary(x));
    return;
  }
  auto list = json::array();
  for (const auto& x : known_keys())
    list.push_back({{"key", x.path}, {"takes", x.takes}, {"says", x.says}});
  for (const auto& x : options)
    list.push_back(described(x));
  out << json{{"success", true}, {"keys", list}}.dump(2) << '\n';
}

/// What there is of a run before it begins: data are read and dealt, the model
/// is made. A configuration that cannot be run is not usable. Returns what is
/// odd about it, or nothing.
result<std::string> try_to_prepare(const experiment& x,
                                   const model_maker& make_model, streams io) {
  return told_while(io.err, reading_a_run, [&](const auto&) {
    return prepare(x, make_model).map([](const auto& made) {
      return made.remark;
    });
  });
}

/// The rows of a sweep in place of one run; nothing if the file asks for none.
std::optional<result<void>> check_sweep(const command_line& line,
                                        const model_maker& make_model,
                                        streams io) {
  const auto plan = load_sweep(line.file());
  if (!plan)
    return tl::unexpected{plan.error()};
  if (!*plan)
    return std::nullopt;
  const auto fits = [&](const experiment& x) {
    return make_model
             ? try_to_prepare(x, make_model, io).map([](const auto&) {})
             : result<void>{};
  };
  if (auto ok =
        check_rows(**plan, (*plan)->run, line.overrides(), fits, io.err);
      !ok)
    return tl::unexpected{ok.error()};
  const auto runs = cells_of(**plan).size();
  if (line.json()) {
    auto rows = json::array();
    for (const auto& row : (*plan)->rows)
      rows.push_back(row.name());
    io.out << json{{"success", true}, {"runs", runs}, {"rows", rows}}.dump(2)
           << '\n';
    return result<void>{};
  }
  io.out << line.file() << ": ok\n  sweep      " << runs << " runs, "
         << (*plan)->seeds.size() << " of each row:";
  for (const auto& row : (*plan)->rows)
    io.out << (&row == &(*plan)->rows.front() ? " " : ", ")
           << printable(row.name());
  io.out << '\n';
  return result<void>{};
}

/// The method as this configuration has it.
result<recipe> method_of(const experiment& x, const method_list& methods) {
  if (all_methods().find(x.method) != nullptr)
    return recipe_of(x);
  return *methods.find(x.method);
}

exit_code refuse(const error& why, const command_line& line, streams io) {
  return report({.code = "invalid_config",
                 .what = "this configuration cannot be used",
                 .why = why.context},
                exit_code::configuration, line.json(), io);
}

exit_code check(const method_list& methods, const model_maker& make_model,
                arguments args, streams io) {
  command_line line{{"check-config", "Says whether a configuration is usable.",
                     "check-config deploy/examples/quickstart.toml --set "
                     "mode=sync"}};
  line.add_config(false);
  bool keys = false;
  bool resolved = false;
  line.add("--keys", &keys, "list all keys and what they take");
  line.add("--resolved", &resolved, "print the configuration in full");
  if (const auto end = line.parse(args, io))
    return *end;
  if (keys) {
    print_keys(methods, line.json(), io.out);
    return exit_code::ok;
  }
  if (line.file().empty())
    return report({.code = "usage",
                   .what = "FILE is required",
                   .hint = "troupe check-config --help shows an example"},
                  exit_code::usage, line.json(), io);
  if (const auto sweep = check_sweep(line, make_model, io))
    return *sweep ? exit_code::ok : refuse(sweep->error(), line, io);
  auto loaded = load_config(line.file(), line.overrides(), methods);
  if (!loaded)
    return refuse(loaded.error(), line, io);
  if (make_model) {
    const auto remark = try_to_prepare(loaded->x, make_model, io);
    if (!remark)
      return refuse(remark.error(), line, io);
    if (!remark->empty())
      loaded->notes.push_back(*remark);
  }
  const auto method = method_of(loaded->x, methods);
  if (!method)
    return refuse(method.error(), line, io);
  if (line.json())
    io.out << describe(*loaded, *method).dump(2) << '\n';
  else if (resolved)
    io.out << write_config(loaded->x);
  else
    print(*loaded, *method, line.file(), io.out);
  return exit_code::ok;
}

} // namespace

exit_code check_config(const host_facts& known, arguments args, streams io) {
  return check(all_methods(), known.make_model, args, io);
}

} // namespace troupe::node
