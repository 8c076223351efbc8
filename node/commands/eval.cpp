#include "node/commands/eval.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "models/families.hpp"
#include "models/files.hpp"
#include "node/commands/command_line.hpp"
#include "node/task/finished_run.hpp"

namespace troupe::node {

namespace {

/// What each model is worth on each client's own test rows.
struct matrix {
  std::vector<std::string> experts;
  std::vector<std::uint64_t> clients; ///< Who has test rows.
  /// accuracy[c][e]: of expert e on the rows of client c.
  std::vector<std::vector<double>> accuracy;
};

result<void> check_has_several(const finished_run& run) {
  const auto& method = run.work.method;
  if (run.work.blocks->family(models::model_family).size() < 2)
    return fail(errc::invalid_config,
                "method '" + method.name
                  + "' has no several models to be compared; summary.json "
                    "says what its one is worth");
  if (!run.work.has_labels)
    return fail(errc::invalid_config,
                "this data has no labels, so no model has an accuracy; data "
                "with labels would do");
  return {};
}

/// Of an instance: its own buffers, those that all share, or a fresh model's.
result<std::vector<float>> buffers_for(finished_run& run, std::size_t instance,
                                       models::objective& model) {
  const auto all = run.work.blocks->family(models::buffers_family);
  if (all.empty())
    return model.initial_buffers();
  return read_block(run, all[std::min(instance, all.size() - 1)])
    .map([](const models::fetched_block& x) { return x.values.copy(); });
}

/// Makes an instance live.
result<void> load(finished_run& run, std::size_t instance, block_id id,
                  models::objective& model) {
  const auto parameters = read_block(run, id);
  if (!parameters)
    return tl::make_unexpected(parameters.error());
  const auto buffers = buffers_for(run, instance, model);
  if (!buffers)
    return tl::make_unexpected(buffers.error());
  model.begin();
  std::ranges::copy(*parameters->values, model.parameters().begin());
  std::ranges::copy(*buffers, model.buffers().begin());
  return {};
}

result<matrix> matrix_of(finished_run& run) {
  if (auto ok = check_has_several(run); !ok)
    return tl::make_unexpected(ok.error());
  auto model = run.make_objective();
  if (!model)
    return tl::make_unexpected(model.error());
  const auto& rows = run.work.task->clients.test;
  matrix x;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!rows[k].empty())
      x.clients.push_back(k + 1);
  x.accuracy.resize(x.clients.size());
  const auto ids = run.work.blocks->family(models::model_family);
  for (std::size_t e = 0; e < ids.size(); ++e) {
    x.experts.push_back(run.work.blocks->find(ids[e])->name);
    if (auto ok = load(run, e, ids[e], **model); !ok)
      return tl::make_unexpected(ok.error());
    for (std::size_t c = 0; c < x.clients.size(); ++c) {
      const auto found =
        (*model)->evaluate(models::split::test, rows[x.clients[c] - 1]);
      if (!found)
        return tl::make_unexpected(found.error());
      x.accuracy[c].push_back(found->accuracy());
    }
  }
  return x;
}

json to_json(const matrix& x) {
  return {
    {"experts", x.experts}, {"clients", x.clients}, {"accuracy", x.accuracy}};
}

void print(const matrix& x, std::ostream& out) {
  out << "client";
  for (const auto& name : x.experts)
    out << "  " << name;
  out << std::fixed << std::setprecision(4) << '\n';
  for (std::size_t c = 0; c < x.clients.size(); ++c) {
    out << std::setw(6) << x.clients[c];
    for (std::size_t e = 0; e < x.experts.size(); ++e)
      out << std::setw(static_cast<int>(x.experts[e].size()) + 2)
          << x.accuracy[c][e];
    out << '\n';
  }
}

result<matrix> written(const std::filesystem::path& folder,
                       const model_maker& make_model) {
  auto run = read_finished_run(folder, make_model);
  if (!run)
    return tl::make_unexpected(run.error());
  auto x = matrix_of(*run);
  if (!x)
    return x;
  const auto text = to_json(*x).dump(2) + "\n";
  const std::array parts{std::as_bytes(std::span{text})};
  if (auto ok = models::replace_file(folder / "matrix.json", parts, {}); !ok)
    return tl::make_unexpected(ok.error());
  return x;
}

} // namespace

exit_code eval_command(const model_maker& make_model, arguments args,
                       streams io) {
  command_line line{{"eval",
                     "Scores each of a run's models on each client's rows.",
                     "eval runs/20261121-113226-domains --matrix"}};
  std::string folder;
  bool all = false;
  line.add("RUN", &folder, "the folder of a run that has ended",
           {.required = true});
  line.add("--matrix", &all,
           "every expert on the test rows of every client, into matrix.json",
           {.required = true});
  if (const auto end = line.parse(args, io))
    return *end;
  const auto x = written(folder, make_model);
  if (!x)
    return report(x.error(), line.json(), io);
  if (line.json()) {
    auto object = to_json(*x);
    object["success"] = true;
    io.out << object.dump(2) << std::endl;
  } else {
    print(*x, io.out);
  }
  return exit_code::ok;
}

} // namespace troupe::node
