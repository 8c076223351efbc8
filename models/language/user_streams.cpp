#include "models/language/user_streams.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "models/language/document_parts.hpp"
#include "models/language/documents.hpp"
#include "models/language/language_data.hpp"
#include "models/language/stream_cache.hpp"

namespace troupe::models {

namespace {

std::uint64_t sources_of(const std::vector<document>& all) {
  std::set<std::string_view> names;
  for (const auto& x : all)
    names.insert(x.source);
  return names.size();
}

result<std::vector<user_text>> texts_for(const language_options& how) {
  if (!how.of_one)
    return read_users(how.path, how.users);
  return read_user(how.path).map(
    [](user_text x) { return std::vector<user_text>{std::move(x)}; });
}

/// By names of users and sources, so that it does not matter who else there is.
result<user_streams> encoded(user_text from, const language_options& how,
                             const tokenizer& by) {
  user_streams out{.name = std::move(from.name),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .documents = from.documents.size(),
                   .sources = sources_of(from.documents),
                   .dropped = from.dropped};
  const auto parts = split_documents(
    std::move(from.documents),
    {.validation = how.validation_share, .test = how.test_share}, how.seed,
    out.name);
  const auto encode = [&](const std::vector<document>& texts, token_ids& to) {
    return stream_of(texts, by, how.cache).map([&](token_ids x) {
      to = std::move(x);
    });
  };
  auto done =
    encode(parts.train, out.train)
      .and_then([&] { return encode(parts.validation, out.validation); })
      .and_then([&] { return encode(parts.test, out.test); });
  if (!done)
    return fail(done.error().code, how.path.string() + ": user "
                                     + in_quotes(shortened(out.name)) + ", "
                                     + done.error().context);
  return out;
}

/// Training tokens of the user at this place, at most.
std::uint64_t most_of(const language_options& how, std::size_t user) {
  const auto& said = how.user_tokens;
  return said.empty() ? how.tokens : said[user % said.size()];
}

/// No more than so many; 0: all.
void bound(token_ids& x, std::uint64_t most) {
  if (most > 0 && most < x.size())
    x = x.part(0, most);
}

/// Each user has of each one's stream a piece that nobody else has, and all
/// pieces are equally long: as many whole windows as there is room for, and the
/// token behind the last of them.
void mix(std::vector<user_streams>& users, token_ids user_streams::*part,
         std::size_t user_streams::*size, std::uint64_t most,
         std::size_t context) {
  const std::size_t count = users.size();
  std::size_t piece = most > 0 ? most : ~std::size_t{0};
  for (const auto& x : users)
    piece = std::min(piece, (x.*part).size());
  piece /= count;
  if (piece > context)
    piece -= (piece - 1) % context;
  std::vector<token_ids> mixed;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<token_id> ids;
    ids.reserve(piece * count);
    for (const auto& x : users)
      for (std::size_t i = 0; i < piece; ++i)
        ids.push_back((x.*part)[k * piece + i]);
    mixed.emplace_back(ids);
  }
  for (std::size_t k = 0; k < count; ++k) {
    users[k].*part = std::move(mixed[k]);
    users[k].*size = piece;
  }
}

/// One user of all, part by part. Each one's stream has been bounded. Where the
/// seams are windows go on with the next user, as they do with the next text;
/// not so in tests, where users are told apart.
user_streams pooled(const std::vector<user_streams>& users) {
  const auto joined = [&](token_ids user_streams::*part) {
    std::vector<token_id> ids;
    for (const auto& x : users)
      for (std::size_t i = 0; i < (x.*part).size(); ++i)
        ids.push_back((x.*part)[i]);
    return token_ids{ids};
  };
  user_streams all{.name = "all",
                   .train = joined(&user_streams::train),
                   .validation = joined(&user_streams::validation),
                   .test = {},
                   .documents = 0,
                   .validation_piece = users.front().validation_piece,
                   .test_piece = users.front().test_piece};
  for (const auto& x : users) {
    all.documents += x.documents;
    all.users_test.push_back(x.test);
  }
  return all;
}

struct wanted_part {
  const token_ids& stream;
  const char* what;
  const char* would_do;
  std::uint64_t dropped = 0; ///< Paragraphs of whose texts it is made.
  bool is_wanted = true;
  std::size_t piece = 0;
};

/// Of a part that has nothing at all no share is the reason: too few sources
/// are.
std::string remedy_of(const language_options& how, const user_streams& user,
                      const wanted_part& part) {
  if (part.stream.size() == 0 && user.sources > 0 && !how.mixed)
    return "a document, or all that is of one 'source', goes whole into one "
           "part, and there "
           + std::string{user.sources == 1 ? "is " : "are "}
           + std::to_string(user.sources)
           + " of these: more would do; documents of a .txt have form feeds "
             "between them, those of a .jsonl are its lines, and those of a "
             "folder its files";
  return "more text"
         + std::string{part.dropped > 0 ? " that is not repeated" : ""}
         + ", a smaller 'context' or a larger " + part.would_do + " would do";
}

/// @param dropped of all users, whose texts are in parts that are mixed
result<void> check(const language_options& how, const user_streams& user,
                   std::uint64_t dropped) {
  const auto beside = how.mixed ? dropped : user.dropped;
  const auto* most = how.user_tokens.empty() ? "'tokens'" : "'user_tokens'";
  const wanted_part all[]{{user.train, "training", most, user.dropped},
                          {user.validation, "validation",
                           "'validation_share' or 'validation_tokens'", beside,
                           how.validation_share > 0, user.validation_piece},
                          {user.test, "test", "'test_share' or 'test_tokens'",
                           beside, how.test_share > 0, user.test_piece}};
  for (const auto& x : all)
    if (x.is_wanted
        && windows_of(pieces_of(x.stream, x.piece).front(), how.context) == 0)
      return fail(
        errc::invalid_data,
        how.path.string() + ": user " + in_quotes(shortened(user.name))
          + " has " + std::to_string(x.stream.size()) + " tokens for " + x.what
          + (x.piece > 0 ? ", " + std::to_string(x.piece) + " of each user"
                         : std::string{})
          + ", and a window takes "
          + std::to_string(how.context + std::uint64_t{1})
          + ", 'context' and the one behind" + about_repeats(x.dropped) + "; "
          + remedy_of(how, user, x));
  return {};
}

} // namespace

