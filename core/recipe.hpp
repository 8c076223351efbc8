#pragma once

// A method is a recipe over blocks: data, not code. Recipes stand in
// policies/methods/, one per file; the actors read only what is written here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/option.hpp"

namespace troupe {

/// Who holds a block. Everything that the runtime does with it follows from
/// this.
enum class scope : std::uint8_t {
  frozen, ///< Everybody, identified by digest; never trained.
  shared, ///< One version line; everybody trains it.
  expert, ///< One version line per instance; trained by whom the recipe routes
          ///< to it.
  personal, ///< One client. Never travels.
};

/// Whether a block has versions that travel. Frozen blocks do travel, once, but
/// have no versions: a client asks for them by digest.
constexpr bool travels(scope x) noexcept {
  return x == scope::shared || x == scope::expert;
}

enum class merge_kind : std::uint8_t {
  mean,     ///< Sum of a_i s_i d_i over the sum of a_i.
  sum_over, ///< Sum of a_i s_i d_i over the number of clients ever admitted.
  mix,      ///< The mean, with `amount` as its rate (pFedMe's beta).
  replace,  ///< The offer takes the place of the version.
  padded,   ///< A mean in which an offer's value is zero where it has no rank.
  median,   ///< Per coordinate.
  trimmed_mean, ///< Per coordinate, without the `count` largest and smallest.
  krum, ///< The mean of the `keep` offers closest to others, `count` of them
        ///< bad.
  product_svd, ///< The mean of products of factors, factored anew.
};

struct merge_rule {
  merge_kind kind = merge_kind::mean;
  double amount = 1;
  std::uint32_t count = 0;
  std::uint32_t keep = 1;

