#include "node/report/axis.hpp"

#include <algorithm>
#include <cmath>

#include "node/report/markup.hpp"

namespace troupe::node {

namespace {

constexpr double ticks_wanted = 5;
constexpr std::size_t ticks_max = 50;

/// Beyond it ends of axes, and their ticks, are no numbers any more.
double bounded(double x) {
  return std::clamp(x, -1e300, 1e300);
}

/// 1, 2 or 5 times a power of ten.
double round_step(double range) {
  const auto rough = range / ticks_wanted;
  const auto power = std::pow(10, std::floor(std::log10(rough)));
  for (const auto times : {1.0, 2.0, 5.0})
    if (rough <= times * power * 1.001)
      return times * power;
  return 10 * power;
}

/// The exponents between which a logarithmic axis runs, and its steps.
std::vector<tick> decades(double low, double high) {
  const auto step = std::max(1.0, std::ceil((high - low) / 6));
  std::vector<tick> ticks;
  for (auto e = low; e <= high; e += step)
    ticks.push_back({std::pow(10, e), number(std::pow(10, e))});
  return ticks;
}

/// The place of the first digit: 2 of 345, -1 of 0.5.
int power_of(double x) {
  return static_cast<int>(std::floor(std::log10(x) + 1e-9));
}

/// A tick's label. Where four digits tell neighbours apart it is what numbers
/// are elsewhere; else each has as many as its step needs.
/// @param largest of the axis
std::string tick_label(double x, double step, double largest) {
  constexpr int digits_max = 17; // A double has no more.
  const auto digits = power_of(largest) - power_of(step) + 1;
  if (x == 0 || digits <= (largest >= 1e-4 && largest < 1e6 ? 4 : 3))
    return number(x);
  if (largest >= 1e-4 && largest < 1e9)
    return fixed(x, std::max(0, -power_of(step)));
  return scientific(x, std::min(digits, digits_max));
}

std::vector<tick> between(double low, double high, double step) {
  std::vector<tick> ticks;
  const auto largest = std::max(std::abs(low), std::abs(high));
  const auto first = std::ceil(low / step - 1e-6);
  for (auto k = first;
       k * step <= high + step * 1e-6 && ticks.size() < ticks_max; ++k) {
    // What is not exactly zero is an error of rounding.
    const auto value = std::abs(k) < 0.5 ? 0 : k * step;
    ticks.push_back({value, tick_label(value, step, largest)});
  }
  return ticks;
}

} // namespace

axis axis::linear(double low, double high) {
  low = bounded(low);
  high = bounded(high);
  if (high - low < 1e-12 * std::max(1.0, std::abs(high))) {
    const auto room = std::max(std::abs(high) * 0.1, 1e-6);
    low -= room;
    high += room;
  }
  const auto step = round_step(high - low);
  axis x;
  x.low_ = std::floor(low / step + 1e-6) * step;
  x.high_ = std::ceil(high / step - 1e-6) * step;
  x.ticks_ = between(x.low_, x.high_, step);
  return x;
}

axis axis::logarithmic(double low, double high) {
  axis x;
  x.log_ = true;
  const auto least = std::floor(std::log10(low));
  const auto most = std::max(least + 1, std::ceil(std::log10(high)));
  x.low_ = least;
  x.high_ = most;
  x.ticks_ = decades(least, most);
  return x;
}

axis axis::exact(double low, double high) {
  axis x;
  x.low_ = bounded(low);
  x.high_ = high > low ? bounded(high) : x.low_ + 1;
  if (!(x.high_ > x.low_)) // One more is nothing beside it.
    x.high_ = x.low_ + std::abs(x.low_) * 0.1;
  x.ticks_ = between(x.low_, x.high_, round_step(x.high_ - x.low_));
  return x;
}

double axis::place(double x) const {
  const auto value = log_ ? std::log10(std::max(x, 1e-300)) : x;
  const auto share = (value - low_) / (high_ - low_);
  return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 1.0;
}

time_unit unit_for(double longest) {
  if (longest >= 2 * 86400.0)
    return {86400, "days"};
  if (longest >= 2 * 3600.0)
    return {3600, "hours"};
  if (longest >= 2 * 60.0)
    return {60, "minutes"};
  return {1, "seconds"};
}

} // namespace troupe::node
