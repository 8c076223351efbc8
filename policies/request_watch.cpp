#include "policies/request_watch.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::policies {

namespace {

/// How many of this size hold it.
constexpr std::size_t parts_of(std::size_t x, std::size_t size) {
  return (x + size - 1) / size;
}

} // namespace

request_watch::request_watch(const options& x)
  : deserted_among_(
    std::max(deserted_among_least,
             parts_of(4 * x.experts, std::max<std::size_t>(1, x.asked)))),
    first_(x.experts),
    asked_(x.experts),
    asked_last_(x.experts),
    places_(x.experts) {
  // nop
}

bool request_watch::add(visit_id visit,
                        std::span<const std::uint32_t> request) {
  const auto is_unknown = [&](std::uint32_t x) { return x >= first_.size(); };
  if (request.empty() || std::ranges::any_of(request, is_unknown))
    return false;
  if (!insert_once(counted_, visit))
    return false;
  ++visits_;
  ++first_[request.front()];
  ++places_[request.front()];
  lately_.push_back(request.front());
  if (lately_.size() > crowded_among) {
    --places_[lately_.front()];
    lately_.pop_front();
  }
  for (const auto expert : request) {
    ++asked_[expert];
    asked_last_[expert] = visits_;
  }
  return true;
}

std::vector<request_watch::alarm> request_watch::alarms() const {
  std::vector<alarm> out;
  if (visits_ >= crowded_among)
    for (std::uint32_t i = 0; i < places_.size(); ++i)
      if (places_[i] * 10 > crowded_among * 9)
        out.push_back(
          {.what = alarm::kind::crowded, .expert = i, .count = places_[i]});
  if (visits_ >= deserted_among_)
    for (std::uint32_t i = 0; i < asked_last_.size(); ++i)
      if (asked_last_[i] + deserted_among_ <= visits_)
        out.push_back({.what = alarm::kind::deserted,
                       .expert = i,
                       .count = deserted_among_});
  return out;
}

std::string text_of(const request_watch::alarm& x, const std::string& expert) {
  switch (x.what) {
    case request_watch::alarm::kind::crowded:
      return "expert '" + expert + "' has " + std::to_string(x.count)
             + " of the last " + std::to_string(request_watch::crowded_among)
             + " first places: the gate sends nearly all to it";
    case request_watch::alarm::kind::deserted:
      break;
  }
  return "no client has asked for expert '" + expert + "' in the last "
         + std::to_string(x.count) + " visits";
}

std::vector<std::uint32_t> request_in(std::span<const double> disclosed,
                                      std::size_t experts) {
  std::vector<std::uint32_t> out;
  for (const auto x : disclosed) {
    if (!(x >= 0 && x < static_cast<double>(experts)) || x != std::floor(x))
      return {};
    const auto expert = static_cast<std::uint32_t>(x);
    if (std::ranges::find(out, expert) != out.end())
      return {};
    out.push_back(expert);
  }
  return out;
}

} // namespace troupe::policies
