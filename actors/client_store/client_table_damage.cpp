#include "actors/client_store/client_table.hpp"

#include <filesystem>
#include <system_error>

namespace troupe::actors {

std::vector<std::string> client_table::damage() {
  std::vector<std::string> out;
  const auto judge = [&](const auto& found, const std::string& whose = {}) {
    if (!found)
      out.push_back(whose + found.error().context);
  };
  judge(ledger_->check_structure());
  known ignored;
  for (const auto who : all_clients())
    judge(load_client(who, ignored),
          "client " + std::to_string(who.value) + ": ");
  judge(ledger_->check());
  return out;
}

/// Nobody has kept anything where there are no tables, unless these are lost.
result<void> client_table::check_is_new() const {
  std::error_code ignored;
  for (const auto& x : std::filesystem::directory_iterator{folder_, ignored}) {
    const auto name = x.path().filename().string();
    if (name.starts_with("state-") || name.starts_with("offer-"))
      return fail(errc::storage_failure,
                  (folder_ / "clients.sqlite").string()
                    + " has no clients, and " + name
                    + " beside it is what one of them keeps; a copy of it as "
                      "it was would do, or another store, whose clients begin "
                      "anew");
  }
  return {};
}

} // namespace troupe::actors
