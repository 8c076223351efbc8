#include "node/task/model_file.hpp"

#include <span>
#include <vector>

#include "models/files.hpp"

namespace troupe::node {

result<models::digest> digest_of_model(const model_options& x) {
  if (x.kind != model_options::shape::torchscript)
    return models::digest{};
  return models::read_file(x.path, errc::invalid_config)
    .map([](const std::vector<std::byte>& bytes) {
      return models::digest_of(std::span{bytes});
    });
}

} // namespace troupe::node
