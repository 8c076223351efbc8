// What texts of users, and a language model, do not go with.

#include <algorithm>
#include <set>
#include <string>

#include "core/text.hpp"
#include "models/inner_setup.hpp"
#include "models/shapes.hpp"
#include "node/config/checks.hpp"
#include "node/config/keys.hpp"

namespace troupe::node {

namespace {

class language_checker {
public:
  language_checker(const experiment& x, const entries& said,
                   std::string_view origin, problems& wrong)
    : x_(x),
      said_(said),
      origin_(origin),
      wrong_(wrong) {
    // nop
  }

  /// Either needs the other.
  void pair() {
    const auto& d = x_.data;
    if (d.is_language() && !x_.model.is_language())
      refuse("model.kind",
             "data.kind = \"language\" needs model.kind = \"language\"");
    if (!d.is_language() && x_.model.is_language())
      refuse("model.kind",
             "model.kind = \"language\" needs data.kind = \"language\"");
    const bool is_common = x_.common_model && x_.common_model->is_language();
    if (x_.common_model && is_common != d.is_language())
      refuse("common_model.kind",
             "what all look through sees the same rows: data.kind = "
             "\"language\" and common_model.kind = \"language\" need each "
             "other");
    else if (is_common && d.text_task != models::text_task::classify)
      refuse("common_model.kind",
             "a common language model looks at texts that are classified; task "
             "= \"classify\", or a method without a common model, would do");
    else if (is_common && x_.common_model->path.empty())
      refuse("common_model.kind",
             "a common language model has no sizes of its own; the 'path' of "
             "one would do");
    if (x_.partition.kind == partition_options::rule::sorted
        && !d.is_labelled_text())
      refuse("partition.kind",
             "kind = \"sorted\" deals labelled texts: it needs data.kind = "
             "\"language\" and task = \"classify\", \"span\" or "
             "\"describe\"");
    if (x_.partition.tests == partition_options::test_rule::even
        && x_.partition.deals_labels() && !d.is_labelled_text())
      refuse("partition.tests",
             "tests = \"even\" deals labelled texts, and test rows of other "
             "data follow the training rows: tests = \"as_training\" would do");
    if (x_.training.batches == models::batch_rule::anywhere && !d.is_language())
      refuse("training.batches",
             "batches = \"anywhere\" draws windows of a text: it needs "
             "data.kind = \"language\"");
    if (x_.training.batches == models::batch_rule::anywhere
        && d.is_labelled_text())
      refuse("training.batches",
             "batches = \"anywhere\" draws windows of a stream, and labelled "
             "texts are rows: \"epochs\" or \"drawn\" would do");
  }

  void data(const recipe* method) {
    const auto& d = x_.data;
    if (d.tokenizer.empty() && x_.model.path.empty())
      refuse("data.tokenizer",
             "'model.path' must name a model that has a tokenizer or, where "
             "the model begins from the seed, 'data.tokenizer' one: a folder, "
             "a file, or \"bytes\"");
    if (d.validation_share + d.test_share > share_max)
      refuse(said_.contains("data.test_share") ? "data.test_share"
                                               : "data.validation_share",
             "'validation_share' and 'test_share' leave too little to train "
             "on: together at most 0.9 would do");
    std::set<std::string> names;
    for (const auto& name : d.users)
      if (!names.insert(name).second)
        refuse("data.users",
               "'users' names " + in_quotes(shortened(name))
                 + " twice, and a client is a user: once would do");
    const auto& p = x_.partition;
    const bool natural = p.kind == partition_options::rule::natural;
    if (d.pooled && x_.clients.clients != 1)
      refuse("clients.clients",
             "'data.pooled' gives one client what all users have: 'clients' "
             "must be 1, found "
               + std::to_string(x_.clients.clients));
    else if (natural && !d.users.empty() && x_.clients.clients > d.users.size())
      refuse("clients.clients", "'clients' must be at most "
                                  + std::to_string(d.users.size())
                                  + ", the users that 'users' names, found "
                                  + std::to_string(x_.clients.clients));
    if (d.brought)
      brought();
    quantities();
    windows();
    if (d.is_labelled_text())
      labelled();
    else if (!natural || p.samples_per_client > 0 || p.train_share != 1)
      deals_nothing(method);
  }

