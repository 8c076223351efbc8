// Labelled texts of one user: a byte that says what is asked of them, and a
// .jsonl.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/assert.hpp"
#include "models/language/labelled_rows.hpp"
#include "tests/damage/reader.hpp"

namespace {

using namespace troupe::models;

constexpr std::array tasks{text_task::classify, text_task::span,
                           text_task::describe};

void check_text(const labelled_text& x, text_task task) {
  TROUPE_ASSERT(x.source.empty() || x.source.starts_with('='));
  TROUPE_ASSERT(x.begin <= x.end && x.end <= x.text.size());
  TROUPE_ASSERT(task == text_task::span || x.end == 0);
  TROUPE_ASSERT(task != text_task::classify || x.before.empty());
}

/// Ids are below the vocabulary, and padding stands at the end of a row.
void check_rows(const labelled_rows& x) {
  std::vector<std::int32_t> ids(x.context()), targets(x.context());
  for (const auto part : {split::train, split::test})
    for (std::uint32_t row = 0; row < x.size(part); ++row) {
      x.read(part, row, ids, targets);
      const auto end = std::ranges::find(ids, -1);
      TROUPE_ASSERT(end != ids.begin());
      TROUPE_ASSERT(std::all_of(ids.begin(), end, [&](std::int32_t id) {
        return id >= 0 && id < static_cast<std::int32_t>(x.vocabulary());
      }));
      TROUPE_ASSERT(
        std::all_of(end, ids.end(), [](std::int32_t id) { return id == -1; }));
      TROUPE_ASSERT(std::ranges::all_of(
        targets, [](std::int32_t target) { return target >= -1; }));
      TROUPE_ASSERT(x.label_of(part, row) < x.labels().size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe;
  static const auto folder = damage::own_folder() / "labelled";
  if (size == 0)
    return 0;
  std::filesystem::create_directories(folder);
  const auto file = folder / "u.jsonl";
  damage::write(file, {reinterpret_cast<const char*>(data) + 1, size - 1});
  labelled_options how;
  how.files.folder = folder;
  how.files.task = tasks[data[0] % tasks.size()];
  how.context = 16;
  how.test_share = 0.3;
  how.validation_share = 0;
  auto users = read_labelled(how.files);
  if (!users) {
    TROUPE_ASSERT(users.error().context.starts_with(file.string() + ':'));
    TROUPE_ASSERT(!labelled_rows::load(how, byte_tokenizer()));
    return 0;
  }
  TROUPE_ASSERT(users->size() == 1 && !users->front().texts.empty());
  const auto before = users->front().texts.size();
  for (const auto& x : users->front().texts)
    check_text(x, how.files.task);
  const auto dropped = drop_repeated(*users);
  TROUPE_ASSERT(users->front().dropped == dropped);
  TROUPE_ASSERT(users->front().texts.size() <= before);
  if (const auto rows = labelled_rows::load(how, byte_tokenizer()))
    check_rows(**rows);
  return 0;
}
