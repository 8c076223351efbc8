#include "node/task/texts_left_out.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text.hpp"
#include "models/language/documents.hpp"

namespace troupe::node {

namespace {

std::string enumerated(const std::vector<std::string>& xs) {
  std::string out;
  for (std::size_t i = 0; i < xs.size(); ++i)
    out += (i == 0 ? "" : i + 1 < xs.size() ? ", " : " and ") + xs[i];
  return out;
}

} // namespace

texts_left_out left_out_of(const models::language_data& x) {
  return {.paragraphs = x.dropped_paragraphs()};
}

texts_left_out left_out_of(const models::labelled_rows& x) {
  texts_left_out out{.paragraphs = x.dropped_paragraphs(),
                     .rows = x.left_out()};
  for (const auto& [user, count] : x.emptied())
    out.texts += count;
  return out;
}

std::vector<std::string> files_left_out(const data_options& x) {
  return x.users.empty() && !x.brought ? models::files_of_nobody(x.path)
                                       : std::vector<std::string>{};
}

std::string about_files(const std::vector<std::string>& files) {
  constexpr std::size_t listed_max = 4;
  if (files.empty())
    return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(listed_max, files.size()); ++i)
    names.push_back(in_quotes(shortened(files[i])));
  if (files.size() > listed_max)
    names.push_back(so_many(files.size() - listed_max, "other file"));
  return enumerated(names) + (files.size() == 1 ? " is" : " are")
         + " of no user: a name that ends with .txt or .jsonl, or a folder, "
           "would do";
}

std::string about_left_out(const texts_left_out& x) {
  const auto files = about_files(x.files);
  std::vector<std::string> gone;
  if (x.paragraphs > 0)
    gone.push_back(so_many(x.paragraphs, "repeated paragraph"));
  if (x.texts > 0)
    gone.push_back(so_many(x.texts, "blank or wholly repeated text"));
  if (x.rows > 0)
    gone.push_back(so_many(x.rows, "row"));
  if (gone.empty())
    return files;
  return files + (files.empty() ? "" : "; ") + enumerated(gone)
         + (x.paragraphs + x.texts + x.rows == 1 ? " is" : " are")
         + " left out of what is learned from and tested with; troupe data "
           "inspect says more";
}

json to_json(const texts_left_out& x) {
  return {{"paragraphs", x.paragraphs}, {"texts", x.texts}, {"rows", x.rows}};
}

} // namespace troupe::node
