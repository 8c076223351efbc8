#include "actors/transport/codec.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "actors/transport/envelope.hpp"
#include "core/limits.hpp"
#include "tests/support/wire_examples.hpp"

namespace troupe::transport::codec_test {
namespace {

using messages::any_message;
using messages::schema;
using messages::written_as;

/// What the first version of a message might have been, and what came of it:
/// `note` was appended for readers who need not know, `urgency` for readers who
/// must.
struct greeting_1 {
  static constexpr schema wire{
    .kind = 0x7f01, .readable_since = 1, .field_counts = {2}};
  std::uint32_t count = 0;
  std::string text;
  static constexpr auto fields(auto& x) {
    return std::tie(x.count, x.text);
  }
};

struct greeting_2 {
  static constexpr schema wire{
    .kind = 0x7f01, .readable_since = 1, .field_counts = {2, 3}};
  std::uint32_t count = 0;
  std::string text;
  std::string note = "none";
  static constexpr auto fields(auto& x) {
    return std::tie(x.count, x.text, x.note);
  }
};

struct greeting_3 {
  static constexpr schema wire{
    .kind = 0x7f01, .readable_since = 3, .field_counts = {2, 3, 4}};
  std::uint32_t count = 0;
  std::string text;
  std::string note = "none";
  std::uint8_t urgency = 7;
  static constexpr auto fields(auto& x) {
    return std::tie(x.count, x.text, x.note, x.urgency);
  }
};

template <class T>
written_as claim_of() {
  return {T::wire.current(), T::wire.readable_since};
}

template <class T>
errc refusal_of(std::span<const std::byte> payload,
                written_as claim = claim_of<T>()) {
  const auto x = decode_payload<T>(payload, claim);
  return x ? errc{} : x.error().code;
}

std::filesystem::path golden_folder() {
  return std::filesystem::path{TROUPE_SOURCE_DIR} / "tests/golden/messages";
}

/// Where the frame is that a version of a message wrote.
std::filesystem::path golden_file(const test::wire_example& x,
                                  unsigned version) {
  return golden_folder()
         / (std::string{x.name} + "-v" + std::to_string(version) + ".bin");
}

unsigned current_version(const any_message& x) {
  return std::visit([](const auto& y) { return y.wire.current(); }, x);
}

buffer bytes_of(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

TEST(codec, is_tried_with_one_message_of_each_kind) {
  const auto all = test::example_messages();
  ASSERT_EQ(all.size(), std::variant_size_v<any_message>);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].message.index(), i);
    EXPECT_FALSE(all[i].name.empty()) << i;
    EXPECT_TRUE(names.insert(all[i].name).second) << all[i].name;
  }
}

// A new message or version is written once, with TROUPE_WRITE_GOLDEN=1; a file
// that is there is never written again, since peers that speak it are out
// there.
TEST(codec, writes_the_bytes_that_it_always_wrote) {
  for (const auto& x : test::example_messages()) {
    const auto path = golden_file(x, current_version(x.message));
    const auto frame = encode(x.message);
    if (std::getenv("TROUPE_WRITE_GOLDEN") && !exists(path)) {
      std::ofstream out{path, std::ios::binary};
      out.write(reinterpret_cast<const char*>(frame.data()),
                static_cast<std::streamsize>(frame.size()));
    }
    EXPECT_EQ(bytes_of(path), frame) << path;
  }
}

// Each version of each message has its file, and there are no others.
TEST(codec, reads_all_that_was_ever_written) {
  std::set<std::filesystem::path> known;
  for (const auto& x : test::example_messages())
    for (unsigned i = 1; i <= current_version(x.message); ++i) {
      const auto path = golden_file(x, i);
      const auto frame = bytes_of(path);
      const auto back = decode(frame);
      ASSERT_TRUE(back) << path;
      EXPECT_EQ(back->index(), x.message.index()) << path;
      EXPECT_EQ(open_envelope(frame, frame.size())->writer.version, i) << path;
      known.insert(path);
    }
  for (const auto& x : std::filesystem::directory_iterator{golden_folder()})
    EXPECT_TRUE(known.contains(x.path()))
      << x.path() << " belongs to no version of a message";
}

TEST(codec, knows_no_model_of_terms_that_an_older_server_gives) {
  const auto back = decode(bytes_of(golden_folder() / "terms_given-v2.bin"));
  ASSERT_TRUE(back);
  const auto& x = std::get<messages::terms_given>(*back);
  EXPECT_EQ(x.frozen.size(), 1u);
  EXPECT_EQ(x.model, decltype(x.model){});
}

