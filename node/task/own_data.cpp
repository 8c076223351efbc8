#include "node/task/own_data.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/random.hpp"
#include "models/data/csv.hpp"
#include "models/data/idx.hpp"
#include "models/data/partition.hpp"
#include "models/data/pixels.hpp"
#include "node/task/own_text.hpp"
#include "node/task/torch_model.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

const std::string images = "train-images-idx3-ubyte";

result<models::dataset> read(const experiment& x, const fs::path& path,
                             const example_shape& wanted) {
  const bool is_folder = fs::is_directory(path);
  if (is_folder && !fs::exists(path / "train.csv")) {
    if (!fs::exists(path / images) && !fs::exists(path / (images + ".gz")))
      return fail(errc::invalid_data,
                  path.string()
                    + ": there is neither train.csv, beside which "
                      "test.csv would be, nor "
                    + images + ", the first of the four files of IDX");
    return models::read_idx_folder(path, wanted.classes);
  }
  models::csv_files files{.train = path,
                          .test_share = x.data.test_fraction,
                          .seed = derive_seed(x.seed, "test rows")};
  if (is_folder) {
    files.train = path / "train.csv";
    files.test = path / "test.csv";
  }
  return models::read_csv(files,
                          {.label = x.data.label, .classes = wanted.classes});
}

template <class T>
std::string extents_text(const std::vector<T>& extents) {
  std::string out;
  for (const auto extent : extents)
    out += (out.empty() ? "" : " x ") + std::to_string(extent);
  return out;
}

result<void> check_own(const models::dataset& data, const fs::path& path,
                       const example_shape& wanted) {
  const auto wrong = [&](const std::string& what) {
    return fail(errc::invalid_data, path.string() + ": " + what);
  };
  const auto& shape = data.train.inputs.front().shape;
  if (!std::ranges::equal(shape, wanted.inputs))
    return wrong("an example has " + extents_text(shape)
                 + " values, and this run learns from examples of "
                 + extents_text(wanted.inputs));
  if (data.train.size == 0)
    return wrong("there are no examples");
  if (data.train.size > wanted.examples_max)
    return wrong("there are " + std::to_string(data.train.size)
                 + " training examples, and a client of this run has "
                 + std::to_string(wanted.examples_max)
                 + " at most; 'merge.samples_max' of the run says so");
  return {};
}

/// Of one client's rows those of client `place`.
std::vector<std::vector<std::uint32_t>>
at(std::size_t place, std::size_t clients,
   const std::vector<std::vector<std::uint32_t>>& rows) {
  std::vector<std::vector<std::uint32_t>> out(clients);
  if (!rows.empty())
    out[place] = rows.front();
  return out;
}

} // namespace

result<own_data> read_own_data(const experiment& x, const fs::path& path,
                               const example_shape& wanted) {
  if (x.data.is_language())
    return read_own_text(x, path, wanted);
  auto found = read(x, path, wanted);
  if (!found)
    return tl::make_unexpected(found.error());
  if (auto ok = check_own(*found, path, wanted); !ok)
    return tl::make_unexpected(ok.error());
  if (auto ok = models::set_pixels(*found, x.data.pixels); !ok)
    return tl::make_unexpected(ok.error());
  const bool watched = x.stop.metric != stop_options::metric_kind::none;
  auto rows = models::make_partition(
    *found, {.how = models::iid_partition{},
             .clients = 1,
             .validation = watched ? x.data.validation : 0,
             .seed = derive_seed(x.seed, "partition")});
  if (!rows)
    return tl::make_unexpected(rows.error());
  return own_data{.data =
                    std::make_shared<const models::dataset>(std::move(*found)),
                  .rows = std::move(*rows)};
}

models::partition rows_of_one(const experiment& x, const own_data& mine,
                              client_id me) {
  const auto place = me.value - 1;
  const auto clients = std::max<std::size_t>(me.value, x.clients.clients);
  return {.train = at(place, clients, mine.rows.train),
          .test = at(place, clients, mine.rows.test),
          .validation = mine.rows.validation,
          .own_validation = at(place, clients, mine.rows.own_validation)};
}

materials materials_of(const experiment& x, const own_data& mine, client_id me,
                       const example_shape& shape,
                       const model_maker& make_model) {
  return {.clients = rows_of_one(x, mine, me),
          .test_size = mine.data->test.size,
          .make_objective = [what = x.model, data = mine.data,
                             make_model] { return make_model(what, data); },
          .make_inner = inner_over(x, mine.data, make_torch_inner),
          .groups = 0,
          .truths = {},
          .data_digest = {},
          .shape = shape,
          .make_common = common_over(x, mine.data, make_model)};
}

} // namespace troupe::node
