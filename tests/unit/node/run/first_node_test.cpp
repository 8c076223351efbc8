// What a node begins with.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/record/begin_lines.hpp"
#include "actors/record/store.hpp"
#include "node/run/federation.hpp"
#include "node/run/heads.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

namespace {

/// Counts how often all of it is read.
class counted_store final : public actors::store {
public:
  result<actors::stored_node> load() override {
    ++loads;
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

  int loads = 0;

private:
  std::unique_ptr<actors::store> behind_ = actors::make_memory_store({});
};

} // namespace

TEST(first_node, takes_what_its_run_has_read) {
  const scratch_folder scratch;
  const auto x = configured(quadratic_run, {"rounds=2"}, scratch.path());
  const auto work = node::prepare(x, no_model);
  ASSERT_TRUE(work);
  const auto books = std::make_shared<counted_store>();
  ASSERT_TRUE(actors::begin_lines(*books, *work->blocks, work->initial));
  auto found = books->load();
  ASSERT_TRUE(found);
  node::chronicle::options opts{.blocks = work->blocks,
                                .begin = node::beginning_of(*found, true),
                                .clients = 12,
                                .metrics = [](const std::string&) {},
                                .show = [](const node::progress_report&) {}};
  const auto watching = std::make_shared<node::chronicle>(std::move(opts));
  ASSERT_TRUE(
    node::run_federation({.x = x,
                          .work = *work,
                          .books = books,
                          .watching = watching,
                          .counted = std::make_shared<actors::traffic>(),
                          .found = &*found}));
  EXPECT_EQ(books->loads, 1);
  EXPECT_EQ(watching->report().lines.begin()->second.head.value, 2u);
}

} // namespace troupe::test
