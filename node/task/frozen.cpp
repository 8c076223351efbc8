#include "node/task/frozen.hpp"

#include <span>
#include <utility>

#include "core/assert.hpp"
#include "models/embedder.hpp"

namespace troupe::node {

models::digest digest_of(const shared_values& frozen) {
  return models::digest_of(
    std::as_bytes(std::span{frozen->data(), frozen->size()}));
}

std::map<std::string, models::digest> frozen_digests(const workload& work) {
  std::map<std::string, models::digest> out;
  for (const auto& [name, values] : work.task->frozen)
    out[name] = digest_of(values);
  return out;
}

void set_frozen(workload& work, const std::string& name, shared_values values) {
  auto task = std::make_shared<models::local_task>(*work.task);
  auto& place = task->frozen.at(name);
  TROUPE_ASSERT(place->size() == values->size());
  place = std::move(values);
  // Rows look otherwise through another common model.
  if (task->embedded)
    task->embedded = std::make_shared<models::embedding_table>();
  models::set_content(task->blocks, task->frozen);
  auto blocks = std::make_shared<models::layout>(*work.blocks);
  models::set_content(*blocks, task->frozen);
  work.blocks = std::move(blocks);
  work.task = std::move(task);
  work.make_trainer = work.trainers_of(work.task);
}

} // namespace troupe::node
