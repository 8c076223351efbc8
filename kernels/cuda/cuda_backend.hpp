#pragma once

#include "kernels/backend.hpp"

namespace troupe::kernels {

result<std::unique_ptr<backend>> make_cuda_backend(int ordinal);

} // namespace troupe::kernels
