#include "models/data/csv.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/random.hpp"
#include "core/text.hpp"
#include "models/data/cell.hpp"
#include "models/data/classes.hpp"
#include "models/files.hpp"

namespace troupe::models {

namespace {

constexpr std::int64_t labels_max = 65'536;

/// Where an error is, as compilers and editors write it.
tl::unexpected<error> fail_at_line(std::string_view origin, std::size_t line,
                                   const std::string& what) {
  return fail(errc::invalid_data,
              std::string{origin} + ":" + std::to_string(line) + ": " + what);
}

std::string shown_cell(std::string_view x) {
  constexpr std::size_t most = 40;
  return x.size() > most ? in_quotes(std::string{x.substr(0, most)} + "…")
                         : in_quotes(x);
}

/// Takes records off a text, one by one.
class record_reader {
public:
  record_reader(std::string_view text, std::string_view origin, char separator)
    : rest_(text),
      origin_(origin),
      separator_(separator) {
    if (rest_.substr(0, 3) == "\xef\xbb\xbf") // A byte order mark.
      rest_.remove_prefix(3);
  }

  /// The line where the last record began.
  std::size_t line() const noexcept {
    return line_;
  }

  /// The next record that is not an empty line into `fields`; false at the end.
  result<bool> next(std::vector<std::string>& fields) {
    do {
      if (rest_.empty())
        return false;
      line_ = next_line_;
      fields.clear();
      bool more = true;
      while (more) {
        fields.emplace_back();
        auto ok = take_field(fields);
        if (!ok)
          return ok;
        more = *ok;
      }
    } while (fields.size() == 1 && fields[0].empty());
    return true;
  }

private:
  /// Whether another field follows in this record.
  result<bool> take_field(std::vector<std::string>& fields) {
    if (!rest_.empty() && rest_[0] == '"') {
      if (!take_quoted(fields.back()))
        return fail_at_line(origin_, line_,
                            "the quote that opens column "
                              + std::to_string(fields.size())
                              + " is not closed before a separator or the end");
    } else {
      const char ends[] = {separator_, '\n'};
      const auto n = std::min(rest_.find_first_of({ends, 2}), rest_.size());
      fields.back() = rest_.substr(0, n);
      rest_.remove_prefix(n);
      const bool last = rest_.empty() || rest_[0] == '\n';
      if (last && !fields.back().empty() && fields.back().back() == '\r')
        fields.back().pop_back();
    }
    if (rest_.empty())
      return false;
    const bool more = rest_[0] == separator_;
    next_line_ += more ? 0 : 1;
    rest_.remove_prefix(1);
    return more;
  }

  bool take_quoted(std::string& field) {
    rest_.remove_prefix(1);
    for (;;) {
      const auto n = rest_.find('"');
      if (n == rest_.npos)
        return false;
      field += rest_.substr(0, n);
      next_line_ += static_cast<std::size_t>(std::count(
        rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(n), '\n'));
      rest_.remove_prefix(n + 1);
      if (rest_.empty() || rest_[0] != '"')
        break;
      field += '"';
      rest_.remove_prefix(1);
    }
    if (rest_.substr(0, 2) == "\r\n")
      rest_.remove_prefix(1);
    return rest_.empty() || rest_[0] == separator_ || rest_[0] == '\n';
  }

  std::string_view rest_;
  std::string_view origin_;
  char separator_;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
};

/// Which field is what.
struct header {
  std::vector<std::string> names;
  std::optional<std::size_t> label;
  std::optional<std::size_t> partition;
  bool is_there = true; ///< Else names are empty.

