#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <caf/send.hpp>

#include "actors/interfaces.hpp"
#include "actors/publisher/audience.hpp"

namespace troupe::node {

/// The world of virtual clients, once there is one.
struct world_place {
  std::mutex mutex;
  actors::world_actor who;
};

/// Tells the world what the run has reached.
class herald final : public actors::audience {
public:
  herald(std::shared_ptr<actors::audience> behind,
         std::shared_ptr<world_place> world)
    : behind_(std::move(behind)),
      world_(std::move(world)) {
    // nop
  }

  void published(const messages::version_published& x, instant at) override {
    behind_->published(x, at);
    const std::lock_guard guard{world_->mutex};
    if (world_->who)
      caf::anon_send(world_->who, messages::version_announced{x.line, x.head});
  }

  void failed(const messages::client_failed& x, instant at) override {
    behind_->failed(x, at);
  }

  void counted(const messages::round_counted& x, instant at) override {
    behind_->counted(x, at);
  }

  void evaluated(const messages::evaluation_finished& x,
                 const actors::version_heads& scored, instant at) override {
    behind_->evaluated(x, scored, at);
  }

  void left_out(version head, instant at) override {
    behind_->left_out(head, at);
  }

  std::uint64_t rounds_scored() const override {
    return behind_->rounds_scored();
  }

  void finished(const messages::run_finished& x,
                const std::optional<messages::evaluation_finished>& last,
                instant at) override {
    behind_->finished(x, last, at);
  }

private:
  std::shared_ptr<actors::audience> behind_;
  std::shared_ptr<world_place> world_;
};

} // namespace troupe::node
