#pragma once

// A store in memory behind another, which takes part in what it overrides.

#include <memory>
#include <vector>

#include "actors/record/store.hpp"

namespace troupe::test {

class passing_store : public actors::store {
public:
  result<actors::stored_node> load() override {
    return behind_->load();
  }

  result<void>
  begin(line_id line,
        const std::vector<messages::merged_block>& blocks) override {
    return behind_->begin(line, blocks);
  }

  result<void> commit(const messages::commit_requested& x) override {
    return behind_->commit(x);
  }

  result<void> save(const messages::save_requested& x) override {
    return behind_->save(x);
  }

  result<void> note(const messages::line_noted& x) override {
    return behind_->note(x);
  }

private:
  std::unique_ptr<actors::store> behind_ = actors::make_memory_store({});
};

} // namespace troupe::test
