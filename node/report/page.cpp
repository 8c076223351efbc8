#include "node/report/page.hpp"

#include <array>

#include "models/files.hpp"
#include "node/report/facts.hpp"
#include "node/report/figures.hpp"
#include "node/report/markup.hpp"
#include "node/report/routing.hpp"
#include "node/report/style.hpp"
#include "node/report/token_routing.hpp"

namespace troupe::node {

namespace {

std::string html_of(const drawn_figure& f) {
  std::string text =
    (f.drawing.empty() ? "<figure class=\"empty\"><h3>" : "<figure><h3>")
    + escaped(f.title) + "</h3>";
  if (!f.keys.empty())
    text += "<div class=\"keys\">" + f.keys + "</div>";
  text += f.drawing;
  if (!f.says.empty())
    text += "<figcaption"
            + std::string{f.drawing.empty() ? " class=\"none\"" : ""} + ">"
            + f.says + "</figcaption>";
  return text + "</figure>\n";
}

std::string section(const std::string& title,
                    const std::vector<drawn_figure>& figures) {
  std::string text =
    "<section><h2>" + title + "</h2>\n<div class=\"figures\">\n";
  for (const auto& f : figures)
    text += html_of(f);
  return text + "</div></section>\n";
}

/// What is odd about its end.
std::string notes_of(const run_record& x) {
  const auto* notes = x.ended ? x.ended->find("notes") : nullptr;
  const auto* all = notes ? notes->items() : nullptr;
  std::string text;
  if (all)
    for (const auto& note : *all)
      if (note.text())
        text += "<p class=\"status open\"><b>Note:</b> " + escaped(*note.text())
                + "</p>\n";
  return text;
}

std::string learning(const run_record& x) {
  const auto figures = figures_of_learning(x);
  if (figures.empty())
    return "<section><h2>How it learned</h2><p class=\"none\">No version was "
           "made"
           + std::string{x.evaluations > 0
                           ? ", and no evaluation has accuracies or a loss"
                           : ""}
           + ", so there is no curve.</p></section>\n";
  auto text = section("How it learned", figures);
  if (x.evaluations == 0)
    text += "<p class=\"aside\">Nothing was evaluated on test data"
            + std::string{x.x && x.x->evaluate_every == 0
                            ? " (<code>evaluate_every = 0</code>)"
                            : ""}
            + ": the loss is that of the training.</p>\n";
  else if (!x.has_accuracies())
    text += "<p class=\"aside\">This workload has no labels, so there is no "
            "accuracy.</p>\n";
  return text;
}

std::string beginning(const std::string& name) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>"
         + escaped(name) + " – troupe</title>\n<style>"
         + std::string{page_style} + "</style></head>\n<body><main>\n";
}

constexpr const char* ending = "</main></body></html>\n";

} // namespace

std::string page_of_tokens(const std::string& title,
                           const std::filesystem::path& folder) {
  return beginning(title) + "<header><h1>" + escaped(title) + "</h1></header>\n"
         + section("Where tokens go", figures_of_tokens(folder, {})) + ending;
}

std::string page_of(const run_record& x) {
  auto text = beginning(x.x ? x.x->name : x.folder.filename().string());
  text += heading(x) + notes_of(x) + tiles(x) + learning(x);
  text += section("Who took part", figures_of_clients(x));
  if (const auto routing = figures_of_routing(x); !routing.empty())
    text += section("Who asks for which expert", routing);
  if (const auto tokens = figures_of_tokens(x.folder, x.x); !tokens.empty())
    text += section("Where tokens go", tokens);
  text += section("Pace", figures_of_pace(x));
  text += "<section class=\"tables\">" + table_of_ends(x) + table_of_lines(x)
          + table_of_run(x) + "</section>\n";
  text += "<details><summary>config.toml</summary><pre>" + escaped(x.config)
          + "</pre></details>\n" + footnotes(x);
  return text + ending;
}

result<std::filesystem::path> write_report(const std::filesystem::path& folder,
                                           const std::filesystem::path& to) {
  const auto x = read_run(folder);
  if (!x)
    return tl::make_unexpected(x.error());
  const auto page = page_of(*x);
  const auto path = to.empty() ? folder / "report.html" : to;
  const std::array parts{std::as_bytes(std::span{page})};
  return models::replace_file(path, parts, {}).map([&] { return path; });
}

} // namespace troupe::node
