#include <algorithm>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "node/config/checks.hpp"
#include "node/config/keys.hpp"
#include "node/config/method_options.hpp"
#include "node/config/policies_of.hpp"
#include "node/config/reader.hpp"
#include "policies/catalogue.hpp"
#include "policies/pacing.hpp"

namespace troupe::node {

namespace {

std::string text(std::uint64_t x) {
  return std::to_string(x);
}

class checker {
public:
  checker(const experiment& x, const entries& said, std::string_view origin,
          problems& wrong)
    : x_(x),
      said_(said),
      origin_(origin),
      wrong_(wrong) {
    // nop
  }

  void length() {
    const auto& n = x_.length;
    const bool rounds = by_round(x_.pace.mode);
    if (n.rounds > 0 && !rounds)
      refuse("rounds", "'rounds' is for mode = \"sync\" or \"semisync\": write "
                       "'versions' here");
    if (n.rounds > 0 && n.versions > 0)
      refuse("rounds", "give 'rounds' or 'versions', not both");
    if (n.rounds + n.versions + n.updates == 0 && n.time_budget == 0)
      wrong_.add(origin_, "nothing ends this run: give 'rounds', 'versions', "
                          "'updates' or 'time_budget'");
    if (x_.stop.metric == stop_options::metric_kind::none)
      return;
    if (x_.stop.metric == stop_options::metric_kind::accuracy
        && x_.stop.target.value_or(0) > 1)
      refuse("stop.target", "an accuracy is at most 1, found "
                              + std::to_string(*x_.stop.target));
    if (x_.evaluate_every == 0)
      refuse("stop.metric",
             "'stop' needs evaluations: 'evaluate_every' must be at "
             "least 1, found 0");
    if (!x_.stop.target && x_.stop.patience == 0)
      refuse("stop.metric", "'stop' needs a 'target' or a 'patience'");
    if (x_.data.validation == 0)
      refuse("data.validation",
             "'stop' needs validation data: 'validation' must be "
             "above 0");
  }

  void clients() {
    const auto& c = x_.clients;
    if (said_.contains("clients.clients_per_round")
        && said_.contains("clients.fraction"))
      refuse("clients.fraction",
             "give 'clients_per_round' or 'fraction', not both");
    if (c.held_out >= c.clients)
      return refuse(
        "clients.held_out",
        "'held_out' leaves nobody to invite: it must be below 'clients', "
          + text(c.clients) + ", found " + text(c.held_out));
    if (c.clients_per_round > c.invitable())
      refuse("clients.clients_per_round",
             "'clients_per_round' must be at most " + text(c.invitable())
               + ", the clients that can be invited, found "
               + text(c.clients_per_round));
    if (c.expected > c.invitable())
      refuse("clients.expected", "'expected' must be at most "
                                   + text(c.invitable())
                                   + ", the clients that can be invited, found "
                                   + text(c.expected));
    if (x_.attack.clients > c.clients)
      refuse("attack.clients", "'attack.clients' must be at most "
                                 + text(c.clients) + ", found "
                                 + text(x_.attack.clients));
    using rule = selection_options::rule;
    if (c.selection.kind == rule::power_of_choice && c.selection.candidates > 0
        && c.selection.candidates < c.clients_per_round)
      refuse("clients.selection.candidates",
             "'candidates' must be at least 'clients_per_round', "
               + text(c.clients_per_round) + ", found "
               + text(c.selection.candidates));
  }

