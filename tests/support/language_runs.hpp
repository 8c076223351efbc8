#pragma once

// Texts of three users, and runs over them that take a moment.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "models/data/text_task.hpp"
#include "models/inner_setup.hpp"
#include "models/shapes.hpp"
#include "models/torch/module.hpp"
#include "node/task/language.hpp"
#include "node/task/workload.hpp"
#include "policies/catalogue.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test {

/// "de", "fr" and "nl", each a file of documents, and one of texts about which
/// something is known.
class texts_of_users : public ::testing::Test {
protected:
  texts_of_users() {
    for (const auto& folder : {users(), labelled_users()})
      std::filesystem::create_directories(folder);
    for (const std::string name : {"de", "fr", "nl"}) {
      std::ofstream out{users() + "/" + name + ".txt"};
      std::ofstream labelled{labelled_users() + "/" + name + ".jsonl"};
      for (int i = 0; i < 40; ++i) {
        out << name << " has line " << i * i << '\f';
        labelled << R"({"text": ")" << name << ' ' << i << R"(", "label": )"
                 << i % 3 << R"(, "question": "?", "answer": ")" << i
                 << R"(", "before": ")" << i % 3 << ":\"}\n";
      }
    }
  }

  std::string users() const {
    return at.path() + "/users";
  }

  std::string labelled_users() const {
    return at.path() + "/labelled";
  }

  /// By the torch of this program: a run loads a library.
  static result<node::workload> prepared(const node::experiment& x) {
    return node::language_of(x, troupe_torch()->make_language)
      .and_then([&](node::materials found) {
        return node::prepare(x, std::move(found));
      });
  }

  scratch_folder at;
};

inline constexpr std::string_view language_run_text = R"(
name = "small"
method = "comigs"
rounds = 3
evaluate_every = 1
workers = 2
ledger = "memory"
events = false
[data]
kind = "language"
path = "users"
users = ["de", "fr", "nl"]
tokenizer = "bytes"
context = 8
validation_share = 0.2
test_share = 0.2
[model]
kind = "language"
layers = 1
embedding = 8
heads = 2
[clients]
clients = 3
clients_per_round = 2
[pace]
mode = "sync"
buffer_size = 2
window_seconds = 0.1
[training]
local_steps = 4
batch_size = 2
batches = "anywhere"
optimiser = "adamw"
learning_rate = 0.01
[devices]
seconds_per_step = 0.01
speed = { kind = "uniform", slowest = 0.1, fastest = 1.0 }
)";

/// A method with ranks that a tiny layer has room for, bursts in each visit,
/// and experts of unequal number. Who trains all weights does so by plain SGD,
/// as some of them must.
inline overrides of_language_method(const recipe& method) {
  overrides x{"method=" + method.name};
  const auto say = [&](const std::string& option, int value) {
    if (find_option(method, option) != nullptr)
      x.push_back("options." + option + "=" + std::to_string(value));
  };
  say("rank", 2);
  say("own_rank", 1);
  say("rank_min", 1);
  say("router_every", 3);
  say("router_steps", 2);
  if (models::experts_max(method) >= 4)
    x.push_back("training.experts=[1, 2, 4]");
  if (!models::has_adapters(method))
    x.push_back("training.optimiser=sgd");
  if (method.name == "centralised_lora")
    x.insert(x.end(), {"data.pooled=true", "clients.clients=1",
                       "clients.clients_per_round=1", "pace.buffer_size=1"});
  return x;
}

/// What else is said where texts are labelled; an encoder says what a row is.
inline overrides of_labelled(models::text_task task) {
  using enum models::text_task;
  if (task == describe)
    return {"data.task=describe", "batches=drawn"};
  return {task == span ? "data.task=span" : "data.task=classify",
          "batches=drawn", "model.architecture=bert"};
}

} // namespace troupe::test
