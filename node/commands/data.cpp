#include "node/commands/data.hpp"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <ostream>

#include "core/json.hpp"
#include "models/data/partition.hpp"
#include "node/commands/command_line.hpp"
#include "node/config/config.hpp"
#include "node/task/data.hpp"

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

json describe(const models::dataset& data, const models::label_counts& table,
              const models::partition& parts) {
  auto clients = json::array();
  for (std::size_t k = 0; k < table.size(); ++k)
    clients.push_back({{"client", k + 1},
                       {"rows", total(table[k])},
                       {"labels", table[k]},
                       {"test_rows", parts.test[k].size()},
                       {"held_out", k + parts.held_out >= table.size()}});
  return {{"success", true},          {"data", data.name},
          {"train", data.train.size}, {"test", data.test.size},
          {"labels", data.classes},   {"clients", clients}};
}

exit_code inspect(const command_line& line, streams io) {
  const auto loaded = load_config(line.file(), line.overrides());
  if (!loaded)
    return report({.code = "invalid_config",
                   .what = "this configuration cannot be used",
                   .why = loaded.error().context},
                  exit_code::configuration, line.json(), io);
  if (loaded->x.data.has_own_model())
    return report(
      {.code = "invalid_data",
       .what = "data that is a model of its own has no examples to show",
       .hint = "data.kind = \"synthetic\" has"},
      exit_code::data, line.json(), io);
  if (loaded->x.data.is_elsewhere())
    return report({.code = "invalid_data",
                   .what = "data.kind = \"elsewhere\" has no data here",
                   .hint = "where it is, the file itself would do"},
                  exit_code::data, line.json(), io);
  const auto data = load_data(loaded->x);
  if (!data)
    return report(data.error(), line.json(), io);
  const auto parts = deal(loaded->x, *data);
  if (!parts)
    return report(parts.error(), line.json(), io);
  const auto table = models::label_table(*data, *parts);
  if (line.json())
    io.out << describe(*data, table, *parts).dump(2) << '\n';
  else
    print(*data, table, *parts, io.out);
  return exit_code::ok;
}

} // namespace

exit_code data(arguments args, streams io) {
  command_line line{
    {"data", "Shows which client holds which labels.",
     "data inspect deploy/examples/quickstart.toml --set alpha=0.1"}};
  std::string verb;
  line.add("VERB", &verb, "inspect", {.required = true, .one_of = {"inspect"}});
  line.add_config();
  if (const auto end = line.parse(args, io))
    return *end;
  return inspect(line, io);
}

} // namespace troupe::node
