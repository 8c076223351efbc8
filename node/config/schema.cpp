#include "node/config/schema.hpp"

#include <array>
#include <optional>

#include "core/limits.hpp"

namespace troupe::node {

namespace {

constexpr count_range length{.max = 1'000'000'000'000};
constexpr count_range clients{.min = 1, .max = limits::clients_max};

template <class T, class Visit>
void maybe(schema_visitor& v, const key& k, std::optional<T>& x, Visit visit) {
  if (!v.has(k, x.has_value()))
    return;
  T value = x.value_or(T{});
  visit(value);
  x = value;
}

void visit_run(schema_visitor& v, experiment& x) {
  v.count({"seed", "everything random begins here"}, x.seed,
          {.max = std::numeric_limits<std::int64_t>::max()});
  v.text({"name", "part of the name of the run's folder"}, x.name);
  v.text({"method", "a recipe of the catalogue"}, x.method);
  v.choice({"clock", "virtual time is simulated, wall time passes"}, x.clock,
           {"virtual", "wall"});
  v.count({"workers", "kernel workers; 0: one per core"}, x.workers,
          {.max = 1024});
  v.count({"evaluate_every", "versions, or rounds where none come; 0: never, "
                             "and the run ends without scores"},
          x.evaluate_every, length);
  v.number({"scores_seconds",
            "that clients elsewhere have to say what versions "
            "are worth to them"},
           x.scores_seconds, {.min = 0.1, .max = 1800});
  v.text({"init", "a file of weights to start from; empty: from the seed"},
         x.init);
  const key common{"common",
                   "a run's folder, or a file of weights: what nobody trains"};
  if (v.has(common, !x.common.empty()))
    v.text(common, x.common);
  v.text({"scenario", "a file of joins, leaves, drains and failures"},
         x.scenario);
  v.text({"folder", "where folders of runs are made"}, x.folder);
  v.flag({"events", "whether to write events.jsonl"}, x.events);
  v.count({"events_max", "MiB of events.jsonl, at which a run ends in order",
           x.events, "events = true"},
          x.events_max, {.min = 1, .max = std::uint64_t{1} << 20});
  v.flag({"keep_offers",
          "whether all offers are kept, for replays without "
          "the data that they were trained on",
          x.events, "events = true"},
         x.keep_offers);
  v.choice({"ledger", "where versions and visits are recorded"}, x.ledger,
           {"disk", "memory"});
  v.choice({"durability", "what outlives a server: versions, or also offers "
                          "that wait for one"},
           x.durability, {"version", "offer"});
  v.count({"retention", "versions of a line whose values are kept, and what an "
                        "open visit stands on"},
          x.retention, {.min = 1});
  v.number({"snapshot_seconds", "between snapshots under the virtual clock"},
           x.snapshot_seconds, a_duration);
}

void visit_length(schema_visitor& v, length_options& x) {
  const key rounds{"rounds", "of sync, or windows of semisync; 0: no limit"};
  if (v.has(rounds, x.rounds > 0))
    v.count(rounds, x.rounds, length);
  const key versions{"versions", "of the lead line; 0: no limit"};
  if (v.has(versions, x.versions > 0))
    v.count(versions, x.versions, length);
  const key updates{"updates",
                    "offers of which a part was merged; 0: no limit"};
  if (v.has(updates, x.updates > 0))
    v.count(updates, x.updates, length);
  const key time{"time_budget", "seconds of the run's clock"};
  if (v.has(time, x.time_budget > 0))
    v.number(time, x.time_budget, a_duration);
}

void visit_stop(schema_visitor& v, stop_options& x) {
  v.begin({"stop", "ends the run early, by validation data"});
  v.choice({"metric", "what is watched"}, x.metric,
           {"none", "accuracy", "loss", "per_client.mean", "per_client.worst",
            "per_client.perplexity"});
  const bool on = x.metric != stop_options::metric_kind::none;
  const key target{"target", "stop when it is reached", on, "a 'metric'"};
  maybe(v, target, x.target, [&](double& y) { v.number(target, y, any_real); });
  v.count({"patience", "evaluations without a better one; 0: no limit", on,
           "a 'metric'"},
          x.patience, {});
  v.end();
}

void visit_staleness(schema_visitor& v, staleness_options& x) {
  using enum staleness_options::shape;
  v.begin({"staleness", "what an offer weighs that is s versions behind"});
  v.choice({"kind"}, x.kind,
           {"constant", "polynomial", "hinge", "exponential"});
  v.number({"exponent", "(1 + s)^-exponent, or e^(-exponent s)",
            x.kind == polynomial || x.kind == exponential,
            "kind = \"polynomial\" or \"exponential\""},
           x.exponent, {.max = 100});
  v.number({"slope", "1 / (1 + slope (s - knee)) above the knee",
            x.kind == hinge, "kind = \"hinge\""},
           x.slope, {.max = 1e6});
  v.count(
    {"knee", "full weight up to here", x.kind == hinge, "kind = \"hinge\""},
    x.knee, {});
  v.end();
}

void visit_pace(schema_visitor& v, pace_options& x) {
  constexpr count_range offers{.min = 1, .max = limits::pending_offers_max};
  v.begin({"pace", "when offers become a version"});
  v.choice({"mode"}, x.mode, {"sync", "semisync", "fedbuff", "fedasync"});
  v.count({"buffer_size", "fedbuff: offers that make a version"}, x.buffer_size,
          offers);
  v.number({"client_share", "fedbuff: of a version, for one client at most"},
           x.client_share, {.max = 1, .above_min = true});
  v.count({"concurrency", "fedbuff, fedasync: open visits at a time"},
          x.concurrency, clients);
  v.choice({"refill", "when a free slot is filled"}, x.refill,
           {"offer", "version"});
  v.count({"quorum", "sync: offers that do at the deadline; 0: all"}, x.quorum,
          {});
  v.number({"over_selection", "sync: invitations per wanted offer"},
           x.over_selection, {.min = 1, .max = 10});
  v.number({"round_deadline", "sync: seconds; 0: none"}, x.round_deadline,
           a_pause);
  v.number({"window_seconds", "semisync: from version to version"},
           x.window_seconds, a_duration);
  v.number({"visit_timeout",
            "seconds that a client has; 0: a day, or as long as it takes under "
            "the virtual clock"},
           x.visit_timeout, {.max = 1e9});
  const key max{"staleness_max", "beyond it an offer is refused"};
  maybe(v, max, x.staleness_max,
        [&](std::uint64_t& y) { v.count(max, y, length); });
  v.count({"memory", "MiB that offers under way or waiting may take; 0: 2048"},
          x.memory, {.max = std::uint64_t{1} << 24});
  v.choice({"async_target", "fedasync: mix models, or add deltas"},
           x.async_target, {"model", "delta"});
  visit_staleness(v,
                  x.staleness); // Tables last: TOML has no way back out of one.
  v.end();
}

void visit_selection(schema_visitor& v, selection_options& x) {
  using enum selection_options::rule;
  v.begin({"selection", "who is invited"});
  v.choice({"kind"}, x.kind,
           {"uniform", "round_robin", "by_size", "power_of_choice", "oort",
            "least_chosen"});
  v.count({"candidates",
           "of which those with most loss stay; 0: twice the cohort",
           x.kind == power_of_choice, "kind = \"power_of_choice\""},
          x.candidates, {.max = limits::clients_max});
  v.number({"exploration",
            "share of the first windows for clients without a score",
            x.kind == oort, "kind = \"oort\""},
           x.exploration, a_share);
  v.end();
}

void visit_clients(schema_visitor& v, client_options& x) {
  v.begin({"clients", "who takes part"});
  v.count({"clients", "how many there are"}, x.clients, clients);
  v.count({"clients_per_round", "the cohort"}, x.clients_per_round, clients);
  const key part{"fraction", "the cohort as a share of the clients"};
  if (v.has(part, x.fraction > 0))
    v.number(part, x.fraction, {.max = 1, .above_min = true});
  v.count({"held_out", "the last so many are never invited"}, x.held_out, {});
  v.count({"often", "the first so many are invited more often; 0: none"},
          x.often, {.max = limits::clients_max});
  v.count({"often_per_round",
           "of these, in each cohort; 0: half of it, at most 'often'",
           x.often > 0, "'often' above 0"},
          x.often_per_round, {.max = limits::clients_max});
  v.count({"expected", "who are here before the first is invited; 0: all, and "
                       "under serve as many as are invited together"},
          x.expected, {.max = limits::clients_max});
  // Where it is not said nothing is written: earlier builds do not know it.
  const key silence{"silence_max", "under serve: seconds without a word, then "
                                   "a client is lost; 90, three beats"};
  if (v.has(silence, x.silence_max > 0))
    v.number(silence, x.silence_max, {.min = 60, .max = 86'400});
  v.count({"failures_max", "in a row: then left alone for a while; 0: never"},
          x.failures_max, {});
  v.choice({"example_weight", "what n examples weigh"}, x.example_weight,
           {"n", "sqrt", "log", "equal"});
  visit_selection(v, x.selection);
  v.end();
}

void visit_schedule(schema_visitor& v, models::training_options& of) {
  using namespace policies;
  auto& x = of.schedule;
  std::size_t kind = x.index();
  v.begin({"schedule", "of the learning rate, over the run's progress"});
  v.choice({"kind"}, kind, {"constant", "cosine", "step", "exponential"});
  constexpr std::array<rate_schedule, 4> kinds{
    constant_schedule{}, cosine_schedule{}, step_schedule{},
    exponential_schedule{}};
  if (kind != x.index())
    x = kinds[kind];
  double none = 0;
  step_schedule none_of_steps;
  auto* cosine = std::get_if<cosine_schedule>(&x);
  auto* exponential = std::get_if<exponential_schedule>(&x);
  auto* step = std::get_if<step_schedule>(&x);
  auto& last = cosine ? cosine->last : exponential ? exponential->last : none;
  const bool has_last = cosine != nullptr || exponential != nullptr;
  const bool is_step = step != nullptr;
  if (!is_step)
    step = &none_of_steps;
  v.number({"last", "share of the rate at the end", has_last,
            "kind = \"cosine\" or \"exponential\""},
           last, a_share);
  v.count({"steps", "how many times it falls", is_step, "kind = \"step\""},
          step->steps, {});
  v.number({"factor", "what is left of the rate after a step", is_step,
            "kind = \"step\""},
           step->factor, a_share);
  const key own{"own_steps",
                "above 0: over so many steps of each client's own, and not "
                "over the run's progress",
                x.index() != 0, "another 'kind' than \"constant\""};
  if (v.has(own, of.own_steps > 0))
    v.count(own, of.own_steps, length);
  const bool has_own = of.own_steps > 0;
  const key warmup{"warmup_steps",
                   "the first of 'own_steps', in which the rate rises from "
                   "nothing to all of it",
                   has_own, "'own_steps' above 0"};
  if (v.has(warmup, of.warmup_steps > 0))
    v.count(warmup, of.warmup_steps,
            {.max = has_own ? of.own_steps - 1 : length.max});
  v.end();
}

/// Where they are not said nothing is written.
void visit_experts(schema_visitor& v, models::training_options& x) {
  const bool adamw = x.optimiser == models::optimiser_kind::adamw;
  constexpr auto needs = "optimiser = \"adamw\"";
  const key first{"beta1", "what the first moment keeps at a step", adamw,
                  needs};
  if (v.has(first, x.beta1 != 0.9))
    v.number(first, x.beta1, below_one);
  const key second{"beta2", "what the second moment keeps", adamw, needs};
  if (v.has(second, x.beta2 != 0.999))
    v.number(second, x.beta2, below_one);
  const key experts{.name = "experts",
                    .says = "of each client's blocks, by turns; empty: 2",
                    .bounded_elsewhere = true};
  if (v.has(experts, !x.experts.empty()))
    v.counts(experts, x.experts, {.min = 1, .max = 1024});
  const key memory{.name = "expert_memory",
                   .says = "MiB that a client's experts may take, by turns: it "
                           "has as many as fit",
                   .bounded_elsewhere = true};
  if (v.has(memory, !x.expert_memory.empty()))
    v.reals(memory, x.expert_memory, above_zero);
}

void visit_training(schema_visitor& v, models::training_options& x) {
  v.begin({"training", "what a client does in a visit"});
  v.count({"local_epochs"}, x.local_epochs, positive);
  v.count({"local_steps", "above 0: in place of the epochs"}, x.local_steps,
          {});
  v.count({"batch_size", "0: all examples at once"}, x.batch_size, {});
  v.flag({"shuffle", "whether each epoch has an order of its own"}, x.shuffle);
  v.choice({"optimiser"}, x.optimiser, {"sgd", "adamw"});
  v.number({"learning_rate"}, x.learning_rate, above_zero);
  v.number({"momentum"}, x.momentum, a_share);
  v.number({"weight_decay"}, x.weight_decay, {});
  v.number({"stragglers", "share of visits that do part of their work"},
           x.stragglers, a_share);
  v.flag({"drop_stragglers", "they offer nothing instead", x.stragglers > 0,
          "'stragglers' above 0"},
         x.drop_stragglers);
  // Where they are not said nothing is written: earlier builds do not know
  // them.
  const key batches{"batches", "epochs take each row once; drawn, with "
                               "replacement; anywhere: windows at any place "
                               "of a stream"};
  if (v.has(batches, x.batches != models::batch_rule::epochs))
    v.choice(batches, x.batches, {"epochs", "drawn", "anywhere"});
  const key pass{"micro_batch", "rows that go through a model together, where "
                                "it can; 0: all of a batch"};
  if (v.has(pass, x.micro_batch > 0))
    v.count(pass, x.micro_batch, {});
  visit_experts(v, x);
  visit_schedule(v, x);
  v.end();
  v.numbers({"options", "of the method's local procedure"}, x.method);
}

void visit_server(schema_visitor& v, kernels::server_step& x) {
  using enum kernels::server_rule;
  v.begin({"server", "the step from the merged delta to the next version"});
  v.choice({"optimiser"}, x.rule,
           {"plain", "momentum", "adam", "yogi", "adagrad"});
  const bool moments = x.rule != plain;
  const bool steps = x.rule == adam || x.rule == yogi || x.rule == adagrad;
  v.number(
    {"server_learning_rate", "fedasync: the share of the client's model"},
    x.rate, above_zero);
  v.number({"beta1", "", moments, "another optimiser than \"plain\""}, x.beta1,
           below_one);
  v.number({"beta2", "", x.rule == adam || x.rule == yogi,
            "optimiser = \"adam\" or \"yogi\""},
           x.beta2, below_one);
  v.number({"tau", "", steps, "optimiser = \"adam\", \"yogi\" or \"adagrad\""},
           x.tau, above_zero);
  v.end();
}

/// `trim` and `bad` are one number of the rule, under the name that its users
/// know.
void visit_merge(schema_visitor& v, merge_options& x) {
  constexpr std::array kinds{merge_kind::mean, merge_kind::median,
                             merge_kind::trimmed_mean, merge_kind::krum};
  std::size_t kind = 0;
  while (kind + 1 < kinds.size() && kinds[kind] != x.rule.kind)
    ++kind;
  v.begin({"merge", "how offers become one delta, and what an offer may be"});
  v.choice({"rule", "mean: what the recipe says"}, kind,
           {"mean", "median", "trimmed_mean", "krum"});
  x.rule.kind = kinds[kind];
  const bool trims = x.rule.kind == merge_kind::trimmed_mean;
  const bool krum = x.rule.kind == merge_kind::krum;
  v.count({"trim", "left out at either end", trims, "rule = \"trimmed_mean\""},
          x.rule.count, positive);
  v.count({"bad", "offers that may be hostile", krum, "rule = \"krum\""},
          x.rule.count, {});
  v.count({"keep", "offers whose mean is taken", krum, "rule = \"krum\""},
          x.rule.keep, positive);
  v.number({"clip_norm", "largest norm of an offer; 0: no bound"}, x.clip_norm,
           {});
  v.number({"delta_max", "largest value of a delta, rounded up to a power of "
                         "two, 1 at least"},
           x.delta_max,
           {.max = 65536, .above_min = true});
  v.count({"samples_max", "largest weight of a client; 0: by the data"},
          x.samples_max, {.max = 1 << 30});
  const key wire{"wire", "what values of offers and served versions are "
                         "rounded to, wherever a client is"};
  if (v.has(wire, x.wire != sent_as::f32))
    v.choice(wire, x.wire, {"f32", "bf16"});
  v.end();
}

} // namespace

void visit_keys(schema_visitor& v, experiment& x) {
  visit_run(v, x);
  visit_length(v, x.length);
  visit_stop(v, x.stop);
  visit_pace(v, x.pace);
  visit_clients(v, x.clients);
  visit_partition(v, x.partition);
  visit_materials(v, x);
  visit_training(v, x.training);
  visit_server(v, x.server);
  visit_merge(v, x.merge);
  visit_life(v, x);
}

} // namespace troupe::node
