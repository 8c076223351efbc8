#pragma once

// A run whose clients come from other processes: its socket, and what it says
// to who asks what the run is.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/client/socket_hubs.hpp"
#include "actors/gateway/seal.hpp"
#include "actors/reception/reception.hpp"
#include "actors/transport/refusals.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "node/run/control.hpp"
#include "node/run/guard.hpp"
#include "node/run/listening.hpp"
#include "node/run/pair_keeper.hpp"
#include "node/run/process_book.hpp"
#include "node/run/socket_view.hpp"
#include "node/task/workload.hpp"

namespace troupe::node {

/// Leases as they are durable.
class posted_leases {
public:
  void post(const actors::leases& x) {
    const std::lock_guard guard{mutex_};
    all_ = x.all().by_owner;
    for (const auto& [name, whose] : x.all().by_name)
      all_[whose.who].insert(whose.client);
    counts_ = {.numbers = x.size() - x.free(),
               .numbers_max = x.size(),
               .names = x.all().by_name.size(),
               .names_max = x.named_max()};
  }

  actors::socket_status::lease_counts counts() const {
    const std::lock_guard guard{mutex_};
    return counts_;
  }

  bool has(const actors::leases::owner& who, client_id x) const {
    const std::lock_guard guard{mutex_};
    const auto found = all_.find(who);
    return found != all_.end() && found->second.contains(x);
  }

  bool has(client_id x) const {
    const std::lock_guard guard{mutex_};
    return std::ranges::any_of(
      all_, [x](const auto& y) { return y.second.contains(x); });
  }

  std::map<actors::leases::owner, std::set<client_id>> all() const {
    const std::lock_guard guard{mutex_};
    return all_;
  }

private:
  mutable std::mutex mutex_;
  std::map<actors::leases::owner, std::set<client_id>> all_;
  actors::socket_status::lease_counts counts_;
};

/// Links of which something is known, for as long as there are such links.
class known_links {
public:
  using all_links = std::function<std::vector<std::uint64_t>()>;

  /// @param all is asked now and then which there are
  void add(std::uint64_t link, const all_links& all);

  bool contains(std::uint64_t link) const {
    const std::lock_guard guard{mutex_};
    return links_.contains(link);
  }

  std::size_t size() const {
    const std::lock_guard guard{mutex_};
    return links_.size();
  }

private:
  mutable std::mutex mutex_;
  std::set<std::uint64_t> links_;
  std::size_t left_ = 0; ///< Of these, when they were looked through.
};

class serving {
public:
  /// Listens, if there is an address, else it is null; until `begin` nobody is
  /// answered.
  [[nodiscard]] static result<std::unique_ptr<serving>>
  open(const listening_options& how, const experiment& x, const workload& work);

  /// Whether what a served run's folder says of its processes can be read.
  /// True: it does; false: it was never served.
  [[nodiscard]] static result<bool>
  check_book(const experiment& x, const std::filesystem::path& folder);

  ~serving();

  serving(const serving&) = delete;
  serving& operator=(const serving&) = delete;

  /// Processes that are connected, or were a moment ago.
  std::set<peer_id> here() const;

  /// Processes of which anything was heard within so long.
  std::set<peer_id> spoke(instant lately) const;

  /// For people and for processes that join: the address and, with keys, the
  /// server's public one.
  std::string address() const;

  /// For people: that it has made its pair of keys, and where; empty: it had
  /// one, or needs none. @pre the book is open
  std::string news_of_keys() const {
    return guard_ ? guard_->news() : std::string{};
  }

  /// For whoever looks from outside, on any thread.
  actors::socket_status status() const {
    auto out = status_of_server(*socket_, *refused_);
    out.leased = posted_->counts();
    return out;
  }

  /// Who was not let in or not heard, and why.
  const std::shared_ptr<transport::refusals>& refused() const {
    return refused_;
  }

