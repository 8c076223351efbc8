#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/metric_family.h>

#include "actors/metrics/catalogue.hpp"
#include "actors/metrics/status.hpp"

namespace troupe::actors {

/// What one answer says, in the order in which it is said. Types, texts and
/// names of labels come from the table of all metrics.
class families {
public:
  /// Values of labels, in the order of the table; the last ones may lack.
  using words = std::vector<std::string>;

  /// @pre the table has it, and it has not begun before
  void begin(std::string_view name);

  /// A value of the family that began last.
  void put(double value, const words& of = {});
  void put(std::uint64_t value, const words& of = {});
  void put(const duration_sum& x, const words& of = {});
  void put(const entropy_sum& x, const words& of = {});
  void put(const staleness_counts& x, const words& of = {});

  /// As the table has it: a histogram, or its sum and count alone.
  void put(const duration_counts& x, const words& of = {});

  /// Most families have one value and no label.
  template <class T>
  void say(std::string_view name, const T& x) {
    begin(name);
    put(x);
  }

  std::string text() const;

private:
  prometheus::ClientMetric& add(const words& of);

  const metric* now_ = nullptr; ///< The family that began last.
  std::vector<prometheus::MetricFamily> all_;
};

} // namespace troupe::actors
