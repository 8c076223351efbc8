#include "models/language/language_data.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

namespace troupe::models {

namespace {

/// Rows are numbers of 32 bits.
constexpr std::uint64_t places_max = std::uint64_t{1} << 32;

/// Beyond a stream's end there is nothing.
void copy_tokens(const token_ids& from, std::size_t first,
                 std::span<std::int32_t> to) {
  const auto there =
    first < from.size() ? std::min(to.size(), from.size() - first) : 0;
  from.read(first, to.first(there));
  std::ranges::fill(to.subspan(there), -1);
}

/// So many numbers, a step apart.
std::vector<std::uint32_t> rows_from(std::uint64_t first, std::size_t count,
                                     std::size_t step) {
  std::vector<std::uint32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i)
    rows[i] = static_cast<std::uint32_t>(first + i * step);
  return rows;
}

result<void> check_size(const text_streams& from, std::size_t context,
                        std::uint64_t drawn) {
  std::uint64_t places = 0, windows = 0;
  for (const auto& x : from.users) {
    places += x.train.size() + x.validation.size();
    windows += drawn * x.tests().size();
    for (const auto& test :
         drawn > 0 ? std::span<const token_ids>{} : x.tests())
      for (const auto& piece : pieces_of(test, x.test_piece))
        windows += windows_of(piece, context);
  }
  if (windows > places_max)
    return fail(errc::invalid_data,
                "there are " + std::to_string(windows)
                  + " windows to test with, and at most "
                  + std::to_string(places_max)
                  + " have a number; 'test_tokens' says how many each user "
                    "has");
  if (places <= places_max)
    return {};
  return fail(errc::invalid_data,
              "there are " + std::to_string(places)
                + " tokens to train on and to validate with, and at most "
                + std::to_string(places_max)
                + " have a number; 'tokens' says how many each user has");
}

/// A file of tokens may be anybody's.
result<void> check_ids(const user_streams& x, std::uint32_t vocabulary) {
  std::vector<token_ids> parts{x.train, x.validation};
  parts.insert(parts.end(), x.tests().begin(), x.tests().end());
  for (const auto& part : parts)
    for (std::size_t i = 0; i < part.size(); ++i)
      if (part[i] >= vocabulary)
        return fail(errc::invalid_data,
                    "user " + in_quotes(shortened(x.name)) + " has token "
                      + std::to_string(part[i]) + ", and the tokenizer has "
                      + std::to_string(vocabulary)
                      + "; without the 'cache' it is made anew");
  return {};
}

digest digest_of_streams(const text_streams& from, std::uint32_t context,
                         std::uint32_t vocabulary) {
  const std::array sizes{context, vocabulary};
  std::map<std::string, digest> all{
    {"sizes", digest_of(std::as_bytes(std::span{sizes}))}};
  for (std::size_t k = 0; k < from.users.size(); ++k) {
    const auto& x = from.users[k];
    const auto name = std::to_string(k) + "/" + x.name;
    std::size_t n = 0;
    all[name + "/train"] = digest_of(x.train.bytes());
    all[name + "/validation"] = digest_of(x.validation.bytes());
    for (const auto& test : x.tests())
      all[name + "/test" + (x.users_test.empty() ? "" : std::to_string(++n))] =
        digest_of(test.bytes());
    if (x.validation_piece > 0 || x.test_piece > 0) {
      const std::array pieces{std::uint64_t{x.validation_piece},
                              std::uint64_t{x.test_piece}};
      all[name + "/pieces"] = digest_of(std::as_bytes(std::span{pieces}));
    }
  }
  return digest_of(all);
}

} // namespace

result<std::shared_ptr<const language_data>>
language_data::load(const language_options& how,
                    std::shared_ptr<const tokenizer> by) {
  auto found = read_streams(how, *by);
  if (!found)
    return tl::make_unexpected(found.error());
  auto made = assemble(std::move(*found), how.context,
                       static_cast<std::uint32_t>(by->size()),
                       {.windows = how.test_windows, .seed = how.seed});
  if (!made)
    return fail(made.error().code,
                how.path.string() + ": " + made.error().context);
  return made;
}

result<std::shared_ptr<const language_data>>
language_data::make(std::vector<token_ids> train,
                    std::vector<token_ids> validation,
                    std::vector<token_ids> test, std::uint32_t context,
                    std::uint32_t vocabulary) {
  TROUPE_ASSERT(train.size() == validation.size()
                && train.size() == test.size());
  text_streams from;
  for (std::size_t k = 0; k < train.size(); ++k)
    from.users.push_back({.name = std::to_string(k + 1),
                          .train = std::move(train[k]),
                          .validation = std::move(validation[k]),
                          .test = std::move(test[k])});
  return assemble(std::move(from), context, vocabulary, {});
}

