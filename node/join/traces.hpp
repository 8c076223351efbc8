#pragma once

// What a process makes in its store before a server knows it by that: who is
// refused until then leaves it as it was.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace troupe::node {

class traces {
public:
  /// Before anything is made there.
  explicit traces(const std::filesystem::path& store);

  /// It is about to open the clients of this run.
  void opens(const std::string& run);

  /// The server may know these clients from here on.
  void stay() noexcept {
    stay_ = true;
  }

  /// But for keys, by which who serves may know this process already. Nothing
  /// is removed where they stay, or another process has clients there. @pre all
  /// that is made there is closed
  void remove() const;

private:
  /// Or was there before, or is no run's.
  bool is_ours(const std::string& name) const;

  std::filesystem::path store_;                ///< Empty: there is none.
  std::vector<std::filesystem::path> folders_; ///< New ones, the inner first.
  std::set<std::string> before_;               ///< Names in the store.
  std::set<std::string> runs_;                 ///< That began here.
  bool stay_ = false;
};

} // namespace troupe::node
