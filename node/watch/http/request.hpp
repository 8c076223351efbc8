#pragma once

// What a reader asks for, out of bytes that anybody may have sent. A GET or a
// HEAD has no body, so that a request ends with the empty line after its
// headers, and nothing behind it is ever looked at.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace troupe::http {

struct request {
  bool head = false; ///< Nothing but the headers of the answer is wanted.
  bool json = false;
  std::string path; ///< As it was sent, without what follows a '?'.
  std::string host; ///< As `host_name` has it.

  bool operator==(const request&) const = default;
};

struct refusal {
  int status = 400;
  std::string why; ///< One line, without an end.
};

/// So far there is nothing wrong.
struct incomplete {};

using parsed = std::variant<incomplete, request, refusal>;

/// @param bytes all that came on a connection so far
/// Refuses as soon as it can be seen that no request comes of it. Never
/// `incomplete` where there are `limits::http_head_bytes_max` bytes or more.
parsed parse_request(std::string_view bytes);

/// A name or an address without port and brackets, in lower case. Returns
/// nothing for what is neither.
std::optional<std::string> host_name(std::string_view host);

} // namespace troupe::http
