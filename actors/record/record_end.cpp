#include "actors/record/record_end.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <variant>

#include "actors/record/event_reader.hpp"

namespace troupe::actors::sqlite {

std::uint64_t record_bytes(database& ledger) {
  auto row = ledger.query("SELECT value FROM meta WHERE key = 'record_bytes'");
  if (!row.next())
    return 0;
  const auto text = row.text(0);
  std::uint64_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

void note_record_bytes(database& ledger, std::uint64_t bytes) {
  ledger.run("INSERT INTO meta VALUES ('record_bytes', ?) ON CONFLICT DO"
             " UPDATE SET value = excluded.value",
             std::to_string(bytes));
}

result<std::optional<std::uint64_t>>
end_of_record(const std::filesystem::path& events, std::uint64_t from,
              const std::function<std::optional<version>(line_id)>& head_of) {
  std::ifstream in{events, std::ios::binary};
  in.seekg(static_cast<std::streamoff>(from));
  auto at = from;
  for (std::string line; std::getline(in, line); at += line.size() + 1) {
    const auto event = read_event(line);
    const auto* made = event ? std::get_if<version_recorded>(&*event) : nullptr;
    if (!made)
      continue; // A replay says what is wrong with others.
    if (const auto head = head_of(made->line); !head || *head < made->head)
      return at;
  }
  return std::nullopt;
}

} // namespace troupe::actors::sqlite
