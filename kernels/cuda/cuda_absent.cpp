#include "kernels/cuda/cuda_backend.hpp"

namespace troupe::kernels {

result<std::unique_ptr<backend>> make_cuda_backend(int) {
  return fail(errc::unsupported, "built without CUDA (TROUPE_WITH_CUDA=OFF)");
}

} // namespace troupe::kernels
