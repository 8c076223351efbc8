#include "node/report/run_record.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "actors/record/names.hpp"
#include "models/files.hpp"
#include "node/config/config.hpp"
#include "node/config/no_run.hpp"
#include "node/report/routing.hpp"

namespace troupe::node {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> text_in(const fs::path& path) {
  auto text = models::read_text(path, errc::invalid_data);
  return text ? std::optional{std::move(*text)} : std::nullopt;
}

/// Puts the records of metrics.jsonl where they belong.
class metrics_reader {
public:
  explicit metrics_reader(run_record& to) : to_(to) {
    // nop
  }

  void add(const flat_record& x) {
    const auto at = x.number("at").value_or(0);
    to_.last_at = std::max(to_.last_at, at);
    const auto kind = actors::to_metric_kind(x.text("kind"));
    if (kind == actors::metric_kind::version)
      add_version(x, at);
    else if (kind == actors::metric_kind::evaluation)
      add_evaluation(x, at);
  }

private:
  void add_version(const flat_record& x, double at) {
    const auto version = x.number("version").value_or(0);
    auto& line = to_.lines[std::string{x.text("line")}];
    line.head = version;
    line.merged += x.number("merged").value_or(0);
    if (const auto digests = x.texts("digests");
        version == 1 && !digests.empty())
      line.first_digest = digests.front();
    line.versions.add(version, at, version);
    if (const auto loss = x.number("training_loss")) {
      // Without a lead line each line has a loss, at a version of its own.
      lead_ = std::max(lead_, version);
      to_.training_loss.add(lead_, at, *loss);
    }
  }

  void add_evaluation(const flat_record& x, double at) {
    const auto round = x.number("round");
    const auto before = evaluated_;
    to_.by_rounds |= round.has_value();
    evaluated_ =
      std::max(evaluated_, round.value_or(x.number("version").value_or(0)));
    // At the end the last version is looked at again, with all clients.
    if (to_.evaluations == 0 || evaluated_ > before)
      ++to_.evaluations;
    using enum actors::score_name::rows;
    using enum actors::score_name::figure;
    const auto put = [&](curve& to, actors::score_name::rows split,
                         actors::score_name::figure metric) {
      if (const auto y = x.number(key_of(split, metric)))
        to.add(evaluated_, at, *y);
    };
    put(to_.accuracy, test, accuracy);
    put(to_.loss, test, loss);
    put(to_.validation_accuracy, validation, accuracy);
    put(to_.validation_loss, validation, loss);
    if (const auto y = x.number(actors::perplexity_key))
      to_.perplexity.add(evaluated_, at, *y);
    if (const auto y = x.number(actors::clients_perplexity_key))
      to_.clients_perplexity.add(evaluated_, at, *y);
    if (const auto y = x.number(actors::majority_key))
      to_.majority.add(evaluated_, at, *y);
    // Mean, deciles and worst.
    if (const auto spread = x.numbers("per_client"); !spread.empty()) {
      to_.clients_mean.add(evaluated_, at, spread.front());
      to_.clients_worst.add(evaluated_, at, spread.back());
    }
    if (const auto xs = x.numbers("client_accuracies"); !xs.empty()) {
      to_.accuracies.assign(xs.begin(), xs.end());
      std::erase_if(to_.accuracies,
                    [](double y) { return !(y >= 0 && y <= 1); });
      std::ranges::sort(to_.accuracies);
    }
  }

  run_record& to_;
  double lead_ = 0;
  double evaluated_ = 0;
};

/// Users that the run found in its folder of texts, as its end names them.
std::vector<std::string> users_in(const json& ended) {
  std::vector<std::string> names;
  const auto* users = ended.find("users");
  if (const auto* all = users ? users->items() : nullptr)
    for (const auto& user : *all)
      names.push_back(user.text() ? *user.text() : "");
  return names;
}

} // namespace

std::optional<client_id> client_of(std::string_view name) {
  constexpr std::string_view of_clients = "clients_perplexity.";
  if (!name.starts_with(of_clients))
    return std::nullopt;
  client_id who;
  const auto* end = name.data() + name.size();
  const auto read =
    std::from_chars(name.data() + of_clients.size(), end, who.value);
  const bool is_one = read.ec == std::errc{} && read.ptr == end;
  return is_one ? std::optional{who} : std::nullopt;
}

std::string client_name(client_id who, const std::optional<experiment>& x) {
  const auto name = "client " + std::to_string(who.value);
  if (!x || !x->data.is_language() || x->data.pooled || who.value == 0
      || who.value > x->data.users.size()
      || x->partition.kind != partition_options::rule::natural)
    return name;
  return name + ", " + x->data.users[who.value - 1];
}

result<run_record> read_run(const fs::path& folder) {
  run_record x;
  x.folder = folder;
  auto config = text_in(folder / "config.toml");
  if (!config)
    return fail(errc::invalid_data,
                models::is_there(folder / "config.toml")
                  ? (folder / "config.toml").string() + ": cannot be read"
                  : no_run_in(folder));
  x.config = std::move(*config);
  if (auto loaded = parse_config({x.config, "config.toml"}))
    x.x = std::move(loaded->x);
  if (x.x)
    x.events = event_tally{requests_of(*x.x)};
  if (const auto text = text_in(folder / "summary.json")) {
    auto read = json::parse(*text);
    if (read && read->fields())
      x.ended = std::make_shared<json>(std::move(*read));
    if (x.x && x.ended && x.x->data.users.empty())
      x.x->data.users = users_in(*x.ended);
  }
  metrics_reader metrics{x};
  x.unreadable = for_each_record(folder / "metrics.jsonl",
                                 [&](const flat_record& r) { metrics.add(r); });
  x.unreadable += for_each_record(
    folder / "events.jsonl", [&](const flat_record& r) { x.events.add(r); });
  return x;
}

} // namespace troupe::node
