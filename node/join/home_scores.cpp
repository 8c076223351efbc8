#include "node/join/home_scores.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace troupe::node {

namespace {

/// A server waits five seconds for who says nothing.
constexpr std::chrono::seconds at_work_every{1};

messages::told_score told(client_id who, const models::evaluated& x) {
  messages::told_score out{.client = who};
  if (const auto found = x.per_client.find(who); found != x.per_client.end()) {
    out.count = found->second.count;
    out.correct = found->second.correct;
    out.loss = found->second.loss;
  }
  if (const auto found = x.own_validation.find(who);
      found != x.own_validation.end()) {
    out.aside_count = found->second.count;
    out.aside_correct = found->second.correct;
    out.aside_loss = found->second.loss;
  }
  return out;
}

/// Of all clients' rows those of a few.
void keep(std::vector<std::vector<std::uint32_t>>& rows,
          const std::set<client_id>& mine) {
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!mine.contains({k + 1}))
      rows[k].clear();
}

} // namespace

models::trainer_factory scorers_of(const workload& work,
                                   const std::vector<client_id>& mine) {
  if (!work.trainers_of)
    return nullptr;
  const std::set<client_id> wanted{mine.begin(), mine.end()};
  auto task = std::make_shared<models::local_task>(*work.task);
  keep(task->clients.test, wanted);
  task->clients.users_test.clear(); // Servers ask for scores of clients.
  keep(task->clients.own_validation, wanted);
  // What all rows together say is not asked here.
  task->test_size = 0;
  task->clients.validation.clear();
  return work.trainers_of(std::move(task));
}

home_scores::home_scores(options opts)
  : options_(std::move(opts)),
    mine_(options_.mine.begin(), options_.mine.end()),
    thread_([this] { work(); }) {
  // nop
}

home_scores::~home_scores() {
  {
    const std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void home_scores::hear(messages::scores_asked x, instant now) {
  {
    const std::lock_guard guard{mutex_};
    open_ = x.question;
    next_ = std::move(x);
    say_at_work(now);
  }
  changed_.notify_all();
}

void home_scores::tell(instant now) {
  const std::lock_guard guard{mutex_};
  if (open_ && now >= said_ + at_work_every)
    say_at_work(now);
}

void home_scores::say_at_work(instant now) {
  said_ = now;
  options_.network->send({}, messages::scores_told{*open_, {}});
}

void home_scores::work() {
  for (;;) {
    std::optional<messages::scores_asked> what;
    {
      std::unique_lock guard{mutex_};
      changed_.wait(guard, [this] { return ends_ || next_; });
      if (ends_)
        return;
      what = std::exchange(next_, std::nullopt);
    }
    answer(*what);
    const std::lock_guard guard{mutex_};
    if (open_ == what->question)
      open_.reset();
  }
}

void home_scores::answer(const messages::scores_asked& x) {
  const auto found = score(x);
  if (!found) {
    if (options_.say)
      options_.say("could not score what the server asked about: "
                   + found.error().context);
    return;
  }
  if (options_.figures)
    options_.figures(found->method_results);
  messages::scores_told out{.question = x.question, .scores = {}};
  const auto say = [&] {
    options_.network->send({}, messages::any_message{out});
    out.scores.clear();
  };
  const std::set<client_id> asked{x.clients.begin(), x.clients.end()};
  for (const auto who : asked) {
    if (!mine_.contains(who))
      continue;
    out.scores.push_back(told(who, *found));
    if (out.scores.size() == messages::scores_told::clients_max)
      say();
  }
  if (!out.scores.empty())
    say();
}

// Models take values as they are.
bool home_scores::fits(const messages::scores_asked& x) const {
  return std::ranges::equal(x.blocks, options_.blocks->blocks,
                            [](const auto& said, const auto& block) {
                              return said.block == block.id && said.values
                                     && said.values->size() == block.size;
                            });
}

result<models::evaluated> home_scores::score(const messages::scores_asked& x) {
  if (!fits(x))
    return fail(errc::malformed_message,
                "its values are not those of this model");
  if (!trainer_) {
    auto made = options_.make_trainer();
    if (!made)
      return tl::make_unexpected(made.error());
    trainer_ = std::move(*made);
  }
  models::evaluation_input in{.versions = {},
                              .per_client = true,
                              .states = options_.files->states(),
                              .aside = options_.aside};
  for (const auto& block : x.blocks)
    in.versions.push_back({block.block, {}, block.values});
  return trainer_->evaluate(in);
}

} // namespace troupe::node
