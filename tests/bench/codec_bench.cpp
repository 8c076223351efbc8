// What it takes to write and read an offer of 40 MB, beside a copy of as many
// bytes.

#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "actors/transport/envelope.hpp"

namespace {

using namespace troupe;

constexpr std::size_t count = 10'000'000;

messages::any_message offer() {
  messages::offer_block one;
  one.delta = share(std::vector<float>(count, 0.5f));
  return messages::offer_made{
    .pass = {}, .disclosures = {}, .blocks = {std::move(one)}};
}

void tell_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations())
                          * static_cast<std::int64_t>(count * sizeof(float)));
}

void copy(benchmark::State& state) {
  const std::vector<float> from(count, 0.5f);
  for (auto _ : state) {
    std::vector<std::byte> to;
    const auto all = std::as_bytes(std::span{from});
    to.assign(all.begin(), all.end());
    benchmark::DoNotOptimize(to.data());
  }
  tell_bytes(state);
}

void checksum(benchmark::State& state) {
  const std::vector<float> from(count, 0.5f);
  for (auto _ : state)
    benchmark::DoNotOptimize(transport::crc32c(std::as_bytes(std::span{from})));
  tell_bytes(state);
}

void checksum_by_tables(benchmark::State& state) {
  const std::vector<float> from(count, 0.5f);
  for (auto _ : state)
    benchmark::DoNotOptimize(
      transport::crc32c_by_tables(std::as_bytes(std::span{from})));
  tell_bytes(state);
}

void write(benchmark::State& state) {
  const auto x = offer();
  for (auto _ : state)
    benchmark::DoNotOptimize(transport::encode(x).data());
  tell_bytes(state);
}

void read(benchmark::State& state) {
  const auto bytes = transport::encode(offer());
  for (auto _ : state)
    benchmark::DoNotOptimize(transport::decode(bytes).has_value());
  tell_bytes(state);
}

BENCHMARK(copy);
BENCHMARK(checksum);
BENCHMARK(checksum_by_tables);
BENCHMARK(write);
BENCHMARK(read);

} // namespace

BENCHMARK_MAIN();
