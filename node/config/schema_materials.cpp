// What there is to learn from, and what learns it.

#include "node/config/schema.hpp"

namespace troupe::node {

namespace {

constexpr count_range positive{.min = 1};

void visit_pixels(schema_visitor& v, models::pixel_options& x, bool file) {
  const std::string_view needs = "data from files, or from elsewhere";
  v.reals({"mean", "of pixels / 255, by channel or for all", file, needs},
          x.mean, any_real);
  v.reals({"deviation", "as many; pixels are divided by it", file, needs},
          x.deviation, above_zero);
  v.choice({"augment", "what training does to images", file, needs}, x.augment,
           {"none", "crop_flip"});
  const bool crops = file && x.augment != models::augmentation::none;
  v.count({"crop", "pixels of zeros around an image that is cut", crops,
           "augment = \"crop_flip\""},
          x.crop, {.max = 1024});
}

void visit_data(schema_visitor& v, data_options& x,
                partition_options::rule dealing) {
  using enum data_options::format;
  v.begin({"data", "what there is to learn from"});
  v.choice({"kind"}, x.kind,
           {"idx", "cifar10", "cifar100", "csv", "synthetic", "quadratic",
            "clusters", "low_rank", "elsewhere", "modes"});
  const bool file = !x.is_made() && !x.is_elsewhere() && !x.has_own_model();
  const bool is_csv = x.kind == csv || x.is_elsewhere();
  v.text({"path", "a folder, or a CSV file", file, "data from files"}, x.path);
  v.text({"label", "the column of the labels", is_csv,
          "kind = \"csv\" or \"elsewhere\""},
         x.label);
  v.count({"classes", "how many labels there are; 0: as the data says",
           x.kind == idx || is_csv || x.kind == modes,
           "kind = \"idx\", \"csv\", \"elsewhere\" or \"modes\""},
          x.classes, {.max = 65'536});
  const key inputs{"inputs", "extents of an example that clients bring",
                   x.is_elsewhere(), "kind = \"elsewhere\""};
  if (v.has(inputs, !x.inputs.empty()))
    v.counts(inputs, x.inputs, {.min = 1, .max = 1 << 24});
  v.number({"test_fraction", "where there is no test set", is_csv,
            "kind = \"csv\" or \"elsewhere\""},
           x.test_fraction, {.max = 0.9});
  v.number({"validation", "share of the training examples that 'stop' watches"},
           x.validation, {.max = 0.9});
  v.number({"synthetic_alpha", "how much models differ", x.kind == synthetic,
            "kind = \"synthetic\""},
           x.synthetic_alpha, {});
  v.number({"synthetic_beta", "how much inputs differ", x.kind == synthetic,
            "kind = \"synthetic\""},
           x.synthetic_beta, {});
  v.count({"dimension", "of generated data", x.is_made() || x.kind == quadratic,
           "kind = \"synthetic\", \"quadratic\" or \"modes\""},
          x.dimension, {.min = 1, .max = 1 << 20});
  v.count({"rows_per_class", "training rows of a label; test rows are 3/10",
           x.kind == modes, "kind = \"modes\""},
          x.rows_per_class, {.min = 1, .max = 1'000'000});
  visit_pixels(v, x.pixels, file || x.is_elsewhere());
  v.choice({"shift", "what differs between clusters of clients, or rows", file,
            "data from files"},
           x.shift, {"none", "rotation", "labels", "domains"});
  const bool in_clusters = x.kind == clusters || x.shifts_clusters()
                           || dealing == partition_options::rule::disjoint;
  const key task{"task", "the truth that clients of a cluster share",
                 x.kind == clusters, "kind = \"clusters\""};
  v.choice(task, x.task, {"linear", "mlp"});
  v.count({"clusters", "client k is in cluster k mod this", in_clusters,
           "kind = \"clusters\", shift = \"rotation\" or \"labels\", or "
           "partition.kind = \"disjoint\""},
          x.clusters, positive);
  v.count({"cluster_rows", "training rows of a client; 0: as published",
           x.kind == clusters, "kind = \"clusters\""},
          x.cluster_rows, {});
  v.choice({"truth", "as published, or with directions in common",
            x.kind == low_rank, "kind = \"low_rank\""},
           x.truth, {"gaussian", "aligned"});
  v.end();
}

/// What [model] and [common_model] both say.
void visit_shape(schema_visitor& v, model_options& x) {
  using enum model_options::shape;
  v.choice({"kind"}, x.kind,
           {"softmax", "mlp", "cnn", "lenet", "vgg8", "resnet18", "resnet34",
            "torchscript", "quadratic", "regression"});
  v.counts({"hidden", "widths of the hidden layers",
            x.kind == mlp || x.kind == regression,
            "kind = \"mlp\" or \"regression\""},
           x.hidden, {.min = 1, .max = 1 << 20});
  v.text({"path", "a scripted module", x.kind == torchscript,
          "kind = \"torchscript\""},
         x.path);
  const std::string_view residual = "kind = \"resnet18\" or \"resnet34\"";
  v.count({"width", "channels of the first layers", x.is_residual(), residual},
          x.width, {.min = 1, .max = 1 << 12});
  v.choice({"norm", "behind each convolution", x.is_residual(), residual},
           x.norm, {"group", "batch"});
}

void visit_model(schema_visitor& v, model_options& x) {
  using enum model_options::shape;
  v.begin({"model", "what is learned"});
  visit_shape(v, x);
  v.number({"init_scale", "factor of the first values; 0: zeros",
            x.kind == softmax || x.kind == mlp,
            "kind = \"softmax\" or \"mlp\""},
           x.init_scale, {});
  v.choice({"buffers", "what becomes of batch statistics"}, x.buffers,
           {"average", "local", "freeze"});
  const key adapt{"adapt", "names of the layers with adapters; empty: all"};
  if (v.has(adapt, !x.adapt.empty()))
    v.texts(adapt, x.adapt);
  v.end();
}

/// Without the table it is as the other; of one kind with it, where the table
/// says none.
void visit_common_model(schema_visitor& v, experiment& x) {
  const key section{"common_model",
                    "of what nobody trains; without it as [model]"};
  if (!v.has(section, x.common_model.has_value()))
    return;
  auto said = x.common_model.value_or(model_options{.kind = x.model.kind});
  v.begin(section);
  visit_shape(v, said);
  v.end();
  x.common_model = std::move(said);
}

} // namespace

void visit_materials(schema_visitor& v, experiment& x) {
  visit_data(v, x.data, x.partition.kind);
  visit_model(v, x.model);
  visit_common_model(v, x);
}

} // namespace troupe::node
