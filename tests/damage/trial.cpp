#include "tests/damage/trial.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/assert.hpp"

namespace troupe::damage {

namespace {

constexpr std::uint64_t deaths_max = 50;
constexpr std::size_t wrong_max = 16;
constexpr long more_kb_max = 1 << 20;
constexpr int took_too_much = 99;

/// What a process that dies leaves behind.
struct board {
  std::atomic<std::uint64_t> at{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> wrong{0};
  std::array<std::atomic<std::uint64_t>, wrong_max> which{};
};

long peak_kb() {
  rusage x{};
  getrusage(RUSAGE_SELF, &x);
  return x.ru_maxrss;
}

void try_rest(const reader& x, const trial_options& opts, board& said) {
  for (const auto& whole : x.originals)
    TROUPE_ASSERT(x.read(whole) == verdict::accepted);
  const auto before = peak_kb();
  for (; said.at < opts.inputs; ++said.at) {
    const auto input = input_of(x, opts.seed, said.at);
    alarm(opts.seconds_max);
    const auto found = x.read(input);
    alarm(0);
    if (found == verdict::refused)
      ++said.refused;
    else
      ++said.accepted;
    if (found == verdict::wrong && said.wrong < wrong_max)
      said.which[said.wrong] = said.at.load();
    if (found == verdict::wrong)
      ++said.wrong;
    if (peak_kb() > before + more_kb_max)
      _exit(took_too_much);
  }
}

/// How the process ended that tried the rest.
int status_of_rest(const reader& x, const trial_options& opts, board& said) {
  const auto child = fork();
  TROUPE_ASSERT(child >= 0);
  if (child == 0) {
    const auto log = (opts.scratch / (x.name + ".log")).string();
    const auto to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(to, STDERR_FILENO);
    dup2(to, STDOUT_FILENO);
    try_rest(x, opts, said);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

} // namespace

std::string input_of(const reader& x, std::uint64_t seed,
                     std::uint64_t number) {
  random_stream draw{derive_seed(seed, x.name, number)};
  if (x.alter)
    return x.alter(draw);
  return altered(x.originals[draw.below(x.originals.size())], x.text, draw);
}

outcome try_all(const reader& x, const trial_options& opts) {
  void* shared = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TROUPE_ASSERT(shared != MAP_FAILED);
  auto& said = *new (shared) board;
  outcome found;
  const auto number = [&] { return std::to_string(said.at.load()); };
  for (; said.at < opts.inputs; ++said.at) {
    const auto status = status_of_rest(x, opts, said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    ++(hung ? found.hangs : found.crashes);
    const bool memory =
      WIFEXITED(status) && WEXITSTATUS(status) == took_too_much;
    found.notes.push_back((hung     ? "hangs at "
                           : memory ? "takes a gigabyte at "
                                    : "crashes at ")
                          + number());
    if (found.hangs + found.crashes == deaths_max) {
      found.notes.push_back("the rest was not tried");
      ++said.at;
      break;
    }
  }
  found.inputs = std::min<std::uint64_t>(said.at, opts.inputs);
  found.refused = said.refused;
  found.accepted = said.accepted;
  found.wrong = said.wrong;
  for (std::size_t i = 0; i < std::min<std::size_t>(found.wrong, wrong_max);
       ++i)
    found.notes.push_back("is silently wrong at "
                          + std::to_string(said.which[i]));
  munmap(shared, sizeof(board));
  return found;
}

} // namespace troupe::damage
