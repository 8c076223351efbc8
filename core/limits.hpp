#pragma once

// Every bound on what we keep for others. A queue without a line here is a bug.

#include <cstddef>
#include <cstdint>

namespace troupe::limits {

inline constexpr std::size_t payload_bytes_max = std::size_t{1} << 30;
inline constexpr std::size_t blocks_max = 4096; ///< In one layout or message.

/// Version lines that metrics say by name; of more they say the families and
/// the most and the least used.
inline constexpr std::size_t lines_labelled = 200;
inline constexpr std::size_t lines_most_used = 20;
inline constexpr std::size_t lines_least_used = 20;

/// Clients whose mixtures are held for who watches: those who came first.
inline constexpr std::size_t routers_watched = 1000;

inline constexpr std::size_t clients_max = 1 << 20;
inline constexpr std::size_t pending_offers_max = 4096; ///< Per version line.
inline constexpr std::size_t outbox_offers_max = 8; ///< Unanswered, per client.
inline constexpr std::size_t disclosed_reals_max = 4096; ///< Per offer.
inline constexpr std::size_t text_bytes_max =
  4096; ///< Of a string on the wire.

/// Frames that one client may have under way to the gateway: a hello, a fetch,
/// a beat, and its offers, each with copies that the network made or resends.
/// As many may wait for it while an instant of virtual time is not over.
inline constexpr std::size_t frames_per_client_max =
  4 * (outbox_offers_max + 3);

/// Of versions before the head that lines hold in memory, all lines together:
/// what is older comes from the store.
inline constexpr std::size_t versions_bytes_max = std::size_t{256} << 20;

/// Visit numbers that are reserved durably at a time, per client. A restart
/// leaves out what is left of them, and what is merged is known of the last 64
/// numbers: some restarts must find room in that.
inline constexpr std::uint64_t numbers_reserved = 8;

/// Indices of invitations that are reserved durably at a time.
inline constexpr std::uint64_t indices_reserved = 4096;

/// Who finds a line's queue full comes back after so long.
inline constexpr std::uint64_t overloaded_retry_ms = 1000;

/// And no later, whatever a server says.
inline constexpr std::uint64_t retry_ms_max = 3'600'000;

/// Other processes that a server knows; one more takes the place of the one
/// that was silent for longest.
inline constexpr std::size_t links_max = 16'384;

/// Of what one process asks while nobody can answer yet, and of which the last
/// is held: who says more asks again.
inline constexpr std::size_t early_bytes_max = 1024;

/// Of one connection's frames that are not sent yet, beside values: of those it
/// has, for each client, what one visit fetches.
inline constexpr std::size_t unsent_bytes_max = std::size_t{64} << 20;

/// Of all connections' frames that arrived, or are about to, and were not
/// handled yet.
inline constexpr std::uint64_t unhandled_bytes_max = std::uint64_t{256} << 20;

/// Of memory that large messages landed in and that nobody holds any more.
inline constexpr std::uint64_t landing_bytes_max = std::uint64_t{1} << 30;

/// Links of one key; one more takes the place of the one that was silent for
/// longest.
inline constexpr std::size_t links_per_key_max = 64;

/// What one key may say, or without keys one connection: more in a second is
/// not heard.
inline constexpr std::uint64_t frames_per_second_max = 20'000;

/// What one process may ask about places in a run, in a second.
inline constexpr std::uint64_t questions_per_second = 10;

/// While others are heard, what one key says beyond this is read no faster.
inline constexpr std::uint64_t frames_beside_others = 5'000;

/// Of all that arrived and was not handled yet, what may be of one key, and no
/// more than a quarter.
inline constexpr std::uint64_t unhandled_bytes_of_key_max = std::uint64_t{128}
                                                            << 20;

/// Of all that arrived and was not handled yet, in frames, however small: at
/// either bound no room is given for what is large.
inline constexpr std::uint64_t unhandled_frames_max = 65'536;

/// Names of which is known how much they have said lately: keys, or connections
/// without keys. One more takes the place of one that is silent.
inline constexpr std::size_t meters_max = 16'384;

/// Keys that came lately, with what they may do; all are looked up again when
/// there are more.
inline constexpr std::size_t keys_remembered = 16'384;

/// Messages with values, by which is known what is said again; a newer one may
/// take the place of any other.
inline constexpr std::size_t messages_remembered = 8192;

/// Of a file of events or metrics, while the disk takes no more.
inline constexpr std::size_t unwritten_bytes_max = std::size_t{16} << 20;

/// Of a file that is read whole: data, weights.
inline constexpr std::uint64_t file_bytes_max = std::uint64_t{16} << 30;

/// Of a file that people write, or that is written for them, and of a line.
inline constexpr std::uint64_t text_file_bytes_max = std::uint64_t{64} << 20;

/// Of the names and shapes in a file of weights; reading them takes forty times
/// as much memory. The format allows 100 MB.
inline constexpr std::uint64_t weights_header_bytes_max = std::uint64_t{4}
                                                          << 20;

/// Of a file of a language model: tensors, and extents of one; keys of its
/// metadata, and items of a list among them; tokens, bytes of all of them, of
/// one that is looked for letter by letter, and of what a tokenizer takes at
/// once; merges.
inline constexpr std::size_t language_tensors_max = 65'536;
inline constexpr std::size_t tensor_extents_max = 8;
inline constexpr std::size_t gguf_values_max = 4096;
inline constexpr std::size_t gguf_items_max = std::size_t{1} << 22;
/// Of all lists of a file together; and the bytes of all its texts.
inline constexpr std::size_t gguf_items_together_max = std::size_t{1} << 23;
inline constexpr std::size_t gguf_text_bytes_max = std::size_t{1} << 26;
inline constexpr std::size_t vocabulary_max = std::size_t{1} << 20;
inline constexpr std::size_t vocabulary_bytes_max = std::size_t{1} << 24;
inline constexpr std::size_t token_bytes_max = 1024;
inline constexpr std::size_t merges_max = std::size_t{1} << 22;
inline constexpr std::size_t piece_bytes_max = std::size_t{1} << 16;

/// What a tokenizer does to a text before and behind its model: steps of a
/// kind, bytes of a pattern, tokens around a text, and bytes that steps make of
/// one.
inline constexpr std::size_t tokenizer_steps_max = 64;
inline constexpr std::size_t pattern_bytes_max = std::size_t{1} << 16;
inline constexpr std::size_t frame_tokens_max = 64;
inline constexpr std::size_t bytes_made_of_one_max = 32;

/// Connections to `--http`. One more takes the place of another.
inline constexpr std::size_t http_connections_max = 256;

/// Of what a reader of `--http` may say: all of it, its target, its headers.
inline constexpr std::size_t http_head_bytes_max = 8192;
inline constexpr std::size_t http_target_bytes_max = 1024;
inline constexpr std::size_t http_headers_max = 64;

/// Of pages that readers of `--http` have not taken yet, beside the newest.
inline constexpr std::size_t http_unread_bytes_max = std::size_t{8} << 20;

/// Of a mean training loss, either way: above it training has diverged.
inline constexpr double loss_max = 1e12;

/// A share below this is not offered; the client counts the block as left out.
inline constexpr double share_min = 1.0 / 1024;

} // namespace troupe::limits
