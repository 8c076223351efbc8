#include "actors/transport/link_end.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "actors/transport/envelope.hpp"

namespace troupe::transport {

void link_end::connected(std::uint32_t number) {
  dialled_ = true;
  connection_ = number;
  say_opened_ = true;
  heard_opened_ = false;
}

result<arrivals> link_end::opened(const piece& x) {
  const auto what = decode_record<opening>(x.body.bytes);
  if (!what || what->protocol == 0)
    return fail(errc::version_mismatch,
                "the other end speaks no link protocol; ours are 1 to "
                  + std::to_string(link_protocol));
  if (dialled_ && (x.connection != connection_ || heard_opened_))
    return arrivals{}; // Of a connection that is gone.
  if (other_ == what->instance && knows_newer_than(x))
    return arrivals{}; // Likewise.
  if (!dialled_) {
    connection_ = x.connection;
    say_opened_ = true;
  }
  protocol_ = std::min(what->protocol, link_protocol);
  out_.may_bundle(protocol_ >= protocol_with_bundles);
  const auto before = std::exchange(other_, what->instance);
  if (before == what->instance) {
    in_.begin_again();
  } else {
    in_.forget();
    if (before)
      out_.forget();
  }
  out_.begin_again();
  heard_opened_ = true;
  return arrivals{};
}

result<arrivals> link_end::heard(const piece& x) {
  if (x.kind == piece_kind::opened)
    return opened(x);
  if (!heard_opened_ || x.connection != connection_)
    return arrivals{};
  switch (x.kind) {
    case piece_kind::reached: {
      const auto upto = decode_record<allowance>(x.body.bytes);
      if (!upto)
        return fail(errc::malformed_message, "an allowance is no number");
      out_.reached(x.transfer, x.at, upto->until);
      return arrivals{};
    }
    case piece_kind::refused:
      out_.refused(x.transfer);
      return arrivals{};
    case piece_kind::announced: {
      const auto what = decode_record<announcement>(x.body.bytes);
      if (!what || !dialled_)
        return fail(errc::malformed_message,
                    "an announcement is no key, or is not of a server");
      announced_ = *what;
      return arrivals{};
    }
    default:
      return in_.heard(x);
  }
}

std::optional<piece> link_end::next() {
  std::optional<piece> out;
  if (std::exchange(say_opened_, false)) {
    out = make_piece(piece_kind::opened, {}, {});
    opening what;
    what.instance = instance_;
    what.protocol = dialled_ ? link_protocol : protocol_;
    out->body = body_of(what);
  } else if (heard_opened_ && announce_) {
    out = make_piece(piece_kind::announced, {}, {});
    out->body = body_of(*std::exchange(announce_, std::nullopt));
  } else if (heard_opened_) {
    out = in_.next();
    if (!out)
      out = out_.next();
  }
  if (out)
    out->connection = connection_;
  return out;
}

std::optional<piece> link_end::last_word(const messages::any_message& x) const {
  if (!heard_opened_ || say_opened_)
    return std::nullopt;
  auto out = make_piece(piece_kind::framed, {}, {});
  const auto bytes = std::make_shared<const buffer>(encode(x));
  out.body = {*bytes, bytes};
  out.connection = connection_;
  return out;
}

} // namespace troupe::transport
