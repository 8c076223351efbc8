#include "node/commands/lone_visits.hpp"

#include <utility>

#include "core/clock.hpp"

namespace troupe::node {

result<lone_visits> lone_visits::make(workload work, std::uint32_t asked) {
  auto trainer = work.make_trainer();
  if (!trainer)
    return tl::make_unexpected(trainer.error());
  return lone_visits{std::move(work), std::move(*trainer), asked};
}

lone_visits::lone_visits(workload work,
                         std::unique_ptr<models::trainer> trainer,
                         std::uint32_t asked)
  : work_(std::move(work)),
    trainer_(std::move(trainer)) {
  const auto& roles = work_.method.roles;
  what_.role = roles.empty() ? 0
                             : static_cast<std::uint32_t>(roles.size())
                                 - 1; // That of all others.
  for (const auto& [id, values] : work_.initial) {
    const auto* block = work_.blocks->find(id);
    const bool is_expert = block->where == scope::expert;
    if (is_expert && block->instance >= asked)
      continue;
    what_.fetched.push_back({id, {}, values});
    if (is_expert)
      what_.chosen.push_back(id);
  }
}

result<double> lone_visits::take(std::uint64_t clients) {
  const auto begin = process_cpu_time();
  for (std::uint64_t k = 1; k <= clients; ++k) {
    what_.visit.client = {k};
    if (const auto done = trainer_->train(what_); !done)
      return tl::make_unexpected(done.error());
  }
  return seconds(process_cpu_time() - begin) / static_cast<double>(clients);
}

} // namespace troupe::node
