#include "node/commands/predict.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <ostream>
#include <span>
#include <string>

#include "core/json.hpp"
#include "models/files.hpp"
#include "node/commands/command_line.hpp"
#include "node/commands/prediction.hpp"
#include "node/task/finished_run.hpp"
#include "node/task/unlabelled.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

/// A line of each row: its number from 1, what it is, and which expert said so.
std::string as_csv(const models::answers& x) {
  std::string text = "row,label,expert\n";
  for (std::size_t i = 0; i < x.classes.size(); ++i)
    text += std::to_string(i + 1) + ',' + std::to_string(x.classes[i]) + ','
            + (x.instances.empty() ? "" : std::to_string(x.instances[i]))
            + '\n';
  return text;
}

/// How many rows each expert answered.
std::map<std::string, std::uint64_t> used_in(const models::answers& x) {
  std::map<std::string, std::uint64_t> used;
  for (const auto instance : x.instances)
    ++used[std::to_string(instance)];
  return used;
}

void print(const prediction& x, const std::string& to, std::ostream& out) {
  if (x.first_line_is_a_row)
    out << "the first line of the table is numbers alone: it is taken for a "
           "row, and no header\n";
  if (!x.note.empty())
    out << x.note << '\n';
  if (!x.experts.empty()) {
    out << "asked for experts ";
    for (std::size_t i = 0; i < x.experts.size(); ++i)
      out << (i > 0 ? ", " : "") << x.experts[i];
    out << '\n';
  }
  out << to << ": " << x.said.classes.size() << " rows, from " << x.bytes_read
      << " bytes of values" << std::endl;
}

json to_json(const prediction& x, const std::string& to) {
  return {{"success", true},
          {"file", to},
          {"rows", x.said.classes.size()},
          {"first_line_is_a_row", x.first_line_is_a_row},
          {"note", x.note.empty() ? json(nullptr) : json(x.note)},
          {"experts", x.experts},
          {"used", used_in(x.said)},
          {"bytes_read", x.bytes_read}};
}

result<prediction> predicted(const std::string& folder,
                             const std::string& inputs, const std::string& to,
                             const model_maker& make_model) {
  auto run = read_finished_run(folder, make_model);
  if (!run)
    return tl::make_unexpected(run.error());
  if (auto ok = check_predicts(*run); !ok)
    return tl::make_unexpected(ok.error());
  auto data = read_unlabelled(run->x, inputs, run->work.shape);
  if (!data)
    return tl::make_unexpected(data.error());
  auto said = predict(*run, std::move(data->data), make_model);
  if (!said)
    return said;
  said->first_line_is_a_row = data->first_line_is_a_row;
  said->note = std::move(data->note);
  const auto text = as_csv(said->said);
  const std::array parts{std::as_bytes(std::span{text})};
  if (auto ok = models::replace_file(to, parts, {}); !ok)
    return tl::make_unexpected(ok.error());
  return said;
}

} // namespace

exit_code predict_command(const model_maker& make_model, arguments args,
                          streams io) {
  command_line line{{"predict",
                     "Says what inputs without labels are, as a client that "
                     "the run never knew.",
                     "predict runs/20261121-113226-domains --data "
                     "unknown.idx3-ubyte.gz --to predictions.csv"}};
  std::string folder;
  std::string inputs;
  std::string to;
  line.add("RUN", &folder, "the folder of a run that has ended",
           {.required = true});
  line.add("--data", &inputs,
           "inputs without labels: IDX images, or a table whose name ends in "
           ".csv",
           {.required = true});
  line.add("--to", &to, "the table to write: row,label,expert",
           {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  const auto x = told_while(io.err, reading_a_run, [&](const auto&) {
    return predicted(folder, inputs, to, make_model);
  });
  if (!x)
    return report(x.error(), line.json(), io);
  if (line.json())
    io.out << to_json(*x, to).dump(2) << std::endl;
  else
    print(*x, to, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