TEST(codec, reads_what_it_wrote) {
  for (const auto& x : test::example_messages()) {
    const auto frame = encode(x.message);
    const auto back = decode(frame);
    ASSERT_TRUE(back) << x.name;
    EXPECT_EQ(back->index(), x.message.index());
    EXPECT_EQ(encode(*back), frame);
  }
}

TEST(codec, keeps_every_field_of_an_offer) {
  const auto back = decode(encode(test::example_messages()[11].message));
  ASSERT_TRUE(back);
  const auto& x = std::get<messages::offer_made>(*back);
  EXPECT_EQ(x.pass, test::example_ticket());
  ASSERT_EQ(x.disclosures.size(), 1u);
  EXPECT_EQ(x.disclosures[0].index, 1u);
  EXPECT_EQ(x.disclosures[0].values, (std::vector{0.25, 0.75}));
  ASSERT_EQ(x.blocks.size(), 2u);
  EXPECT_EQ(x.blocks[0].block, block_id{1});
  EXPECT_EQ(x.blocks[0].base, version{2});
  EXPECT_EQ(x.blocks[0].rank, 3u);
  EXPECT_EQ(x.blocks[0].weight, 40.5);
  EXPECT_EQ(*x.blocks[0].delta, (std::vector{0.125f, -0.5f, 3.0f}));
  EXPECT_EQ(x.loss, 1.5);
}

TEST(codec, foretells_the_size_of_a_payload) {
  for (const auto& example : test::example_messages())
    std::visit(
      [](const auto& x) {
        EXPECT_EQ(payload_size(x), encode_payload(x).size());
      },
      example.message);
}

/// Of a payload that an older version wrote: it had only the first fields.
template <class T>
std::size_t size_under(unsigned version, const T& x) {
  std::size_t fields = messages::field_count<T>;
  if (version < T::wire.current())
    fields = T::wire.fields_in(static_cast<std::uint8_t>(version));
  std::size_t size = 0;
  const auto count = [&](const void*, std::size_t bytes) { size += bytes; };
  writer write{count};
  std::size_t index = 0;
  std::apply(
    [&](const auto&... field) {
      ((index++ < fields ? write(field) : void()), ...);
    },
    T::fields(x));
  return size;
}

// Of our own version or an older one, exactly the whole payload is a message;
// of a newer one that we may read, all that begins with one; of any other
// claim, nothing.
TEST(codec, refuses_every_truncation_under_every_claim) {
  for (const auto& example : test::example_messages())
    std::visit(
      [](const auto& x) {
        using type = std::remove_cvref_t<decltype(x)>;
        const auto whole = encode_payload(x);
        for (std::size_t size = 0; size <= whole.size(); ++size)
          for (unsigned version = 0; version <= 9; ++version)
            for (unsigned since = 0; since <= 9; ++since) {
              const written_as claim{static_cast<std::uint8_t>(version),
                                     static_cast<std::uint8_t>(since)};
              const bool readable = version >= 1 && since <= version
                                    && since <= type::wire.current();
              ASSERT_EQ(
                decode_payload<type>(std::span{whole}.first(size), claim)
                  .has_value(),
                readable && size == size_under(version, x))
                << type::wire.kind << ' ' << size << ' ' << version << ' '
                << since;
            }
      },
      example.message);
}

TEST(codec, writes_again_whatever_it_reads_of_damaged_bytes) {
  for (const auto& example : test::example_messages())
    std::visit(
      [](const auto& x) {
        using type = std::remove_cvref_t<decltype(x)>;
        auto payload = encode_payload(x);
        for (auto& byte : payload)
          for (const unsigned value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            const auto before =
              std::exchange(byte, static_cast<std::byte>(value));
            if (const auto back =
                  decode_payload<type>(payload, claim_of<type>())) {
              ASSERT_EQ(encode_payload(*back), payload);
            }
            byte = before;
          }
      },
      example.message);
}

TEST(codec, reads_an_older_peer_with_defaults_for_what_it_lacks) {
  const auto x = decode_payload<greeting_3>(encode_payload(greeting_1{5, "hi"}),
                                            claim_of<greeting_1>());
  ASSERT_TRUE(x);
  EXPECT_EQ(x->count, 5u);
  EXPECT_EQ(x->text, "hi");
  EXPECT_EQ(x->note, "none");
  EXPECT_EQ(x->urgency, 7);
}

TEST(codec, reads_a_newer_peer_and_leaves_its_tail_unread) {
  const auto payload = encode_payload(greeting_2{5, "hi", "new"});
  const auto x = decode_payload<greeting_1>(payload, claim_of<greeting_2>());
  ASSERT_TRUE(x);
  EXPECT_EQ(x->text, "hi");
}

