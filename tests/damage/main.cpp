// Damages valid files by a seed and gives them to what reads them:
//   damage [--inputs N] [--only NAME] [--seed N] [--input K]
// Prints a table in Markdown; anything but refusals and harmless acceptance
// ends with 1. With --input, one input is tried in this process, for a
// debugger.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>

#include "tests/damage/trial.hpp"

namespace {

using namespace troupe;

namespace fs = std::filesystem;

struct wishes {
  std::uint64_t inputs = 1000;
  std::uint64_t seed = 1;
  std::string only;
  std::optional<std::uint64_t> input;
};

std::optional<wishes> read(int argc, char** argv) {
  wishes x;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    const auto number = std::strtoull(argv[i + 1], nullptr, 10);
    if (key == "--inputs")
      x.inputs = number;
    else if (key == "--seed")
      x.seed = number;
    else if (key == "--input")
      x.input = number;
    else if (key == "--only")
      x.only = argv[i + 1];
    else
      return std::nullopt;
  }
  return argc % 2 == 1 ? std::optional{x} : std::nullopt;
}

std::vector<damage::reader> all_readers(const fs::path& scratch) {
  auto all = damage::data_readers();
  const auto add = [&](std::vector<damage::reader> more) {
    std::ranges::move(more, std::back_inserter(all));
  };
  add(damage::text_readers());
  add(damage::run_readers(scratch));
  add(damage::ledger_readers(scratch));
  add(damage::store_readers(scratch));
  add(damage::script_readers(scratch));
  return all;
}

int try_one(const damage::reader& x, const wishes& how) {
  const auto input = damage::input_of(x, how.seed, *how.input);
  damage::write("damage.input", input);
  std::cout << "the input is in damage.input" << std::endl;
  constexpr std::array names{"refused", "accepted", "silently wrong"};
  std::cout << names[static_cast<std::size_t>(x.read(input))] << '\n';
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const auto how = read(argc, argv);
  if (!how) {
    std::cerr << "damage [--inputs N] [--only NAME] [--seed N] [--input K]\n";
    return 2;
  }
  const auto scratch = damage::own_folder();
  bool harmed = false;
  std::cout << "| reader | inputs | refused | accepted | crashes | hangs | "
               "silent wrongs | which of those accepted count as wrong |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& x : all_readers(scratch)) {
    if (!how->only.empty() && x.name != how->only)
      continue;
    if (how->input)
      return try_one(x, *how);
    const auto found =
      damage::try_all(x, {.inputs = x.slow ? how->inputs / 2 : how->inputs,
                          .seed = how->seed,
                          .scratch = scratch});
    std::cout << "| " << x.name << " | " << found.inputs << " | "
              << found.refused << " | " << found.accepted << " | "
              << found.crashes << " | " << found.hangs << " | " << found.wrong
              << " | " << x.counts_as_wrong << " |" << std::endl;
    for (const auto& note : found.notes)
      std::cerr << x.name << " " << note << '\n';
    if (found.harmed()) // What they said last.
      std::cerr << damage::contents(scratch / (x.name + ".log")) << '\n';
    harmed |= found.harmed();
  }
  return harmed ? 1 : 0;
}
