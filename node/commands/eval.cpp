#include "node/commands/eval.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
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
#include "node/commands/eval_looks.hpp"
#include "node/commands/eval_prompts.hpp"
#include "node/commands/eval_routing.hpp"
#include "node/commands/eval_text.hpp"
#include "node/commands/eval_writing.hpp"
#include "node/commands/export_blocks.hpp"
#include "node/task/finished_run.hpp"
#include "node/watch/wait_notice.hpp"

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
  auto model = run.work.make_objective();
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

result<matrix> written_matrix(const std::filesystem::path& folder,
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

/// What is scored: a run, or a model by itself.
struct eval_wishes {
  std::string folder;
  bool matrix = false;
  bool routing = false;
  bool writing = false;
  std::string model;
  std::string text;
  std::string prompts;
  std::string tokenizer;
  std::size_t context = 0; ///< 0: not said; so are the next.
  std::size_t beam = 0;
  std::size_t tokens = 0;

  void add_to(command_line& line) {
    line.add("RUN", &folder,
             "the folder of a run that has ended; of --routing also the store "
             "of a process that joined one");
    line.add("--matrix", &matrix,
             "every expert on the test rows of every client, into matrix.json");
    line.add("--routing", &routing,
             "where tokens of clients' test rows go, into routing.json: the "
             "run is computed again, and of a store nothing is");
    line.add("--writing", &writing,
             "what clients' own models write of what their test rows "
             "describe, into writing.json: likewise");
    line.add("--model", &model,
             "a language model: a folder with config.json, a .safetensors "
             "beside one, a .gguf",
             {.not_empty = true});
    line.add("--text", &text, "of --model: what it is to foretell, a file",
             {.not_empty = true});
    line.add("--prompts", &prompts,
             "of --model: what it is to go on with, a file of lines, or of "
             "{\"prompt\", \"meant\"} if it ends in .jsonl",
             {.not_empty = true});
    line.add("--tokenizer", &tokenizer,
             "of --model: a tokenizer's file or folder, a .gguf, or bytes; the "
             "model's own without it",
             {.not_empty = true});
    line.add("--context", &context,
             "of --text: tokens of a window; as many as the model takes and "
             "the text has, but at most 1024, without it",
             {.range = {{1, 1 << 24}}});
    line.add("--beam", &beam,
             "of --prompts and --writing: how many texts are followed at "
             "once; 1 without it",
             {.range = {{1, 64}}});
    line.add("--tokens", &tokens,
             "of --prompts and --writing: how many are written at most; 32 "
             "without it",
             {.range = {{1, 4096}}});
  }

  bool is_of_run() const {
    return !folder.empty() || looks() > 0;
  }

  bool is_of_model() const {
    return !model.empty() || !tokenizer.empty() || !prompts.empty()
           || is_of_text();
  }

  /// How many things a run is looked at for.
  int looks() const {
    return (matrix ? 1 : 0) + (routing ? 1 : 0) + (writing ? 1 : 0);
  }

  bool is_of_text() const {
    return !text.empty() || context > 0;
  }

  bool is_of_prompts() const {
    return !prompts.empty() || bounds_texts();
  }

  bool bounds_texts() const {
    return beam > 0 || tokens > 0;
  }

  /// To who asks for texts.
  void bound(auto& question) const {
    if (beam > 0)
      question.beam = beam;
    if (tokens > 0)
      question.tokens = tokens;
  }
};

failure missing(const std::string& what) {
  return {.code = "usage",
          .what = what + " is required",
          .hint = "troupe eval --help shows an example"};
}

/// What is wrong where a run is scored; empty: nothing.
failure misuse_of_run(const eval_wishes& x) {
  if (x.looks() > 1)
    return {.code = "usage",
            .what = "models are compared, routers looked at, or texts written",
            .hint = "--matrix, --routing or --writing would do"};
  if (x.looks() == 1 && !x.writing && x.bounds_texts())
    return {.code = "usage",
            .what = "--beam and --tokens are of texts that are written",
            .hint = "--writing, or --model with --prompts, would do"};
  if (x.folder.empty())
    return missing("RUN");
  return x.looks() == 0 ? nothing_asked_of(x.folder) : failure{};
}

/// What is wrong where a model by itself is; empty: nothing.
failure misuse_of_model(const eval_wishes& x) {
  if (x.is_of_text() && x.is_of_prompts())
    return {.code = "usage",
            .what = "a model foretells a text, or goes on with prompts",
            .hint = "--text with --context, or --prompts with --beam and "
                    "--tokens, would do"};
  if (x.model.empty())
    return missing("--model");
  if (x.is_of_prompts())
    return x.prompts.empty() ? missing("--prompts") : failure{};
  if (x.context > 0 && x.text.empty())
    return missing("--text");
  return x.text.empty() ? missing("--text or --prompts") : failure{};
}

/// What is wrong with what was said together; empty: nothing.
failure misuse(const eval_wishes& x) {
  if (x.is_of_run() != x.is_of_model())
    return x.is_of_run() ? misuse_of_run(x) : misuse_of_model(x);
  return {.code = "usage",
          .what = x.is_of_run() ? "a run is scored, or a model by itself"
                                : "nothing is said to be scored",
          .hint = "RUN with --matrix, --routing or --writing, or --model with "
                  "--text or --prompts, would do"};
}

exit_code eval_model(const eval_wishes& x, bool in_json, streams io) {
  if (const auto why = run_for_a_model(x.model); !why.empty())
    return report(error{errc::invalid_data, why}, in_json, io);
  if (x.prompts.empty())
    return eval_text(x.model, x.text, x.tokenizer, x.context, in_json, io);
  prompts_question question{
    .model = x.model, .prompts = x.prompts, .tokenizer = x.tokenizer};
  x.bound(question);
  return eval_prompts(question, in_json, io);
}

exit_code eval_matrix(const std::string& folder, const model_maker& make_model,
                      bool in_json, streams io) {
  const auto x = told_while(io.err, reading_a_run, [&](const auto&) {
    return written_matrix(folder, make_model);
  });
  if (!x)
    return report(x.error(), in_json, io);
  if (in_json) {
    auto object = to_json(*x);
    object["success"] = true;
    io.out << object.dump(2) << std::endl;
  } else {
    print(*x, io.out);
  }
  return exit_code::ok;
}

exit_code eval_run(const eval_wishes& x, const model_maker& make_model,
                   bool in_json, streams io) {
  if (x.routing)
    return eval_routing(x.folder, make_model, in_json, io);
  if (!x.writing)
    return eval_matrix(x.folder, make_model, in_json, io);
  writing_question question{.folder = x.folder};
  x.bound(question);
  return eval_writing(question, make_model, in_json, io);
}

} // namespace

exit_code eval_command(const model_maker& make_model, arguments args,
                       streams io) {
  command_line line{{"eval",
                     "Scores each of a run's models on each client's rows, "
                     "looks where its tokens go or what its clients write, or "
                     "scores a language model on a text or by what it writes.",
                     "eval runs/20261121-113226-domains --matrix",
                     "eval --model build/language/models/small --text "
                     "report.txt\n  troupe eval "
                     "runs/20261121-113226-languages --routing"}};
  eval_wishes wish;
  wish.add_to(line);
  if (const auto end = line.parse(args, io))
    return *end;
  if (const auto wrong = misuse(wish); !wrong.what.empty())
    return report(wrong, exit_code::usage, line.json(), io);
  if (!wish.model.empty())
    return eval_model(wish, line.json(), io);
  return eval_run(wish, make_model, line.json(), io);
}

} // namespace troupe::node
