// How many parameters PF2LoRA trains, sends and keeps on published models, from
// what these are and without their weights.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/language/names.hpp"
#include "models/language/spec.hpp"
#include "tests/support/small_adapters.hpp"

namespace troupe::models {

namespace {

struct published {
  architecture_kind kind;
  std::uint32_t layers, width;
  std::vector<std::string> adapted;
  std::size_t common, own;      ///< Ranks.
  std::size_t sent, kept, both; ///< Parameters.
};

/// The tensors that matter here: a vocabulary of any size is adapted by nobody.
tensor_list model_of(const published& x) {
  language_spec spec{.kind = x.kind,
                     .vocabulary = 11,
                     .context = 16,
                     .width = x.width,
                     .layers = x.layers,
                     .heads = x.width / 64,
                     .key_heads = x.width / 64,
                     .head_width = 64,
                     .inner = 4 * x.width,
                     .attention_bias = true,
                     .inner_bias = true};
  if (x.kind == architecture_kind::roberta) {
    spec.activation = activation_kind::gelu;
    spec.first_position = 2;
    spec.types = 1;
  }
  if (x.kind == architecture_kind::deberta) {
    spec.activation = activation_kind::gelu;
    spec.relative_buckets = 256;
    spec.relative_span = 512;
  }
  return tensors_of(spec);
}

} // namespace

// Specification, 3.3: queries and values of each layer. GPT-2's are parts of
// one matrix with its keys, whose factors are as large as those of the two.
TEST(adapter_counts, are_those_that_were_published) {
  const std::vector<std::string> apart{"query", "value"};
  const std::vector<std::string> of_deberta{"query_proj", "value_proj"};
  const std::vector<std::string> fused{"attn.c_attn"};
  constexpr auto roberta = architecture_kind::roberta;
  constexpr auto deberta = architecture_kind::deberta;
  constexpr auto gpt2 = architecture_kind::gpt2;
  for (const auto& x : std::vector<published>{
         {roberta, 12, 768, apart, 8, 2, 294'912, 73'728, 368'640},
         {roberta, 24, 1024, apart, 8, 2, 786'432, 196'608, 983'040},
         {deberta, 12, 768, of_deberta, 8, 4, 294'912, 147'456, 442'368},
         {gpt2, 24, 1024, fused, 4, 2, 393'216, 196'608, 589'824},
         {gpt2, 48, 1600, fused, 4, 2, 1'228'800, 614'400, 1'843'200},
         {roberta, 12, 768, apart, 12, 0, 442'368, 0, 442'368}}) {
    SCOPED_TRACE(std::string{name_of(x.kind)} + ' ' + std::to_string(x.layers));
    const auto model = model_of(x);
    const auto parameters = [&](std::size_t rank) {
      const auto plan =
        planned(model, {.rank = rank, .bias = false, .layers = x.adapted});
      EXPECT_EQ(plan.matrices.size(), x.layers * x.adapted.size());
      EXPECT_TRUE(plan.vectors.empty());
      return plan.size();
    };
    const auto kept = x.own > 0 ? parameters(x.own) : 0;
    EXPECT_EQ(parameters(x.common), x.sent);
    EXPECT_EQ(kept, x.kept);
    EXPECT_EQ(x.sent + kept, x.both);
  }
}

} // namespace troupe::models
