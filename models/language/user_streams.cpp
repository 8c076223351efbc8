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
  return read_one_user(how.path).map(
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
  out.tokens = out.train.size() + out.validation.size() + out.test.size();
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
  const char* bound_key;
  std::uint64_t most = 0;    ///< What that says; 0: nothing.
  std::uint64_t dropped = 0; ///< Paragraphs of whose texts it is made.
  const char* share_key = nullptr;
  double share = 1;
  std::size_t piece = 0;
};

std::uint64_t parts_with_share(const language_options& how) {
  return 1 + (how.validation_share > 0 ? 1 : 0) + (how.test_share > 0 ? 1 : 0);
}

/// Of a part that has nothing at all no share is the reason: too few sources
/// are, as where there are fewer of them than parts. Nor is it of a text that
/// has not a window for each part. What bounds nothing would do nothing.
std::string remedy_of(const language_options& how, const user_streams& user,
                      const wanted_part& part) {
  if ((part.stream.size() == 0 || user.sources < parts_with_share(how))
      && user.sources > 0 && !how.mixed)
    return "a document, or all that is of one 'source', goes whole into one "
           "part, and there "
           + std::string{user.sources == 1 ? "is " : "are "}
           + std::to_string(user.sources)
           + " of these: more would do; documents of a .txt have form feeds "
             "between them, those of a .jsonl are its lines, and those of a "
             "folder its files";
  // Of pieces each has its share of the bound.
  const auto size = part.stream.size();
  const auto users = part.piece > 0 ? size / part.piece : 1;
  const bool is_bounded = part.most > 0 && size >= part.most / users * users;
  const bool has_windows =
    user.tokens >= parts_with_share(how) * (how.context + std::uint64_t{1});
  std::vector<std::string> remedies;
  if (!is_bounded)
    remedies.push_back(
      "more text"
      + std::string{part.dropped > 0 ? " that is not repeated" : ""});
  remedies.push_back("a smaller 'context'");
  if (part.share_key && !is_bounded && has_windows)
    remedies.push_back(std::string{"a larger "} + part.share_key);
  if (is_bounded)
    remedies.push_back(std::string{"a larger "} + part.bound_key);
  std::string out = remedies.front();
  for (std::size_t i = 1; i < remedies.size(); ++i)
    out += (i + 1 < remedies.size() ? ", " : " or ") + remedies[i];
  return out + " would do";
}

/// @param dropped of all users, whose texts are in parts that are mixed
/// @param most that its training stream may have
result<void> check(const language_options& how, const user_streams& user,
                   std::uint64_t dropped, std::uint64_t most) {
  const auto beside = how.mixed ? dropped : user.dropped;
  const wanted_part all[]{
    {.stream = user.train,
     .what = "training",
     .bound_key = how.user_tokens.empty() ? "'tokens'" : "'user_tokens'",
     .most = most,
     .dropped = user.dropped},
    {.stream = user.validation,
     .what = "validation",
     .bound_key = "'validation_tokens'",
     .most = how.validation_tokens,
     .dropped = beside,
     .share_key = "'validation_share'",
     .share = how.validation_share,
     .piece = user.validation_piece},
    {.stream = user.test,
     .what = "test",
     .bound_key = "'test_tokens'",
     .most = how.test_tokens,
     .dropped = beside,
     .share_key = "'test_share'",
     .share = how.test_share,
     .piece = user.test_piece}};
  for (const auto& x : all)
    if (x.share > 0
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
    const auto most = most_of(how, place++);
    bound(user.train, most);
    bound(user.validation, how.validation_tokens);
    bound(user.test, how.test_tokens);
    if (auto ok = check(how, user, out.dropped_paragraphs, most); !ok)
      return tl::make_unexpected(ok.error());
  }
  if (how.pooled)
    out.users = {pooled(out.users)};
  return out;
}

} // namespace troupe::models
