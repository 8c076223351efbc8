#pragma once

// One experiment as a configuration describes it: plain values, all resolved.
// What each key means stands beside its name in node/config/schema.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bf16.hpp"
#include "core/key_places.hpp"
#include "core/recipe.hpp"
#include "kernels/backend.hpp"
#include "models/data/pixels.hpp"
#include "models/data/shift.hpp"
#include "models/data/text_task.hpp"
#include "models/procedure.hpp"
#include "models/tasks/low_rank.hpp"
#include "node/config/partition_keys.hpp"
#include "policies/devices.hpp"
#include "policies/presence.hpp"
#include "policies/weighting.hpp"

namespace troupe::node {

enum class clock_kind : std::uint8_t { virtual_time, wall };
enum class ledger_kind : std::uint8_t { disk, memory };
enum class durability_kind : std::uint8_t { version, offer };

struct stop_options {
  enum class metric_kind : std::uint8_t {
    none,
    accuracy,
    loss,
    clients_mean,
    clients_worst,
    clients_perplexity
  };

  metric_kind metric = metric_kind::none;
  std::optional<double> target = {};
  std::uint32_t patience =
    0; ///< Evaluations without a better one; 0: no limit.
};

/// What comes first ends the run. Zero: not limited by this.
struct length_options {
  std::uint64_t rounds = 0;   ///< Of `sync`, or windows of `semisync`.
  std::uint64_t versions = 0; ///< Of the lead line.
  std::uint64_t updates = 0;  ///< Offers that were merged.
  double time_budget = 0;     ///< Seconds of the run's clock.
};

struct staleness_options {
  enum class shape : std::uint8_t { constant, polynomial, hinge, exponential };

  shape kind = shape::polynomial;
  double exponent = 0.5;
  double slope = 10;
  std::uint64_t knee = 4;
};

struct pace_options {
  enum class refill_kind : std::uint8_t { offer, version };
  enum class target_kind : std::uint8_t { model, delta };

  pace_kind mode = pace_kind::sync;
  std::uint32_t buffer_size = 10;
  double client_share = 1;       ///< Of a buffer, at most, for one client.
  std::uint32_t concurrency = 0; ///< Resolved: never 0.
  refill_kind refill = refill_kind::offer;
  std::uint32_t quorum = 0; ///< 0: all of the cohort.
  double over_selection = 1;
  double round_deadline = 0; ///< Seconds; 0: none.
  double window_seconds = 60;
  double visit_timeout = 0; ///< Seconds; 0: by the clock.
  staleness_options staleness = {};
  std::optional<std::uint64_t> staleness_max = {};
  std::uint64_t memory = 0; ///< MiB of offers; 0: by the model.
  target_kind async_target = target_kind::model;
};

struct selection_options {
  enum class rule : std::uint8_t {
    uniform,
    round_robin,
    by_size,
    power_of_choice,
    oort,
    least_chosen,
  };

  rule kind = rule::uniform;
  std::uint32_t candidates = 0; ///< 0: twice the cohort.
  double exploration = 0.9;
};

struct client_options {
  std::uint32_t clients = 10;
  std::uint32_t clients_per_round = 0; ///< Resolved: never 0.
  double fraction = 0;                 ///< Resolved: always 0.
  std::uint32_t held_out = 0;          ///< The last so many are never invited.
  /// The first so many are invited more often; 0: none.
  std::uint32_t often = 0;
  std::uint32_t often_per_round = 0; ///< Of these. Resolved: 0 only if none is.
  /// So many are here before the first is invited; 0: all or, where clients
  /// come from elsewhere, as many as are invited together.
  std::uint32_t expected = 0;
  /// Seconds without a word after which one that comes from elsewhere is lost;
  /// 0: three beats.
  double silence_max = 0;
  /// Visits that fail in a row before a client is left alone; 0: it never is.
  std::uint32_t failures_max = 3;
  policies::weight_kind example_weight = policies::weight_kind::examples;
  selection_options selection = {};

  std::uint32_t invitable() const noexcept {
    return clients - held_out;
  }
};

/// What becomes of the offers of one version, beside the recipe's own rule.
struct merge_options {
  merge_rule rule = {}; ///< `mean`: what the recipe says.
  double clip_norm = 0; ///< An offer's largest norm; 0: not bounded.
  double delta_max = 8;
  std::uint64_t samples_max = 0; ///< 0: what the largest client registers.
  sent_as wire = sent_as::f32;
};

struct data_options {
  enum class format : std::uint8_t {
    idx,
    cifar10,
    cifar100,
    csv,
    synthetic,
    quadratic,
    clusters,  ///< FLoRAL's synthetic tasks.
    low_rank,  ///< PF2LoRA's synthetic task.
    elsewhere, ///< Clients bring their own.
    modes,     ///< Several places for each label.
    language   ///< Texts of users, as tokens.
  };
  enum class cluster_task : std::uint8_t { linear, mlp };

