#pragma once

// Clients in clusters whose data differ by a known change: the image tasks of
// FLoRAL and others. What a client holds is changed where it lies, training and
// test rows alike, so everything else sees plain examples.

#include <cstddef>
#include <cstdint>

#include "core/result.hpp"
#include "models/data/example_set.hpp"

namespace troupe::models {

enum class cluster_shift : std::uint8_t {
  none,
  rotation, ///< Images of cluster c are turned by c 360 / C degrees, to the
            ///< left.
  labels,   ///< Labels of cluster c are y + c, modulo the number of classes.
};

/// Client k is in cluster k mod `clusters`, counting from 0. Rows that nobody
/// holds stay as they are. Returns `invalid_config` if the data are no square
/// images, or turns would not be by quarters. @pre each row has one owner at
/// most
[[nodiscard]] result<void> shift_clusters(dataset& data, const partition& parts,
                                          cluster_shift how,
                                          std::size_t clusters);

} // namespace troupe::models
