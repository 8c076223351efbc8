#pragma once

// A thread that looks at a joining process twice a second, and tells others
// what it saw: on a board in this process, and in status.json in its store.

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "actors/client/client_file.hpp"
#include "actors/kernel_worker/crew.hpp"
#include "actors/transport/zmq/socket_endpoint.hpp"
#include "core/clock.hpp"
#include "node/join/connection.hpp"
#include "node/join/host_inquiry.hpp"
#include "node/join/inquiry.hpp"
#include "node/join/join.hpp"
#include "node/join/traces.hpp"
#include "node/watch/board.hpp"
#include "node/watch/outlay.hpp"
#include "node/watch/status_file.hpp"

namespace troupe::node {

class lookout {
public:
  using step = actors::process_status::step;

  explicit lookout(const join_context& in);

  /// Looks a last time. @pre what its process opened in the store is closed
  ~lookout();

  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;

  /// It is at this now.
  void at(step x);

  /// Its socket, for as long as that lives.
  void watch(const std::shared_ptr<transport::socket_endpoint>& x);

  /// Its clients, and those who train for them, for as long as they live.
  void watch(const std::shared_ptr<actors::crew>& workers,
             std::uint64_t clients);

  /// What its clients keep, for as long as somebody holds that.
  void watch(const std::shared_ptr<const actors::vault>& files);

  /// Asks its actors what mail waits for them.
  using mail_question =
    std::function<void(const std::shared_ptr<actors::status_draft>&)>;

  /// @param ask empty: there are no actors any more
  void watch_mail(mail_question ask);

  /// What the method says of its clients.
  void figures(const std::map<std::string, double>& x);

  /// What it said last.
  std::map<std::string, double> figures();

  /// The server said that it ends for now; heard of again, it is back.
  void server_away(bool x);

  /// How it ended. Who was only interrupted goes on with what it made.
  void ended(const join_summary& how);

  /// Tells people what they have not been told yet: of the connection, and now
  /// and then of the work. One thread calls it.
  void tell_news();

  /// What is made in its store, and goes with this where it never joined.
  traces& made() noexcept {
    return made_;
  }

  connection& connected() noexcept {
    return connection_;
  }

  /// With whoever serves. One thread calls it.
  first_contact& contact() noexcept {
    return contact_;
  }

private:
  void work();
  void look();
  actors::process_status seen();

  std::optional<std::string> news();
  std::optional<std::string> news_of_silence(std::int64_t now_ms);
  std::optional<std::string> news_of_work(std::int64_t now_ms);

  std::function<void(const std::string&)> say_;
  std::string address_;
  std::string http_;
  std::shared_ptr<process_board> board_;
  std::filesystem::path store_; ///< Empty: it has none.
  traces made_;                 ///< Before anything is made there.
  status_file file_;
  outlay own_;
  connection connection_;
  first_contact contact_;

  // Of who asks for news.
  bool told_of_silence_ = false;
  std::optional<host_inquiry> host_; ///< Asked where nobody answers.
  std::uint64_t visits_told_ = 0;
  std::int64_t told_ms_ = unix_milliseconds();

  std::mutex mutex_; ///< Of what follows.
  actors::process_status known_;
  std::weak_ptr<transport::socket_endpoint> socket_;
  std::weak_ptr<actors::crew> workers_;
  std::weak_ptr<const actors::vault> files_;
  mail_question ask_;
  std::shared_ptr<actors::status_draft> asked_ =
    std::make_shared<actors::status_draft>();
  std::condition_variable changed_;
  bool closing_ = false;
  std::thread thread_;
};

} // namespace troupe::node
