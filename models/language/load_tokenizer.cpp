#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "models/files.hpp"
#include "models/language/gguf.hpp"
#include "models/language/mapped_file.hpp"
#include "models/language/pipeline_steps.hpp"
#include "models/language/tokenizer_parts.hpp"
#include "models/language/vocabulary_checks.hpp"

namespace troupe::models {

namespace {

namespace fs = std::filesystem;

using loaded = result<std::shared_ptr<const tokenizer>>;

constexpr const char* sentences_file = "tokenizer.model";

result<json> read_json(const fs::path& path) {
  auto text = read_text(path, errc::invalid_data);
  if (!text)
    return tl::unexpected{std::move(text.error())};
  auto x = json::parse(*text);
  if (!x)
    return refuse_tokenizer(path.string(), "is no JSON: " + x.error().context);
  return x;
}

/// What the files beside a tokenizer say; null: there are none.
result<json> settings_beside(const fs::path& folder) {
  for (const auto* name :
       {"tokenizer_config.json", "special_tokens_map.json"}) {
    const auto path = folder / name;
    if (auto ok = check_link(path); !ok)
      return tl::unexpected{std::move(ok.error())};
    if (is_there(path))
      return read_json(path);
  }
  return json{};
}

loaded from_json(const fs::path& path) {
  const auto x = read_json(path);
  if (!x)
    return tl::unexpected{x.error()};
  const auto settings = settings_beside(path.parent_path());
  if (!settings)
    return tl::unexpected{settings.error()};
  return parse_tokenizer(*x, special_names_in(*settings), path.string());
}

/// Those of a vocabulary that people write as special tokens.
std::vector<added_token> usual_special(const piece_model& model) {
  std::vector<added_token> all;
  for (const auto* text :
       {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>", "[PAD]",
        "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    if (const auto id = model.find(text))
      all.push_back({.text = text, .id = *id, .special = true});
  return all;
}

result<merge_list> merges_in(const fs::path& path) {
  auto text = read_text(path, errc::invalid_data);
  if (!text)
    return tl::unexpected{std::move(text.error())};
  merge_list all;
  std::string_view rest = *text;
  if (rest.starts_with("\xef\xbb\xbf")) // A byte order mark.
    rest.remove_prefix(3);
  for (bool first = true; !rest.empty(); first = false) {
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.empty() || (first && line.starts_with("#version")))
      continue;
    auto merge = merge_in(line, all.size() + 1, path.string());
    if (!merge)
      return tl::unexpected{std::move(merge.error())};
    all.push_back(std::move(*merge));
  }
  return all;
}

/// GPT-2's two files; RoBERTa's have <s> and </s>, which stand around a text.
loaded from_two_files(const fs::path& path) {
  const auto folder = path.parent_path();
  const auto origin = path.string();
  const auto x = read_json(path);
  if (!x)
    return tl::unexpected{x.error()};
  auto vocabulary = vocabulary_in(&*x, origin);
  if (!vocabulary)
    return tl::unexpected{std::move(vocabulary.error())};
  if (auto ok = check_link(folder / "merges.txt"); !ok)
    return tl::unexpected{std::move(ok.error())};
  if (!is_there(folder / "merges.txt"))
    return refuse_tokenizer(origin, "it has no merges.txt beside it; that of "
                                    "the same tokenizer would do");
  auto merges = merges_in(folder / "merges.txt");
  if (!merges)
    return tl::unexpected{std::move(merges.error())};
  const auto settings = settings_beside(folder);
  if (!settings)
    return tl::unexpected{settings.error()};
  const bool prefix = flag_in(*settings, "add_prefix_space", false);
  canonical_text all;
  all.say(*vocabulary);
  all.say(*merges);
  all.say(prefix ? "gpt2 with a space" : "gpt2");
  auto model = make_bpe(std::move(*vocabulary), std::move(*merges), {}, origin);
  if (!model)
    return tl::unexpected{std::move(model.error())};
  token_pipeline how;
  how.byte_level = true;
  how.split.push_back(byte_level_split({}, prefix, origin));
  auto join = read_decoder(nullptr, true, origin);
  if (!join)
    return tl::unexpected{std::move(join.error())};
  how.join = std::move(*join);
  auto added = usual_special(**model);
  const auto special = special_of(special_names_in(*settings), **model, added);
  text_frame frame;
  const auto begin = (*model)->find("<s>"), end = (*model)->find("</s>");
  if (begin && end)
    frame = frame_of_roberta(*begin, *end);
  return assemble(std::move(*model), std::move(how), std::move(added), special,
                  std::move(frame), all.sum());
}

json wordpiece_json(json vocabulary, const json& settings) {
  auto normaliser = json::object();
  normaliser.add("type", "BertNormalizer");
  normaliser.add("lowercase", flag_in(settings, "do_lower_case", true));
  normaliser.add("handle_chinese_chars",
                 flag_in(settings, "tokenize_chinese_chars", true));
  if (const auto* strip = settings.find("strip_accents"))
    normaliser.add("strip_accents", *strip);
  auto splits = json::object();
  splits.add("type", "BertPreTokenizer");
  auto decoder = json::object();
  decoder.add("type", "WordPiece");
  auto model = json::object();
  model.add("type", "WordPiece");
  model.add("unk_token", text_in(settings, "unk_token", "[UNK]"));
  model.add("vocab", std::move(vocabulary));
  auto all = json::object();
  all.add("normalizer", std::move(normaliser));
  all.add("pre_tokenizer", std::move(splits));
  all.add("decoder", std::move(decoder));
  all.add("model", std::move(model));
  return all;
}

/// A token a line, as BERT's.
loaded from_word_list(const fs::path& path) {
  auto text = read_text(path, errc::invalid_data);
  if (!text)
    return tl::unexpected{std::move(text.error())};
  const auto settings = settings_beside(path.parent_path());
  if (!settings)
    return tl::unexpected{settings.error()};
  auto vocabulary = json::object();
  auto added = json::array();
  std::map<std::string, token_id, std::less<>> special;
  token_id id = 0;
  for (std::string_view rest = *text; !rest.empty(); ++id) {
    if (auto ok = check_count_of_tokens(std::size_t{id} + 1, path.string());
        !ok)
      return tl::unexpected{std::move(ok.error())};
    const auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    vocabulary.add(std::string{line}, id);
    for (const auto* name : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
      if (line == name) {
        special.emplace(name, id);
        auto token = json::object();
        token.add("id", id);
        token.add("content", name);
        token.add("special", true);
        added.push_back(std::move(token));
      }
  }
  auto all = wordpiece_json(std::move(vocabulary), *settings);
  all.add("added_tokens", std::move(added));
  if (special.contains("[CLS]") && special.contains("[SEP]")) {
    const auto pair = [&](const char* name) {
      auto x = json::array();
      x.push_back(name);
      x.push_back(special.find(name)->second);
      return x;
    };
    auto frame = json::object();
    frame.add("type", "BertProcessing");
    frame.add("cls", pair("[CLS]"));
    frame.add("sep", pair("[SEP]"));
    all.add("post_processor", std::move(frame));
  }
  return parse_tokenizer(all, special_names_in(*settings), path.string());
}

loaded from_gguf(const fs::path& path) {
  const auto file = mapped_file::open(path, errc::invalid_data);
  if (!file)
    return tl::unexpected{file.error()};
  const auto header = parse_gguf(file->bytes(), path.string());
  if (!header)
    return tl::unexpected{header.error()};
  return tokenizer_of(*header, path.string());
}

/// SentencePiece's own format is refused by its name: a folder may have it
/// alone.
loaded refuse_sentences(const fs::path& path) {
  return refuse_tokenizer(path.string(),
                          "is a tokenizer of SentencePiece, which nothing here "
                          "reads; the tokenizer.json of the same model would "
                          "do");
}

constexpr const char* would_do =
  "the model's own tokenizer.json, a folder with it, with vocab.json and "
  "merges.txt, or with vocab.txt, a .gguf, or 'bytes' would do";

/// Of a folder's tokenizer, the first that is there.
struct tokenizer_file {
  const char* name;
  loaded (*read)(const fs::path& path);
};

constexpr tokenizer_file tokenizer_files[]{{"tokenizer.json", from_json},
                                           {"vocab.json", from_two_files},
                                           {"vocab.txt", from_word_list},
                                           {sentences_file, refuse_sentences}};

loaded from_folder(const fs::path& path) {
  for (const auto& file : tokenizer_files) {
    if (auto ok = check_link(path / file.name); !ok)
      return tl::unexpected{std::move(ok.error())};
    if (is_there(path / file.name))
      return file.read(path / file.name);
  }
  return refuse_tokenizer(path.string(),
                          std::string{"has no tokenizer; "} + would_do);
}

/// For people: what two that differ are.
std::string described(const tokenizer& x) {
  return std::string{x.kind()} + " of " + std::to_string(x.size())
         + " tokens with digest " + short_digest(to_hex(x.content()));
}

} // namespace

loaded load_tokenizer(const fs::path& path) {
  if (path == "bytes")
    return byte_tokenizer();
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return from_folder(path);
  if (auto ok = check_link(path); !ok)
    return tl::unexpected{std::move(ok.error())};
  if (!is_there(path))
    return refuse_tokenizer(path.string(),
                            std::string{"is not there; "} + would_do);
  const auto ending = path.extension();
  if (ending == ".gguf")
    return from_gguf(path);
  // As its config.json, it stands beside the weights.
  if (ending == ".safetensors")
    return from_folder(path.has_parent_path() ? path.parent_path() : ".");
  if (path.filename() == sentences_file)
    return refuse_sentences(path);
  if (ending == ".txt" && path.filename() != "merges.txt")
    return from_word_list(path);
  if (path.filename() == "vocab.json" || path.filename() == "merges.txt")
    return from_two_files(path.parent_path() / "vocab.json");
  if (ending == ".json")
    return from_json(path);
  return refuse_tokenizer(path.string(),
                          std::string{"is no tokenizer; "} + would_do);
}

bool has_tokenizer(const fs::path& model) {
  std::error_code ignored;
  return !fs::is_directory(model, ignored)
         || std::ranges::any_of(tokenizer_files, [&](const auto& file) {
              return is_there(model / file.name);
            });
}

std::shared_ptr<const tokenizer> own_tokenizer(const fs::path& model) {
  if (model == "bytes")
    return nullptr;
  auto own = load_tokenizer(model);
  return own ? std::move(*own) : nullptr;
}

result<void> check_own_tokenizer(const fs::path& model, const tokenizer& by,
                                 const fs::path& named) {
  if (model.empty() || named == model)
    return {};
  const auto own = own_tokenizer(model);
  if (own == nullptr || own->content() == by.content())
    return {};
  return fail(errc::invalid_config,
              named.string() + ": is not the tokenizer of " + model.string()
                + ", which has one of its own: " + described(by) + ", the "
                + "model's is " + described(*own));
}

loaded load_tokenizer_for(const fs::path& model, const fs::path& named) {
  if (named.empty())
    return load_tokenizer(model);
  auto by = load_tokenizer(named);
  if (!by)
    return by;
  if (auto ok = check_own_tokenizer(model, **by, named); !ok)
    return fail(ok.error().code,
                ok.error().context
                  + "; without a name the model's own is taken");
  return by;
}

} // namespace troupe::models