std::vector<token_ids> pieces_of(const token_ids& x, std::size_t piece) {
  if (piece == 0 || x.size() <= piece)
    return {x};
  std::vector<token_ids> out;
  for (std::size_t at = 0; at < x.size(); at += piece)
    out.push_back(x.part(at, std::min(piece, x.size() - at)));
  return out;
}

result<text_streams> read_streams(const language_options& how,
                                  const tokenizer& by) {
  auto texts = texts_for(how);
  if (!texts)
    return tl::make_unexpected(texts.error());
  text_streams out;
  out.dropped_paragraphs = drop_repeated(*texts);
  for (auto& text : *texts) {
    auto user = encoded(std::move(text), how, by);
    if (!user)
      return tl::make_unexpected(user.error());
    out.users.push_back(std::move(*user));
  }
  if (how.mixed) {
    mix(out.users, &user_streams::validation, &user_streams::validation_piece,
        how.validation_tokens, how.context);
    mix(out.users, &user_streams::test, &user_streams::test_piece,
        how.test_tokens, how.context);
  }
  std::size_t place = 0;
  for (auto& user : out.users) {
    bound(user.train, most_of(how, place++));
    bound(user.validation, how.validation_tokens);
    bound(user.test, how.test_tokens);
    if (auto ok = check(how, user, out.dropped_paragraphs); !ok)
      return tl::make_unexpected(ok.error());
  }
  if (how.pooled)
    out.users = {pooled(out.users)};
  return out;
}

} // namespace troupe::models