result<std::shared_ptr<const language_data>>
language_data::assemble(text_streams from, std::uint32_t context,
                        std::uint32_t vocabulary, const drawing& tests) {
  TROUPE_ASSERT(context > 0);
  if (auto ok = check_size(from, context, tests.windows); !ok)
    return tl::make_unexpected(ok.error());
  for (const auto& x : from.users)
    if (auto ok = check_ids(x, vocabulary); !ok)
      return tl::make_unexpected(ok.error());
  std::shared_ptr<language_data> out{new language_data};
  out->context_ = context;
  out->vocabulary_ = vocabulary;
  out->dropped_paragraphs_ = from.dropped_paragraphs;
  for (const auto& x : from.users)
    out->deal(x, tests);
  out->content_ = digest_of_streams(from, context, vocabulary);
  if (tests.windows > 0)
    out->content_ = digest_of(
      {{"streams", out->content_},
       {"places", digest_of(std::as_bytes(std::span{out->test_.places}))}});
  return out;
}

void language_data::deal(const user_streams& x, const drawing& tests) {
  const auto windows = [this](const token_ids& stream) {
    return windows_of(stream, context_);
  };
  const auto append = [](std::vector<std::uint32_t>& to,
                         const std::vector<std::uint32_t>& rows) {
    to.insert(to.end(), rows.begin(), rows.end());
  };
  users_.push_back(x.name);
  auto& own =
    tokens_.emplace_back(user_tokens{.train = x.train.size(),
                                     .validation = x.validation.size(),
                                     .documents = x.documents});
  clients_.train.push_back(
    rows_from(training_.size, windows(x.train), context_));
  training_.add(x.train, x.train.size());
  auto& aside = clients_.own_validation.emplace_back();
  const auto pieces = pieces_of(x.validation, x.validation_piece);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    append(aside, rows_from(training_.size, windows(pieces[i]), context_));
    // What is drawn anywhere is drawn among all places from the first row to
    // the last one.
    const bool is_last = i + 1 == pieces.size();
    TROUPE_ASSERT(is_last || pieces[i].size() > context_);
    training_.add(pieces[i], pieces[i].size() - (is_last ? 0 : context_));
  }
  auto& rows = clients_.test.emplace_back();
  std::uint64_t number = 0;
  for (const auto& test : x.tests()) {
    const auto pieces_to_test = pieces_of(test, x.test_piece);
    auto of_user = tests.windows > 0
                     ? draw_test(pieces_to_test, tests.windows,
                                 derive_seed(derive_seed(tests.seed, x.name),
                                             "windows", number++))
                     : deal_test(pieces_to_test);
    append(rows, of_user);
    if (!x.users_test.empty())
      clients_.users_test.push_back(std::move(of_user));
    own.test += test.size();
  }
}

std::vector<std::uint32_t>
language_data::deal_test(const std::vector<token_ids>& pieces) {
  const auto first = test_.size;
  for (const auto& piece : pieces)
    test_.add(piece, windows_of(piece, context_));
  return rows_from(first, test_.size - first, 1);
}

/// No window goes beyond its piece. Where there is none, none is drawn.
std::vector<std::uint32_t>
language_data::draw_test(const std::vector<token_ids>& pieces,
                         std::uint32_t count, std::uint64_t seed) {
  const auto places_in = [this](const token_ids& x) -> std::uint64_t {
    return x.size() > context_ ? x.size() - context_ : 0;
  };
  std::uint64_t all = 0;
  for (const auto& piece : pieces)
    all += places_in(piece);
  const auto first = test_.size;
  if (all == 0)
    return {};
  random_stream random{seed};
  std::vector<std::uint64_t> drawn(count);
  for (auto& place : drawn)
    place = random.below(all);
  std::ranges::sort(drawn);
  std::uint64_t before = 0;
  auto next = drawn.begin();
  for (const auto& piece : pieces) {
    const auto end =
      std::lower_bound(next, drawn.end(), before + places_in(piece));
    test_.add(piece, static_cast<std::uint64_t>(end - next));
    for (; next != end; ++next)
      test_.places.push_back(*next - before);
    before += places_in(piece);
  }
  return rows_from(first, test_.size - first, 1);
}

void language_data::stream_list::add(token_ids x, std::uint64_t rows) {
  streams.push_back(std::move(x));
  begins.push_back(size);
  size += rows;
}

void language_data::read(split part, std::uint32_t row,
                         std::span<std::int32_t> ids,
                         std::span<std::int32_t> targets) const {
  const auto& all = of(part);
  TROUPE_ASSERT(row < all.size && ids.size() == context_
                && targets.size() == context_);
  const auto next = std::ranges::upper_bound(all.begins, std::uint64_t{row});
  const auto at = static_cast<std::size_t>(next - all.begins.begin()) - 1;
  const auto number = row - all.begins[at];
  const auto first = part == split::train ? number
                     : all.places.empty() ? number * context_
                                          : all.places[row];
  copy_tokens(all.streams[at], first, ids);
  copy_tokens(all.streams[at], first + 1, targets);
}

} // namespace troupe::models
