// How fast is the arithmetic? Everything here is bound by memory, so the bytes
// that an operation must touch are counted, and `copy` in the same run says
// what this machine moves at that size: the ratio of the two rates is the
// figure to look at.

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "core/random.hpp"
#include "kernels/backend.hpp"
#include "kernels/robust.hpp"

namespace troupe::kernels {

namespace {

using floats = std::vector<float>;

floats draw(std::size_t size, std::uint64_t seed) {
  random_stream random{seed};
  floats result(size);
  for (auto& x : result)
    x = static_cast<float>(random.uniform() - 0.5);
  return result;
}

std::size_t size_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}

void count_bytes(benchmark::State& state, std::size_t bytes_per_value) {
  state.SetBytesProcessed(
    state.iterations()
    * static_cast<std::int64_t>(size_of(state) * bytes_per_value));
}

template <class T>
void expect(benchmark::State& state, const result<T>& x) {
  if (!x)
    state.SkipWithError(x.error().context.c_str());
}

std::unique_ptr<backend> cpu() {
  return make_backend({device_kind::cpu}).value();
}

/// The bar: every byte read once and written once.
void copy(benchmark::State& state) {
  const auto from = draw(size_of(state), 1);
  floats to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * sizeof(float));
}

/// A call with `range(1)` offers, of which each sum is read and written once.
void accumulate_f32(benchmark::State& state) {
  const auto offers = static_cast<std::size_t>(state.range(1));
  const auto testee = cpu();
  std::vector<floats> deltas;
  std::vector<term> terms;
  for (std::size_t i = 0; i < offers; ++i)
    deltas.push_back(draw(size_of(state), i));
  for (const auto& x : deltas)
    terms.push_back({x, 0.1});
  std::vector<double> sum(size_of(state));
  for (auto _ : state)
    expect(state, testee->accumulate(terms, {}, sum));
  count_bytes(state, offers * sizeof(float) + 2 * sizeof(double));
}

void accumulate_f16(benchmark::State& state) {
  const auto testee = cpu();
  const std::vector<std::uint16_t> bits(size_of(state), 0x3456);
  const f16_term terms[]{{{bits}, 0.1}};
  std::vector<double> sum(bits.size());
  for (auto _ : state)
    expect(state, testee->accumulate(terms, {}, sum));
  count_bytes(state, sizeof(std::uint16_t) + 2 * sizeof(double));
}

void accumulate_int8(benchmark::State& state) {
  const auto testee = cpu();
  const std::vector<std::int8_t> values(size_of(state), 77);
  const int8_term terms[]{{{values, 0.01f}, 0.1}};
  std::vector<double> sum(values.size());
  for (auto _ : state)
    expect(state, testee->accumulate(terms, {}, sum));
  count_bytes(state, sizeof(std::int8_t) + 2 * sizeof(double));
}

void finish(benchmark::State& state) {
  const auto testee = cpu();
  const auto base = draw(size_of(state), 1);
  const std::vector<double> sum(base.begin(), base.end());
  floats out(base.size());
  for (auto _ : state)
    expect(state, testee->finish(base, sum, {.rate = 1, .total = 3}, out));
  count_bytes(state, 2 * sizeof(float) + sizeof(double));
}

void finish_adam(benchmark::State& state) {
  const auto testee = cpu();
  const auto base = draw(size_of(state), 1);
  const std::vector<double> sum(base.begin(), base.end());
  std::vector<double> moments(2 * base.size());
  floats out(base.size());
  for (auto _ : state)
    expect(state, testee->finish(base, sum, 3, {.rule = server_rule::adam},
                                 moments, out));
  count_bytes(state, 2 * sizeof(float) + 5 * sizeof(double));
}

void norm(benchmark::State& state) {
  const auto testee = cpu();
  const auto values = draw(size_of(state), 1);
  for (auto _ : state) {
    const auto found = testee->norm(values);
    expect(state, found);
    benchmark::DoNotOptimize(found);
  }
  count_bytes(state, sizeof(float));
}

/// Weights and gradient are read and written; what else a step has is in `how`.
void sgd(benchmark::State& state, sgd_step how) {
  const auto testee = cpu();
  auto weights = draw(size_of(state), 1), gradient = draw(size_of(state), 2);
  floats momentum(how.momentum != 0 ? weights.size() : 0);
  const auto anchor = how.proximal != 0 ? draw(weights.size(), 3) : floats{};
  for (auto _ : state)
    expect(state, testee->step(how, {.weights = weights,
                                     .gradient = gradient,
                                     .first_moment = momentum,
                                     .anchor = anchor}));
  count_bytes(state, 4 * sizeof(float)
                       + (momentum.empty() ? 0 : 2 * sizeof(float))
                       + (anchor.empty() ? 0 : sizeof(float)));
}

void adamw(benchmark::State& state) {
  const auto testee = cpu();
  auto weights = draw(size_of(state), 1), gradient = draw(size_of(state), 2);
  floats first(weights.size()), second(weights.size());
  for (auto _ : state)
    expect(state, testee->step(adamw_step{}, {.weights = weights,
                                              .gradient = gradient,
                                              .first_moment = first,
                                              .second_moment = second}));
  count_bytes(state, 8 * sizeof(float));
}

/// Ten offers, as bytes of offers.
template <class Rule>
void robust(benchmark::State& state, Rule rule) {
  std::vector<floats> deltas;
  for (std::size_t i = 0; i < 10; ++i)
    deltas.push_back(draw(size_of(state), i));
  const std::vector<std::span<const float>> views(deltas.begin(), deltas.end());
  const std::vector<double> discounts(10, 1.0);
  std::vector<double> out(size_of(state));
  for (auto _ : state)
    expect(state, rule({views, discounts}, out));
  count_bytes(state, 10 * sizeof(float));
}

// A tiny model, an MLP 784-200-10, and one that no cache holds.
#define TROUPE_SIZES ArgName("values")->Arg(8000)->Arg(159010)->Arg(10'000'000)

BENCHMARK(copy)->TROUPE_SIZES;
BENCHMARK(accumulate_f32)
  ->ArgNames({"values", "offers"})
  ->ArgsProduct({{8000, 159010, 10'000'000}, {1, 4, 10}});
BENCHMARK(accumulate_f16)->TROUPE_SIZES;
BENCHMARK(accumulate_int8)->TROUPE_SIZES;
BENCHMARK(finish)->TROUPE_SIZES;
BENCHMARK(finish_adam)->TROUPE_SIZES;
BENCHMARK(norm)->TROUPE_SIZES;
BENCHMARK_CAPTURE(sgd, plain, sgd_step{})->TROUPE_SIZES;
BENCHMARK_CAPTURE(
  sgd, everything,
  sgd_step{.momentum = 0.9f, .decay = 1e-4f, .proximal = 0.1f, .first = false})
  ->TROUPE_SIZES;
BENCHMARK(adamw)->TROUPE_SIZES;
BENCHMARK_CAPTURE(robust, median, coordinate_median)->Arg(159010);
BENCHMARK_CAPTURE(robust, krum,
                  [](const offer_set& offers, std::span<double> out) {
                    return krum(offers, 2, 1, out);
                  })
  ->Arg(159010);

} // namespace

} // namespace troupe::kernels

BENCHMARK_MAIN();
