#include "node/task/data.hpp"

#include <filesystem>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "models/data/cifar.hpp"
#include "models/data/csv.hpp"
#include "models/data/idx.hpp"
#include "models/data/modes.hpp"
#include "models/data/partition.hpp"
#include "models/data/pixels.hpp"
#include "models/data/shift.hpp"
#include "models/data/synthetic.hpp"
#include "node/config/policies_of.hpp"

namespace troupe::node {

namespace {

result<models::dataset> load_csv(const experiment& x) {
  const std::filesystem::path path{x.data.path};
  const models::csv_options columns{.label = x.data.label,
                                    .partition = x.partition.column,
                                    .classes = x.data.classes};
  models::csv_files files{.train = path,
                          .test_share = x.data.test_fraction,
                          .seed = derive_seed(x.seed, "test rows")};
  if (std::filesystem::is_directory(path)) {
    files.train = path / "train.csv";
    files.test = path / "test.csv";
  }
  return models::read_csv(files, columns);
}

result<models::dataset> read_data(const experiment& x) {
  using format = data_options::format;
  switch (x.data.kind) {
    case format::cifar10:
      return models::read_cifar(x.data.path, models::cifar_kind::cifar10);
    case format::cifar100:
      return models::read_cifar(x.data.path, models::cifar_kind::cifar100);
    case format::csv:
      return load_csv(x);
    case format::synthetic:
      return models::make_synthetic({.alpha = x.data.synthetic_alpha,
                                     .beta = x.data.synthetic_beta,
                                     .clients = x.clients.clients,
                                     .dimensions = x.data.dimension,
                                     .seed = derive_seed(x.seed, "data")});
    case format::modes:
      return models::make_modes(
        {.classes = x.data.classes ? x.data.classes : 10,
         .dimension = x.data.dimension,
         .train_rows = x.data.rows_per_class,
         .test_rows = x.data.rows_per_class * 3 / 10,
         .seed = derive_seed(x.seed, "data")});
    case format::idx:
    case format::quadratic:
    case format::clusters:
    case format::low_rank:
    case format::elsewhere:
    case format::language:
      break;
  }
  return models::read_idx_folder(x.data.path, x.data.classes);
}

} // namespace

result<models::dataset> load_data(const experiment& x) {
  TROUPE_ASSERT(!x.data.has_own_model() && !x.data.is_elsewhere()
                && !x.data.is_language());
  auto data = read_data(x);
  if (!data)
    return data;
  if (auto ok = models::set_pixels(*data, x.data.pixels); !ok)
    return tl::make_unexpected(ok.error());
  // Before anybody holds a row: which are in what domain says who may.
  if (x.data.shift == models::cluster_shift::domains)
    if (auto ok = models::shift_domains(*data, x.seed); !ok)
      return tl::make_unexpected(ok.error());
  return data;
}

result<models::partition> deal(const experiment& x,
                               const models::dataset& data) {
  const bool watched = x.stop.metric != stop_options::metric_kind::none;
  return models::make_partition(
    data, {.how = partitioner_of(x.partition, x.data.clusters),
           .clients = x.clients.clients,
           .examples_max = x.partition.samples_per_client,
           .train_share = x.partition.train_share,
           .held_out = x.clients.held_out,
           .validation = watched ? x.data.validation : 0,
           .seed = derive_seed(x.seed, "partition")});
}

} // namespace troupe::node
