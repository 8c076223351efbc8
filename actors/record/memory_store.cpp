#include "actors/record/store.hpp"

namespace troupe::actors {

namespace {

class memory_store final : public store {
public:
  explicit memory_store(const messages::seal_key& key) {
    node_.key = key;
  }

  result<stored_node> load() override {
    node_.fruitful =
      rounds_ - (rounds_ > 0 && round_ == node_.round.round ? 1 : 0);
    return node_;
  }

  result<void>
  begin(line_id line,
        const std::vector<messages::merged_block>& blocks) override {
    node_.lines.try_emplace(
      line,
      stored_line{.head = {}, .round = {}, .blocks = blocks, .merged = {}});
    return {};
  }

  result<void> commit(const messages::commit_requested& x) override {
    const auto found = node_.lines.find(x.line);
    if (found == node_.lines.end())
      return fail(errc::storage_failure, "there is no such line");
    auto& line = found->second;
    if (x.head == line.head)
      return {};
    if (x.head != next(line.head))
      return fail(errc::storage_failure, "versions must form a line");
    line.head = x.head;
    line.round = x.round;
    line.blocks = x.blocks;
    for (const auto& visit : x.merged) {
      line.merged[visit.client].insert(visit.number);
      node_.updates += policies::insert_once(merged_, visit);
    }
    if (round_ < x.round) {
      round_ = x.round;
      ++rounds_;
    }
    return {};
  }

  result<void> save(const messages::save_requested& x) override {
    for (const auto& record : x.clients)
      node_.clients[record.client] = record;
    node_.index_upto = std::max(node_.index_upto, x.index_upto);
    if (x.round)
      node_.round = *x.round;
    if (x.stopper)
      node_.stopper = *x.stopper;
    if (x.end != messages::course_end::none)
      node_.end = x.end;
    for (const auto& visit : x.last_visits)
      node_.had_last.insert(visit.client);
    return {};
  }

  result<void> note(const messages::line_noted&) override {
    return {};
  }

private:
  stored_node node_;
  policies::visit_windows merged_; ///< Into some line.
  round_number round_{};           ///< The last that made a version.
  std::uint64_t rounds_ = 0;       ///< So many did.
};

} // namespace

std::unique_ptr<store> make_memory_store(const messages::seal_key& key) {
  return std::make_unique<memory_store>(key);
}

} // namespace troupe::actors
