// The order in which a version is recorded and made.

#include "actors/archivist/archivist.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/world.hpp"

namespace troupe::actors {

namespace {

class memory final : public store {
public:
  explicit memory(std::vector<std::string>& said) : said_(said) {
    // nop
  }

  result<stored_node> load() override {
    return stored_node{};
  }

  result<void> begin(line_id,
                     const std::vector<messages::merged_block>&) override {
    return {};
  }

  result<void> commit(const messages::commit_requested&) override {
    said_.emplace_back("commit");
    return {};
  }

  result<void> save(const messages::save_requested&) override {
    return {};
  }

  result<void> note(const messages::line_noted&) override {
    said_.emplace_back("note");
    return {};
  }

private:
  std::vector<std::string>& said_;
};

} // namespace

// What is durable of the record is durable with the version, and a version that
// is asked for again stands there once.
TEST(archivist, notes_a_version_before_it_is_committed) {
  std::vector<std::string> said;
  test::world w{1};
  const auto books = std::make_shared<memory>(said);
  const auto testee = w.system().spawn(
    archivist, archivist_args{.books = books, .events = true, .started = {}});
  for (int i = 0; i < 2; ++i) {
    caf::anon_send(
      testee,
      messages::commit_requested{
        .line = {1}, .head = {1}, .round = {}, .blocks = {}, .merged = {}});
    w.settle();
  }
  EXPECT_EQ(said, (std::vector<std::string>{"note", "commit", "commit"}));
  test::world::kill(caf::actor_cast<caf::actor>(testee));
}

} // namespace troupe::actors
