#include "actors/record/stored_heads.hpp"

#include "actors/record/sqlite.hpp"

namespace troupe::actors {

std::optional<std::map<line_id, version>>
stored_heads(const std::filesystem::path& folder) {
  const auto path = folder / "ledger.sqlite";
  if (!std::filesystem::exists(path))
    return std::nullopt;
  const auto ledger = sqlite::database::open(path, {});
  if (!ledger)
    return std::nullopt;
  std::map<line_id, version> heads;
  for (auto row = (*ledger)->query("SELECT line, head FROM lines"); row.next();)
    heads[{row.integer(0)}] = {row.integer(1)};
  if (!(*ledger)->check() || heads.empty())
    return std::nullopt;
  return heads;
}

} // namespace troupe::actors
