#include "node/run/serving_terms.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "node/config/config.hpp"
#include "node/run/serving.hpp"
#include "node/task/frozen.hpp"

namespace troupe::node {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    out.push_back(line);
  return out;
}

std::vector<messages::frozen_digest> frozen_of(const workload& work) {
  std::vector<messages::frozen_digest> out;
  for (const auto& [name, content] : frozen_digests(work))
    out.push_back({name, content});
  return out;
}

/// A path means something where it was written alone.
experiment without_paths(experiment x) {
  for (auto* path : {&x.data.path, &x.model.path})
    if (!path->empty())
      *path = "elsewhere";
  if (x.data.names_tokenizer())
    x.data.tokenizer = "elsewhere";
  x.data.cache.clear();
  if (x.common_model && !x.common_model->path.empty())
    x.common_model->path = "elsewhere";
  return x;
}

} // namespace

messages::terms_given terms_of(const process_book& book, const experiment& x,
                               const workload& work) {
  return {.protocol = messages::protocol_version,
          .nonce = 0,
          .run = book.run,
          .layout = work.blocks->fingerprint(),
          .data = work.data_digest ? work.data_digest() : models::digest{},
          .config = lines_of(write_config(without_paths(for_clients(x)))),
          .inputs = work.shape.inputs,
          .classes = work.shape.classes,
          .examples_max = work.shape.examples_max,
          .frozen = frozen_of(work),
          .model = book.model};
}

} // namespace troupe::node