  friend bool operator==(const merge_rule&, const merge_rule&) = default;
};

/// What an offer to a block weighs. "Examples" is what the configuration makes
/// of the client's number of examples: n, its root, its logarithm, or one.
enum class weight_rule : std::uint8_t {
  examples,
  one,
  examples_times_share, ///< The share is declared: FLoRAL's pi, DDOME's mass.
  one_times_share,
  rank_norm, ///< HETLoRA's norm of base plus delta.
};

/// Offers to such a block declare a share, and weigh as much.
constexpr bool has_shares(weight_rule x) noexcept {
  return x == weight_rule::examples_times_share
         || x == weight_rule::one_times_share;
}

/// One family of blocks: `count` instances, named `name.0`, `name.1`, …, or
/// just `name` if that is one. Of a personal family a client may hold fewer.
struct block_spec {
  std::string name;
  scope where = scope::shared;
  std::uint32_t count = 1;
  std::string group = {}; ///< Families of one group form one version line.
  merge_rule merge = {};
  weight_rule weight = weight_rule::examples;
  std::uint32_t rank =
    0; ///< Above zero: rows are rank-major, a prefix may travel.
  std::string count_option = {}; ///< The option that says `count`, if any.
  std::string rank_option = {};  ///< The option that says `rank`, if any.
  /// The counter in a client's state that says how many ranks it has of the
  /// block, if there is one: it fetches no more than these.
  std::string rank_counter = {};
  /// The option, a flag or a choice of two, above 0 of which the block is
  /// personal and not fetched.
  std::string personal_option = {};
  /// Likewise, where offers that weigh one would weigh by examples.
  std::string examples_option = {};
};

/// Blocks that a method has only where a flag among its options is set, which
/// is off by default. The first leg fetches what of them travels.
struct optional_blocks {
  std::string flag = {}; ///< Empty: there are none.
  std::vector<block_spec> blocks = {};
};

/// The name of a local procedure, resolved by models/methods.
struct procedure_name {
  std::string value;
  friend auto operator<=>(const procedure_name&,
                          const procedure_name&) = default;
};

/// The name of a pure local choice, resolved likewise. Empty: nothing is
/// chosen.
struct choice_name {
  std::string value;
  friend auto operator<=>(const choice_name&, const choice_name&) = default;
};

struct fetch_spec {
  std::string family;
  /// Only the instances that the last leg's choice named; else all.
  bool chosen = false;
  /// Of what is chosen, at most so many instances; 0: all.
  std::uint32_t chosen_max = 0;
  std::string chosen_option = {}; ///< The option that says it, if any.
};

/// One step down of a visit: what is fetched, and the choice made over it.
struct leg {
  std::vector<fetch_spec> fetch;
  choice_name choice = {};
};

/// Selection draws per role. The quotas of all roles but the last are counts
/// per window; the last takes the rest.
struct role {
  std::string name = "all";
  std::uint32_t quota = 0;
  procedure_name procedure = {};
  /// No choice is made: each client of the role is tied to one instance of
  /// every chosen family, that of its place among the role's clients.
  bool choice_fixed = false;
  /// The first `members` clients have this role (DDOME's anchors); 0: all
  /// others.
  std::uint32_t members = 0;
  std::string quota_option = {}; ///< The option that says `quota`, if any.
  /// The option that says `members`, if any: where it says 0 there is no such
  /// role.
  std::string members_option = {};
};

/// What a message says of personal state: declared, typed, bounded.
struct disclosure {
  std::string name;
  std::uint32_t count_max = 1;
  double min = 0;
  double max = 1;
  std::optional<double> sum = {}; ///< What the values add up to, within 1e-6.
  std::string count_option = {};  ///< The option that says `count_max`, if any.
  /// Lists the instances of this family that the visit chose, best first:
  /// different whole numbers.
  std::string chosen_of = {};
};

/// When the client state that a visit made becomes the client's own.
enum class state_rule : std::uint8_t {
  on_offer,
  on_accept, ///< The client's next visit waits for the verdict.
};

/// The set of paces is closed; a pace is not another code path.
enum class pace_kind : std::uint8_t { sync, semisync, fedbuff, fedasync };

/// Whether rounds or windows decide what a line merges, and not how much it
/// has.
constexpr bool by_round(pace_kind x) noexcept {
  return x == pace_kind::sync || x == pace_kind::semisync;
}

/// How a (method, pace) pair relates to the publication.
enum class standing : std::uint8_t { exact, extension, refused };

/// A block that clients keep, and are scored with, where an option says so: a
/// flag or a choice of two, above 0.
struct own_by_option {
  std::string family = {};
  std::string option = {};
};

struct recipe {
  std::string name;
  std::string summary;
  std::vector<block_spec> blocks = {};
  std::vector<leg> legs = {};
  std::vector<role> roles = {};
  /// What a client uses is in part its own: scores of clients are what the
  /// method is for, and the global one is of a newcomer who has nothing yet.
  bool personal = false;
  state_rule state = state_rule::on_offer;
  std::vector<disclosure> disclosures = {};
  /// Of its procedures, its choices and its blocks. There are no defaults but
  /// these.
  std::vector<option_spec> options = {};
  bool offers = true; ///< False: visits only evaluate or train personal state.
  standing asynchronous = standing::extension; ///< Under every pace but `sync`.
  bool server_optimises = false; ///< Published with optimisers of the server.
  /// Of the last visit of each client, when no more versions come: it offers
  /// nothing, and makes what it fetches its own. Empty: there is none.
  procedure_name finish = {};
  bool pooled = false;    ///< Of one client, who has what all users have.
  own_by_option own = {}; ///< Empty: none.
  optional_blocks more = {};
};

/// The role of last visits: the one behind the recipe's own.
inline std::uint32_t last_role(const recipe& method) noexcept {
  return static_cast<std::uint32_t>(method.roles.size());
}

/// Whether that is what a visit of this role is.
inline bool is_last_visit(const recipe& method, std::uint32_t role) noexcept {
  return !method.finish.value.empty() && role == last_role(method);
}

/// Null if the method has no such option.
const option_spec* find_option(const recipe& method, std::string_view name);

/// The values that are said, and of all other options of the method their own.
options with_defaults(const recipe& method, options said = {});

} // namespace troupe