  void pace() {
    const auto& p = x_.pace;
    const auto& c = x_.clients;
    const bool slots =
      p.mode == pace_kind::fedbuff || p.mode == pace_kind::fedasync;
    if (slots && c.held_out < c.clients && p.concurrency > c.invitable())
      refuse("pace.concurrency", "'concurrency' must be at most "
                                   + text(c.invitable())
                                   + ", the clients that can be invited, found "
                                   + text(p.concurrency));
    if (p.mode == pace_kind::fedbuff
        && p.refill == pace_options::refill_kind::version
        && p.buffer_size > p.concurrency)
      refuse("pace.buffer_size",
             "'buffer_size' must be at most 'concurrency', "
               + text(p.concurrency)
               + ", with refill = \"version\", or no version "
               + "would ever be made; found " + text(p.buffer_size));
    if (p.mode == pace_kind::fedbuff
        && std::uint64_t{c.invitable()}
               * std::min<std::uint64_t>(client_most(x_), p.buffer_size)
             < p.buffer_size)
      refuse("pace.client_share",
             "'client_share' must be large enough that " + text(c.invitable())
               + " clients fill a buffer of " + text(p.buffer_size));
    if (p.mode == pace_kind::sync)
      sync();
    if (x_.durability == durability_kind::offer
        && x_.ledger == ledger_kind::memory)
      refuse("durability", "durability = \"offer\" needs ledger = \"disk\"");
    if (x_.durability == durability_kind::offer
        && x_.clock == clock_kind::virtual_time)
      refuse("durability",
             "durability = \"offer\" is for servers whose clients live on: it "
             "needs clock = \"wall\", which troupe serve has");
  }

  void merge() {
    const auto& rule = x_.merge.rule;
    const auto least = least_offers();
    if (rule.kind != merge_kind::mean && x_.pace.mode == pace_kind::fedasync)
      return refuse("merge.rule",
                    "mode = \"fedasync\" merges one offer at a time: "
                    "rule must be \"mean\"");
    if (least == 0)
      return; // A window may bring any number.
    if (rule.kind == merge_kind::trimmed_mean
        && 2 * std::uint64_t{rule.count} >= least)
      refuse("merge.trim", "'trim' must be below half of the " + text(least)
                             + " offers of a version, found "
                             + text(rule.count));
    // Krum's own bound: n above 2 f + 2.
    if (rule.kind == merge_kind::krum && least < 3)
      refuse("merge.rule", "rule = \"krum\" needs 3 offers in a version, and "
                           "one may have "
                             + text(least));
    else if (rule.kind == merge_kind::krum
             && 2 * std::uint64_t{rule.count} + 3 > least)
      refuse("merge.bad", "'bad' must be at most " + text((least - 3) / 2)
                            + " with " + text(least)
                            + " offers in a version, found "
                            + text(rule.count));
    if (rule.kind == merge_kind::krum && rule.keep > least)
      refuse("merge.keep", "'keep' must be at most the " + text(least)
                             + " offers of a version, found "
                             + text(rule.keep));
  }

  void work() {
    using format = data_options::format;
    using shape = model_options::shape;
    const auto& d = x_.data;
    const auto& m = x_.model;
    if ((d.kind == format::quadratic) != (m.kind == shape::quadratic))
      refuse("model.kind",
             "model.kind = \"quadratic\" and data.kind = \"quadratic\" "
             "need each other");
    if (d.is_regression() != (m.kind == shape::regression))
      refuse("model.kind",
             "model.kind = \"regression\" and data.kind = \"clusters\" or "
             "\"low_rank\" need each other");
    if (d.kind == format::low_rank && !m.hidden.empty())
      refuse("model.hidden",
             "data.kind = \"low_rank\" is of one matrix: 'hidden' must be []");
    if (d.kind == format::low_rank && x_.clients.clients != 2)
      refuse("clients.clients",
             "data.kind = \"low_rank\" is of two clients: 'clients' must be 2, "
             "found "
               + text(x_.clients.clients));
    if (x_.in_clusters() && d.clusters > x_.clients.clients)
      refuse("data.clusters", "'clusters' must be at most 'clients', which is "
                                + text(x_.clients.clients)
                                + ", or some are without a client; " + "found "
                                + text(d.clusters));
    if (m.kind == shape::torchscript && m.path.empty())
      refuse("model.kind",
             "kind = \"torchscript\" needs the 'path' of a module");
    if (!d.is_made() && !d.is_elsewhere() && !d.has_own_model()
        && d.path.empty())
      refuse("data.path",
             "'data.path' must name a file or a folder, found \"\"");
    if (d.kind == format::csv
        && x_.partition.kind == partition_options::rule::column
        && x_.partition.column.empty())
      refuse("partition.kind",
             "kind = \"column\" needs the name of a 'column'");
    using dealing = partition_options::rule;
    if (x_.partition.kind == dealing::natural && !d.says_who_has_what())
      refuse("partition.kind",
             "kind = \"natural\" needs data that says who holds what: "
             "data.kind = \"synthetic\", \"quadratic\", \"clusters\", "
             "\"low_rank\" or \"language\"");
    if (d.is_elsewhere())
      elsewhere();
    const auto& speed = x_.devices.speed;
    if (speed.slowest > speed.fastest)
      refuse("devices.speed.slowest", "'slowest' must not be above 'fastest'");
  }

