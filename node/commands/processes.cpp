#include "node/commands/processes.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.hpp"

namespace troupe::node {

namespace {

constexpr std::chrono::minutes process_patience{5};
constexpr std::chrono::milliseconds process_glance{2};

double seconds_of(const timeval& x) {
  return static_cast<double>(x.tv_sec) + 1e-6 * static_cast<double>(x.tv_usec);
}

template <std::size_t N>
void put(std::array<char, N>& to, const std::string& x) {
  const auto size = std::min(x.size(), N - 1);
  std::memcpy(to.data(), x.data(), size);
  to[size] = 0;
}

} // namespace

void* detail::map_shared(std::size_t bytes) {
  auto* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    throw std::bad_alloc{};
  return at;
}

void detail::unmap_shared(void* at, std::size_t bytes) noexcept {
  munmap(at, bytes);
}

void told_address::tell(const std::string& x) noexcept {
  put(text_, x);
  here_ = true;
}

result<std::string> told_address::get() const {
  const auto until = steady_now() + process_patience;
  while (!here_) {
    if (steady_now() > until)
      return fail(errc::invalid_config, "a process of this figure said "
                                        "nothing in five minutes");
    std::this_thread::sleep_for(process_glance);
  }
  return std::string{text_.data()};
}

helper_process::helper_process(const std::function<result<void>()>& work)
  : id_(fork()) {
  if (id_ < 0)
    throw std::bad_alloc{};
  if (id_ > 0)
    return;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); // Nobody else would end it.
  int code = 0;
  try {
    if (const auto done = work(); !done) {
      put(*problem_, done.error().context);
      code = 1;
    }
  } catch (const std::exception& e) {
    put(*problem_, e.what());
    code = 1;
  }
  _exit(code);
}

helper_process::~helper_process() {
  if (id_ <= 0)
    return;
  kill(id_, SIGKILL);
  (void)waitpid(id_, nullptr, 0);
}

result<process_usage> helper_process::wait() {
  int status = 0;
  rusage used{};
  if (!end_ && wait4(id_, &status, 0, &used) != id_)
    return fail(errc::invalid_config, "a process of this figure is lost");
  if (!end_)
    conclude(status, used);
  return *end_;
}

std::optional<result<process_usage>> helper_process::ended() {
  int status = 0;
  rusage used{};
  if (!end_ && wait4(id_, &status, WNOHANG, &used) == id_)
    conclude(status, used);
  return end_;
}

void helper_process::conclude(int status, const rusage& used) {
  id_ = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    end_ = process_usage{
      .cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
      .peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
  else
    end_ =
      fail(errc::invalid_config,
           std::string{"a process of this figure failed: "} + problem_->data());
}

result<std::string> told_by(helper_process& who, const told_address& at) {
  while (!at.is_told()) {
    if (const auto end = who.ended())
      return !*end ? tl::make_unexpected(end->error())
                   : fail(errc::invalid_config,
                          "a process of this figure ended too early");
    std::this_thread::sleep_for(process_glance);
  }
  return at.get();
}

result<process_usage> wait_beside(helper_process& one, helper_process& other) {
  for (;;) {
    if (auto end = one.ended())
      return *end;
    if (const auto end = other.ended(); end && !*end)
      return tl::make_unexpected(end->error());
    std::this_thread::sleep_for(process_glance);
  }
}

std::uint64_t resident_bytes(pid_t of) {
  std::ifstream in{"/proc/" + std::to_string(of) + "/statm"};
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds(pid_t of) {
  std::ifstream in{"/proc/" + std::to_string(of) + "/stat"};
  std::string skipped;
  std::getline(in, skipped, ')'); // Its name may hold spaces.
  constexpr int before_times = 11;
  for (int i = 0; i < before_times; ++i)
    in >> skipped;
  double user = 0;
  double system = 0;
  in >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

} // namespace troupe::node
