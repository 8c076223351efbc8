#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/internal.hpp"
#include "core/clock.hpp"

namespace troupe::actors {

/// Who is here, and who may be. Liveness is separate from data: a client that
/// trains for hours is alive while it beats.
class attendance {
public:
  struct options {
    std::array<std::uint8_t, 32> layout{};
    messages::run_id run{}; ///< Zeros: any.
    std::uint16_t protocol = messages::protocol_version;
    std::uint64_t examples_max = 0; ///< 0: any number.
    /// Of a client whose examples the run knows; 0, or empty: it does not.
    std::function<std::uint64_t(client_id)> examples_of = {};
    instant silence_max{}; ///< After which a client is lost; 0: never.
  };

  explicit attendance(options opts) : options_(std::move(opts)) {
    // nop
  }

  /// Admits, or says why not.
  messages::hello_judged judge(const messages::hello_heard& x, instant now);

  void beat(client_id x, instant now);

  void leave(client_id x);

  /// Clients that were silent for too long. They are gone then.
  std::vector<client_id> lost(instant now);

  static constexpr auto fields(auto& x) {
    return std::tie(x.clients_, x.sessions_);
  }

private:
  struct entry {
    std::uint64_t incarnation = 0;
    bool present = false;
    instant last{};

    static constexpr auto fields(auto& x) {
      return std::tie(x.incarnation, x.present, x.last);
    }
  };

  std::optional<messages::farewell_reason> refusal(const messages::hello& x,
                                                   std::string& text) const;

  options options_;
  std::map<client_id, entry> clients_;
  std::uint64_t sessions_ = 0;
};

} // namespace troupe::actors
