#pragma once

// Language models of a few hundred values, and GGUF files of them made by hand.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/language/names.hpp"
#include "models/language/spec.hpp"

namespace troupe::test {

inline models::language_spec small_gpt2() {
  return {.kind = models::architecture_kind::gpt2,
          .vocabulary = 11,
          .context = 16,
          .width = 8,
          .layers = 2,
          .heads = 2,
          .key_heads = 2,
          .head_width = 4,
          .inner = 12,
          .attention_bias = true,
          .inner_bias = true};
}

/// Of four heads over two, each of four values.
inline models::language_spec small_llama() {
  return {.kind = models::architecture_kind::llama,
          .vocabulary = 11,
          .context = 16,
          .width = 8,
          .layers = 2,
          .heads = 4,
          .key_heads = 2,
          .head_width = 4,
          .inner = 12,
          .activation = models::activation_kind::silu,
          .rope = {.base = 100000, .width = 4}};
}

/// With a head over its tokens, or with hidden states alone.
inline models::language_spec small_bert(bool has_head = true) {
  return {.kind = models::architecture_kind::bert,
          .vocabulary = 11,
          .context = 16,
          .width = 8,
          .layers = 2,
          .heads = 2,
          .key_heads = 2,
          .head_width = 4,
          .inner = 12,
          .epsilon = 1e-12,
          .activation = models::activation_kind::gelu,
          .head_bias = has_head,
          .attention_bias = true,
          .inner_bias = true,
          .has_head = has_head,
          .types = 2};
}

inline models::language_spec small_roberta() {
  auto x = small_bert();
  x.kind = models::architecture_kind::roberta;
  x.first_position = 2;
  x.types = 1;
  x.pad_token = 1;
  return x;
}

inline models::language_spec small_deberta() {
  auto x = small_bert();
  x.kind = models::architecture_kind::deberta;
  x.types = 0;
  x.relative_buckets = 4;
  x.relative_span = 16;
  return x;
}

/// The bytes of a GGUF file, version 3.
class gguf_by_hand {
public:
  void text(std::string_view key, std::string_view value) {
    put_key(key, 8);
    put_text(pairs_, value);
  }

  void count(std::string_view key, std::uint32_t value) {
    put_key(key, 4);
    put(pairs_, value);
  }

  void real(std::string_view key, float value) {
    put_key(key, 6);
    put(pairs_, value);
  }

  void counts(std::string_view key, const std::vector<std::int32_t>& values) {
    put_key(key, 9);
    put(pairs_, std::uint32_t{5});
    put(pairs_, std::uint64_t{values.size()});
    for (const auto x : values)
      put(pairs_, x);
  }

  /// Of type F32, outermost extent first.
  void tensor(std::string_view name, const std::vector<std::int64_t>& shape,
              const std::vector<float>& values) {
    std::string bytes;
    for (const auto x : values)
      put(bytes, x);
    stored(name, shape, {.type = 0, .bytes = bytes});
  }

  struct content {
    std::uint32_t type = 0; ///< By its number in GGUF.
    std::string bytes;
  };

  /// Of any type.
  void stored(std::string_view name, const std::vector<std::int64_t>& shape,
              const content& what) {
    put_text(infos_, name);
    put(infos_, static_cast<std::uint32_t>(shape.size()));
    for (auto x = shape.rbegin(); x != shape.rend(); ++x)
      put(infos_, static_cast<std::uint64_t>(*x));
    put(infos_, what.type);
    put(infos_, std::uint64_t{data_.size()});
    data_ += what.bytes;
    align(data_);
    ++tensors_;
  }

  std::string bytes() const {
    std::string out = "GGUF";
    put(out, std::uint32_t{3});
    put(out, tensors_);
    put(out, count_);
    out += pairs_ + infos_;
    align(out);
    return out + data_;
  }

  void write(const std::string& path) const {
    std::ofstream{path, std::ios::binary} << bytes();
  }

private:
  template <class T>
  static void put(std::string& to, T x) {
    const auto at = to.size();
    to.resize(at + sizeof x);
    std::memcpy(to.data() + at, &x, sizeof x);
  }

  static void put_text(std::string& to, std::string_view x) {
    put(to, std::uint64_t{x.size()});
    to += x;
  }

  static void align(std::string& x) {
    x.resize((x.size() + 31) / 32 * 32);
  }

  void put_key(std::string_view key, std::uint32_t type) {
    put_text(pairs_, key);
    put(pairs_, type);
    ++count_;
  }

  std::string pairs_;
  std::string infos_;
  std::string data_;
  std::uint64_t count_ = 0;
  std::uint64_t tensors_ = 0;
};

/// What a llama of two layers is, in the keys of GGUF.
inline gguf_by_hand keys_of_llama(const models::language_spec& x) {
  gguf_by_hand to;
  to.text("general.architecture", "llama");
  to.count("llama.context_length", x.context);
  to.count("llama.embedding_length", x.width);
  to.count("llama.block_count", x.layers);
  to.count("llama.feed_forward_length", x.inner);
  to.count("llama.attention.head_count", x.heads);
  to.counts("llama.attention.head_count_kv", {2, 2});
  to.count("llama.attention.key_length", x.head_width);
  to.count("llama.attention.value_length", x.head_width);
  to.count("llama.rope.dimension_count", x.rope.width);
  to.real("llama.rope.freq_base", static_cast<float>(x.rope.base));
  to.real("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  return to;
}

inline gguf_by_hand keys_of_small_llama(float rope_base = 100000) {
  auto x = small_llama();
  x.rope.base = static_cast<double>(rope_base);
  return keys_of_llama(x);
}

/// Value i of a model is i / 1024, which sixteen bits may not hold.
inline std::vector<float> counted_values(const models::language_spec& x) {
  std::vector<float> all(models::size_of(models::tensors_of(x)));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(i) / 1024;
  return all;
}

} // namespace troupe::test
