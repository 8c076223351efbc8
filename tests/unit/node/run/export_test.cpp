// A base and its adapters become plain weights.

#include "node/commands/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "models/safetensors.hpp"
#include "tests/support/small_runs.hpp"

namespace troupe::test::export_test {

namespace {

constexpr std::string_view small_mixture = R"(
name = "mixture"
method = "floral"
rounds = 30
evaluate_every = 0
workers = 1
ledger = "memory"
events = false
[data]
kind = "clusters"
[clients]
clients = 4
clients_per_round = 4
[pace]
mode = "sync"
[model]
kind = "regression"
hidden = [5]
[training]
learning_rate = 0.1
[options]
components = 2
[merge]
delta_max = 4096.0
)";

struct told {
  node::exit_code how;
  std::string out;
  std::string err;
};

class exported : public ::testing::Test {
protected:
  std::string folder_after(const overrides& changes) {
    return finished(configured(small_mixture, changes, scratch_.path())).folder;
  }

  told exports(std::vector<std::string> args) {
    std::ostringstream out;
    std::ostringstream err;
    const auto how = node::export_command(args, {out, err});
    return {how, out.str(), err.str()};
  }

  std::string to() const {
    return scratch_.path() + "/merged.safetensors";
  }

  scratch_folder scratch_;
};

std::vector<float> tensor(const models::tensor_file& x,
                          const std::string& name) {
  std::size_t at = 0;
  for (const auto& t : x.tensors) {
    if (t.name == name)
      return {x.values.begin() + static_cast<std::ptrdiff_t>(at),
              x.values.begin() + static_cast<std::ptrdiff_t>(at + t.size())};
    at += t.size();
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

} // namespace

TEST_F(exported, model_is_the_base_and_the_mixed_products) {
  const auto folder = folder_after({});
  const auto done =
    exports({folder, "--merged", "--mixture", "0.25,0.75", "--to", to()});
  ASSERT_EQ(done.how, node::exit_code::ok) << done.err;
  const auto from =
    models::read_safetensors(folder + "/model.safetensors").value();
  const auto merged = models::read_safetensors(to()).value();
  EXPECT_EQ(merged.tensors.size(), 4u) << "as many as the model has";
  const std::string name = "hidden1.weight";
  auto expected = tensor(from, name);
  const double shares[] = {0.25, 0.75};
  double moved = 0;
  for (int c = 0; c < 2; ++c) {
    const auto of = "adapter." + std::to_string(c) + "/" + name;
    const auto u = tensor(from, of + ".u");
    const auto v = tensor(from, of + ".v");
    const auto rank = u.size() / 5;
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 10; ++j)
        for (std::size_t r = 0; r < rank; ++r) {
          const auto part = shares[c] * u[r * 5 + i] * v[r * 10 + j];
          expected[i * 10 + j] += static_cast<float>(part);
          moved += std::abs(part);
        }
  }
  EXPECT_GT(moved, 0.01) << "the adapters have learned nothing";
  EXPECT_THAT(tensor(merged, name),
              ::testing::Pointwise(::testing::FloatNear(1e-5f), expected));
}

TEST_F(exported, mixture_is_even_unless_it_is_given) {
  const auto folder = folder_after({});
  ASSERT_EQ(exports({folder, "--merged", "--to", to()}).how,
            node::exit_code::ok);
  const auto even = models::read_safetensors(to()).value().values;
  ASSERT_EQ(
    exports({folder, "--merged", "--mixture", "0.5,0.5", "--to", to()}).how,
    node::exit_code::ok);
  EXPECT_EQ(models::read_safetensors(to()).value().values, even);
}

// Clients count no share below it.
TEST_F(exported, mixture_has_the_floor_that_clients_have) {
  const overrides floor{"share_floor=0.2", "rounds=2"};
  const auto values_with = [&](const std::string& folder,
                               const std::string& mixture) {
    std::filesystem::remove(to()); // Nothing is overwritten.
    EXPECT_EQ(
      exports({folder, "--merged", "--mixture", mixture, "--to", to()}).how,
      node::exit_code::ok);
    return models::read_safetensors(to()).value();
  };
  const auto folder = folder_after(floor);
  const std::string name = "hidden1.weight";
  const auto one = tensor(values_with(folder, "1,0"), name);
  const auto other = tensor(values_with(folder, "0,1"), name);
  const auto from =
    models::read_safetensors(folder + "/model.safetensors").value();
  const auto base = tensor(from, name);
  const auto u = tensor(from, "adapter.1/" + name + ".u");
  const auto v = tensor(from, "adapter.1/" + name + ".v");
  const auto w = tensor(from, "adapter.0/" + name + ".u");
  const auto z = tensor(from, "adapter.0/" + name + ".v");
  const auto rank = u.size() / 5;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 10; ++j) {
      float first = 0, second = 0;
      for (std::size_t r = 0; r < rank; ++r) {
        first += w[r * 5 + i] * z[r * 10 + j];
        second += u[r * 5 + i] * v[r * 10 + j];
      }
      EXPECT_NEAR(one[i * 10 + j], base[i * 10 + j] + first + 0.2f * second,
                  1e-5);
      EXPECT_NEAR(other[i * 10 + j], base[i * 10 + j] + 0.2f * first + second,
                  1e-5);
    }
}

TEST_F(exported, refuses_what_cannot_be_merged) {
  const auto folder = folder_after({"rounds=2"});
  const auto wrong =
    exports({folder, "--merged", "--mixture", "0.5,0.4", "--to", to()});
  EXPECT_NE(wrong.how, node::exit_code::ok);
  EXPECT_THAT(wrong.err, ::testing::HasSubstr("there are 2 adapters"));
  EXPECT_FALSE(std::filesystem::exists(to()));
  const auto plain = exports(
    {folder_after({"method=fedavg", "rounds=2"}), "--merged", "--to", to()});
  EXPECT_THAT(plain.err,
              ::testing::HasSubstr("there is nothing to merge; --block NAME "
                                   "would do, of model"));
  const auto none = exports({scratch_.path(), "--merged", "--to", to()});
  EXPECT_NE(none.how, node::exit_code::ok);
}

} // namespace troupe::test::export_test
