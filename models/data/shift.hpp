#pragma once

// Clients in clusters whose data differ by a known change: the image tasks of
// FLoRAL and others. What a client holds is changed where it lies, training and
// test rows alike, so everything else sees plain examples. Or rows are in
// domains before anybody holds them, and clients have rows of some domains.

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
  domains,  ///< Of rows and not of clusters: `shift_domains`.
};

/// Client k is in cluster k mod `clusters`, counting from 0. Rows that nobody
/// holds stay as they are, and all of them under `none` and `domains`. Returns
/// `invalid_config` if the data are no square images, or turns would not be by
/// quarters. @pre each row has one owner at most
[[nodiscard]] result<void> shift_clusters(dataset& data, const partition& parts,
                                          cluster_shift how,
                                          std::size_t clusters);

inline constexpr std::size_t domains_of_images = 5;

/// Puts the rows of both sets into domains, equally many into each, drawn by
/// the seed: images as they are, turned to the left by one, two and three
/// quarters, and negated (255 less what they are). Returns `invalid_config` if
/// the data are no square images of bytes.
[[nodiscard]] result<void> shift_domains(dataset& data, std::uint64_t seed);

} // namespace troupe::models
