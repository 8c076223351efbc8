// What there is to learn from, and what learns it.

#include "node/config/schema.hpp"

namespace troupe::node {

namespace {

constexpr count_range token_counts{.max = 1'000'000'000'000};

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

/// Of data that is generated.
void visit_made(schema_visitor& v, data_options& x) {
  using enum data_options::format;
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
}

/// What is asked of texts, which says what other keys mean.
void visit_text_task(schema_visitor& v, data_options& x) {
  const key task{"task", "what is asked of a text"};
  if (x.is_language()
      && v.has(task, x.text_task != models::text_task::language))
    v.choice(task, x.text_task, {"language", "classify", "span", "describe"});
  const key part{"part",
                 "the key that says of a text whether it trains, validates or "
                 "tests; without it that is drawn by the shares",
                 x.is_labelled_text(),
                 "kind = \"language\" with another 'task' than \"language\""};
  if (v.has(part, !x.part.empty()))
    v.text(part, x.part);
}

/// Whether there are texts here, which says whether other keys mean anything.
void visit_brought(schema_visitor& v, data_options& x) {
  const key brought{"brought",
                    "whether each client brings its own text, and none is here",
                    x.is_language(), "kind = \"language\""};
  if (v.has(brought, x.brought))
    v.flag(brought, x.brought);
}

/// Of texts of users.
void visit_language(schema_visitor& v, data_options& x) {
  const bool used = x.is_language();
  const bool streams = used && !x.is_labelled_text();
  constexpr std::string_view needs = "kind = \"language\"";
  constexpr std::string_view needs_streams =
    "kind = \"language\" with task = \"language\"";
  v.texts({"users", "which folders or files of 'path', in this order; [] all",
           used, needs},
          x.users);
  v.text({"tokenizer", "a folder or a file, or \"bytes\"; empty: model.path",
          used, needs},
         x.tokenizer);
  v.count({"context", "tokens of a row", used, needs}, x.context,
          {.min = 1, .max = 1 << 20});
  const key stride{"stride",
                   "tokens that windows of a long text have in common, task = "
                   "\"span\"; 0: it has one window",
                   used, needs};
  if (v.has(stride, x.stride > 0))
    v.count(stride, x.stride, {.max = 1 << 20});
  v.count({"tokens", "of a user's training text at most; 0: all", streams,
           needs_streams},
          x.tokens, token_counts);
  const key by_turns{"user_tokens",
                     "in its place, of each user by turns; empty: 'tokens'",
                     streams, needs_streams};
  if (v.has(by_turns, !x.user_tokens.empty()))
    v.counts(by_turns, x.user_tokens, {});
  v.count({"validation_tokens", "likewise, of what validates", streams,
           needs_streams},
          x.validation_tokens, token_counts);
  v.count({"test_tokens", "likewise, of what tests", streams, needs_streams},
          x.test_tokens, token_counts);
  const key drawn{"test_windows",
                  "drawn at any place of a user's test text; 0: all of it, "
                  "without overlap",
                  used, needs};
  if (v.has(drawn, x.test_windows > 0))
    v.count(drawn, x.test_windows, {.max = 1 << 20});
  v.number({"validation_share", "of a user's text, by bytes", used, needs},
           x.validation_share, {.max = 0.9});
  v.number({"test_share", "of a user's text, by bytes", used, needs},
           x.test_share, {.max = 0.9});
  v.flag({"mixed", "whether each user's validation and test texts are of all",
          streams, needs_streams},
         x.mixed);
  // Said of nothing else, so that other runs' texts stay as they are.
  const key pooled{"pooled", "whether one client has the texts of all users",
                   used, needs};
  if (v.has(pooled, x.pooled))
    v.flag(pooled, x.pooled);
  v.text({"cache", "a folder that keeps tokens; empty: none is kept", streams,
          needs_streams},
         x.cache);
}

void visit_data(schema_visitor& v, data_options& x,
                partition_options::rule dealing) {
  using enum data_options::format;
  v.begin({"data", "what there is to learn from"});
  v.choice({"kind"}, x.kind,
           {"idx", "cifar10", "cifar100", "csv", "synthetic", "quadratic",
            "clusters", "low_rank", "elsewhere", "modes", "language"});
  visit_text_task(v, x);
  visit_brought(v, x);
  const bool named = !x.is_made() && !x.is_elsewhere() && !x.has_own_model();
  const bool file = named && !x.is_language();
  const bool is_csv = x.kind == csv || x.kind == elsewhere;
  v.text({"path", "a folder, or a CSV file", named, "data from files"}, x.path);
  v.text({"label", "the column, or the key, of the labels",
          is_csv || x.is_labelled_text(),
          "kind = \"csv\", \"elsewhere\", or \"language\" with another "
          "'task' than \"language\""},
         x.label);
  v.count({"classes", "how many labels there are; 0: as the data says",
           x.kind == idx || is_csv || x.kind == modes,
           "kind = \"idx\", \"csv\", \"elsewhere\" or \"modes\""},
          x.classes, {.max = 65'536});
  const key inputs{"inputs", "extents of an example that clients bring",
                   x.kind == elsewhere, "kind = \"elsewhere\""};
  if (v.has(inputs, !x.inputs.empty()))
    v.counts(inputs, x.inputs, {.min = 1, .max = 1 << 24});
  v.number({"test_fraction", "where there is no test set", is_csv,
            "kind = \"csv\" or \"elsewhere\""},
           x.test_fraction, {.max = 0.9});
  v.number({"validation", "share of the training examples that 'stop' watches",
            !x.is_language(), "another 'kind' than \"language\""},
           x.validation, {.max = 0.9});
  visit_made(v, x);
  visit_pixels(v, x.pixels, file || x.kind == elsewhere);
  v.choice({"shift", "what differs between clusters of clients, or rows", file,
            "data from files"},
           x.shift, {"none", "rotation", "labels", "domains"});
  const bool in_clusters = x.kind == clusters || x.shifts_clusters()
                           || dealing == partition_options::rule::disjoint;
  const key task{"task", "the truth that clients of a cluster share",
                 x.kind == clusters, "kind = \"clusters\" or \"language\""};
  if (!x.is_language())
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
  visit_language(v, x);
  v.end();
}

/// What [model] and [common_model] both say.
void visit_shape(schema_visitor& v, model_options& x) {
  using enum model_options::shape;
  v.choice({"kind"}, x.kind,
           {"softmax", "mlp", "cnn", "lenet", "vgg8", "resnet18", "resnet34",
            "torchscript", "quadratic", "regression", "language"});
  v.counts({"hidden", "widths of the hidden layers",
            x.kind == mlp || x.kind == regression,
            "kind = \"mlp\" or \"regression\""},
           x.hidden, {.min = 1, .max = 1 << 20});
  v.text({"path", "a scripted module, or a language model's folder or file",
          x.kind == torchscript || x.kind == language,
          "kind = \"torchscript\" or \"language\""},
         x.path);
  const std::string_view residual = "kind = \"resnet18\" or \"resnet34\"";
  v.count({"width", "channels of the first layers", x.is_residual(), residual},
          x.width, {.min = 1, .max = 1 << 12});
  v.choice({"norm", "behind each convolution", x.is_residual(), residual},
           x.norm, {"group", "batch"});
}

/// Sizes of one that begins from the seed, and how a file's weights are kept.
void visit_language_model(schema_visitor& v, model_options& x) {
  const bool used = x.is_language();
  const bool made = used && x.path.empty();
  constexpr std::string_view needs_none =
    "kind = \"language\" without a 'path'";
  constexpr count_range sizes{.min = 1, .max = 1 << 16};
  v.choice(
    {"architecture", "of one that begins from the seed", made, needs_none},
    x.architecture, {"gpt2", "llama", "bert"});
  v.count({"layers", "how many blocks it has", made, needs_none}, x.layers,
          {.min = 1, .max = 1024});
  v.count({"embedding", "values of a token between layers", made, needs_none},
          x.embedding, sizes);
  v.count({"heads", "of attention", made, needs_none}, x.heads,
          {.min = 1, .max = 1024});
  v.count(
    {"key_heads", "that heads share; 0: each has its own", made, needs_none},
    x.key_heads, {.max = 1024});
  v.count({"inner", "width of feed-forward blocks; 0: by the architecture",
           made, needs_none},
          x.inner, {.max = 1 << 20});
  v.choice({"storage", "how weights that nobody trains are kept", used && !made,
            "kind = \"language\" with a 'path'"},
           x.storage, {"f32", "bf16", "as_stored"});
}

void visit_model(schema_visitor& v, model_options& x) {
  using enum model_options::shape;
  v.begin({"model", "what is learned"});
  visit_shape(v, x);
  visit_language_model(v, x);
  v.number({"init_scale", "factor of the first values; 0: zeros",
            x.kind == softmax || x.kind == mlp,
            "kind = \"softmax\" or \"mlp\""},
           x.init_scale, {});
  v.choice({"buffers", "what becomes of batch statistics"}, x.buffers,
           {"average", "local", "freeze"});
  const key adapt{"adapt", "names of the layers with adapters; empty: all"};
  if (v.has(adapt, !x.adapt.empty()))
    v.texts(adapt, x.adapt);
  const key factors{"factors",
                    "how adapters count: in weights, or inside linear layers"};
  if (v.has(factors, x.factors != model_options::factors_rule::composed))
    v.choice(factors, x.factors, {"composed", "inside"});
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
