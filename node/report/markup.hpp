#pragma once

// Pieces of HTML and SVG. All text that comes from a run passes `escaped`.

#include <string>
#include <string_view>

namespace troupe::node {

/// Safe as content and inside of a quoted attribute.
std::string escaped(std::string_view text);

/// A coordinate: one decimal, none where it is 0.
std::string coordinate(double x);

/// Four digits that count, without an exponent where people need none: 0.8444,
/// 1.2e-07, 12400.
std::string number(double x);

/// 12 400 as 12,400.
std::string count(double x);

/// The same with so many digits behind the point: 12,400.25.
std::string fixed(double x, int decimals);

/// With so many digits that count: 1.23457e+06.
std::string scientific(double x, int digits);

/// 1 h 05 m, 12.5 s, 3 d 4 h.
std::string duration(double seconds);

/// 2.4 GiB.
std::string bytes(double x);

/// A share of one: 84.4 %.
std::string percent(double x);

} // namespace troupe::node