  /// Clients whose keys are allowed no longer, each once for each time. Their
  /// processes hear so.
  std::vector<client_id> newly_denied() const;

  /// Whether a peer may speak for a client: with keys if its key has it, and
  /// else if somebody has. Nothing: it shows in a moment.
  std::function<std::optional<bool>(peer_id, client_id)> may_speak() const;

  std::shared_ptr<actors::server_socket_hub> hub() const {
    return hub_;
  }

  /// Remembers in the folder of a run that was not served what this run is, or
  /// reads it there, and who has which of its clients.
  [[nodiscard]] result<void> open_book(const experiment& x,
                                       const workload& work,
                                       const std::filesystem::path& folder,
                                       bool is_new);

  /// @pre the book is open
  const messages::run_id& run() const {
    return book_.run;
  }

  /// Since the run began, in whatever process. @pre the book is open
  instant elapsed() const;

  using line_taker = std::function<void(const std::string& line)>;

  struct ears {
    line_taker listening; ///< Where; may be empty.
    line_taker log;
    line_taker say = {}; ///< For who watches; may be empty.
  };

  /// What processes are told; this outlives who tells them. The folder has the
  /// address from now on, and `to.listening` is told of it, again when there is
  /// another key. @pre the book is open
  [[nodiscard]] result<actors::reception_args>
  begin(const experiment& x, const workload& work, const ears& to);

  /// Has the server's pair of keys change when it is time. To be called now and
  /// then.
  void look_after_pair() const {
    if (pair_)
      pair_->look();
  }

  /// Tells all processes why this one parts from them. Where the run is over it
  /// waits for those who are here, or were a moment ago, to say that they have
  /// heard it, unless they say nothing at all. @pre nobody else sends any more,
  /// but the gateway and reception
  void see_off(messages::parting why, const std::string& text) const;

  /// The keys of the run's tickets. @pre the book is open
  const std::shared_ptr<actors::seals>& tickets() const {
    return tickets_;
  }

  /// Somebody wants the run to end in order. @pre the book is open
  bool stop_wanted() const {
    return control_->stop_wanted();
  }

private:
  serving() = default;

  result<void> open_seals();
  result<void> say_where(const line_taker& listening) const;

  std::filesystem::path folder_;
  listening_options way_;
  process_book book_; ///< What outlives the process.
  instant reached_{}; ///< By an earlier process.
  std::shared_ptr<actors::seals> tickets_;
  std::unique_ptr<control> control_;
  std::shared_ptr<known_links> came_ = std::make_shared<known_links>();
  std::shared_ptr<known_links> parted_ = std::make_shared<known_links>();

  std::shared_ptr<guard> guard_; ///< Null without keys.
  /// Who has which clients, for whoever asks on any thread.
  std::shared_ptr<posted_leases> posted_ = std::make_shared<posted_leases>();
  std::shared_ptr<transport::refusals> refused_ =
    std::make_shared<transport::refusals>();
  std::shared_ptr<actors::server_socket_hub> hub_ =
    std::make_shared<actors::server_socket_hub>();
  std::shared_ptr<transport::socket_endpoint> socket_;
  std::unique_ptr<pair_keeper> pair_; ///< Null without keys.
};

/// What metrics ask for, on any thread; empty for null.
std::function<actors::socket_status()> looks_at(const serving* x);

/// At random: names the memory of an end of a link.
std::uint64_t drawn_number();

/// What a client's process needs of a run: nothing that a server, or a
/// simulation, does, and no path but those of data and model.
experiment for_clients(experiment x);

/// How large a message of a kind may be of whose run nobody knows the blocks
/// yet: places are given before.
std::uint64_t bytes_max_before_terms(std::uint16_t kind);

/// How large a message of a kind may be in a run with such blocks.
std::function<std::uint64_t(std::uint16_t kind)>
message_bytes_max(const models::layout& blocks);

} // namespace troupe::node