  /// Of what was said the key that deals.
  std::string dealing_key() const {
    const auto kind = said_.find("partition.kind");
    if (x_.partition.kind == partition_options::rule::natural)
      return x_.partition.samples_per_client > 0 ? "samples_per_client"
                                                 : "train_share";
    return std::string{kind == said_.end() ? "kind" : leaf(kind->second.typed)};
  }

  /// A method may have an option of the key's name, which was meant.
  void deals_nothing(const recipe* method) {
    const auto name = dealing_key();
    const bool is_option =
      method != nullptr
      && std::ranges::count(method->options, name, &option_spec::name) > 0;
    refuse("partition." + name,
           "data.kind = \"language\" deals nothing, a client is a user: "
           "'partition."
             + name + "' must not be given"
             + (is_option
                  ? ", and the method's option is 'options." + name + "'"
                  : "")
             + "; 'tokens' says how much each has");
  }

  /// How much text users have is said once.
  void quantities() {
    const auto& d = x_.data;
    if (d.user_tokens.empty())
      return;
    if (d.tokens > 0)
      refuse("data.user_tokens",
             "'tokens' and 'user_tokens' both say how much text a user has: "
             "one of them would do");
    if (!d.users.empty() && d.user_tokens.size() > d.users.size())
      refuse("data.user_tokens",
             "'user_tokens' has " + std::to_string(d.user_tokens.size())
               + " numbers, and 'users' names " + std::to_string(d.users.size())
               + ": at most as many would do");
  }

  /// Of windows that overlap, and of those that are drawn.
  void windows() {
    const auto& d = x_.data;
    if (d.test_windows > 0 && d.is_labelled_text())
      refuse("data.test_windows",
             "'test_windows' draws windows of a stream, and labelled texts are "
             "rows: task = \"language\" would do");
    else if (d.test_windows > 0 && d.test_share == 0)
      refuse("data.test_windows",
             "'test_windows' draws from a user's test text, and there is none: "
             "a 'test_share' above 0 would do");
    if (d.stride > 0 && d.text_task != models::text_task::span)
      refuse("data.stride",
             "'stride' is of windows of a text in which an answer is looked "
             "for: it needs task = \"span\"");
    else if (d.stride > 0 && d.stride >= d.context)
      refuse("data.stride", "'stride' must be below 'context', which is "
                              + std::to_string(d.context) + ", found "
                              + std::to_string(d.stride));
  }

  /// What only means something where all texts are in one place.
  void brought() {
    const auto& d = x_.data;
    const auto needs = [&](const std::string& path, std::string_view what) {
      refuse(path, "data.brought = true is of texts that are nowhere together: "
                     + std::string{what});
    };
    if (d.is_labelled_text())
      needs("data.task", "task = \"language\" would do");
    if (d.mixed)
      needs("data.mixed", "'mixed' must be false");
    if (d.pooled)
      needs("data.pooled", "'pooled' must be false");
    if (!d.user_tokens.empty())
      needs("data.user_tokens", "'tokens' says how much each has at most");
    if (!d.users.empty())
      needs("data.users",
            "'users' must not be given; 'clients' says how many may come");
  }

  void labelled() {
    using enum partition_options::rule;
    const auto& p = x_.partition;
    if (p.kind != natural && p.kind != labels && p.kind != dirichlet
        && p.kind != sorted)
      refuse("partition.kind",
             "labelled texts are dealt by user, by label or sorted by label: "
             "kind = \"natural\", \"labels\", \"dirichlet\" or \"sorted\" "
             "would do");
    if (p.train_share != 1)
      refuse("partition.train_share",
             "'train_share' has no use for labelled texts; "
             "'samples_per_client' says how many rows each client has");
    if (x_.data.context < 2)
      refuse("data.context",
             "'context' must be at least 2 for labelled texts, found "
               + std::to_string(x_.data.context));
  }

  void model() {
    const auto& m = x_.model;
    if (!m.path.empty())
      return;
    if (m.embedding % m.heads != 0)
      refuse("model.heads", "'heads' must divide 'embedding', which is "
                              + std::to_string(m.embedding) + ", found "
                              + std::to_string(m.heads));
    if (m.key_heads > 0 && m.heads % m.key_heads != 0)
      refuse("model.key_heads", "'key_heads' must divide 'heads', which is "
                                  + std::to_string(m.heads) + ", found "
                                  + std::to_string(m.key_heads));
    if (m.key_heads > 0
        && m.architecture != model_options::architecture_rule::llama)
      refuse("model.key_heads",
             "'key_heads' are shared by heads in architecture = \"llama\" "
             "alone: 0 would do");
  }

