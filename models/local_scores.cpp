#include "models/local_scores.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "models/homes.hpp"
#include "models/label_scores.hpp"
#include "models/methods/merged_scores.hpp"
#include "models/visit/visit.hpp"

namespace troupe::models {

namespace {

class judge {
public:
  judge(const local_site& at, objective& model)
    : at_(at),
      task_(&at.task()),
      model_(&model),
      test_rows_(task_->test_size) {
    std::iota(test_rows_.begin(), test_rows_.end(), 0u);
    if (auto* labels = model.labels())
      labels_.emplace(*labels, task_->clients);
  }

  result<evaluated> evaluate(const evaluation_input& x) {
    evaluated out;
    if (x.clients_are_known)
      out = *x.known;
    homes all{x, at_, *model_};
    if (!all.has_models())
      return out;
    // Where there is no whole model, clients make one.
    if (task_->method.offers && all.has_model({}))
      if (const auto done = score_newcomer(x, all, out); !done)
        return tl::unexpected{done.error()};
    for (std::size_t k = 0; k < task_->clients.test.size(); ++k) {
      if (!is_asked_for(k, x))
        continue;
      if (const auto done = score_client(k, x, all, out); !done)
        return tl::unexpected{done.error()};
    }
    summarise(x, out);
    return out;
  }

private:
  using row_span = std::span<const std::uint32_t>;

  /// The versions by themselves, as who comes new would use them.
  result<void> score_newcomer(const evaluation_input& x, homes& all,
                              evaluated& out) {
    if (x.known) {
      out.global = x.known->global;
      out.validation = x.known->validation;
    }
    const auto tested = x.known ? row_span{} : row_span{test_rows_};
    const auto watched = x.aside && out.validation.count == 0
                           ? row_span{task_->clients.validation}
                           : row_span{};
    if (tested.empty() && watched.empty())
      return {};
    return all.enter({}).and_then([&](const visit_input& newcomer) {
      return score(newcomer, split::test, tested, out.global).and_then([&] {
        return score(newcomer, split::train, watched, out.validation);
      });
    });
  }

  /// Whether the client of this place is to be scored.
  bool is_asked_for(std::size_t k, const evaluation_input& x) const noexcept {
    const auto& clients = task_->clients;
    return x.per_client
           || (x.held_out && k + clients.held_out >= clients.test.size());
  }

  /// Of its own rows, as it would use these versions itself.
  result<void> score_client(std::size_t k, const evaluation_input& x,
                            homes& all, evaluated& out) {
    const client_id client{k + 1};
    const bool is_known = x.clients_are_known;
    const auto tested =
      is_known ? row_span{} : row_span{task_->clients.test[k]};
    const auto& aside = task_->clients.own_validation;
    const auto watched =
      x.aside && k < aside.size() ? row_span{aside[k]} : row_span{};
    if ((tested.empty() && watched.empty()) || !all.has_model(client))
      return {};
    const auto own = all.enter(client);
    if (!own)
      return tl::unexpected{own.error()};
    const auto put = [&](split part, row_span from,
                         std::map<client_id, scores>& to) {
      return from.empty() ? result<void>{}
                          : score(*own, part, from, to[client]);
    };
    if (!is_known) {
      if (labels_)
        labels_->forget();
      const auto done = task_->clients.users_test.empty()
                          ? put(split::test, tested, out.per_client)
                          : score_users(*own, out);
      if (!done)
        return done;
      if (labels_)
        labels_->add(client);
    }
    return put(split::train, watched, out.own_validation);
  }

  /// The live model, which is the one client's, on each user's rows. Users
  /// count as clients would who have a text each.
  result<void> score_users(const visit_input& own, evaluated& out) {
    const auto& users = task_->clients.users_test;
    for (std::size_t j = 0; j < users.size(); ++j) {
      if (users[j].empty())
        continue;
      auto done =
        score(own, split::test, users[j], out.per_client[client_id{j + 1}]);
      if (!done)
        return done;
    }
    return {};
  }

  /// Of those who are never invited, whatever the method: what their models
  /// are worth to each group of them.
  void add_groups(evaluated& to) const {
    const auto groups = task_->groups;
    if (groups < 2 || task_->population_error)
      return;
    const auto& clients = task_->clients;
    std::map<std::size_t, std::vector<double>> by_group;
    for (const auto& [client, own] : to.per_client)
      if (client.value + clients.held_out > clients.test.size())
        by_group[(client.value - 1) % groups + 1].push_back(own.accuracy());
    for (const auto& [group, own] : by_group)
      to.method_results["accuracy_group_" + std::to_string(group)] =
        std::accumulate(own.begin(), own.end(), 0.0)
        / static_cast<double>(own.size());
  }

  /// By which who tries several settings of a language model may choose one:
  /// what clients are worth on rows that they set aside.
  void add_watched(evaluated& to) const {
    if (labels_ || !foretells_tokens(*model_))
      return;
    worth_of_clients worth{"validation"};
    for (const auto& [client, own] : to.own_validation)
      worth.add(client, own);
    worth.put(*model_, to.method_results);
  }

  void summarise(const evaluation_input& x, evaluated& to) {
    add_watched(to);
    if (x.clients_are_known)
      return; // The rest is said, and nothing of what is set aside is in it.
    add_groups(to);
    if (labels_)
      labels_->put(to.method_results);
    // What is said of those who were held out alone needs none of the others.
    const bool of_strangers =
      x.held_out && !at_.of_roles(&local_method::answer).empty();
    if (!x.per_client && !of_strangers)
      return;
    if (x.per_client && task_->population_error && !to.per_client.empty()) {
      double sum = 0;
      for (const auto& [client, own] : to.per_client)
        sum += own.mean_loss();
      to.method_results["test_mse"] =
        sum / static_cast<double>(to.per_client.size());
    }
    for (const auto maker : at_.of_roles(&local_method::summary))
      maker(x, at_.problem(*model_, 1, {}, 1), to);
  }

  /// Scores the live model, or as this client would.
  result<void> score(const visit_input& x, split part, row_span rows,
                     scores& to) {
    if (rows.empty())
      return {};
    const auto put = [&](const scores& found) { to = found; };
    if (const auto scorer = at_.of_role(x.visit.client, &local_method::score)) {
      return look(x, problem_at_home(x, at_, *model_),
                  [&](visit& v) { return scorer(v, part, rows); })
        .map(put);
    }
    return model_->evaluate(part, rows).map(put);
  }

  const local_site& at_;
  const local_task* task_;
  objective* model_;
  std::vector<std::uint32_t> test_rows_;
  std::optional<label_report> labels_ = {}; ///< Nothing: rows have none.
};

} // namespace

result<evaluated> scores_of(const evaluation_input& x, const local_site& at,
                            objective& model) {
  return judge{at, model}.evaluate(x);
}

} // namespace troupe::models
