#include "models/inner_setup.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "models/adapters/block_parts.hpp"
#include "models/adapters/head_vectors.hpp"
#include "models/adapters/layer_names.hpp"
#include "models/families.hpp"
#include "models/routing_for.hpp"
#include "models/shapes.hpp"

namespace troupe::models {

namespace {

bool has(const recipe& method, std::string_view family) {
  return std::ranges::any_of(
    method.blocks, [&](const block_spec& x) { return x.name == family; });
}

bool is_of_blocks(std::string_view tensor) {
  return is_of_attention(tensor) || is_of_feed_forward(tensor);
}

/// Of GPT-2's fused products this is all three.
bool makes_query_or_value(std::string_view tensor) {
  constexpr std::array<std::string_view, 7> names{
    "query", "value", "query_proj", "value_proj", "q_proj", "v_proj", "c_attn"};
  const auto layer = layer_of(tensor);
  return std::ranges::any_of(
    names, [&](std::string_view name) { return goes_by(layer, name); });
}

using part_of_model = bool (*)(std::string_view tensor);

/// Layers of the base whose matrices are of a part and go by one of the names.
std::vector<std::string> layers_of(const tensor_list& base, part_of_model part,
                                   const std::vector<std::string>& named) {
  std::vector<std::string> found;
  for (const auto& x : base)
    if (x.shape.size() == 2 && part(x.name)
        && is_named(layer_of(x.name), named))
      found.emplace_back(layer_of(x.name));
  return found;
}

/// Refuses a name that no layer of either part goes by.
result<void> check_named(const tensor_list& base,
                         const std::vector<std::string>& named,
                         const key_places& places) {
  const auto all = layers_of(base, is_of_blocks, {});
  for (const auto& name : named)
    if (std::ranges::none_of(
          all, [&](const std::string& layer) { return goes_by(layer, name); }))
      return fail(errc::invalid_config,
                  places.of("model.adapt") + "'model.adapt' has "
                    + in_quotes(shortened(name))
                    + ", and the model has no such layer in its attention or "
                      "its feed-forward blocks"
                    + names_like(name, all));
  return {};
}

double value_of(const options& all, const char* name) {
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

std::string whole(double x) {
  return std::to_string(static_cast<std::uint64_t>(x));
}

bool is_apart(const options& all) {
  return value_of(all, "plain_attention") != 0;
}

class inner_planner {
public:
  inner_planner(const recipe& method, const tensor_list& base,
                const options& said, const std::vector<std::string>& layers,
                const key_places& places)
    : method_(method),
      base_(base),
      all_(with_defaults(method, said)),
      layers_(layers),
      places_(places) {
    // nop
  }

  result<inner_plans> make() {
    return add_experts()
      .and_then([this] { return add_adapters(); })
      .map([this] { return std::move(to_); });
  }

private:
  result<void> put(result<adapter_plan> made, std::optional<adapter_plan>& to) {
    if (!made)
      return tl::unexpected{std::move(made.error())};
    to = std::move(*made);
    return check_widths(*to, {.places = places_});
  }

  /// Inner factors begin uniform within the root of their length, outer ones
  /// as zeros.
  result<void> plan(part_of_model part, std::optional<adapter_plan>& to) {
    const auto found = layers_of(base_, part, layers_);
    if (found.empty()) // Names of the other part alone.
      return fail(
        errc::invalid_config,
        places_.of("model.adapt") + "'model.adapt' has no layer of "
          + (part == is_of_attention ? "attention" : "feed-forward blocks")
          + ", and method " + in_quotes(method_.name)
          + " adapts attention and feed-forward blocks"
          + names_like("", layers_of(base_, part, {})) + " beside the others");
    return put(
      plan_adapters(base_,
                    {.rank = static_cast<std::size_t>(value_of(all_, "rank")),
                     .alpha = value_of(all_, "alpha"),
                     .alpha_over_root = value_of(all_, "alpha_over") != 0,
                     .convolution = kernel_split::none,
                     .bias = false,
                     .start = factor_start::inner_random,
                     .start_bound = 1,
                     .layers = found,
                     .places = places_}),
      to);
  }

  result<void> add_experts() {
    if (!is_routed(method_))
      return {};
    to_.generalists = count_of(method_, generalist_family);
    return check_named(base_, layers_, places_)
      .and_then([this] { return routing_for(method_, all_); })
      .map([this](const routing_options& how) { to_.routing = how; })
      .and_then([this] { return plan(is_of_feed_forward, to_.feed_forward); })
      .and_then([this] {
        return has(method_, attention_family)
                 ? plan(is_of_attention, to_.attention)
                 : result<void>{};
      });
  }

  /// Ranks of layers of attention, where these have others.
  std::map<std::string, std::size_t> ranks_of_attention(const options& said) {
    std::map<std::string, std::size_t> ranks;
    const auto rank = value_of(said, "attention_rank");
    for (const auto& layer : layers_of(base_, is_of_attention, layers_))
      if (rank > 0)
        ranks[layer] = static_cast<std::size_t>(rank);
    return ranks;
  }

  /// Of ranks that clients have a part of, the option says how many there are.
  result<void> check_attention(const options& said) const {
    const auto rank = value_of(said, "rank");
    const auto attention = value_of(said, "attention_rank");
    const bool by_client =
      std::ranges::any_of(method_.blocks, [](const block_spec& x) {
        return !x.rank_counter.empty();
      });
    if (!by_client || attention <= rank)
      return {};
    return fail(errc::invalid_config,
                places_.of("options.attention_rank")
                  + "'options.attention_rank' is " + whole(attention)
                  + ", and an adapter of method " + in_quotes(method_.name)
                  + " has no more ranks than 'rank', which is " + whole(rank)
                  + "; at most " + whole(rank)
                  + ", or a larger 'rank', would do");
  }

  bool takes_blocks() const {
    return value_of(all_, "adapted") != 0 || !layers_.empty();
  }

  result<void> put_over(const std::vector<std::string>& layers,
                        const options& said,
                        const std::map<std::string, std::size_t>& other_ranks,
                        const rank_keys& keys,
                        std::optional<adapter_plan>& to) {
    return adapters_for(method_, base_, said, layers, other_ranks, places_)
      .and_then([&](std::optional<adapter_plan> x) -> result<void> {
        to = std::move(x);
        // Also of whom nobody need have all ranks: they stand inside.
        return to ? check_widths(*to, keys) : result<void>{};
      });
  }

  /// Over the layers that are named, or those that the method has.
  result<void> add(const options& said, std::string_view rank,
                   std::optional<adapter_plan>& to) {
    if (auto ok = check_named(base_, layers_, places_); !ok)
      return ok;
    if (auto ok = check_attention(said); !ok)
      return ok;
    const auto layers = layers_of(
      base_, takes_blocks() ? &is_of_blocks : &makes_query_or_value, layers_);
    rank_keys keys{.all = rank, .places = places_};
    if (value_of(said, "attention_rank") > 0)
      keys.attention = "options.attention_rank";
    return put_over(layers, said, ranks_of_attention(said), keys, to);
  }

  /// What is beside attention is a block of its own, of one rank for all.
  result<void> add_apart() {
    if (auto ok = check_named(base_, layers_, places_); !ok)
      return ok;
    const auto beside = layers_of(
      base_, takes_blocks() ? &is_of_attention : &makes_query_or_value,
      layers_);
    std::vector<std::string> others;
    if (takes_blocks())
      others = layers_of(base_, is_of_feed_forward, layers_);
    if (beside.empty() || others.empty())
      return fail(
        errc::invalid_config,
        places_.of("options.plain_attention")
          + "'options.plain_attention' parts attention from other "
            "layers, and "
          + (beside.empty() ? "none of attention is" : "no others are")
          + " adapted; options.adapted = \"blocks\", or layers of "
            "both in model.adapt, would do");
    auto fixed = all_;
    rank_keys keys{.places = places_};
    if (const auto rank = value_of(all_, "attention_rank"); rank > 0) {
      fixed["rank"] = rank;
      keys.all = "options.attention_rank";
    }
    return put_over(beside, fixed, {}, keys, to_.attention).and_then([&] {
      return put_over(others, all_, {}, {.places = places_}, to_.adapter);
    });
  }

  result<void> add_adapters() {
    if (has(method_, adapter_family))
      if (auto ok = is_apart(all_) ? add_apart()
                                   : add(all_, "options.rank", to_.adapter);
          !ok)
        return ok;
    // All that it says is new: what all clients have learns it, or their own.
    const bool is_private = value_of(all_, "head") != 0;
    if (to_.adapter && !is_private)
      add_head(base_, *to_.adapter);
    if (is_private && find_option(method_, "own_rank") == nullptr)
      add_own_head();
    if (!has(method_, own_adapter_family) || !all_.contains("own_rank"))
      return {};
    auto own = all_;
    own["rank"] = all_.at("own_rank");
    own["attention_rank"] = 0;
    return add(own, "options.own_rank", to_.own_adapter).map([&] {
      if (to_.adapter)
        count_as(*to_.adapter, *to_.own_adapter);
      if (is_private)
        add_head(base_, *to_.own_adapter);
    });
  }

  /// Of clients who have no adapter of their own, it stands alone.
  void add_own_head() {
    adapter_plan own;
    for (const auto& x : base_)
      own.model_size += x.size();
    add_head(base_, own);
    if (to_.adapter && own.size() > 0)
      to_.own_adapter = std::move(own);
  }

  const recipe& method_;
  const tensor_list& base_;
  options all_;
  const std::vector<std::string>& layers_;
  const key_places& places_;
  inner_plans to_;
};

/// Who only asks what it has changes nothing.
const inner_adapters* inside_of(const objective& model) noexcept {
  return const_cast<objective&>(model).inside();
}

} // namespace

std::uint32_t count_of(const recipe& method, std::string_view family) noexcept {
  for (const auto& x : method.blocks)
    if (x.name == family)
      return x.count;
  return 0;
}

bool is_routed(const recipe& method) {
  return has(method, generalist_family) || has(method, specialist_family);
}

std::string no_head_of(const recipe& method) {
  return "method " + in_quotes(method.name)
         + " learns nothing of the layer that says what a row is; data.task = "
           "\"language\" or \"describe\", or a method without experts, would "
           "do";
}

bool needs_validation(const recipe& method, const options& said) {
  const auto all = with_defaults(method, said);
  return has(method, router_family) && all.contains("router_data")
         && value_of(all, "router_data") == 0 && value_of(all, "joint") == 0;
}

const tensor_list& adaptable(const objective& model) noexcept {
  const auto* inside = inside_of(model);
  return inside != nullptr ? inside->base_list() : model.parameter_list();
}

result<std::optional<inner_plans>>
inner_plans_for(const recipe& method, const objective& model,
                const options& said, const std::vector<std::string>& layers,
                const key_places& places) {
  const auto* inside = inside_of(model);
  if (inside == nullptr && is_routed(method))
    return fail(errc::invalid_config,
                places.of("method") + "method " + in_quotes(method.name)
                  + " has several experts in each feed-forward block of a "
                    "language model; model.kind = \"language\" would do");
  if (inside == nullptr && is_apart(with_defaults(method, said)))
    return fail(errc::invalid_config,
                places.of("options.plain_attention")
                  + "'options.plain_attention' is of a language model's "
                    "attention; model.kind = \"language\", or none of it, "
                    "would do");
  if (inside == nullptr || !(is_routed(method) || has_adapters(method)))
    return std::optional<inner_plans>{};
  if (is_routed(method) && has_head(inside->base_list()))
    return fail(errc::invalid_config, places.of("method") + no_head_of(method));
  return inner_plans_over(inside->base_list(), method, said, layers, places)
    .map([](inner_plans x) { return std::optional{std::move(x)}; });
}

result<inner_plans> inner_plans_over(const tensor_list& base,
                                     const recipe& method, const options& said,
                                     const std::vector<std::string>& layers,
                                     const key_places& places) {
  return inner_planner{method, base, said, layers, places}.make();
}

} // namespace troupe::models
