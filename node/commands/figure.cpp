#include "node/commands/figure.hpp"

#include <ostream>

#include <benchmark/benchmark.h>

#include "core/json.hpp"

namespace troupe::node {

namespace {

/// Takes what Google Benchmark measured into the figure of its name.
class collector final : public benchmark::BenchmarkReporter {
public:
  explicit collector(std::vector<figure>& figures) : figures_(figures) {
    // nop
  }

  bool ReportContext(const Context&) override {
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs)
      for (auto& x : figures_)
        if (run.run_type == Run::RT_Iteration && !x.problem
            && run.run_name.function_name == x.name)
          x.add({run.real_accumulated_time, run.counters.at("compared")});
  }

private:
  std::vector<figure>& figures_;
};

} // namespace

json to_json(const figure& x) {
  if (x.problem)
    return {{"name", x.name},
            {x.is_left_out() ? "left_out" : "problem", x.problem->context},
            {"holds", x.holds()}};
  json line{{"name", x.name},
            {"value", x.value()},
            {"unit", x.unit},
            {"compared_with", x.compared_with},
            {"ratio", x.ratio()},
            {"bar", nullptr},
            {"holds", x.holds()},
            {"median_ratio", x.median_ratio()},
            {"judged_by", x.by_median ? "median" : "best"},
            {"repetitions", x.ratios.size()}};
  if (x.bar)
    line["bar"] = *x.bar;
  return line;
}

void measure_all(std::vector<figure>& figures, std::ostream& progress) {
  benchmark::ClearRegisteredBenchmarks();
  for (auto& x : figures)
    benchmark::RegisterBenchmark(
      x.name.c_str(),
      [&, count = 0](benchmark::State& state) mutable {
        if (!x.problem)
          progress << "measuring " << x.name << ", " << ++count << " of "
                   << x.repetitions << std::endl;
        for (auto _ : state) {
          const result<sample> taken =
            x.problem ? tl::make_unexpected(*x.problem) : x.once();
          if (!taken)
            x.problem = taken.error();
          state.SetIterationTime(taken ? taken->seconds : 1);
          state.counters["compared"] = taken ? taken->compared : 1;
        }
      })
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(x.repetitions);
  collector take{figures};
  benchmark::RunSpecifiedBenchmarks(&take);
}

} // namespace troupe::node
