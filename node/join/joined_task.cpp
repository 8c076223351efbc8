#include "node/join/joined_task.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "core/hex.hpp"
#include "models/files.hpp"
#include "node/join/frozen.hpp"
#include "node/join/task.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

constexpr const char* run_prefix = "run-";
constexpr const char* clients_name = "clients.sqlite";

/// Empty stays empty: it names nothing.
std::string anywhere(const std::string& path) {
  std::error_code failed;
  const auto full = path.empty() ? fs::path{} : fs::absolute(path, failed);
  return failed ? path : full.string();
}

json to_json(const messages::terms_given& x) {
  auto frozen = json::object();
  for (const auto& block : x.frozen)
    frozen.add(block.name, to_hex(block.content));
  return {{"layout", to_hex(x.layout)},
          {"data", to_hex(x.data)},
          {"model", to_hex(x.model)},
          {"config", x.config},
          {"inputs", x.inputs},
          {"classes", x.classes},
          {"examples_max", x.examples_max},
          {"frozen", std::move(frozen)}};
}

/// Takes an object's members. `is_whole` says whether all that was asked for
/// was there, and what it has to be.
class member_reader {
public:
  explicit member_reader(const json* from) : from_(from) {
    // nop
  }

  bool is_whole() const noexcept {
    return whole_;
  }

  void take(std::string_view key, std::string& to) {
    if (const auto* found = text(key))
      to = *found;
  }

  void take(std::string_view key, models::digest& to) {
    const auto* found = text(key);
    note(found && from_hex(*found, to));
  }

  void take(std::string_view key, double& to) {
    const auto* found = at(key);
    const auto number = found ? found->number() : std::nullopt;
    to = number.value_or(0);
    note(number.has_value());
  }

  template <std::unsigned_integral T>
  void take(std::string_view key, T& to) {
    const auto* found = at(key);
    note(found && to_count(*found, to));
  }

  /// Something is not what it has to be unless `ok`.
  void note(bool ok) noexcept {
    whole_ = whole_ && ok;
  }

  /// @param read says whether an item is what it has to be
  void each(std::string_view key, const auto& read) {
    const auto* found = at(key);
    const auto* items = found ? found->items() : nullptr;
    note(items && std::ranges::all_of(*items, read));
  }

  template <std::unsigned_integral T>
  static bool to_count(const json& x, T& to) {
    const auto count = x.count();
    if (!count || *count > std::numeric_limits<T>::max())
      return false;
    to = static_cast<T>(*count);
    return true;
  }

private:
  const json* at(std::string_view key) const {
    return from_ ? from_->find(key) : nullptr;
  }

  const std::string* text(std::string_view key) {
    const auto* found = at(key);
    const auto* out = found ? found->text() : nullptr;
    note(out != nullptr);
    return out;
  }

  const json* from_; ///< Null: nothing is there.
  bool whole_ = true;
};

bool take_frozen(const json* from, messages::terms_given& to) {
  const auto* all = from ? from->fields() : nullptr;
  if (!all)
    return false;
  return std::ranges::all_of(*all, [&](const auto& x) {
    auto& block = to.frozen.emplace_back();
    block.name = x.first;
    const auto* digits = x.second.text();
    return digits && from_hex(*digits, block.content);
  });
}

bool take_terms(const json* from, messages::terms_given& to) {
  member_reader x{from};
  x.take("layout", to.layout);
  x.take("data", to.data);
  x.take("model", to.model);
  x.each("config", [&](const json& line) {
    const auto* text = line.text();
    to.config.push_back(text ? *text : "");
    return text != nullptr;
  });
  x.each("inputs", [&](const json& extent) {
    return member_reader::to_count(extent, to.inputs.emplace_back());
  });
  x.take("classes", to.classes);
  x.take("examples_max", to.examples_max);
  return x.is_whole() && take_frozen(from->find("frozen"), to);
}

/// Who looks has said none of it, and would say it by joining.
error in_words(const join_summary& x) {
  const bool is_data = x.how == join_summary::end::data;
  return {is_data ? errc::invalid_data : errc::invalid_config,
          x.why
            + "; what this process joined with would do, or to join once more "
              "with what is there now"};
}

bool has_clients(const fs::path& folder) {
  return models::is_there(folder / clients_name);
}

} // namespace

json to_json(const joined_task& x) {
  std::vector<std::uint64_t> clients;
  for (const auto who : x.clients)
    clients.push_back(who.value);
  return {{"name", x.in.name},
          {"data", anywhere(x.in.data)},
          {"base", anywhere(x.in.model)},
          {"tokenizer", anywhere(x.in.tokenizer)},
          {"common", anywhere(x.in.common)},
          {"experts", x.in.experts},
          {"expert_memory", x.in.expert_memory},
          {"clients", clients},
          {"texts", to_hex(x.texts)},
          {"terms", to_json(x.terms)}};
}

