#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace troupe::kernels {

std::unique_ptr<backend> make_cpu_backend();

} // namespace troupe::kernels
