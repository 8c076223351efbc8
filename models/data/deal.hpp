#pragma once

// The schemes of `make_partition`: how training rows are dealt to clients.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/result.hpp"
#include "models/data/example_set.hpp"
#include "models/data/partition.hpp"

namespace troupe::models {

using row_list = std::vector<std::uint32_t>;
using row_lists = std::vector<row_list>; ///< Per client, or per class.

/// What a scheme works on. There are at least clients * examples_min rows, and
/// what the data must say for the scheme is there.
struct deal {
  const dataset& data;
  std::size_t clients;
  std::size_t examples_min;
  random_stream random;

  std::size_t rows() const noexcept {
    return data.train.size;
  }
};

/// Gives every training row to one client. Clients may fall short of
/// `examples_min` where the scheme fixes how many rows they get. @pre it is
/// none in which clients share rows
[[nodiscard]] result<row_lists> deal_rows(const partitioner& how, deal& with);

/// The rows of each class, each in a random order.
row_lists rows_by_label(const example_set& from, std::int64_t classes,
                        random_stream& random);

/// Deals the rows of each kind in proportion to what of that kind each client
/// holds, rounded at random without bias; a kind that nobody holds evenly.
/// @pre held[client][kind] has a column for each of `by_kind`
row_lists deal_in_proportion(const label_counts& held, const row_lists& by_kind,
                             random_stream& random);

/// Appends rows [begin, end) of `from`.
void give(row_list& to, const row_list& from, std::size_t begin,
          std::size_t end);

/// An `invalid_config` that says so.
tl::unexpected<error> refuse_partition(const std::string& what);

} // namespace troupe::models
