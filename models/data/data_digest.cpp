#include "models/data/data_digest.hpp"

#include <span>
#include <string>

namespace troupe::models {

namespace {

template <class T>
digest digest_of_all(const std::vector<T>& x) {
  return digest_of(std::as_bytes(std::span{x}));
}

void add_examples(std::map<std::string, digest>& all, const std::string& prefix,
                  const example_set& x) {
  for (std::size_t i = 0; i < x.inputs.size(); ++i) {
    const auto& column = x.inputs[i];
    const auto name = prefix + std::to_string(i) + "/" + column.name;
    all[name + "/shape"] = digest_of_all(column.shape);
    all[name + "/values"] = std::visit(
      [](const auto& values) { return digest_of_all(values); }, column.values);
  }
  all[prefix + "labels"] = digest_of_all(x.labels);
  all[prefix + "turns"] = digest_of_all(x.turns);
  // Data without domains has the digest that it had before there were any.
  if (!x.domains.empty())
    all[prefix + "domains"] = digest_of_all(x.domains);
}

} // namespace

digest digest_of(const dataset& data) {
  std::map<std::string, digest> all;
  add_examples(all, "train/", data.train);
  add_examples(all, "test/", data.test);
  return digest_of(all);
}

} // namespace troupe::models
