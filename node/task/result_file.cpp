#include "node/task/result_file.hpp"

#include <string>

#include "core/json.hpp"
#include "models/file_digest.hpp"
#include "models/files.hpp"
#include "node/task/digests_said.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

constexpr const char* last_values = "model.safetensors";
constexpr const char* end_of_run = "summary.json";

/// As `digest_said_of`, and whether the file is there that it is of.
result<std::string> digest_wanted_of(const fs::path& file) {
  auto said = digest_said_of(file);
  if (said && !said->empty() && !models::is_there(file))
    return fail(errc::invalid_data,
                file.string()
                  + " is gone: summary.json says that the run "
                    "ended with it; a copy of it would do");
  return said;
}

result<void> check_content(const fs::path& file, const models::digest& found,
                           const std::string& said) {
  return check_digest(
    {.what = file.string() + " is not what the run ended with",
     .found = models::to_hex(found),
     .said = said,
     .by = end_of_run});
}

} // namespace

result<void> check_ended(const fs::path& folder) {
  for (const auto* name : {last_values, end_of_run})
    if (!models::is_there(folder / name))
      return fail(errc::invalid_data,
                  folder.string() + " holds no result: there is no " + name
                    + " in it, which a run writes at its end");
  return {};
}

result<std::string> digest_said_of(const fs::path& file) {
  const auto summary = file.parent_path() / end_of_run;
  if (!models::is_there(summary))
    return std::string{};
  const auto name = file.filename().string();
  const auto text = models::read_text(summary, errc::invalid_data);
  if (!text)
    return tl::make_unexpected(text.error());
  const auto all = json::parse(*text);
  if (!all || !all->fields())
    return fail(errc::invalid_data,
                summary.string() + " is damaged, so nothing says whether "
                  + name
                  + " is what the run ended with; a copy of it as it was "
                    "would do");
  const auto* files = all->find("files");
  const auto* said = files ? files->find(name) : nullptr;
  const auto* digest = said ? said->text() : nullptr;
  return digest ? *digest : std::string{};
}

bool says_digests(const fs::path& folder) {
  const auto text = models::read_text(folder / end_of_run, errc::invalid_data);
  const auto all = json::parse(text.value_or(std::string{}));
  const auto* files = all ? all->find("files") : nullptr;
  return files && files->fields();
}

result<void> check_result(const fs::path& file) {
  const auto said = digest_wanted_of(file);
  if (!said)
    return tl::make_unexpected(said.error());
  if (said->empty())
    return {};
  return models::digest_of_file(file, errc::invalid_data)
    .and_then(
      [&](const models::digest& x) { return check_content(file, x, *said); });
}

// It is read once: of what is checked the values are, whatever is put there.
result<models::tensor_file> read_result(const fs::path& file) {
  const auto said = digest_wanted_of(file);
  if (!said)
    return tl::make_unexpected(said.error());
  const auto bytes = models::read_file(file, errc::invalid_data);
  if (!bytes)
    return tl::make_unexpected(bytes.error());
  if (!said->empty())
    if (auto ok = check_content(file, models::digest_of(*bytes), *said); !ok)
      return tl::make_unexpected(ok.error());
  return models::parse_safetensors(*bytes, file.string());
}

result<models::safetensors_file> open_result(const fs::path& folder) {
  return check_ended(folder)
    .and_then([&] { return check_result(folder / last_values); })
    .and_then(
      [&] { return models::safetensors_file::open(folder / last_values); });
}

result<models::tensor_file> result_of_run(const fs::path& folder) {
  return check_ended(folder).and_then(
    [&] { return read_result(folder / last_values); });
}

} // namespace troupe::node