  format kind = format::idx;
  std::string path = "/usr/share/datasets/fashion-mnist";
  std::string label = "label"; ///< The column of a CSV file.
  std::uint32_t classes = 0;   ///< 0: as many as the training labels count.
  std::vector<std::uint32_t> inputs = {}; ///< Extents of an example elsewhere.
  double test_fraction = 0.1; ///< Where the data has no test set of its own.
  double validation = 0.1;    ///< Kept aside for `stop`, only if it is set.
  double synthetic_alpha = 1;
  double synthetic_beta = 1;
  std::uint32_t dimension = 60;        ///< Of generated data.
  std::uint32_t rows_per_class = 1000; ///< Training rows of generated data.
  models::pixel_options pixels = {};
  models::cluster_shift shift = models::cluster_shift::none;
  cluster_task task = cluster_task::linear;
  std::uint32_t clusters = 2;
  std::uint32_t cluster_rows = 0; ///< 0: as the task was published.
  models::low_rank_options::truth truth = {};
  // Of texts of users, who are the clients.
  models::text_task text_task = models::text_task::language;
  std::vector<std::string> users = {}; ///< Empty: all there are, by name.
  std::string tokenizer = {};          ///< A path; empty: the model's.
  std::uint32_t context = 128;         ///< Tokens of a row.
  std::uint32_t stride = 0; ///< Of these with the window before; 0: one window.
  std::uint64_t tokens = 0; ///< Of each user at most; 0: all.
  /// In its place, of each user by turns. Empty: `tokens` of each.
  std::vector<std::uint32_t> user_tokens = {};
  std::uint64_t validation_tokens = 0; ///< As `tokens`.
  std::uint64_t test_tokens = 0;       ///< Likewise.
  std::uint32_t test_windows = 0;      ///< Drawn; 0: all without overlap.
  double validation_share = 0.1;       ///< Of a user's text, by bytes.
  double test_share = 0.1;             ///< Likewise.
  std::string part = {};  ///< The key that says it of a text; empty: none.
  bool mixed = false;     ///< Each user is watched and tested on all users'.
  bool pooled = false;    ///< One client has what all users have.
  bool brought = false;   ///< Each client brings its own; none is here.
  std::string cache = {}; ///< A folder; empty: none is kept.

  /// Clients bring theirs, and none is here.
  bool is_elsewhere() const noexcept {
    return kind == format::elsewhere || (is_language() && brought);
  }

  /// Examples are generated, and not read.
  bool is_made() const noexcept {
    return kind == format::synthetic || kind == format::modes;
  }

  /// What a client holds is changed by its number.
  bool shifts_clusters() const noexcept {
    return shift == models::cluster_shift::rotation
           || shift == models::cluster_shift::labels;
  }

  bool is_regression() const noexcept {
    return kind == format::clusters || kind == format::low_rank;
  }

  /// The data and the model are one thing: there are no examples to look at.
  bool has_own_model() const noexcept {
    return kind == format::quadratic || is_regression();
  }

  bool is_language() const noexcept {
    return kind == format::language;
  }

  /// Its tokenizer is a file by itself: neither the model's nor none.
  bool names_tokenizer() const noexcept {
    return !tokenizer.empty() && tokenizer != "bytes";
  }

  /// Each row is a text of its own, about which something is known.
  bool is_labelled_text() const noexcept {
    return is_language() && text_task != models::text_task::language;
  }

  /// A model is asked for tokens, of which each is foretold from those before.
  bool foretells_tokens() const noexcept {
    return is_language()
           && (text_task == models::text_task::language
               || text_task == models::text_task::describe);
  }

  /// There is nothing to deal.
  bool says_who_has_what() const noexcept {
    return kind == format::synthetic || has_own_model() || is_language();
  }
};

struct model_options {
  enum class shape : std::uint8_t {
    softmax,
    mlp,
    cnn,
    lenet,
    vgg8,
    resnet18,
    resnet34,
    torchscript,
    quadratic,
    regression,
    language
  };
  enum class buffer_rule : std::uint8_t { average, local, freeze };
  enum class norm_rule : std::uint8_t { group, batch };
  enum class architecture_rule : std::uint8_t { gpt2, llama, bert };
  enum class storage_rule : std::uint8_t { f32, bf16, as_stored };
  enum class factors_rule : std::uint8_t { composed, inside };

