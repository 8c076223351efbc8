#include "actors/record/kept_offers.hpp"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "actors/record/events.hpp"
#include "actors/record/folders.hpp"
#include "actors/transport/envelope.hpp"
#include "actors/transport/rope.hpp"
#include "core/limits.hpp"
#include "models/files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view offer_magic{"TRPOFF01"};
constexpr std::size_t head_size = offer_magic.size() + sizeof(std::uint64_t);

tl::unexpected<error> damaged_offer(const fs::path& path) {
  return fail(errc::invalid_data, path.string()
                                    + ": is damaged, or no offer that was "
                                      "kept; a copy of it would do");
}

} // namespace

fs::path kept_offers::path_of(visit_id x, const std::string& checksum) const {
  return folder_
         / (std::to_string(x.client.value) + '-'
            + std::to_string(x.number.value) + '-' + checksum);
}

result<void> kept_offers::keep(const kept& x) const {
  if (auto ok = make_folder(folder_, {.sync = how_.sync}); !ok)
    return ok;
  const auto size = transport::encoded_size(x.offer);
  if (size > limits::payload_bytes_max)
    return fail(errc::unsupported, "it has " + std::to_string(size)
                                     + " bytes, and what is kept may have "
                                     + std::to_string(limits::payload_bytes_max)
                                     + "; keep_offers = false would do");
  const auto examples = std::as_bytes(std::span{&x.examples, 1});
  const auto frame = transport::frame_parts(messages::any_message{x.offer});
  std::vector<std::span<const std::byte>> parts{
    std::as_bytes(std::span{offer_magic}), examples};
  for (const auto& part : frame)
    parts.push_back(part.bytes);
  return models::replace_file(path_of(x.offer.pass.visit, checksum_of(x.offer)),
                              parts, {.sync = how_.sync, .secret = true});
}

result<std::optional<kept_offers::kept>>
kept_offers::find(visit_id x, const std::string& checksum) const {
  const auto path = path_of(x, checksum);
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return std::optional<kept>{};
  const auto read = models::read_file(path, errc::invalid_data);
  if (!read)
    return tl::make_unexpected(read.error());
  const std::span<const std::byte> all{*read};
  if (all.size() < head_size
      || std::memcmp(all.data(), offer_magic.data(), offer_magic.size()) != 0)
    return damaged_offer(path);
  kept out;
  std::memcpy(&out.examples, all.data() + offer_magic.size(),
              sizeof out.examples);
  auto message = transport::decode(all.subspan(head_size));
  auto* offer =
    message ? std::get_if<messages::offer_made>(&*message) : nullptr;
  if (offer == nullptr || offer->pass.visit != x)
    return damaged_offer(path);
  out.offer = std::move(*offer);
  return std::optional{std::move(out)};
}

} // namespace troupe::actors
