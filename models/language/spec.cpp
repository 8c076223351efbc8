#include "models/language/spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "models/language/names.hpp"
#include "models/language/stored_type.hpp"

namespace troupe::models {

namespace {

// Sizes that no model has; what is beyond is a damaged file, and its products
// stay far from the end of 64 bits.
constexpr std::uint32_t width_max = 1 << 16;
constexpr std::uint32_t layers_max = 1024;
constexpr std::uint32_t inner_max = 1 << 20;
constexpr std::uint32_t context_max = 1 << 24;

struct named_size {
  std::string_view name;
  std::uint32_t value;
  std::uint32_t most;
};

result<void> refuse_spec(std::string_view origin, const std::string& what) {
  return fail(errc::invalid_data, std::string{origin} + ": " + what);
}

result<void> check_sizes(const language_spec& x, std::string_view origin) {
  const std::array sizes{
    named_size{"vocabulary", x.vocabulary, limits::vocabulary_max},
    named_size{"context", x.context, context_max},
    named_size{"width", x.width, width_max},
    named_size{"number of layers", x.layers, layers_max},
    named_size{"number of heads", x.heads, width_max},
    named_size{"number of key heads", x.key_heads, width_max},
    named_size{"width of a head", x.head_width, width_max},
    named_size{"inner width", x.inner, inner_max}};
  for (const auto& size : sizes)
    if (size.value == 0 || size.value > size.most)
      return refuse_spec(origin, "the model's " + std::string{size.name}
                                   + " is " + std::to_string(size.value)
                                   + "; from 1 to " + std::to_string(size.most)
                                   + " would do");
  const std::array tables{
    named_size{"segment types", x.types, width_max},
    named_size{"the first place", x.first_position, width_max},
    named_size{"relative buckets", x.relative_buckets, width_max},
    named_size{"the relative span", x.relative_span, context_max}};
  for (const auto& size : tables)
    if (size.value > size.most)
      return refuse_spec(
        origin, "the model's table of " + std::string{size.name} + " has "
                  + std::to_string(size.value) + " rows; at most "
                  + std::to_string(size.most) + " would do");
  return {};
}

result<void> check_heads(const language_spec& x, std::string_view origin) {
  const auto heads = std::to_string(x.heads);
  if (x.heads % x.key_heads != 0)
    return refuse_spec(origin, heads + " heads do not share "
                                 + std::to_string(x.key_heads)
                                 + " key heads evenly; a divisor would do");
  // All heads together are as wide as what comes out of a product.
  if (std::uint64_t{x.heads} * x.head_width > inner_max)
    return refuse_spec(
      origin, heads + " heads of " + std::to_string(x.head_width) + " are "
                + std::to_string(std::uint64_t{x.heads} * x.head_width)
                + " wide; at most " + std::to_string(inner_max) + " would do");
  const bool is_llama = x.kind == architecture_kind::llama;
  if (!is_llama
      && (x.key_heads != x.heads
          || std::uint64_t{x.heads} * x.head_width != x.width))
    return refuse_spec(origin,
                       heads + " heads of " + std::to_string(x.head_width)
                         + " are not the width of " + std::to_string(x.width)
                         + "; as many as divide it would do");
  return {};
}

result<void> check_rope(const rope_spec& x, std::uint32_t head_width,
                        std::string_view origin) {
  if (x.width == 0 || x.width % 2 != 0 || x.width > head_width)
    return refuse_spec(origin, "rotary embeddings turn "
                                 + std::to_string(x.width) + " of a head's "
                                 + std::to_string(head_width)
                                 + " values; an even number from 2 would do");
  if (!(x.base > 1) || !std::isfinite(x.base))
    return refuse_spec(origin, "the base of rotary embeddings is "
                                 + std::to_string(x.base)
                                 + "; a number above 1 would do");
  if (x.scaling == rope_spec::scaling_kind::none)
    return {};
  if (!(x.factor >= 1) || !std::isfinite(x.factor))
    return refuse_spec(origin, "rotary embeddings are scaled by "
                                 + std::to_string(x.factor)
                                 + "; a factor from 1 would do");
  if (x.scaling != rope_spec::scaling_kind::linear
      && (!(x.low > 0) || !(x.high > x.low) || !std::isfinite(x.high)
          || x.original_context == 0))
    return refuse_spec(
      origin, "the scaling of rotary embeddings goes from "
                + std::to_string(x.low) + " to " + std::to_string(x.high)
                + " over a context of " + std::to_string(x.original_context)
                + "; a first number above 0 and below the second, "
                  "and a context from 1 would do");
  if (!(x.length > 0) || !std::isfinite(x.length))
    return refuse_spec(origin, "what rotary embeddings turn becomes "
                                 + std::to_string(x.length)
                                 + " times as long; a number above 0 would do");
  return {};
}

bool holds(const weight_files& in, const language_spec& x,
           const std::string& name) {
  return find_source(in, source_of(x, in.format(), name)) != nullptr;
}

/// A head over tokens is there where its first product is.
language_spec with_head_of(const weight_files& in, language_spec x) {
  x.has_head = true;
  x.head_bias = true;
  const auto names = tensors_of(x);
  x.has_head = holds(in, x, names[places_of(x).transform].name);
  x.head_bias = x.has_head;
  return x;
}

/// Some files have the table of a tied head a second time.
bool has_table_twice(const weight_files& in) {
  const auto* table = in.find("token_embd.weight");
  const auto* head = in.find("output.weight");
  return table != nullptr && head != nullptr && table->type == head->type
         && table->bytes.size() == head->bytes.size()
         && std::memcmp(table->bytes.data(), head->bytes.data(),
                        table->bytes.size())
              == 0;
}

/// What each pair's frequency is divided by, as those who make GGUF files do.
std::vector<double> divisors_of(const rope_spec& x) {
  constexpr double pi = 3.14159265358979323846;
  std::vector<double> out;
  for (std::uint32_t i = 0; i < x.width; i += 2) {
    const auto wave =
      2 * pi * std::pow(x.base, static_cast<double>(i) / x.width);
    const double context = x.original_context;
    if (wave < context / x.high) {
      out.push_back(1);
    } else if (wave > context / x.low) {
      out.push_back(x.factor);
    } else {
      const auto smooth = (context / wave - x.low) / (x.high - x.low);
      out.push_back(1 / ((1 - smooth) / x.factor + smooth));
    }
  }
  return out;
}

/// A GGUF file has no numbers for the scaling of Llama 3, but what comes of
/// them. All published models have the same but for the factor.
result<language_spec> with_divisors(const weight_files& in, language_spec x) {
  const auto* said = in.find("rope_freqs.weight");
  if (said == nullptr)
    return x;
  std::vector<float> found(said->size());
  const bool fits = x.kind == architecture_kind::llama
                    && said->type == stored_type::f32
                    && 2 * found.size() == x.rope.width;
  if (fits) {
    dequantise(said->type, said->bytes, found);
    x.rope.scaling = rope_spec::scaling_kind::llama3;
    x.rope.factor = *std::ranges::max_element(found);
    x.rope.low = 1;
    x.rope.high = 4;
    x.rope.original_context = 8192;
    const auto wanted = divisors_of(x.rope);
    if (std::ranges::equal(wanted, found, [](double a, float b) {
          return std::abs(a - b) <= 1e-4 * a;
        }))
      return x;
  }
  return fail(errc::invalid_data,
              in.origin()
                + ": 'rope_freqs.weight' is not the scaling of Llama 3 (from 1 "
                  "to 4 over a context of 8192), and no other is read from "
                  "GGUF; the same model's folder with config.json would do");
}

} // namespace

result<language_spec> read_spec(const weight_files& from) {
  if (const auto* header = from.header()) {
    auto x = parse_spec(*header, from.origin());
    if (!x)
      return x;
    if (x->is_causal() && has_table_twice(from))
      x->tied = true;
    return with_divisors(from, std::move(*x));
  }
  if (from.config().fields() == nullptr)
    return fail(errc::invalid_data,
                from.origin()
                  + ": there is no config.json, which says what the model is; "
                    "a folder with both would do");
  auto x = parse_spec(from.config(), from.origin() + ", config.json");
  if (!x || x->is_causal())
    return x;
  return with_head_of(from, std::move(*x));
}

result<void> check_spec(const language_spec& x, std::string_view origin) {
  return check_sizes(x, origin)
    .and_then([&] { return check_heads(x, origin); })
    .and_then([&]() -> result<void> {
      if (!(x.epsilon > 0) || !(x.epsilon < 1))
        return refuse_spec(origin,
                           "the norms' epsilon is " + std::to_string(x.epsilon)
                             + "; a number above 0 and below 1 would do");
      if (x.kind == architecture_kind::llama && x.inner_bias)
        return refuse_spec(origin,
                           "a llama with biases in its feed-forward block is "
                           "not read; one without would do");
      if (x.kind == architecture_kind::deberta && x.relative_span == 0)
        return refuse_spec(origin,
                           "a deberta without relative places is not read; "
                           "one with a span from 1 would do");
      if (x.kind == architecture_kind::llama)
        return check_rope(x.rope, x.head_width, origin);
      return {};
    });
}

std::string_view name_of(architecture_kind x) noexcept {
  switch (x) {
    case architecture_kind::gpt2:
      return "gpt2";
    case architecture_kind::llama:
      return "llama";
    case architecture_kind::bert:
      return "bert";
    case architecture_kind::roberta:
      return "roberta";
    case architecture_kind::deberta:
      return "deberta";
  }
  return "?";
}

std::string describe(const language_spec& x) {
  auto text = std::string{name_of(x.kind)} + ", " + std::to_string(x.layers)
              + " layers of " + std::to_string(x.width) + ", "
              + std::to_string(x.heads) + " heads";
  if (x.key_heads != x.heads)
    text += " over " + std::to_string(x.key_heads);
  return text + ", " + std::to_string(x.vocabulary) + " tokens";
}

} // namespace troupe::models
