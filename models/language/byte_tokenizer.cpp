#include <memory>
#include <string>

#include "models/language/token_pipeline.hpp"
#include "models/language/tokenizer.hpp"
#include "models/language/tokenizer_parts.hpp"

namespace troupe::models {

namespace {

constexpr token_id end_of_text = 256;
constexpr std::string_view end_text = "<|endoftext|>";

/// Every byte is its own id.
class bytes_as_ids final : public tokenizer {
public:
  bytes_as_ids() {
    canonical_text all;
    all.say("bytes");
    content_ = all.sum();
  }

  std::size_t size() const noexcept override {
    return end_of_text + 1;
  }

  std::string_view kind() const noexcept override {
    return "bytes";
  }

  const digest& content() const noexcept override {
    return content_;
  }

  const special_tokens& special() const noexcept override {
    return special_;
  }

  result<void> encode(std::string_view text, special_rule how,
                      std::vector<token_id>& to) const override {
    while (!text.empty()) {
      if (how == special_rule::as_tokens && text.starts_with(end_text)) {
        to.push_back(end_of_text);
        text.remove_prefix(end_text.size());
      } else {
        to.push_back(static_cast<unsigned char>(text.front()));
        text.remove_prefix(1);
      }
    }
    return {};
  }

  result<std::string> decode(std::span<const token_id> ids) const override {
    std::string text;
    for (const auto id : ids) {
      if (id > end_of_text)
        return refuse_id(id, size());
      if (id == end_of_text)
        text += end_text;
      else
        text += static_cast<char>(static_cast<unsigned char>(id));
    }
    return text;
  }

  std::vector<token_id> before() const override {
    return {};
  }

  std::vector<token_id> after() const override {
    return {};
  }

  std::string_view text_of(token_id x) const noexcept override {
    return x == end_of_text ? end_text
                            : byte_letters(static_cast<std::uint8_t>(x));
  }

private:
  digest content_{};
  special_tokens special_{.end = end_of_text};
};

} // namespace

std::shared_ptr<const tokenizer> byte_tokenizer() {
  return std::make_shared<bytes_as_ids>();
}

} // namespace troupe::models
