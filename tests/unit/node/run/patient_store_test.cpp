#include "node/run/patient_store.hpp"

#include <gtest/gtest.h>

namespace troupe::node {

namespace {

/// Refuses so many times, whatever it is asked for.
class refusing_store final : public actors::store {
public:
  result<actors::stored_node> load() override {
    return actors::stored_node{};
  }

  result<void> begin(line_id,
                     const std::vector<messages::merged_block>&) override {
    return {};
  }

  result<void> commit(const messages::commit_requested&) override {
    return attempt();
  }

  result<void> save(const messages::save_requested&) override {
    return attempt();
  }

  result<void> note(const messages::line_noted&) override {
    return attempt();
  }

  int refusals = 0;

private:
  result<void> attempt() {
    if (refusals-- > 0)
      return fail(errc::storage_failure, "no space left");
    return {};
  }
};

struct patience_of {
  explicit patience_of(patient_store::waiting what, int refusals = 3)
    : testee{disk, what, [this](const error&) { return ++waits < 10; }} {
    disk->refusals = refusals;
  }

  std::shared_ptr<refusing_store> disk = std::make_shared<refusing_store>();
  int waits = 0;
  patient_store testee;
};

using enum patient_store::waiting;

} // namespace

TEST(patient_store, tries_again_until_there_is_room) {
  patience_of commit{for_all}, save{for_all}, note{for_all}, line{for_lines};
  EXPECT_TRUE(commit.testee.commit({}));
  EXPECT_TRUE(save.testee.save({}));
  EXPECT_TRUE(note.testee.note({}));
  EXPECT_TRUE(line.testee.note({}));
  for (const auto* x : {&commit, &save, &note, &line})
    EXPECT_EQ(x->waits, 3);
}

TEST(patient_store, leaves_it_to_those_who_ask_again_themselves) {
  patience_of x{for_lines};
  EXPECT_FALSE(x.testee.commit({}));
  EXPECT_FALSE(x.testee.save({}));
  EXPECT_EQ(x.waits, 0);
}

TEST(patient_store, gives_up_when_it_is_told_to) {
  patience_of x{for_all, 1000};
  EXPECT_FALSE(x.testee.note({}));
  EXPECT_EQ(x.waits, 10);
}

} // namespace troupe::node