  /// Adapters of a language model stand inside the layers of one that nobody
  /// trains, and none but a classifier has another model beside it.
  void method(const recipe& method) {
    const auto is_frozen = [](const block_spec& x) {
      return x.where == scope::frozen;
    };
    // What else would do for such a method is refused with a head, too.
    if (x_.data.is_labelled_text() && !x_.data.foretells_tokens()
        && models::is_routed(method))
      return refuse("method", models::no_head_of(method));
    const bool over_base = models::is_over_base(method);
    if (models::has_adapters(method) && !over_base)
      refuse("method",
             "method " + in_quotes(method.name)
               + " composes adapters into weights that are trained, and a "
                 "language model's stand inside the layers of one that is not; "
                 "a method over a frozen model, or one without adapters, would "
                 "do");
    else if (!over_base && std::ranges::any_of(method.blocks, is_frozen)
             && x_.data.text_task != models::text_task::classify)
      refuse("method",
             "method " + in_quotes(method.name)
               + " has a common model beside the one that is trained, which a "
                 "language model is not; a method without one would do");
    if (method.pooled && !x_.data.pooled)
      refuse("method",
             "method " + in_quotes(method.name)
               + " learns from what all users have in one place, and each of "
                 "these clients has its own; data.pooled = true, of 1 client, "
                 "would do, or method = \"local_lora\"");
  }

  /// How many experts clients have is said once, and of those that have some.
  void experts(const recipe* method) {
    const auto& t = x_.training;
    const auto* said = !t.experts.empty()         ? "training.experts"
                       : !t.expert_memory.empty() ? "training.expert_memory"
                                                  : nullptr;
    if (said == nullptr)
      return;
    if (!t.experts.empty() && !t.expert_memory.empty())
      refuse("training.expert_memory",
             "'experts' and 'expert_memory' both say how many experts a client "
             "has: one of them would do");
    const auto numbers =
      t.experts.empty() ? t.expert_memory.size() : t.experts.size();
    if (numbers > x_.clients.clients)
      refuse(said, "'" + std::string{said} + "' has " + std::to_string(numbers)
                     + " numbers, and 'clients' is "
                     + std::to_string(x_.clients.clients)
                     + ": at most as many would do");
    // Memory is that of experts; ranks follow from their number alone.
    const bool fits =
      method == nullptr || models::experts_max(*method) > 0
      || (t.expert_memory.empty() && models::counts_experts(*method));
    if (!fits)
      refuse(said, "'" + std::string{said}
                     + "' must not be given: clients of "
                       "method "
                     + in_quotes(method->name)
                     + " have no number of experts of their own");
  }

  /// Perplexity is of tokens, and the less the better.
  void stop() {
    const auto& s = x_.stop;
    if (s.metric != stop_options::metric_kind::clients_perplexity)
      return;
    if (!x_.data.foretells_tokens())
      refuse("stop.metric",
             "\"per_client.perplexity\" is of tokens that are foretold: it "
             "needs data.kind = \"language\" and task = \"language\" or "
             "\"describe\"");
    if (s.target && *s.target < 1)
      refuse("stop.target",
             "a perplexity is at least 1, found " + std::to_string(*s.target));
  }

private:
  /// Two shares of tenths add up to a little more.
  static constexpr double share_max = 0.9 + 1e-9;

  void refuse(const std::string& path, std::string_view what) {
    const auto at = said_.find(path);
    wrong_.add(at == said_.end() ? origin_ : std::string_view{at->second.where},
               what);
  }

  const experiment& x_;
  const entries& said_;
  std::string_view origin_;
  problems& wrong_;
};

} // namespace

void check_language(const experiment& x, const entries& said,
                    std::string_view origin, const method_list& methods,
                    problems& wrong) {
  language_checker all{x, said, origin, wrong};
  all.pair();
  all.stop();
  all.experts(methods.find(x.method));
  if (!x.data.is_language())
    return;
  all.data(methods.find(x.method));
  if (!x.model.is_language())
    return;
  all.model();
  if (const auto* method = methods.find(x.method))
    all.method(*method);
}

} // namespace troupe::node