  void method(const method_list& methods) {
    const auto* found = methods.find(x_.method);
    if (!found)
      return unknown_method(methods);
    if (policies::standing_of(*found, circumstances_of(x_))
        == standing::refused)
      refuse("pace.mode",
             "method '" + shortened(x_.method) + "' refuses mode = \""
               + std::string{policies::to_string(x_.pace.mode)}
               + "\": " + policies::remark_on(*found, circumstances_of(x_)));
    const bool counts = x_.length.rounds > 0 && by_round(x_.pace.mode);
    if (!found->offers && !counts && x_.length.time_budget == 0)
      refuse("method",
             "method '" + shortened(x_.method)
               + "' merges nothing, so only 'time_budget', or 'rounds' of "
                 "\"sync\" or \"semisync\", can end it");
    if (!found->offers)
      merges_nothing();
    if (found->state == state_rule::on_accept)
      as_offered(*found);
    if (const auto watched = watched_of(x_.stop); watched && !found->offers)
      refuse("stop.metric", "'stop' looks at versions, and method '" + x_.method
                              + "' makes none");
    else if (watched && found->personal && !models::of_clients(*watched))
      refuse("stop.metric",
             "'stop.metric' watches a model that no client of method '"
               + x_.method + "' uses, since each has a part of its own: "
               + scores_to_stop_by(x_.data) + " would do");
    check_options(said_, *found, methods, wrong_);
  }

private:
  static constexpr std::uint64_t values_max = 1 << 24;

  void refuse(const std::string& path, std::string_view what,
              problems::hint would_do = {}) {
    const auto at = said_.find(path);
    wrong_.add(at == said_.end() ? origin_ : std::string_view{at->second.where},
               what, std::move(would_do));
  }

  /// What there is to know of data that is not here.
  void elsewhere() {
    const auto& d = x_.data;
    const std::string why =
      d.is_language() ? "data.brought = true " : "data.kind = \"elsewhere\" ";
    if (!d.is_language())
      examples_elsewhere(why);
    if (x_.clients.held_out > 0)
      refuse("clients.held_out",
             why
               + "has no data for clients that are held out: "
                 "'held_out' must be 0");
    const auto watched = watched_of(x_.stop);
    if (watched && !models::of_clients(*watched))
      refuse("stop.metric", why + "has no data here to stop by: "
                              + scores_to_stop_by(x_.data) + " would do");
  }

  void examples_elsewhere(const std::string& why) {
    const auto& d = x_.data;
    std::uint64_t values = 1;
    for (const auto extent : d.inputs)
      values = std::min<std::uint64_t>(values * extent, values_max + 1);
    if (d.inputs.empty() || values > values_max)
      refuse("data.inputs", why
                              + "needs the extents of an example as 'inputs', "
                              + (d.inputs.empty() ? "as in [1, 28, 28] or [30]"
                                                  : "of 2^24 values at most"));
    if (d.classes == 0)
      refuse("data.classes",
             why + "needs 'classes', how many labels there are");
    if (x_.partition.kind != partition_options::rule::iid)
      refuse("partition.kind", why
                                 + "deals nothing: 'partition' must not be "
                                   "given");
  }