  shape kind = shape::mlp;
  std::vector<std::uint32_t> hidden = {200};
  std::string path = {};
  double init_scale = 1; ///< First values are multiplied by it.
  buffer_rule buffers = buffer_rule::average;
  std::vector<std::string> adapt = {}; ///< Layers with adapters; empty: all.
  /// How adapters count while clients train: in weights that are composed, or
  /// beside the products of layers. A language model's are inside always.
  factors_rule factors = factors_rule::composed;
  std::uint32_t width = 64;          ///< Of residual networks: channels.
  norm_rule norm = norm_rule::group; ///< Likewise.
  // Of language models; those without a path begin from the seed, and have
  // these sizes.
  architecture_rule architecture = architecture_rule::gpt2;
  std::uint32_t layers = 4;
  std::uint32_t embedding = 128;
  std::uint32_t heads = 4;
  std::uint32_t key_heads = 0; ///< 0: as many as `heads`.
  std::uint32_t inner = 0;     ///< 0: as the architecture has it.
  storage_rule storage = storage_rule::f32;

  bool is_language() const noexcept {
    return kind == shape::language;
  }

  bool is_residual() const noexcept {
    return kind == shape::resnet18 || kind == shape::resnet34;
  }
};

struct speed_options {
  enum class distribution : std::uint8_t {
    constant,
    uniform,
    half_normal,
    lognormal,
    trace
  };

  distribution kind = distribution::constant;
  double slowest = 0.1;
  double fastest = 1;
  double sigma = 1;
  std::string path = {}; ///< A speed per line.
};

struct device_options {
  double seconds_per_step = 0.01; ///< Of a device of speed 1.
  double drop_out = 0; ///< Share of visits whose work is never offered.
  speed_options speed = {};
};

struct availability_options {
  enum class rule : std::uint8_t { always, windows, trace };

  rule kind = rule::always;
  policies::available_windows windows = {};
  std::string path = {}; ///< CSV: client, from, to.
};

/// For tests of robust merges: the first clients send their delta times
/// `scale`.
struct attack_options {
  std::uint32_t clients = 0;
  double scale = -10;
};

struct experiment {
  std::uint64_t seed = 1;
  std::string name = "run";
  std::string method = {}; ///< Resolved: the first that is built.
  clock_kind clock = clock_kind::virtual_time;
  std::uint32_t workers = 0;         ///< 0: one per core.
  std::uint64_t evaluate_every = 10; ///< Versions; 0: never.
  double scores_seconds = 60; ///< Clients elsewhere have so long for theirs.
  std::string init = {};      ///< A file of weights; empty: from the seed.
  /// A run's folder or a file of weights, of what nobody trains; empty: from
  /// the seed.
  std::string common = {};
  /// Of the values that a run began with; empty: whatever there is. No key: the
  /// run's folder says it.
  std::string common_digest = {};
  std::string folder = "runs";
  bool events = true;
  std::uint64_t events_max = 4096; ///< MiB of events.jsonl.
  bool keep_offers = false;        ///< For replays without the data.
  ledger_kind ledger = ledger_kind::disk;
  durability_kind durability = durability_kind::version;
  std::uint64_t retention = 20; ///< Versions of a line whose values are kept.
  double snapshot_seconds = 30;
  stop_options stop = {};
  length_options length = {};
  pace_options pace = {};
  client_options clients = {};
  partition_options partition = {};
  models::training_options training = {}; ///< `method` resolved by the recipe.
  kernels::server_step server = {};
  merge_options merge = {};
  data_options data = {};
  model_options model = {};
  std::optional<model_options> common_model = {}; ///< Nothing: as `model`.
  device_options devices = {};
  policies::links network = {};
  availability_options availability = {};
  policies::crash_options crashes = {};
  std::string scenario = {}; ///< A file; empty: nothing else happens.
  attack_options attack = {};
  key_places places = {}; ///< Of what was said; no key.

  /// Whether client k is in cluster k mod `data.clusters`.
  bool in_clusters() const {
    return data.kind == data_options::format::clusters || data.shifts_clusters()
           || partition.kind == partition_options::rule::disjoint;
  }
};

} // namespace troupe::node
