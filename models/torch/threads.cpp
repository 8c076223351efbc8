#include "models/torch/threads.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <dlfcn.h>

#include <mutex>
#include <string_view>

#include "models/torch/block_cache.hpp"

namespace troupe::models {

namespace {

// OpenBLAS is found at run time: Debian exchanges the library behind
// libblas.so.3, and torch's wheel brings another BLAS inside.
template <class Function>
Function* find_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::string blas_name() {
  auto* config = find_function<const char*()>("openblas_get_config");
  auto* core = find_function<const char*()>("openblas_get_corename");
  if (config && core) {
    const std::string_view text = config(); // "OpenBLAS 0.3.21 NO_LAPACKE …"
    const auto space = text.find(' ');
    const auto end = text.find(' ', space == text.npos ? space : space + 1);
    return std::string{text.substr(0, end)} + " " + core();
  }
  return at::hasMKL() ? "MKL" : "reference BLAS (slow)";
}

/// The value behind `key` in torch's description of itself.
std::string configured(std::string_view key) {
  const auto text = at::show_config();
  const auto at = text.find(key);
  if (at == text.npos)
    return "unknown";
  const auto from = at + key.size();
  return text.substr(from, text.find_first_of("\n,(", from) - from);
}

/// What oneDNN and BLAS choose their code by, beyond what they name.
std::string cpu_features() {
  std::string result;
  const auto add = [&](bool there, const char* name) {
    if (there)
      result += result.empty() ? name : std::string{"+"} + name;
  };
#if defined(__x86_64__)
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
#endif
  return result.empty() ? "baseline" : result;
}

void set_once_per_process() {
  keep_blocks_of_tensors();
  if (auto* set = find_function<void(int)>("openblas_set_num_threads"))
    set(1);
  try {
    at::set_num_interop_threads(1);
  } catch (const std::exception&) {
    // Somebody has used the pool before us; none of our work goes there.
  }
}

} // namespace

void use_one_thread_per_worker() {
  static std::once_flag process;
  std::call_once(process, set_once_per_process);
  // OpenMP keeps the number per thread.
  thread_local const bool done = (at::set_num_threads(1), true);
  static_cast<void>(done);
}

std::string description() {
  std::string result = "torch " TORCH_VERSION ", ";
  result += blas_name();
  result += at::hasMKLDNN() ? ", oneDNN" : ", no oneDNN";
  result += ", code for " + configured("CPU capability usage: ");
  result += at::hasCUDA() ? ", CUDA libraries linked" : ", no CUDA libraries";
  return result;
}

std::string fingerprint() {
  return "cpu " + cpu_features() + "; torch " TORCH_VERSION " "
         + configured("CPU capability usage: ") + "; blas " + blas_name()
         + (at::hasMKLDNN() ? "; onednn" : "; no onednn");
}

} // namespace troupe::models