  /// What changes an offer after the client's own state was made for it.
  void as_offered(const recipe& method) {
    const auto why = " of a client after its own state was computed with it: "
                     "'method' = \""
                     + method.name + "\" needs ";
    if (x_.merge.clip_norm > 0)
      refuse("merge.clip_norm",
             "'clip_norm' shortens an offer" + why + "'clip_norm' = 0");
    if (x_.attack.clients > 0)
      refuse("attack.clients",
             "'attack' multiplies an offer" + why + "'attack.clients' = 0");
  }

  /// Whoever says how offers are merged means another method.
  void merges_nothing() {
    const auto unless = [this](bool fits, const std::string& key,
                               const char* would_do) {
      if (!fits)
        refuse(key, "'" + key + "' is about offers, and method '" + x_.method
                      + "' merges nothing: " + would_do + " would do");
    };
    unless(x_.merge.rule.kind == merge_kind::mean, "merge.rule", "\"mean\"");
    unless(x_.merge.clip_norm == 0, "merge.clip_norm", "0");
    unless(x_.server.rule == kernels::server_rule::plain, "server.optimiser",
           "\"plain\"");
  }

  void sync() {
    const auto& p = x_.pace;
    const auto cohort = x_.clients.clients_per_round;
    if (p.quorum > cohort)
      refuse("pace.quorum", "'quorum' must be at most 'clients_per_round', "
                              + text(cohort) + ", found " + text(p.quorum));
    else if (p.quorum > 0 && p.quorum < cohort && p.round_deadline == 0)
      refuse("pace.quorum",
             "'quorum' counts at the deadline: give 'round_deadline'");
    if (cohort <= x_.clients.invitable()
        && policies::cohort_size(cohort, p.over_selection)
             > x_.clients.invitable())
      refuse("pace.over_selection", "'over_selection' invites more than the "
                                      + text(x_.clients.invitable())
                                      + " clients that can be invited");
  }

  /// The fewest offers that a version may have; 0: not known beforehand.
  std::uint64_t least_offers() const {
    switch (x_.pace.mode) {
      case pace_kind::sync:
        return x_.pace.quorum ? x_.pace.quorum : x_.clients.clients_per_round;
      case pace_kind::fedbuff:
        return x_.pace.buffer_size;
      case pace_kind::fedasync:
        return 1;
      case pace_kind::semisync:
        break;
    }
    return 0;
  }

  void unknown_method(const method_list& methods) {
    if (std::ranges::find(methods.planned, x_.method) != methods.planned.end())
      return refuse("method",
                    "method '" + shortened(x_.method) + "' is not built yet");
    std::vector<std::string> names;
    for (const auto* y : methods.built)
      names.push_back(y->name);
    std::string all;
    for (const auto& name : names)
      all += (all.empty() ? "" : ", ") + name;
    const auto near = nearest(x_.method, names);
    refuse("method",
           "unknown method '" + shortened(x_.method) + "'"
             + (near.empty() ? "; there are: "
                             : ", did you mean '" + near + "'? There are: ")
             + all);
  }

  const experiment& x_;
  const entries& said_;
  std::string_view origin_;
  problems& wrong_;
};

} // namespace

void check(const experiment& x, const entries& said, std::string_view origin,
           const method_list& methods, problems& wrong) {
  checker all{x, said, origin, wrong};
  all.method(methods);
  all.length();
  all.clients();
  all.pace();
  all.merge();
  all.work();
  check_partition(x, said, origin, wrong);
  check_common(x, said, origin, wrong);
  check_roles(x, said, origin, methods, wrong);
  check_factors(x, said, origin, wrong);
  check_wire(x, said, origin, methods, wrong);
  check_language(x, said, origin, methods, wrong);
}

} // namespace troupe::node
