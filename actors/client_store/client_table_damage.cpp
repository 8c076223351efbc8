#include "actors/client_store/client_table.hpp"

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

} // namespace troupe::actors
