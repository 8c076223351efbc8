#include "actors/metrics/families.hpp"

#include <limits>

#include <prometheus/text_serializer.h>

#include "core/assert.hpp"

namespace troupe::actors {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr auto infinity = std::numeric_limits<double>::infinity();

MetricType type_of(metric_type x) {
  switch (x) {
    case metric_type::counter:
      return MetricType::Counter;
    case metric_type::gauge:
      return MetricType::Gauge;
    case metric_type::summary:
      return MetricType::Summary;
    case metric_type::histogram:
      break;
  }
  return MetricType::Histogram;
}

/// @param bound gives the largest of each bucket but the last
void fill(ClientMetric::Histogram& to, const auto& buckets, const auto& bound) {
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    to.sample_count += buckets[i];
    to.bucket.push_back(
      {to.sample_count, i + 1 < buckets.size() ? bound(i) : infinity});
  }
}

} // namespace

void families::begin(std::string_view name) {
  now_ = &metric_of(name);
  all_.push_back({std::string{now_->name},
                  std::string{now_->help},
                  type_of(now_->type),
                  {}});
}

ClientMetric& families::add(const words& of) {
  TROUPE_ASSERT(now_ != nullptr && of.size() <= now_->labels.size());
  auto& out = all_.back().metric.emplace_back();
  for (std::size_t i = 0; i < of.size(); ++i)
    out.label.push_back({std::string{now_->labels[i].name}, of[i]});
  return out;
}

void families::put(double value, const words& of) {
  auto& m = add(of);
  m.counter.value = value; // One of the two is written.
  m.gauge.value = value;
}

void families::put(std::uint64_t value, const words& of) {
  put(static_cast<double>(value), of);
}

void families::put(const duration_sum& x, const words& of) {
  auto& to = add(of).summary;
  to.sample_count = x.count;
  to.sample_sum = x.seconds;
}

void families::put(const entropy_sum& x, const words& of) {
  auto& to = add(of).summary;
  to.sample_count = x.count;
  to.sample_sum = x.sum;
}

void families::put(const staleness_counts& x, const words& of) {
  auto& to = add(of).histogram;
  fill(to, x.buckets,
       [](std::size_t i) { return static_cast<double>(staleness_bounds[i]); });
  to.sample_sum = static_cast<double>(x.sum);
}

void families::put(const duration_counts& x, const words& of) {
  auto& to = add(of);
  to.summary.sample_count = x.count; // One of the two is written.
  to.summary.sample_sum = x.seconds;
  fill(to.histogram, x.buckets, duration_counts::bound);
  to.histogram.sample_sum = x.seconds;
}

std::string families::text() const {
  return prometheus::TextSerializer{}.Serialize(all_);
}

} // namespace troupe::actors
