#include "actors/kernel_worker/crew.hpp"

#include <utility>

#include "core/assert.hpp"

namespace troupe::actors {

result<std::unique_ptr<crew>> crew::hire(std::size_t size,
                                         const models::trainer_factory& make) {
  TROUPE_ASSERT(size > 0);
  std::unique_ptr<crew> result{new crew};
  for (std::size_t i = 0; i < size; ++i) {
    auto own = make();
    if (!own)
      return tl::make_unexpected(own.error());
    result->trainers_.push_back(std::move(*own));
  }
  result->under_way_.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    result->threads_.emplace_back([me = result.get(), i] { me->work(i); });
  return result;
}

crew::~crew() {
  dismiss();
}

void crew::dismiss() {
  {
    const std::lock_guard guard{mutex_};
    closing_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  for (auto& x : trainers_)
    x->dismiss();
  threads_.clear(); // Joins.
}

void crew::add(task x, visit_id of, kind what) {
  {
    const std::lock_guard guard{mutex_};
    tasks_.push_back({std::move(x), of, what, steady_now()});
  }
  changed_.notify_one();
}

crew_status crew::status() const {
  const auto now = steady_now();
  const std::lock_guard guard{mutex_};
  crew_status x{.workers = under_way_.size(),
                .queued = tasks_.size(),
                .under_way = {},
                .waits = waits_,
                .work = works_,
                .choices = choices_};
  for (const auto& task : under_way_)
    if (task)
      x.under_way.push_back({task->of, seconds(now - task->since)});
  return x;
}

void crew::work(std::size_t place) {
  for (;;) {
    task next;
    {
      std::unique_lock guard{mutex_};
      finished(place);
      changed_.wait(guard, [this] { return closing_ || !tasks_.empty(); });
      if (closing_)
        return;
      const auto now = steady_now();
      waits_.add(seconds(now - tasks_.front().added));
      next = std::move(tasks_.front().what);
      under_way_[place] = running{tasks_.front().of, tasks_.front().is, now};
      tasks_.pop_front();
    }
    next(*trainers_[place]);
  }
}

// The task that the thread was at, if any.
void crew::finished(std::size_t place) {
  if (const auto done = std::exchange(under_way_[place], std::nullopt))
    (done->is == kind::training ? works_ : choices_)
      .add(seconds(steady_now() - done->since));
}

void prompt_workshop::submit(key when, work what, deliver to) {
  workers_->add([what = std::move(what),
                 to = std::move(to)](models::trainer& own) { to(what(own)); },
                when.visit, when.is);
}

void due_workshop::submit(key when, work what, deliver to) {
  auto promise = std::make_shared<std::promise<messages::job_finished>>();
  const auto [at, added] =
    under_way_.emplace(when, entry{promise->get_future(), std::move(to)});
  TROUPE_ASSERT(added); // A client has one job at a time.
  workers_->add([promise, what = std::move(what)](
                  models::trainer& own) { promise->set_value(what(own)); },
                when.visit, when.is);
}

const workshop::key* due_workshop::next() const {
  return under_way_.empty() ? nullptr : &under_way_.begin()->first;
}

void due_workshop::deliver_next() {
  TROUPE_ASSERT(!under_way_.empty());
  auto least = under_way_.extract(under_way_.begin());
  least.mapped().to(least.mapped().outcome.get());
}

} // namespace troupe::actors
