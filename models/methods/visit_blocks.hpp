#pragma once

// From fetched blocks to live buffers, and from live buffers to an offer.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/values.hpp"
#include "models/families.hpp"
#include "models/procedure.hpp"

namespace troupe::models {

/// A fetched block and what the layout says of it.
struct base_block {
  const block_layout* layout = nullptr;
  std::span<const float> values; ///< Of the version that was fetched.
};

/// Finds a block by name. Returns `invalid_argument` if the recipe has no such
/// block, the visit did not fetch it, or it does not have `size` values.
result<base_block> base_of(const visit_input& x, const local_problem& on,
                           std::string_view name, std::size_t size);

/// The values that the client keeps under `name`, or `otherwise` if it has none
/// yet. Returns `invalid_argument` if what it keeps has another size.
result<std::span<const float>> own_or(const client_state* state,
                                      std::string_view name,
                                      std::span<const float> otherwise);

/// Makes `x` the live parameters. @pre of the same size
void load_parameters(objective& model, std::span<const float> x);

/// Brings the live buffers back when it goes: what is differentiated to choose
/// or to score, and not to train, leaves no statistics behind.
class kept_statistics {
public:
  explicit kept_statistics(objective& model);
  ~kept_statistics();
  kept_statistics(const kept_statistics&) = delete;
  kept_statistics& operator=(const kept_statistics&) = delete;

private:
  objective& model_;
  std::vector<float> values_;
};

/// Begins the visit and makes the buffers live that it starts from. By the
/// scope of `name` in the recipe these are the fetched ones (`shared`), those
/// that the client keeps (`personal`), or those of a fresh model: at a first
/// visit, and always where they are `frozen` or the recipe does not know them.
result<void> load_buffers(const visit_input& x, local_problem& on,
                          std::string_view name);

/// Keeps the live buffers in `next` where they are personal.
result<void> keep_buffers(const local_problem& on, std::string_view name,
                          client_state& next);

/// Keeps values in `next`. Returns `diverged`, naming the block, if one of them
/// is not finite.
result<void> keep(std::string_view name, std::span<const float> values,
                  client_state& next);

/// Adds `now - base` to the offer, in its place, with the weight of the block's
/// rule; `part` is the share, or the norm, for rules that have one, and where
/// it is too small to be offered nothing is. Returns `diverged`, naming the
/// block and the tensor, if a difference is not finite.
result<void> offer_difference(const base_block& base,
                              std::span<const float> now,
                              const local_problem& on, trained& to,
                              std::optional<double> part = {});

/// Makes a fetched shared model live, with its buffers. `name` is for recipes
/// with more than one.
result<base_block> begin_model(const visit_input& x, local_problem& on,
                               std::string_view name = model_family);

/// Offers the live parameters in the place of `base`, and the live buffers as
/// `model.buffers` where these are shared; where they are personal the client
/// keeps them.
/// @pre `base` is what `begin_model` returned
result<void> end_model(const visit_input& x, local_problem& on,
                       const base_block& base, trained& to);

/// The buffers' part of that.
result<void> offer_buffers(const visit_input& x, local_problem& on,
                           trained& to);

/// The result of a visit that has not trained yet: the state it found, counted
/// on.
trained begin_result(const visit_input& x);

} // namespace troupe::models