result<joined_task> joined_task_of(const json& x) {
  joined_task out;
  member_reader from{&x};
  from.take("name", out.in.name);
  from.take("data", out.in.data);
  from.take("base", out.in.model);
  from.take("tokenizer", out.in.tokenizer);
  from.take("common", out.in.common);
  from.take("experts", out.in.experts);
  from.take("expert_memory", out.in.expert_memory);
  from.note(out.in.expert_memory >= 0);
  from.each("clients", [&](const json& who) {
    return member_reader::to_count(who, out.clients.emplace_back().value);
  });
  from.take("texts", out.texts);
  if (!from.is_whole() || out.clients.empty()
      || !take_terms(x.find("terms"), out.terms))
    return fail(errc::invalid_data, "it is not what was written there");
  return out;
}

fs::path place_in_store::folder() const {
  return store / (run_prefix + run);
}

result<void> keep_joined(const joined_task& x) {
  if (x.in.store.empty())
    return {};
  const place_in_store at{x.in.store, to_hex(x.terms.run)};
  const auto text = to_json(x).dump(2) + "\n";
  const std::array parts{std::as_bytes(std::span{text})};
  return models::replace_file(at.folder() / joined_file, parts,
                              {.secret = true});
}

void keep_or_say(const joined_task& x) {
  if (const auto ok = keep_joined(x); !ok && x.in.say)
    x.in.say("what these clients learn is not kept, and eval --routing has "
             "need of it: "
             + ok.error().context);
}

bool is_of_store(const fs::path& folder) {
  return !models::is_there(folder / "config.toml")
         && (models::is_there(folder / "id") || has_clients(folder));
}

result<place_in_store> place_of_clients(const fs::path& folder) {
  std::error_code failed;
  auto at = fs::absolute(folder, failed).lexically_normal();
  if (!at.has_filename())
    at = at.parent_path();
  const auto run_of = [](const fs::path& x) {
    return x.filename().string().substr(std::string_view{run_prefix}.size());
  };
  const auto is_of_run = [](const fs::path& x) {
    return x.filename().string().starts_with(run_prefix) && has_clients(x);
  };
  if (is_of_run(at))
    return place_in_store{at.parent_path(), run_of(at)};
  std::vector<fs::path> all;
  for (const auto& x : fs::directory_iterator{at, failed})
    if (is_of_run(x.path()))
      all.push_back(x.path());
  std::ranges::sort(all);
  if (all.empty())
    return fail(errc::invalid_data,
                folder.string()
                  + " is the store of a process that has no clients yet");
  if (all.size() == 1)
    return place_in_store{at, run_of(all.front())};
  std::string names;
  for (const auto& x : all)
    names += (names.empty() ? "" : ", ") + (folder / x.filename()).string();
  return fail(errc::invalid_data, folder.string()
                                    + " has clients of several runs; one of "
                                    + names + " would do");
}

result<joined_task> read_joined(const place_in_store& at,
                                const model_maker& make_model) {
  const auto path = at.folder() / joined_file;
  if (!models::is_there(path))
    return fail(errc::invalid_data,
                path.string()
                  + " is not there, which says what these clients learn; an "
                    "earlier build kept none, and to join once more would do");
  auto out = models::read_text(path, errc::invalid_data)
               .and_then([](const std::string& x) { return json::parse(x); })
               .and_then([](const json& x) { return joined_task_of(x); });
  if (!out)
    return fail(errc::invalid_data, path.string()
                                      + " is damaged: " + out.error().context
                                      + "; to join once more would do");
  out->in.store = at.store.string();
  out->in.make_model = make_model;
  return out;
}

result<experiment> experiment_of(const joined_task& x) {
  experiment out;
  if (const auto wrong = read_terms(x.in, x.terms, out))
    return tl::make_unexpected(in_words(*wrong));
  return out;
}

result<joined_work> work_at_home(const joined_task& x, const experiment& as) {
  // A client's number is the place of its rows.
  for (const auto who : x.clients)
    if (!may_be(who, x.in, as))
      return fail(errc::invalid_data,
                  std::string{joined_file} + " is of client "
                    + std::to_string(who.value)
                    + ", and the run has none of that number; to join once "
                      "more would do");
  joined_work out;
  own_data own;
  const auto make = [&]() -> std::optional<join_summary> {
    if (auto wrong = has_data(x.in))
      return wrong;
    if (x.in.name.empty())
      return make_work(x.in, x.terms, as, out.work);
    if (auto wrong = read_own(x.in, x.terms, as, own))
      return wrong;
    return make_work(x.in, x.terms, as, own, x.clients.front(), out.work);
  };
  auto wrong = make();
  if (!wrong)
    wrong = settle_kept(x.in.store, x.terms, out.work);
  if (wrong)
    return tl::make_unexpected(in_words(*wrong));
  out.has_other_texts = own.text && own.text->content() != x.texts;
  return out;
}

} // namespace troupe::node
