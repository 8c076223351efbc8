// What a configuration means that it does not say: values that follow from
// others.

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "models/families.hpp"
#include "models/first_rank.hpp"
#include "models/inner_setup.hpp"
#include "models/shapes.hpp"
#include "node/config/keys.hpp"
#include "node/config/method_options.hpp"
#include "node/config/reader.hpp"
#include "policies/catalogue.hpp"

namespace troupe::node {

namespace {

std::uint32_t cohort_of(const client_options& c) {
  if (c.clients_per_round > 0)
    return c.clients_per_round;
  if (c.fraction == 0)
    return std::min(c.invitable(), 10u);
  const auto share = std::lround(c.fraction * c.invitable());
  return static_cast<std::uint32_t>(std::max(share, 1l));
}

std::uint32_t often_of(const client_options& c) {
  if (c.often == 0 || c.often_per_round > 0)
    return c.often_per_round;
  return std::clamp(c.clients_per_round / 2, 1u, c.often);
}

/// Two rules have an alpha, and one of them is only ever meant by its name.
bool has_alpha(const entries& said) {
  const auto kind = said.find("partition.kind");
  const auto* name = kind == said.end()
                       ? nullptr
                       : std::get_if<std::string>(&kind->second.value);
  return name && *name == "mixtures";
}

/// An override of a number means its rule, also where the file names another.
bool implies(const entries& said, const std::string& path) {
  const auto number = said.find(path);
  const auto kind = said.find("partition.kind");
  if (path == "partition.alpha" && has_alpha(said))
    return false;
  return number != said.end()
         && (kind == said.end() || (number->second.raw && !kind->second.raw));
}

/// Keys of a common model are for the methods that have one: a file may serve
/// these and what they are compared with.
void settle_common(loaded_config& loaded, const entries& said,
                   const recipe& method) {
  auto& x = loaded.x;
  const bool has_one =
    std::ranges::find(method.blocks, models::common_family, &block_spec::name)
    != method.blocks.end();
  // A language model's file has values of its own.
  const auto& what = x.common_model ? *x.common_model : x.model;
  const bool has_file = what.is_language() && !what.path.empty();
  if (has_one && x.common.empty() && !has_file)
    loaded.notes.push_back(
      "'common' is not given: the common model of method '" + x.method
      + "' has values from the seed; common = FOLDER of a run that trained it "
        "would do");
  if (has_one)
    return;
  x.common.clear();
  x.common_model.reset();
  for (const auto& [path, e] : said)
    if (path == "common" || path.starts_with("common_model."))
      loaded.notes.push_back(e.where + ": '" + e.typed
                             + "' has no effect: method '" + x.method
                             + "' has no common model");
}

/// Tests do so on purpose; who has forgotten a key would see nothing of it but
/// that little is learned.
void remark_on_base(loaded_config& loaded, const recipe& method) {
  const auto& x = loaded.x;
  if (x.data.is_language() && x.model.is_language() && x.model.path.empty()
      && models::is_over_base(method))
    loaded.notes.push_back(
      "'model.path' is not given: the model that method '" + method.name
      + "' leaves as it is begins from the seed, and has learned nothing; the "
        "path of a pretrained one would do");
}

/// The most ranks that a client begins with, where options say ranks by client.
std::size_t most_ranks(const experiment& x) {
  const auto& said = x.training.experts;
  const auto experts =
    said.empty() ? models::experts_otherwise : *std::ranges::max_element(said);
  const std::size_t clients = std::max(x.clients.clients, 1u);
  const auto of = [&](std::size_t before) {
    return models::first_rank(
      x.training.method,
      {.before = before, .clients = clients, .experts = experts});
  };
  // From one to the other they only rise, or only fall.
  return std::max(of(0), of(clients - 1));
}

/// Where clients give up ranks down to a least one: says when nobody can.
void remark_on_ranks(loaded_config& loaded, const recipe& method) {
  if (find_option(method, "rank_min") == nullptr
      || find_option(method, "keep_share") == nullptr)
    return;
  const auto& said = loaded.x.training.method;
  if (said.at("keep_share") >= 1)
    loaded.notes.push_back(
      "no client can give up ranks: 'options.keep_share' is 1, and only those "
      "beyond it are given up; a share below 1 would do");
  const auto least = static_cast<std::uint64_t>(said.at("rank_min"));
  const std::uint64_t most = most_ranks(loaded.x);
  if (least >= most)
    loaded.notes.push_back(
      "no client can give up ranks: 'options.rank_min' is "
      + std::to_string(least) + ", and none has more than "
      + std::to_string(most)
      + (least > 1 ? "; with rank_min = 1 they can, down to one (rank_first "
                     "and rank_last say what they begin with)"
                   : "; a larger 'rank', or rank_first and rank_last above "
                     "one, would do"));
}

/// Where ranks go from one client's to another's: says which are too many.
void remark_on_ends(loaded_config& loaded, const entries& at,
                    const recipe& method) {
  const auto& said = loaded.x.training.method;
  const auto whole = [&](const char* name) {
    return std::to_string(static_cast<std::uint64_t>(said.at(name)));
  };
  for (const auto* name : {"rank_first", "rank_last"})
    if (find_option(method, name) != nullptr && said.at(name) > said.at("rank"))
      loaded.notes.push_back(at.at("options." + std::string{name}).where
                             + ": 'options." + std::string{name} + "' is "
                             + whole(name) + ", and no client has more than "
                             + "'options.rank', which is " + whole("rank")
                             + "; a larger 'rank' would do");
}

/// Layers that are named are adapted, whatever else says which.
void remark_on_layers(loaded_config& loaded, const entries& said,
                      const recipe& method) {
  const auto at = said.find(std::string{method_section} + ".adapted");
  if (at != said.end() && !loaded.x.model.adapt.empty()
      && find_option(method, "adapted") != nullptr)
    loaded.notes.push_back(at->second.where + ": '" + at->second.typed
                           + "' has no effect: 'model.adapt' names the layers "
                             "that have adapters");
}

/// One expert alone is chosen by nobody, and of two both are.
void remark_on_routers(loaded_config& loaded, const entries& said,
                       const recipe& method) {
  const auto& x = loaded.x.training;
  const auto remark = [&](std::initializer_list<const char*> names,
                          const std::string& why) {
    for (const std::string name : names) {
      const auto at = said.find(std::string{method_section} + '.' + name);
      const auto* known = find_option(method, name);
      if (known && at != said.end() && x.method.at(name) != known->value)
        loaded.notes.push_back(at->second.where + ": '" + at->second.typed
                               + "' has no effect: " + why);
    }
  };
  const auto at_most = [&](std::uint32_t most) {
    return std::ranges::all_of(x.experts,
                               [most](std::uint32_t n) { return n <= most; });
  };
  // Clients who bring their texts say how many experts they have.
  if (!models::is_routed(method) || loaded.x.data.brought)
    return;
  if (!x.experts.empty() && at_most(1))
    remark({"gate", "top_weights", "router_deviation", "router_bias",
            "balance", "balance_scale", "balance_of", "balance_chances",
            "favoured", "router_steps", "router_every", "router_rate"},
           "each client has one expert by 'training.experts', and no router");
  else if (x.expert_memory.empty() && at_most(2)) {
    const std::string why =
      "no client has more than two experts, and both are chosen";
    remark({"top_weights", "balance_chances"}, why);
    // Where loads are wanted apart, the balance of two has a slope.
    const auto favoured = x.method.find("favoured");
    if (favoured == x.method.end() || favoured->second == 0
        || favoured->second == 0.5)
      remark({"balance_of"}, why);
  }
}

/// Whether a version follows from what examples weigh. Of a recipe without
/// blocks nothing is known.
bool weighs_examples(const recipe& method, const options& said) {
  const auto settled = policies::with_options(method, said);
  const auto weighs = [](const block_spec& x) {
    return travels(x.where)
           && (x.weight == weight_rule::examples
               || x.weight == weight_rule::examples_times_share);
  };
  return !settled || method.blocks.empty()
         || (method.offers && std::ranges::any_of(settled->blocks, weighs));
}

void remark_on_weights(loaded_config& loaded, const entries& said,
                       const recipe& method) {
  const auto at = said.find("clients.example_weight");
  const bool is_chosen =
    loaded.x.clients.example_weight != policies::weight_kind::examples;
  if (at != said.end() && is_chosen
      && !weighs_examples(method, loaded.x.training.method))
    loaded.notes.push_back(at->second.where + ": '" + at->second.typed
                           + "' has no effect: under method '" + method.name
                           + "' no offer weighs by its examples"
                           + (find_option(method, "weights") != nullptr
                                ? "; options.weights = \"examples\" would do"
                                : ""));
}

/// Of texts alone about which something is asked a model has a head.
void remark_on_heads(loaded_config& loaded, const entries& said,
                     const recipe& method) {
  const auto& data = loaded.x.data;
  const auto at = said.find(std::string{method_section} + ".head");
  if (at == said.end() || find_option(method, "head") == nullptr
      || loaded.x.training.method.at("head") == 0
      || (data.is_labelled_text()
          && data.text_task != models::text_task::describe))
    return;
  loaded.notes.push_back(at->second.where + ": '" + at->second.typed
                         + "' has no effect: only texts that are classified, "
                           "or in which a span is found, have such a layer");
}

/// Plain steps leave nothing behind.
void remark_on_moments(loaded_config& loaded, const entries& said,
                       const recipe& method) {
  const auto& x = loaded.x.training;
  const auto at = said.find(std::string{method_section} + ".moments");
  if (at != said.end() && find_option(method, "moments") != nullptr
      && x.method.at("moments") != 0
      && x.optimiser == models::optimiser_kind::sgd && x.momentum == 0)
    loaded.notes.push_back(
      at->second.where + ": '" + at->second.typed
      + "' has no effect: plain SGD has no moments; "
        "training.optimiser = \"adamw\", or a 'training.momentum', would do");
}

/// Said where there is no choice. Else nobody says it: it is the default.
void remark_on_factors(loaded_config& loaded, const entries& said) {
  const auto at = said.find("model.factors");
  const auto& model = loaded.x.model;
  if (at != said.end() && model.is_language()
      && model.factors == model_options::factors_rule::composed)
    loaded.notes.push_back(at->second.where + ": '" + at->second.typed
                           + "' has no effect: adapters of a language model "
                             "stand inside its layers always");
}

/// What is said of adapters means nothing where there are none.
void settle_adapters(loaded_config& loaded, const entries& said,
                     const recipe& method) {
  if (models::has_adapters(method))
    return;
  auto& model = loaded.x.model;
  const auto note = [&](const char* path) {
    const auto& e = said.at(path);
    loaded.notes.push_back(e.where + ": '" + e.typed
                           + "' has no effect: method '" + method.name
                           + "' attaches no adapters");
  };
  if (!model.adapt.empty())
    note("model.adapt");
  if (model.factors != model_options::factors_rule::composed)
    note("model.factors");
  model.adapt.clear();
  model.factors = model_options::factors_rule::composed;
}

} // namespace

void imply(entries& said) {
  constexpr std::array rules{
    std::pair{"partition.alpha", "dirichlet"},
    std::pair{"partition.labels_per_client", "labels"},
    std::pair{"partition.shards_per_client", "shards"},
    std::pair{"partition.skew", "size_skew"},
    std::pair{"partition.column", "column"},
    std::pair{"partition.kinds_per_client", "combinations"},
    std::pair{"partition.sorted_fraction", "sorted"},
  };
  for (const auto& [path, rule] : rules)
    if (implies(said, path)) {
      auto made = said.at(path);
      made.value = std::string{rule};
      said.insert_or_assign("partition.kind", std::move(made));
      return;
    }
  const auto data = said.find("data.kind");
  const auto* kind = data == said.end()
                       ? nullptr
                       : std::get_if<std::string>(&data->second.value);
  if (kind
      && (*kind == "synthetic" || *kind == "quadratic" || *kind == "clusters"
          || *kind == "low_rank" || *kind == "language")
      && !said.contains("partition.kind")) {
    auto made = data->second;
    made.value = std::string{"natural"};
    said.emplace("partition.kind", std::move(made));
  }
}

void settle(loaded_config& loaded, const entries& said,
            const method_list& methods, problems& wrong) {
  auto& x = loaded.x;
  if (x.clients.held_out < x.clients.clients)
    x.clients.clients_per_round = cohort_of(x.clients);
  x.clients.fraction = 0;
  x.clients.often_per_round = often_of(x.clients);
  if (x.pace.concurrency == 0)
    x.pace.concurrency = std::max(x.clients.clients_per_round, 1u);
  // Xie et al. (2019) mix in 0.6 of a client's model: all of it would leave
  // nothing of the others'.
  if (x.pace.mode == pace_kind::fedasync
      && !said.contains("server.server_learning_rate"))
    x.server.rate = 0.6;
  if (x.method.empty() && !methods.built.empty())
    x.method = methods.built.front()->name;
  // As the task is described, where the default is that of another.
  if (x.data.kind == data_options::format::modes
      && !said.contains("data.dimension"))
    x.data.dimension = 32;
  // Nobody knows yet who has most; a bound must be there before its clients.
  if (x.data.is_elsewhere() && x.merge.samples_max == 0)
    x.merge.samples_max = 1 << 20;
  const auto* method = methods.find(x.method);
  if (!method)
    return;
  remark_on_factors(loaded, said);
  remark_on_base(loaded, *method);
  settle_adapters(loaded, said, *method);
  settle_common(loaded, said, *method);
  read_options(loaded, said, *method, methods, wrong);
  if (!wrong.empty())
    return;
  remark_on_ranks(loaded, *method);
  remark_on_ends(loaded, said, *method);
  remark_on_layers(loaded, said, *method);
  remark_on_routers(loaded, said, *method);
  remark_on_weights(loaded, said, *method);
  remark_on_moments(loaded, said, *method);
  remark_on_heads(loaded, said, *method);
  remark_on_idle(loaded, said, *method);
}

} // namespace troupe::node
