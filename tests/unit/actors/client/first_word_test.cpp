// When a client that is started says hello.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "actors/wiring_of_clients.hpp"
#include "tests/support/world.hpp"
#include "tests/unit/actors/client/talk.hpp"

namespace troupe::actors::first_word_test {
namespace {

class listener final : public transport::endpoint {
public:
  std::size_t send(peer_id, messages::any_message x) override {
    heard.push_back(std::move(x));
    return 1;
  }

  std::vector<messages::any_message> heard;
};

/// All that is to be done now.
void go_on(test::world& w) {
  for (int i = 0; i < 8; ++i)
    (void)w.step();
}

} // namespace

// A welcome that came before would find nobody.
TEST(first_word, comes_when_its_answer_finds_the_client) {
  test::world w{1};
  const talk like{state_rule::on_offer};
  const auto server = std::make_shared<listener>();
  const client_args args{.options = {.me = me,
                                     .examples = 5,
                                     .method = &like.method,
                                     .blocks = like.blocks,
                                     .resend_after = std::chrono::seconds{10}},
                         .network = server,
                         .files = std::make_shared<memory_vault>(),
                         .worker = {},
                         .started = w.clock_now()};
  bool is_connected = false;
  const auto made = start_client(w.system(), args, [&](const client_actor& x) {
    go_on(w);
    EXPECT_TRUE(server->heard.empty()) << "it speaks before it is connected";
    is_connected = x != nullptr;
  });
  EXPECT_TRUE(is_connected);
  go_on(w);
  ASSERT_FALSE(server->heard.empty());
  EXPECT_TRUE(std::holds_alternative<messages::hello>(server->heard.front()));
  test::world::kill(caf::actor_cast<caf::actor>(made));
}

} // namespace troupe::actors::first_word_test