  bool feature(std::size_t i) const noexcept {
    return i != label && i != partition;
  }
};

result<header> make_header(std::vector<std::string> names, std::size_t line,
                           std::string_view origin, const csv_options& opts) {
  for (auto& name : names)
    name = std::string{trimmed_cell(name)};
  if (std::set<std::string_view>{names.begin(), names.end()}.size()
      < names.size())
    return fail_at_line(origin, line, "two columns have the same name");
  const auto find = [&](const std::string& name) -> result<std::size_t> {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end())
      return static_cast<std::size_t>(at - names.begin());
    std::string found;
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 10); ++i)
      found += (i ? ", " : "") + shown_cell(names[i]);
    return fail_at_line(origin, line,
                        "no column is named " + shown_cell(name)
                          + "; the first are " + found);
  };
  header x;
  if (!opts.label.empty()) {
    auto label = find(opts.label);
    if (!label)
      return tl::unexpected{label.error()};
    x.label = *label;
  }
  if (!opts.partition.empty()) {
    auto partition = find(opts.partition);
    if (!partition)
      return tl::unexpected{partition.error()};
    x.partition = *partition;
  }
  std::size_t others = x.label ? 1 : 0;
  if (x.partition && x.partition != x.label)
    ++others;
  if (names.size() <= others)
    return fail_at_line(origin, line, "there is no column to learn from");
  x.names = std::move(names);
  return x;
}

result<void> append_row(const std::vector<std::string>& fields,
                        std::size_t line, std::string_view origin,
                        const header& head, std::int64_t classes,
                        csv_table& to) {
  if (fields.size() != head.names.size())
    return fail_at_line(origin, line,
                        "has " + std::to_string(fields.size()) + " fields; "
                          + std::to_string(head.names.size()) + ", as in the "
                          + (head.is_there ? "header" : "first row")
                          + ", would do");
  auto& values = std::get<std::vector<float>>(to.examples.inputs[0].values);
  const auto refuse = [&](std::size_t i, const std::string& good) {
    const auto named =
      head.is_there ? " (" + printable(head.names[i].substr(0, 40)) + ")" : "";
    return fail_at_line(origin, line,
                        "column " + std::to_string(i + 1) + named + " holds "
                          + shown_cell(fields[i]) + "; " + good + " would do");
  };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!head.feature(i))
      continue;
    const auto x = finite_in(fields[i]);
    if (!x)
      return refuse(i, "a finite number");
    values.push_back(*x);
  }
  if (head.label) {
    const auto label = integer_in(fields[*head.label]);
    if (!label || *label < 0 || *label >= classes)
      return refuse(*head.label,
                    "an integer from 0 to " + std::to_string(classes - 1));
    to.examples.labels.push_back(*label);
  } else {
    to.examples.labels.push_back(0);
  }
  if (head.partition)
    to.partition.emplace_back(trimmed_cell(fields[*head.partition]));
  ++to.examples.size;
  return {};
}

result<csv_table> read_table(const std::filesystem::path& path,
                             const csv_options& opts) {
  const auto bytes = read_file(path, errc::invalid_data);
  if (!bytes)
    return tl::unexpected{bytes.error()};
  return parse_csv(
    {reinterpret_cast<const char*>(bytes->data()), bytes->size()},
    path.string(), opts);
}

std::vector<std::int64_t> numbered(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> xs;
  for (const auto& text : texts) {
    const auto x = integer_in(text);
    if (!x)
      break;
    xs.push_back(*x);
  }
  if (xs.size() == texts.size())
    return xs;
  const std::set<std::string_view> sorted{texts.begin(), texts.end()};
  const std::vector<std::string_view> places{sorted.begin(), sorted.end()};
  xs.clear();
  for (const auto& text : texts)
    xs.push_back(std::lower_bound(places.begin(), places.end(), text)
                 - places.begin());
  return xs;
}

example_set chosen(const example_set& from, std::span<const std::size_t> rows) {
  const auto& column = from.inputs[0];
  const auto& values = std::get<std::vector<float>>(column.values);
  const auto width = values.size() / from.size;
  std::vector<float> taken;
  example_set x;
  x.size = rows.size();
  for (const auto row : rows) {
    x.labels.push_back(from.labels[row]);
    const auto first =
      values.begin() + static_cast<std::ptrdiff_t>(row * width);
    taken.insert(taken.end(), first,
                 first + static_cast<std::ptrdiff_t>(width));
  }
  x.inputs.push_back(
    {.name = column.name, .shape = column.shape, .values = std::move(taken)});
  return x;
}

