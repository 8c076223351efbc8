#include "models/language/token_ids.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "models/files.hpp"
#include "models/language/mapped_file.hpp"
#include "models/layout.hpp"

namespace troupe::models {

namespace {

/// What a file begins with; behind it are the ids, as processors have them.
struct beginning {
  std::array<char, 16> what;
  std::uint64_t width;
  std::uint64_t size;
  digest content;
};

static_assert(sizeof(beginning) == 64, "ids lie where any width may");

/// The last letter counts up where ids come to lie otherwise.
constexpr std::array<char, 16> what_it_is{'t', 'r', 'o', 'u', 'p', 'e',
                                          ' ', 't', 'o', 'k', 'e', 'n',
                                          's', ' ', '0', '1'};

template <class Stored>
token_id stored_at(const std::byte* at, std::size_t i) noexcept {
  Stored x;
  std::memcpy(&x, at + i * sizeof x, sizeof x);
  return x;
}

template <class Stored>
void store(std::span<const token_id> xs, std::byte* to) noexcept {
  for (const auto x : xs) {
    const auto narrow = static_cast<Stored>(x);
    std::memcpy(to, &narrow, sizeof narrow);
    to += sizeof narrow;
  }
}

tl::unexpected<error> unusable(const std::filesystem::path& path,
                               const std::string& what) {
  return fail(errc::invalid_data, path.string() + ": " + what
                                    + "; without the file it is made anew");
}

} // namespace

token_ids::token_ids(std::span<const token_id> xs) : size_(xs.size()) {
  constexpr token_id narrow_max = std::numeric_limits<std::uint16_t>::max();
  width_ =
    std::ranges::any_of(xs, [](token_id x) { return x > narrow_max; }) ? 4 : 2;
  auto kept = std::make_shared<std::vector<std::byte>>(size_ * width_);
  if (width_ == 2)
    store<std::uint16_t>(xs, kept->data());
  else
    store<std::uint32_t>(xs, kept->data());
  at_ = kept->data();
  owner_ = std::move(kept);
}

result<token_ids> token_ids::open(const std::filesystem::path& path) {
  auto file = mapped_file::open(path, errc::invalid_data);
  if (!file)
    return tl::make_unexpected(file.error());
  const auto all = file->bytes();
  if (all.size() < sizeof(beginning))
    return unusable(path, "has " + std::to_string(all.size())
                            + " bytes, and what tokens begin with has "
                            + std::to_string(sizeof(beginning)));
  beginning said{};
  std::memcpy(&said, all.data(), sizeof said);
  if (said.what != what_it_is || (said.width != 2 && said.width != 4))
    return unusable(path, "has no tokens as this build keeps them");
  const auto ids = all.subspan(sizeof said);
  if (ids.size() % said.width != 0 || ids.size() / said.width != said.size)
    return unusable(path, "claims " + std::to_string(said.size) + " tokens of "
                            + std::to_string(said.width) + " bytes, and has "
                            + std::to_string(ids.size()) + " bytes of them");
  if (digest_of(ids) != said.content)
    return unusable(path, "is damaged: its tokens have another digest than it "
                          "says");
  token_ids out;
  out.at_ = ids.data();
  out.size_ = ids.size() / said.width;
  out.width_ = said.width;
  out.owner_ = std::make_shared<const mapped_file>(std::move(*file));
  return out;
}

result<void> token_ids::write(const std::filesystem::path& path) const {
  const beginning said{.what = what_it_is,
                       .width = width_,
                       .size = size_,
                       .content = digest_of(bytes())};
  const std::array parts{std::as_bytes(std::span{&said, 1}), bytes()};
  return replace_file(path, parts, {.secret = true});
}

token_id token_ids::operator[](std::size_t i) const noexcept {
  return width_ == 2 ? stored_at<std::uint16_t>(at_, i)
                     : stored_at<std::uint32_t>(at_, i);
}

void token_ids::read(std::size_t first,
                     std::span<std::int32_t> to) const noexcept {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<std::int32_t>((*this)[first + i]);
}

token_ids token_ids::part(std::size_t first, std::size_t count) const noexcept {
  TROUPE_ASSERT(first <= size_ && count <= size_ - first);
  auto out = *this;
  if (at_ != nullptr)
    out.at_ = at_ + first * width_;
  out.size_ = count;
  return out;
}

} // namespace troupe::models
