#include "node/commands/eval_writing.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iomanip>
#include <ostream>
#include <span>
#include <utility>

#include "core/assert.hpp"
#include "core/json.hpp"
#include "models/continuations.hpp"
#include "models/files.hpp"
#include "models/homes.hpp"
#include "models/language/descriptions.hpp"
#include "node/commands/computed_again.hpp"
#include "node/task/labelled.hpp"
#include "node/task/language.hpp"

namespace troupe::node {

namespace {

/// Rows, and what writes what they describe: whichever model is live.
struct describer {
  const models::labelled_rows& rows;
  const models::tokenizer& by;
  models::model_continuations& model;
  models::continuation_rule how;
};

result<written_text> written_of(const describer& x,
                                const models::description& asked) {
  auto prompt = x.by.decode(asked.prompt);
  if (!prompt)
    return tl::make_unexpected(prompt.error());
  const auto found = x.model.go_on(asked.prompt, x.how);
  if (!found)
    return tl::make_unexpected(found.error());
  auto said = x.by.decode(found->tokens);
  if (!said)
    return tl::make_unexpected(said.error());
  return written_text{.of = {.text = std::move(*prompt), .meant = asked.meant},
                      .said = std::move(*said),
                      .log_chance = found->log_chance,
                      .has_ended = found->has_ended};
}

/// By the model that is live there.
result<client_writing> written_at(const models::client_at_home& home,
                                  const describer& x) {
  client_writing out{.client = home.own.visit.client};
  const auto asked =
    models::descriptions_of(x.rows, models::split::test, home.rows, x.by);
  if (!asked)
    return tl::make_unexpected(asked.error());
  std::vector<models::said_and_meant> pairs;
  for (const auto& one : *asked) {
    auto text = written_of(x, one);
    if (!text)
      return fail(text.error().code, "client "
                                       + std::to_string(out.client.value) + ": "
                                       + text.error().context);
    pairs.push_back({.said = text->said, .meant = text->of.meant});
    out.texts.push_back(std::move(*text));
    out.cut += one.cut;
  }
  out.scores = models::score_texts(pairs);
  return out;
}

result<void> check_describes(const finished_run& run) {
  if (run.x.data.text_task != models::text_task::describe)
    return fail(errc::invalid_config,
                "clients of this run describe nothing; a run with data.task = "
                "\"describe\" would do, or --model with --prompts");
  const auto& task = *run.work.task;
  for (const auto& role : task.method.roles)
    if (models::part_of(task.table, role.procedure.value,
                        &models::local_method::score))
      return fail(errc::invalid_config,
                  "clients of method '" + task.method.name
                    + "' answer by several models together, and a text is "
                      "written by one; a method that gives each client a model "
                      "would do");
  return {};
}

std::size_t ended_of(const client_writing& x) {
  return static_cast<std::size_t>(
    std::ranges::count_if(x.texts, &written_text::has_ended));
}

/// Figures alone.
json to_json(const client_writing& x) {
  std::size_t meant = 0;
  for (const auto& text : x.texts)
    meant += text.of.meant.size();
  return {{"client", x.client.value}, {"described", x.texts.size()},
          {"texts_meant", meant},     {"cut_off", x.cut},
          {"ended", ended_of(x)},     {"scores", json_of_scores(x.scores)}};
}

/// Texts are for who asks, and stay out of the folder.
json to_json(const writing_of_run& x, const writing_question& of,
             bool with_texts) {
  auto clients = json::array();
  for (const auto& one : x.clients) {
    auto client = to_json(one);
    auto texts = json::array();
    for (const auto& text : one.texts)
      texts.push_back(json_of_text(text));
    if (with_texts)
      client.add("texts", std::move(texts));
    clients.push_back(std::move(client));
  }
  return {{"beam", of.beam},
          {"tokens", of.tokens},
          {"clients", std::move(clients)},
          {"scores", json_of_scores(x.mean)}};
}

void print(const models::text_scores& x, std::ostream& out) {
  out << std::fixed << std::setprecision(4);
  for (const auto figure :
       {x.bleu, x.nist, x.meteor, x.rouge_l, x.cider, x.ter})
    out << std::setw(10) << figure;
  out << '\n';
}

void print(const writing_of_run& x, std::ostream& out) {
  out << "what each client's own model writes of what its test rows describe\n"
         "client  described  ended      BLEU      NIST    METEOR   ROUGE-L"
         "     CIDEr       TER\n";
  for (const auto& one : x.clients) {
    out << std::setw(6) << one.client.value << std::setw(11) << one.texts.size()
        << std::setw(7) << ended_of(one);
    print(one.scores, out);
  }
  out << std::left << std::setw(24) << "  mean" << std::right;
  print(x.mean, out);
  out << "METEOR knows no synonyms\n";
}

result<writing_of_run> kept_writing(const writing_question& x,
                                    const model_maker& make_model,
                                    const stage_teller& now) {
  auto found = writing_of(x, make_model, now);
  if (!found)
    return found;
  const auto text = to_json(*found, x, false).dump(2) + "\n";
  const std::array parts{std::as_bytes(std::span{text})};
  const auto file = std::filesystem::path{x.folder} / "writing.json";
  if (auto ok = models::replace_file(file, parts, {}); !ok)
    return tl::make_unexpected(ok.error());
  return found;
}

} // namespace

models::text_scores mean_of(const std::vector<client_writing>& xs) {
  using figures = models::text_scores;
  figures mean;
  const auto share = 1 / static_cast<double>(xs.size());
  for (const auto figure :
       {&figures::bleu, &figures::nist, &figures::meteor, &figures::rouge_l,
        &figures::cider, &figures::ter, &figures::exact, &figures::f1})
    for (const auto& x : xs)
      mean.*figure += share * (x.scores.*figure);
  return mean;
}

result<writing_of_run> writing_of(const writing_question& x,
                                  const model_maker& make_model,
                                  const stage_teller& now) {
  auto run = read_finished_run(x.folder, make_model);
  if (!run)
    return tl::make_unexpected(run.error());
  if (auto ok = check_describes(*run); !ok)
    return tl::make_unexpected(ok.error());
  const auto rows = load_labelled(run->x);
  if (!rows)
    return tl::make_unexpected(rows.error());
  const auto by = tokenizer_for(run->x);
  if (!by)
    return tl::make_unexpected(by.error());
  const auto site = site_of(run->work);
  if (!site)
    return tl::make_unexpected(site.error());
  models::evaluation_input last;
  const auto look = [&](const replayed_moment& moment) {
    last = moment.there;
    return result<void>{};
  };
  if (auto ok = compute_again(*run, make_model, look, now); !ok)
    return tl::make_unexpected(ok.error());
  auto* writes = site->model->continuations();
  TROUPE_ASSERT(writes != nullptr); // Else it could not learn to describe.
  const describer with{
    .rows = **rows,
    .by = **by,
    .model = *writes,
    .how = {.beam = static_cast<std::uint32_t>(x.beam),
            .tokens_max = static_cast<std::uint32_t>(x.tokens),
            .end = models::end_of_descriptions(**by)}};
  writing_of_run all{.clients = {}, .mean = {}};
  const auto done = models::for_each_home(
    last, site->at, *site->model, [&](const models::client_at_home& home) {
      if (now)
        now("writing what client " + std::to_string(home.own.visit.client.value)
            + " describes");
      return written_at(home, with).map([&](client_writing found) {
        all.clients.push_back(std::move(found));
      });
    });
  if (!done)
    return tl::make_unexpected(done.error());
  if (all.clients.empty())
    return fail(errc::invalid_config,
                "no client of this run has rows to be tested with; one with "
                "data.test_share above 0 would do");
  all.mean = mean_of(all.clients);
  return all;
}

exit_code eval_writing(const writing_question& x, const model_maker& make_model,
                       bool in_json, streams io) {
  const auto found = told_while(io.err, reading_a_run, [&](const auto& now) {
    return kept_writing(x, make_model, now);
  });
  if (!found)
    return report(found.error(), in_json, io);
  if (in_json) {
    auto object = to_json(*found, x, true);
    object["success"] = true;
    io.out << object.dump(2) << std::endl;
  } else {
    print(*found, io.out);
  }
  return exit_code::ok;
}

} // namespace troupe::node
