#include "actors/record/arrivals.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "actors/record/folders.hpp"
#include "actors/transport/codec.hpp"
#include "actors/transport/crc32c.hpp"
#include "core/assert.hpp"
#include "models/files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view arrival_magic{"TRPARR01"};
constexpr std::size_t sum_bytes = sizeof(std::uint32_t);
/// Of what stands before the values; a layout allows no more.
constexpr std::uint64_t head_bytes_max = std::uint64_t{1} << 20;

struct arrived_block {
  block_id block;
  std::uint32_t rank = 0;
  double weight = 0;
  double share = 1;
  std::uint64_t count = 0; ///< Of values.
  std::uint32_t sum = 0;   ///< CRC-32C of those.

  static constexpr auto fields(auto& x) {
    return std::tie(x.block, x.rank, x.weight, x.share, x.count, x.sum);
  }
};

struct arrival_head {
  visit_id visit;
  line_id line;
  std::uint32_t lines_total = 1;
  round_number round;
  version base;
  double loss = 0;
  std::vector<arrived_block> blocks;

  static constexpr auto fields(auto& x) {
    return std::tie(x.visit.client, x.visit.number, x.line, x.lines_total,
                    x.round, x.base, x.loss, x.blocks);
  }
};

auto wrong(const fs::path& path, const std::string& what) {
  return fail(errc::storage_failure, path.string() + ": " + what);
}

auto damaged(const fs::path& path) {
  return wrong(path, "is damaged; restore it from a copy, or remove it, and "
                     "what its client offered is withdrawn");
}

template <class T>
std::span<const std::byte> bytes_of(const T& x) {
  return std::as_bytes(std::span{&x, 1});
}

std::string name_of(line_id line, visit_id visit) {
  return std::to_string(line.value) + '-' + std::to_string(visit.client.value)
         + '-' + std::to_string(visit.number.value);
}

/// Nothing where it is no name that `name_of` gives.
std::optional<std::pair<line_id, visit_id>> parsed(const std::string& name) {
  std::array<std::uint64_t, 3> numbers{};
  const auto* at = name.data();
  const auto* end = at + name.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '-'))
      return std::nullopt;
    const auto [next, code] = std::from_chars(at, end, numbers[i]);
    if (code != std::errc{})
      return std::nullopt;
    at = next;
  }
  const std::pair out{line_id{numbers[0]},
                      visit_id{{numbers[1]}, {numbers[2]}}};
  return name == name_of(out.first, out.second) ? std::optional{out}
                                                : std::nullopt;
}

/// An open file and where its values begin.
struct opened {
  std::ifstream in;
  arrival_head head;
  std::uint64_t values_at = 0;
};

std::uint64_t bytes_in(const arrival_head& x) {
  std::uint64_t all = 0;
  for (const auto& block : x.blocks)
    all += block.count * sizeof(float);
  return all;
}

bool read_into(std::ifstream& in, void* to, std::size_t bytes) {
  in.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return in.good() || bytes == 0;
}

/// Reads all of a block, a little at a time.
bool is_as_kept(std::ifstream& in, std::uint64_t at, const arrived_block& x) {
  transport::buffer some(std::size_t{1} << 20);
  std::uint32_t sum = 0;
  in.seekg(static_cast<std::streamoff>(at));
  for (auto left = x.count * sizeof(float); left > 0;) {
    const auto size = std::min<std::uint64_t>(left, some.size());
    if (!read_into(in, some.data(), size))
      return false;
    sum = transport::crc32c(std::span{some}.first(size), sum);
    left -= size;
  }
  return sum == x.sum;
}

result<opened> open_part(const fs::path& path) {
  opened out{.in = std::ifstream{path, std::ios::binary}, .head = {}};
  if (!out.in)
    return wrong(path, "cannot be read");
  std::array<char, arrival_magic.size()> begin{};
  std::uint32_t size = 0;
  if (!read_into(out.in, begin.data(), begin.size())
      || std::string_view{begin.data(), begin.size()} != arrival_magic
      || !read_into(out.in, &size, sizeof size) || size > head_bytes_max)
    return damaged(path);
  transport::buffer head(size);
  std::uint32_t sum = 0;
  if (!read_into(out.in, head.data(), head.size())
      || !read_into(out.in, &sum, sizeof sum) || sum != transport::crc32c(head))
    return damaged(path);
  auto read = transport::decode_record<arrival_head>(head);
  if (!read)
    return damaged(path);
  out.head = std::move(*read);
  out.values_at = arrival_magic.size() + sizeof size + size + sum_bytes;
  return out;
}

/// A part without its values.
messages::part_offered part_of(const arrival_head& x) {
  messages::part_offered out{.visit = x.visit,
                             .line = x.line,
                             .lines_total = x.lines_total,
                             .round = x.round,
                             .base = x.base,
                             .blocks = {},
                             .loss = x.loss};
  for (const auto& block : x.blocks)
    out.blocks.push_back({.block = block.block,
                          .rank = block.rank,
                          .weight = block.weight,
                          .delta = nullptr,
                          .share = block.share});
  return out;
}

class arrival_folder final : public arrivals {
public:
  explicit arrival_folder(const arrivals_options& opts) : opts_(opts) {
    // nop
  }

  bool outlives() const noexcept override {
    return opts_.outlives;
  }