/// Moves a random share of the training rows to the test set.
result<void> split_off_test(dataset& x, const csv_files& files) {
  const auto n = x.train.size;
  const auto count = static_cast<std::size_t>(
    std::round(files.test_share * static_cast<double>(n)));
  if (!(files.test_share >= 0) || count >= n)
    return fail(errc::invalid_config,
                files.train.string() + ": a test share of "
                  + std::to_string(files.test_share)
                  + " leaves nothing to train on; from 0 to below 1 would do");
  std::vector<std::size_t> rows(n);
  for (std::size_t i = 0; i < n; ++i)
    rows[i] = i;
  random_stream{derive_seed(files.seed, "test rows")}.shuffle(rows);
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(rows.begin(), middle);
  std::sort(middle, rows.end());
  const auto all = std::move(x.train);
  x.test = chosen(all, {rows.begin(), middle});
  x.train = chosen(all, {middle, rows.end()});
  if (!x.partition_column.empty()) {
    std::vector<std::int64_t> kept;
    for (auto row = middle; row != rows.end(); ++row)
      kept.push_back(x.partition_column[*row]);
    x.partition_column = std::move(kept);
  }
  return {};
}

} // namespace

result<csv_table> parse_csv(std::string_view text, std::string_view origin,
                            const csv_options& opts) {
  record_reader records{text, origin, opts.separator};
  std::vector<std::string> fields;
  auto more = records.next(fields);
  if (more && !*more)
    return fail_at_line(origin, 1,
                        opts.may_lack_header
                          ? "there are no rows; at least one would do"
                          : "there is no header row");
  if (!more)
    return tl::unexpected{more.error()};
  const bool lacks_header =
    opts.may_lack_header && std::ranges::all_of(fields, [](const auto& y) {
      return decimal_in(y).has_value();
    });
  const auto head =
    lacks_header
      ? result<header>{header{.names = std::vector<std::string>(fields.size()),
                              .label = {},
                              .partition = {},
                              .is_there = false}}
      : make_header(fields, records.line(), origin, opts);
  if (!head)
    return tl::unexpected{head.error()};
  csv_table x;
  x.has_header = head->is_there;
  x.first_line = records.line();
  if (x.has_header)
    x.numbers_in_header = static_cast<std::size_t>(std::ranges::count_if(
      fields, [](const auto& y) { return finite_in(y).has_value(); }));
  for (std::size_t i = 0; i < head->names.size(); ++i)
    if (head->feature(i))
      x.features.push_back(head->names[i]);
  x.examples.inputs.push_back(
    {.name = "x",
     .shape = {static_cast<std::int64_t>(x.features.size())},
     .values = std::vector<float>{}});
  const auto classes = opts.classes ? opts.classes : labels_max;
  if (!head->is_there)
    if (auto ok = append_row(fields, records.line(), origin, *head, classes, x);
        !ok)
      return tl::unexpected{ok.error()};
  while ((more = records.next(fields)) && *more)
    if (auto ok = append_row(fields, records.line(), origin, *head, classes, x);
        !ok)
      return tl::unexpected{ok.error()};
  if (!more)
    return tl::unexpected{more.error()};
  if (x.examples.size == 0)
    return fail_at_line(origin, records.line(), "no row follows the header");
  return x;
}

result<dataset> read_csv(const csv_files& files, const csv_options& opts) {
  auto train = read_table(files.train, opts);
  if (!train)
    return tl::unexpected{train.error()};
  dataset x;
  x.name = files.train.stem().string();
  x.partition_column = numbered(train->partition);
  const auto classes =
    count_classes(train->examples.labels, opts.classes, files.train.string());
  if (!classes)
    return tl::unexpected{classes.error()};
  x.classes = *classes;
  x.train = std::move(train->examples);
  if (files.test.empty()) {
    if (auto ok = split_off_test(x, files); !ok)
      return tl::unexpected{ok.error()};
    return x;
  }
  auto test_opts = opts;
  test_opts.classes = x.classes;
  auto test = read_table(files.test, test_opts);
  if (!test)
    return tl::unexpected{test.error()};
  if (test->features != train->features)
    return fail_at_line(files.test.string(), 1,
                        "the columns differ from those of "
                          + files.train.string()
                          + "; the same names in the same order would do");
  x.test = std::move(test->examples);
  return x;
}

} // namespace troupe::models
