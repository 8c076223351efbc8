#include "models/language/stream_cache.hpp"

#include <map>
#include <string>
#include <system_error>

#include "core/text.hpp"
#include "models/layout.hpp"

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

digest digest_of_ids(const std::vector<token_id>& xs) {
  return digest_of(std::as_bytes(std::span{xs}));
}

/// Names what a stream is made of.
digest content_of(std::span<const document> texts, const tokenizer& by) {
  std::vector<digest> each;
  each.reserve(texts.size());
  for (const auto& x : texts)
    each.push_back(digest_of(std::as_bytes(std::span{x.text})));
  const auto frame = frame_of(by);
  const std::map<std::string, digest> all{
    {"text", digest_of(std::as_bytes(std::span{each}))},
    {"tokenizer", by.content()},
    {"before", digest_of_ids(frame.before)},
    {"after", digest_of_ids(frame.after)}};
  return digest_of(all);
}

result<token_ids> encoded(std::span<const document> texts,
                          const tokenizer& by) {
  const auto frame = frame_of(by);
  std::vector<token_id> ids;
  for (const auto& x : texts) {
    ids.insert(ids.end(), frame.before.begin(), frame.before.end());
    if (auto ok = by.encode(x.text, special_rule::as_text, ids); !ok)
      return fail(ok.error().code, "document " + in_quotes(shortened(x.source))
                                     + ": " + ok.error().context);
    ids.insert(ids.end(), frame.after.begin(), frame.after.end());
  }
  return token_ids{ids};
}

} // namespace

text_frame frame_of(const tokenizer& by) {
  text_frame out{.before = by.before(), .after = by.after()};
  if (out.before.empty() && out.after.empty() && by.special().end)
    out.after.push_back(*by.special().end);
  return out;
}

result<token_ids> stream_of(std::span<const document> texts,
                            const tokenizer& by,
                            const std::filesystem::path& cache) {
  if (cache.empty())
    return encoded(texts, by);
  // Whoever makes it: what people wrote is read again from its tokens.
  std::error_code failed;
  if (fs::create_directories(cache, failed))
    fs::permissions(cache, fs::perms::owner_all, failed);
  if (failed)
    return fail(errc::storage_failure,
                cache.string() + ": cannot keep tokens: " + failed.message()
                  + "; another 'cache', or none, would do");
  const auto path = cache / (to_hex(content_of(texts, by)) + ".tokens");
  if (auto kept = token_ids::open(path))
    return kept;
  auto made = encoded(texts, by);
  if (!made)
    return made;
  if (auto ok = made->write(path); !ok)
    return tl::make_unexpected(ok.error());
  return made;
}

} // namespace troupe::models
