#include "actors/record/stored_heads.hpp"

#include "actors/record/sqlite.hpp"

namespace troupe::actors {

std::map<line_id, version> stored_heads(const std::filesystem::path& folder) {
  std::map<line_id, version> heads;
  const auto path = folder / "ledger.sqlite";
  if (!std::filesystem::exists(path))
    return heads;
  const auto ledger = sqlite::database::open(path, {});
  if (!ledger)
    return heads;
  for (auto row = (*ledger)->query("SELECT line, head FROM lines"); row.next();)
    heads[{row.integer(0)}] = {row.integer(1)};
  return heads;
}

} // namespace troupe::actors