  result<void> keep(const messages::part_offered& x) override {
    if (auto ok = make_folder(opts_.folder, {.sync = opts_.outlives}); !ok)
      return ok;
    arrival_head head{x.visit, x.line, x.lines_total, x.round, x.base,
                      x.loss,  {}};
    for (const auto& block : x.blocks) {
      TROUPE_ASSERT(block.delta != nullptr);
      head.blocks.push_back(
        {block.block, block.rank, block.weight, block.share,
         block.delta->size(),
         transport::crc32c(std::as_bytes(std::span{*block.delta}))});
    }
    const auto body = transport::encode_payload(head);
    const auto size = static_cast<std::uint32_t>(body.size());
    const auto sum = transport::crc32c(body);
    std::vector<std::span<const std::byte>> parts{
      std::as_bytes(std::span{arrival_magic}), bytes_of(size), body,
      bytes_of(sum)};
    for (const auto& block : x.blocks)
      parts.push_back(std::as_bytes(std::span{*block.delta}));
    return models::replace_file(path_of(x.line, x.visit), parts,
                                {.sync = opts_.outlives});
  }

  result<void> drop(line_id line, std::span<const visit_id> visits) override {
    for (const auto& visit : visits) {
      std::error_code code;
      fs::remove(path_of(line, visit), code);
      if (code)
        return wrong(path_of(line, visit),
                     "cannot be removed: " + code.message());
    }
    return opts_.outlives && !visits.empty() ? sync_folder(opts_.folder)
                                             : result<void>{};
  }

  result<messages::part_offered> read(line_id line,
                                      visit_id visit) const override {
    return open_part(path_of(line, visit))
      .and_then([&](const opened& x) -> result<messages::part_offered> {
        auto out = part_of(x.head);
        for (auto& block : out.blocks) {
          auto found = values(line, visit, block.block, {});
          if (!found)
            return tl::make_unexpected(found.error());
          block.delta = std::move(*found);
        }
        return out;
      });
  }

  result<shared_values> values(line_id line, visit_id visit, block_id block,
                               values_part of) const override {
    const auto path = path_of(line, visit);
    auto file = open_part(path);
    if (!file)
      return tl::make_unexpected(file.error());
    auto at = file->values_at;
    for (const auto& x : file->head.blocks) {
      if (x.block != block) {
        at += x.count * sizeof(float);
        continue;
      }
      std::error_code code;
      if (const auto size = fs::file_size(path, code);
          code || size != file->values_at + bytes_in(file->head)
          || of.first > x.count)
        return damaged(path);
      std::vector<float> values(
        std::min<std::uint64_t>(of.count, x.count - of.first));
      const bool is_whole = values.size() == x.count;
      if (!is_whole && of.first == 0 && !is_as_kept(file->in, at, x))
        return damaged(path);
      file->in.seekg(
        static_cast<std::streamoff>(at + of.first * sizeof(float)));
      if (!read_into(file->in, values.data(), values.size() * sizeof(float))
          || (is_whole
              && transport::crc32c(std::as_bytes(std::span{values})) != x.sum))
        return damaged(path);
      return share(std::move(values));
    }
    return wrong(path, "has no block " + std::to_string(block.value));
  }

  result<std::vector<messages::part_offered>> found() override {
    std::vector<messages::part_offered> out;
    std::error_code code;
    if (!fs::exists(opts_.folder, code))
      return out;
    std::vector<fs::path> all;
    for (fs::directory_iterator at{opts_.folder, code}, end; !code && at != end;
         at.increment(code))
      all.push_back(at->path());
    for (const auto& path : all) {
      const auto name = parsed(path.filename().string());
      if (!code && (models::is_unfinished(path) || (name && !opts_.outlives)))
        fs::remove(path, code);
      if (code)
        break;
      if (!name || !opts_.outlives)
        continue;
      auto part = whole(path, *name);
      if (!part)
        return tl::make_unexpected(part.error());
      out.push_back(std::move(*part));
    }
    if (code)
      return wrong(opts_.folder, "cannot be tidied: " + code.message());
    std::ranges::sort(out, {}, &messages::part_offered::visit);
    return out;
  }

private:
  fs::path path_of(line_id line, visit_id visit) const {
    return opts_.folder / name_of(line, visit);
  }

  static result<messages::part_offered>
  whole(const fs::path& path, const std::pair<line_id, visit_id>& name) {
    return open_part(path).and_then(
      [&](const opened& x) -> result<messages::part_offered> {
        std::error_code code;
        const auto size = fs::file_size(path, code);
        if (code || size != x.values_at + bytes_in(x.head)
            || x.head.line != name.first || x.head.visit != name.second)
          return damaged(path);
        return part_of(x.head);
      });
  }

  arrivals_options opts_;
};

} // namespace

void mark_lost(std::vector<messages::part_offered>& found,
               const std::map<line_id, version>& heads) {
  std::set<visit_id> lost;
  for (const auto& x : found)
    if (const auto head = heads.find(x.line);
        head != heads.end() && head->second < x.base)
      lost.insert(x.visit);
  for (auto& x : found)
    x.late |= lost.contains(x.visit);
}

arrivals_report examine_arrivals(const fs::path& folder) {
  arrivals_report out;
  const arrival_folder all{{.folder = folder, .outlives = true}};
  std::error_code ignored;
  for (const auto& x : fs::directory_iterator{folder, ignored})
    if (const auto name = parsed(x.path().filename().string())) {
      if (const auto part = all.read(name->first, name->second); part)
        ++out.whole;
      else
        out.damaged.push_back(part.error().context);
    }
  return out;
}

std::shared_ptr<arrivals> make_arrivals(const arrivals_options& opts) {
  return std::make_shared<arrival_folder>(opts);
}

} // namespace troupe::actors
