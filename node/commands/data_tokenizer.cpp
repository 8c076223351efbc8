#include "node/commands/data_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <ostream>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/language/bpe_trainer.hpp"
#include "models/language/documents.hpp"
#include "models/language/tokenizer.hpp"
#include "models/layout.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

struct learned_tokenizer {
  std::string file;
  std::size_t files = 0;
  std::uint64_t bytes = 0; ///< Of texts.
  std::size_t tokens = 0;
  models::digest content{};
};

bool is_hidden(const fs::path& x) {
  return x.filename().string().starts_with('.');
}

/// As a run reads them: what is in sub-folders, and each .txt and .jsonl; where
/// there is none of these, the folder is one user's. In the order of names.
result<std::vector<fs::path>> texts_below(const fs::path& folder) {
  std::vector<fs::path> found, others;
  std::error_code why;
  fs::recursive_directory_iterator at{
    folder, fs::directory_options::skip_permission_denied, why};
  for (; !why && at != fs::recursive_directory_iterator{}; at.increment(why)) {
    const auto& path = at->path();
    std::error_code ignored;
    if (is_hidden(path)) {
      at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file(ignored))
      continue;
    const bool is_of_user = at.depth() > 0 || path.extension() == ".txt"
                            || models::has_texts_as_lines(path);
    (is_of_user ? found : others).push_back(path);
  }
  if (why)
    return fail(errc::invalid_data,
                folder.string() + ": cannot be listed: " + why.message());
  if (found.empty())
    found = std::move(others);
  if (found.empty())
    return fail(errc::invalid_data,
                folder.string()
                  + ": there is no text below it; a file of text, or a folder "
                    "of such, would do");
  std::ranges::sort(found);
  return found;
}

struct read_texts {
  std::vector<std::string> texts;
  std::size_t files = 0;
};

result<read_texts> texts_at(const fs::path& path) {
  std::vector<fs::path> files{path};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    auto found = texts_below(path);
    if (!found)
      return tl::make_unexpected(found.error());
    files = std::move(*found);
  }
  read_texts out{.texts = {}, .files = files.size()};
  for (const auto& file : files) {
    auto texts = models::texts_in(file);
    if (!texts)
      return tl::make_unexpected(texts.error());
    std::ranges::move(*texts, std::back_inserter(out.texts));
  }
  return out;
}

/// Nobody else's tokenizer is overwritten: a model may have been trained by it.
result<void> put(const std::string& text, const fs::path& folder,
                 const fs::path& file) {
  std::error_code why;
  fs::create_directories(folder, why);
  if (why)
    return fail(errc::storage_failure,
                folder.string() + ": cannot be made: " + why.message());
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    const auto known = models::read_file(file, errc::storage_failure);
    if (!known)
      return tl::make_unexpected(known.error());
    if (!std::ranges::equal(*known, std::as_bytes(std::span{text})))
      return fail(errc::storage_failure,
                  file.string()
                    + " is there and is another; a folder without would do");
    return {};
  }
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(file, parts, {});
}

result<learned_tokenizer> learned(const fs::path& path, std::size_t size,
                                  const fs::path& to, const stage_teller& now) {
  const auto read_from = texts_at(path);
  if (!read_from)
    return tl::make_unexpected(read_from.error());
  const auto& texts = read_from->texts;
  now("learning a tokenizer");
  constexpr std::size_t said_max = std::numeric_limits<std::uint32_t>::max();
  const auto made = models::train_bpe(
    texts, {.size = static_cast<std::uint32_t>(std::min(size, said_max))});
  if (!made)
    return fail(made.error().code, path.string() + ": " + made.error().context);
  const auto* merges = made->find("model")->find("merges")->items();
  if (merges == nullptr || merges->empty())
    return fail(errc::invalid_data,
                path.string()
                  + ": nothing stands twice in it; more text would do");
  const auto file = to / "tokenizer.json";
  const auto read = models::parse_tokenizer(*made, file.string());
  if (!read)
    return tl::make_unexpected(read.error());
  if (auto ok = put(made->dump(1) + "\n", to, file); !ok)
    return tl::make_unexpected(ok.error());
  learned_tokenizer x{.file = file.string(),
                      .files = read_from->files,
                      .tokens = (*read)->size(),
                      .content = (*read)->content()};
  for (const auto& text : texts)
    x.bytes += text.size();
  return x;
}

} // namespace

exit_code data_tokenizer(const std::string& path, std::size_t size,
                         const std::string& to, bool json, streams io) {
  const auto x = told_while(io.err, "reading the texts", [&](const auto& now) {
    return learned(path, size, to, now);
  });
  if (!x)
    return report(x.error(), json, io);
  if (json)
    io.out << troupe::json{{"success", true},
                           {"file", x->file},
                           {"files", x->files},
                           {"bytes", x->bytes},
                           {"tokens", x->tokens},
                           {"digest", models::to_hex(x->content)}}
                .dump(2)
           << '\n';
  else
    io.out << printable(x->file) << ": " << x->tokens << " tokens from "
           << x->bytes << " bytes of " << x->files
           << (x->files == 1 ? " file" : " files") << ", "
           << models::to_hex(x->content) << '\n'
           << (x->tokens < size
                 ? "fewer than were asked for: nothing else was seen twice\n"
                 : "");
  return exit_code::ok;
}

} // namespace troupe::node