// A tail may be as large as a message can be, and values stay for long.
TEST(codec, copies_the_values_of_a_newer_peer_out_of_its_message) {
  messages::offer_made x;
  x.blocks.emplace_back().delta = share(std::vector<float>(100'000));
  const auto bytes = std::make_shared<const buffer>(encode_payload(x));
  auto claim = claim_of<messages::offer_made>();
  const auto owner_of = [&](messages::written_as who) {
    const auto found = decode_payload<messages::offer_made>(*bytes, who, bytes);
    EXPECT_TRUE(found);
    return found ? found->blocks.at(0).delta.owner() : nullptr;
  };
  EXPECT_EQ(owner_of(claim), bytes);
  ++claim.version;
  EXPECT_NE(owner_of(claim), bytes);
}

TEST(codec, refuses_a_newer_peer_that_an_old_reader_would_be_wrong_about) {
  const auto payload = encode_payload(greeting_3{5, "hi", "new", 1});
  EXPECT_EQ(refusal_of<greeting_2>(payload, claim_of<greeting_3>()),
            errc::version_mismatch);
}

TEST(codec, refuses_a_payload_that_is_not_of_the_version_it_claims) {
  const auto older = encode_payload(greeting_1{5, "hi"});
  const auto newer = encode_payload(greeting_2{5, "hi", "new"});
  EXPECT_EQ(refusal_of<greeting_2>(older, {2, 1}), errc::malformed_message);
  EXPECT_EQ(refusal_of<greeting_2>(newer, {1, 1}), errc::malformed_message);
}

// Four bytes of payload that claim the most there can be: had they been
// believed, these would ask for gigabytes.
TEST(codec, does_not_believe_a_count) {
  const buffer most(4, std::byte{0xff});
  EXPECT_EQ(refusal_of<messages::beat_answered>(most), errc::malformed_message);
  auto text = encode_payload(messages::farewell{});
  std::fill_n(text.begin() + 1, 4, std::byte{0xff});
  EXPECT_EQ(refusal_of<messages::farewell>(text), errc::malformed_message);
  auto values =
    encode_payload(messages::line_served{.visit = {},
                                         .leg = 0,
                                         .line = {},
                                         .base = {},
                                         .blocks = {{{1}, share({2.0f})}}});
  ASSERT_EQ(values[values.size() - 8], std::byte{1});
  std::fill_n(values.end() - 8, 4, std::byte{0xff});
  EXPECT_EQ(refusal_of<messages::line_served>(values), errc::malformed_message);
}

TEST(codec, holds_a_count_against_the_bytes_that_are_there) {
  auto payload =
    encode_payload(messages::line_served{.visit = {},
                                         .leg = 0,
                                         .line = {},
                                         .base = {},
                                         .blocks = {{{1}, share({2.0f})}}});
  payload[payload.size() - 8] = std::byte{2}; // Two floats in four bytes.
  EXPECT_EQ(refusal_of<messages::line_served>(payload),
            errc::malformed_message);
}

template <class T>
void expect_known(T x, std::size_t at, unsigned names) {
  auto payload = encode_payload(x);
  for (unsigned value = 0; value < 256; ++value) {
    payload[at] = static_cast<std::byte>(value);
    EXPECT_EQ(refusal_of<T>(payload),
              value < names ? errc{} : errc::malformed_message)
      << value;
  }
}

TEST(codec, reads_texts_up_to_their_bound) {
  messages::farewell x{.text = std::string(limits::text_bytes_max, 'a')};
  EXPECT_EQ(refusal_of<messages::farewell>(encode_payload(x)), errc{});
  x.text += 'a';
  EXPECT_EQ(refusal_of<messages::farewell>(encode_payload(x)),
            errc::malformed_message);
}

TEST(codec, refuses_an_enumerator_that_it_does_not_know) {
  expect_known(messages::farewell{}, 0, 6);
  expect_known(messages::visit_ended{}, 16, 8);
  expect_known(messages::offer_answered{}, 24, 8);
  expect_known(messages::visit_declined{},
               encode_payload(messages::visit_declined{}).size() - 1, 4);
}

TEST(codec, says_that_a_record_with_a_tail_is_damaged) {
  auto bytes = encode_payload(test::example_ticket());
  EXPECT_TRUE(decode_record<messages::ticket>(bytes));
  bytes.push_back({});
  const auto x = decode_record<messages::ticket>(bytes);
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, errc::storage_failure);
}

} // namespace
} // namespace troupe::transport::codec_test
