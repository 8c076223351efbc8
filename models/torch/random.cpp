#include "models/torch/random.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/NativeFunctions.h>
#include <c10/util/Exception.h>
#include <torch/library.h>
#include <torch/version.h>

#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

// Every operator that takes a generator and has code for the CPU is registered
// anew, as the same code with our generator where the caller gave none. What is
// composed of these (dropout, rand, randn, randint …) follows. A test walks
// torch's own list of operators and asks whether one is missing.

namespace troupe::models {

namespace {

namespace native = at::native;
using at::Tensor;

template <class Signature>
struct last_argument;

template <class Result, class... Args>
struct last_argument<Result(Args...)> {
  using type = std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>;
};

// Torch's own optional or the standard one: its versions differ.
using generator = last_argument<decltype(native::uniform_)>::type;

template <class Optional, class T>
struct rebind;

template <template <class...> class Optional, class From, class T>
struct rebind<Optional<From>, T> {
  using type = Optional<T>;
};

using optional_integer = rebind<generator, std::int64_t>::type;

const at::Generator& own_generator() {
  thread_local const auto result = at::make_generator<at::CPUGeneratorImpl>();
  return result;
}

template <class T>
decltype(auto) with_ours(T&& x) {
  if constexpr (std::is_same_v<std::decay_t<T>, generator>)
    return x ? std::forward<T>(x) : generator{own_generator()};
  else
    return std::forward<T>(x);
}

/// Calls `Original` with our generator in the place of none.
template <class Pointer, Pointer Original>
struct drawn;

template <class Result, class... Args, Result (*Original)(Args...)>
struct drawn<Result (*)(Args...), Original> {
  static Result call(Args... args) {
    return Original(with_ours(std::forward<Args>(args))...);
  }
};

template <auto* Original>
void replace(torch::Library& in, const char* name) {
  in.impl(name, TORCH_FN((drawn<decltype(Original), Original>::call)));
}

/// Picks one of several functions of a name.
template <class Signature>
constexpr Signature* overload(Signature* x) noexcept {
  return x;
}

void replace_fillers(torch::Library& in) {
  replace<native::uniform_>(in, "uniform_");
  replace<native::normal_>(in, "normal_");
  replace<native::cauchy_>(in, "cauchy_");
  replace<native::log_normal_>(in, "log_normal_");
  replace<native::exponential_>(in, "exponential_");
  replace<native::geometric_>(in, "geometric_");
  replace<overload<Tensor&(Tensor&, double, generator)>(native::bernoulli_)>(
    in, "bernoulli_.float");
  replace<overload<Tensor&(Tensor&, const Tensor&, generator)>(
    native::bernoulli_)>(in, "bernoulli_.Tensor");
  replace<overload<Tensor&(Tensor&, generator)>(native::random_)>(in,
                                                                  "random_");
  replace<overload<Tensor&(Tensor&, std::int64_t, generator)>(native::random_)>(
    in, "random_.to");
  replace<overload<Tensor&(Tensor&, std::int64_t, optional_integer, generator)>(
    native::random_)>(in, "random_.from");
}

void replace_samplers(torch::Library& in) {
  replace<native::_s_poisson_cpu>(in, "poisson");
  replace<native::_s_gamma_cpu>(in, "_standard_gamma");
  replace<native::_s_dirichlet_cpu>(in, "_sample_dirichlet");
  replace<native::_s_binomial_cpu>(in, "binomial");
  replace<native::bernoulli_out>(in, "bernoulli.out");
  replace<native::randperm_out_cpu>(in, "randperm.generator_out");
  replace<native::multinomial>(in, "multinomial");
  replace<native::multinomial_out>(in, "multinomial.out");
  replace<native::rrelu_with_noise_cpu>(in, "rrelu_with_noise");
  replace<native::rrelu_with_noise_cpu_>(in, "rrelu_with_noise_");
  replace<native::rrelu_with_noise_out_cpu>(in, "rrelu_with_noise.out");
}

void replace_normals(torch::Library& in) {
  using std_given = Tensor(const Tensor&, double, generator);
  using mean_given = Tensor(double, const Tensor&, generator);
  using both_given = Tensor(const Tensor&, const Tensor&, generator);
  using std_given_out = Tensor&(const Tensor&, double, generator, Tensor&);
  using mean_given_out = Tensor&(double, const Tensor&, generator, Tensor&);
  using both_given_out =
    Tensor&(const Tensor&, const Tensor&, generator, Tensor&);
  replace<overload<std_given>(native::normal)>(in, "normal.Tensor_float");
  replace<overload<mean_given>(native::normal)>(in, "normal.float_Tensor");
  replace<overload<both_given>(native::normal)>(in, "normal.Tensor_Tensor");
  replace<overload<std_given_out>(native::normal_out)>(
    in, "normal.Tensor_float_out");
  replace<overload<mean_given_out>(native::normal_out)>(
    in, "normal.float_Tensor_out");
  replace<overload<both_given_out>(native::normal_out)>(
    in, "normal.Tensor_Tensor_out");
}

/// Torch warns of each operator that is registered anew.
class silence : public c10::WarningHandler {
public:
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {
    // nop
  }
#else
  void process(const c10::SourceLocation&, const std::string&, bool) override {
    // nop
  }
#endif
};

#if TORCH_VERSION_MAJOR >= 2
using handler_guard = c10::WarningUtils::WarningHandlerGuard;
#else
using handler_guard = c10::Warning::WarningHandlerGuard;
#endif

} // namespace

void own_torch_random() {
  static std::once_flag once;
  std::call_once(once, [] {
    silence quiet;
    const handler_guard guard{&quiet};
    // Never destroyed: its end would take the operators back while threads run.
    auto& in = *new torch::Library(torch::Library::IMPL, "aten",
                                   c10::DispatchKey::CPU, __FILE__, __LINE__);
    replace_fillers(in);
    replace_samplers(in);
    replace_normals(in);
  });
}

void begin_torch_random(std::uint64_t seed) {
  auto draws = own_generator();
  draws.set_current_seed(seed);
}

} // namespace troupe::models
