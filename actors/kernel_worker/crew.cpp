#include "actors/kernel_worker/crew.hpp"

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
  for (auto& own : result->trainers_)
    result->threads_.emplace_back(
      [me = result.get(), &own] { me->work(*own); });
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
  threads_.clear(); // Joins.
}

void crew::add(task x) {
  {
    const std::lock_guard guard{mutex_};
    tasks_.push_back(std::move(x));
  }
  changed_.notify_one();
}

void crew::work(models::trainer& own) {
  for (;;) {
    task next;
    {
      std::unique_lock guard{mutex_};
      changed_.wait(guard, [this] { return closing_ || !tasks_.empty(); });
      if (closing_)
        return;
      next = std::move(tasks_.front());
      tasks_.pop_front();
    }
    next(own);
  }
}

void prompt_workshop::submit(key, work what, deliver to) {
  workers_->add([what = std::move(what),
                 to = std::move(to)](models::trainer& own) { to(what(own)); });
}

void due_workshop::submit(key when, work what, deliver to) {
  auto promise = std::make_shared<std::promise<messages::job_finished>>();
  const auto [at, added] =
    under_way_.emplace(when, entry{promise->get_future(), std::move(to)});
  TROUPE_ASSERT(added); // A client has one job at a time.
  workers_->add([promise, what = std::move(what)](models::trainer& own) {
    promise->set_value(what(own));
  });
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
