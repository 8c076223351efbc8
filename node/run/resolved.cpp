#include "node/run/resolved.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace troupe::node {

namespace fs = std::filesystem;

experiment resolved(experiment x) {
  std::vector<std::string*> paths{&x.init,
                                  &x.common,
                                  &x.data.path,
                                  &x.model.path,
                                  &x.scenario,
                                  &x.devices.speed.path,
                                  &x.availability.path};
  if (x.common_model)
    paths.push_back(&x.common_model->path);
  for (auto* path : paths)
    if (!path->empty())
      *path = fs::absolute(*path).lexically_normal().string();
  return x;
}

} // namespace troupe::node
