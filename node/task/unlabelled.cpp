#include "node/task/unlabelled.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/data/csv.hpp"
#include "models/data/idx.hpp"
#include "models/data/pixels.hpp"
#include "models/files.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

struct inputs_found {
  models::example_set rows;
  bool first_line_is_a_row = false;
  std::string note = {};
};

/// A row of which a cell is no number looks like names.
std::string doubt_of_header(const models::csv_table& x, const fs::path& path) {
  if (x.numbers_in_header == 0)
    return {};
  return path.string() + ":" + std::to_string(x.first_line)
         + " is taken as a header, though "
         + std::to_string(x.numbers_in_header) + " of "
         + std::to_string(x.features.size()) + " of its columns are numbers";
}

/// @param columns 0: none, of examples that are no rows of a table
result<inputs_found> read_table(const fs::path& path, std::int64_t columns) {
  const auto bytes = models::read_file(path, errc::invalid_data);
  if (!bytes)
    return tl::make_unexpected(bytes.error());
  const std::string_view text{reinterpret_cast<const char*>(bytes->data()),
                              bytes->size()};
  auto x = models::parse_csv(text, path.string(),
                             {.label = "", .may_lack_header = true});
  if (!x)
    return tl::make_unexpected(x.error());
  const auto found = static_cast<std::int64_t>(x->features.size());
  if (columns > 0 && found != columns)
    return fail(
      errc::invalid_data,
      path.string() + ":" + std::to_string(x->first_line) + ": has "
        + std::to_string(found) + " columns, and the run learned from "
        + std::to_string(columns) + "; as many, without a label, would do");
  auto note = doubt_of_header(*x, path);
  return inputs_found{std::move(x->examples), !x->has_header, std::move(note)};
}

/// Of count x height x width, or of count x channels x height x width.
result<models::example_set> read_images(const fs::path& path) {
  auto found = models::read_idx(path);
  if (!found)
    return tl::make_unexpected(found.error());
  auto& shape = found->shape;
  if (shape.size() < 3 || shape.size() > 4)
    return fail(errc::invalid_data,
                path.string() + ": has " + std::to_string(shape.size())
                  + " dimensions; 3 would do, or 4 of images with channels");
  models::example_set set;
  set.size = static_cast<std::size_t>(shape.front());
  set.labels.assign(set.size, 0);
  if (shape.size() == 3)
    shape.front() = 1;
  else
    shape.erase(shape.begin());
  set.inputs.push_back({.name = "image",
                        .shape = std::move(shape),
                        .values = std::move(found->values)});
  return set;
}

/// By its name, in large letters or small ones.
result<inputs_found> read_inputs(const fs::path& path,
                                 const example_shape& wanted) {
  const auto name = in_small_letters(path.filename().string());
  if (name.ends_with(".csv"))
    return read_table(path,
                      wanted.inputs.size() == 1 ? wanted.inputs.front() : 0U);
  if (name.ends_with(".csv.gz"))
    return fail(errc::invalid_data,
                path.string()
                  + ": is a packed table, of which only images are read; the "
                    "same unpacked, as a .csv, would do");
  return read_images(path).map(
    [](models::example_set x) { return inputs_found{std::move(x)}; });
}

/// Images of one channel are spoken of by their height and width.
template <class Extents>
std::string as_text(const Extents& extents) {
  std::string out;
  for (std::size_t i = extents.size() == 3 && extents[0] == 1 ? 1 : 0;
       i < extents.size(); ++i)
    out += (out.empty() ? "" : " x ") + std::to_string(extents[i]);
  return out;
}

result<void> check_unlabelled(const models::example_set& found,
                              const fs::path& path,
                              const example_shape& wanted) {
  const auto wrong = [&](const std::string& what) {
    return fail(errc::invalid_data, path.string() + " " + what);
  };
  const auto& shape = found.inputs.front().shape;
  if (!std::ranges::equal(shape, wanted.inputs))
    return wrong("has examples of " + as_text(shape)
                 + ", and the run learned from " + as_text(wanted.inputs)
                 + "; inputs of that shape, without a label, would do");
  if (found.size == 0)
    return wrong("has no examples; at least one would do");
  return {};
}

/// Of the same kind, and none of them.
models::example_set none_of(const models::example_set& x) {
  models::example_set none;
  auto column = x.inputs.front();
  std::visit([](auto& values) { values.clear(); }, column.values);
  none.inputs.push_back(std::move(column));
  return none;
}

} // namespace

result<unlabelled_rows> read_unlabelled(const experiment& x,
                                        const fs::path& path,
                                        const example_shape& wanted) {
  auto found = read_inputs(path, wanted);
  if (!found)
    return tl::make_unexpected(found.error());
  if (auto ok = check_unlabelled(found->rows, path, wanted); !ok)
    return tl::make_unexpected(ok.error());
  models::dataset data;
  data.name = path.stem().string();
  data.test = none_of(found->rows);
  data.train = std::move(found->rows);
  data.classes = wanted.classes;
  if (auto ok = models::set_pixels(data, x.data.pixels); !ok)
    return tl::make_unexpected(ok.error());
  return unlabelled_rows{
    .data = std::make_shared<const models::dataset>(std::move(data)),
    .first_line_is_a_row = found->first_line_is_a_row,
    .note = std::move(found->note)};
}

} // namespace troupe::node
