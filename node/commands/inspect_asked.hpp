#pragma once

// What is asked of a client's rows, where that is no class: spans, and texts
// that describe something.

#include <cstddef>
#include <iosfwd>

#include "core/json.hpp"
#include "models/language/labelled_rows.hpp"

namespace troupe::node {

/// A line for each client and part: answers and how long they are, or texts,
/// and how many there are of one thing. Nothing of rows that are classified.
void print_asked(const models::labelled_rows& data, std::ostream& out);

/// The same of client k, from 0, by part. @pre rows are not classified
json asked_of_client(const models::labelled_rows& data, std::size_t k);

} // namespace troupe::node
