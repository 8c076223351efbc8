#include "node/task/texts_left_out.hpp"

#include <vector>

#include "core/text.hpp"

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

std::string about_left_out(const texts_left_out& x) {
  std::vector<std::string> gone;
  if (x.paragraphs > 0)
    gone.push_back(so_many(x.paragraphs, "repeated paragraph"));
  if (x.texts > 0)
    gone.push_back(so_many(x.texts, "blank or wholly repeated text"));
  if (x.rows > 0)
    gone.push_back(so_many(x.rows, "row"));
  if (gone.empty())
    return {};
  return enumerated(gone)
         + (x.paragraphs + x.texts + x.rows == 1 ? " is" : " are")
         + " left out of what is learned from and tested with; troupe data "
           "inspect says more";
}

json to_json(const texts_left_out& x) {
  return {{"paragraphs", x.paragraphs}, {"texts", x.texts}, {"rows", x.rows}};
}

} // namespace troupe::node
