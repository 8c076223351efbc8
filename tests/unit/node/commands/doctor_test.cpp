#include "node/commands/doctor.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <optional>
#include <sstream>

namespace troupe::node::doctor_test {

namespace {

using ::testing::HasSubstr;
using parsed = nlohmann::json;

struct outcome {
  exit_code how;
  std::string out;
  std::string err;
};

outcome run(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  const auto all = basic_commands({.arithmetic = [] { return "torch"; }});
  const auto how = dispatch(all, args, {out, err});
  return {how, out.str(), err.str()};
}

/// A variable of the environment, which is what it was when this goes.
class variable {
public:
  explicit variable(const char* name) : name_(name) {
    if (const auto* said = std::getenv(name))
      before_ = said;
  }

  ~variable() {
    if (before_)
      set(before_->c_str());
    else
      unset();
  }

  void set(const char* value) const {
    ::setenv(name_, value, 1);
  }

  void unset() const {
    ::unsetenv(name_);
  }

private:
  const char* name_;
  std::optional<std::string> before_ = {};
};

} // namespace

TEST(doctor, says_what_is_missing_and_what_to_do) {
  const auto all = examine({}, {.data_sets = "/nowhere", .folder = "."});
  const auto find = [&](std::string_view name) {
    for (const auto& x : all)
      if (x.name == name)
        return x;
    return finding{};
  };
  using state = finding::state_kind;
  EXPECT_EQ(find("LibTorch").state, state::missing);
  EXPECT_THAT(find("LibTorch").hint, HasSubstr("./dev setup"));
  EXPECT_EQ(find("Fashion-MNIST").state, state::optional);
  EXPECT_THAT(find("Fashion-MNIST").hint, HasSubstr("dataset-fashion-mnist"));
  EXPECT_EQ(find("kernels").state, state::fine);
  const auto slow =
    examine({.arithmetic = [] { return "reference BLAS (slow)"; }}, {});
  EXPECT_THAT(parsed(slow[6].hint), HasSubstr("libopenblas0-pthread"));
}

TEST(doctor, says_which_folders_it_knows) {
  const auto x = run({"doctor", "/nowhere"});
  EXPECT_EQ(x.how, exit_code::data);
  EXPECT_THAT(x.err, HasSubstr("neither a run's folder"));
}

TEST(doctor, fails_only_if_something_is_missing) {
  EXPECT_EQ(run({"doctor"}).how, exit_code::ok) << run({"doctor"}).out;
  const auto x = run({"doctor", "--folder", "/nowhere", "--format", "json"});
  EXPECT_EQ(x.how, exit_code::failed);
  EXPECT_EQ(parsed::parse(x.out)["success"], false);
}

TEST(doctor, notes_who_chooses_kernels_in_the_processors_place) {
  const variable core{"OPENBLAS_CORETYPE"}, code{"ATEN_CPU_CAPABILITY"};
  core.unset();
  code.set("");
  const auto notes = [] {
    std::vector<std::string> all;
    for (const auto& x : examine({}, {}))
      if (x.state == finding::state_kind::note)
        all.push_back(x.what);
    return all;
  };
  EXPECT_THAT(notes(), ::testing::IsEmpty());
  core.set("Haswell");
  EXPECT_THAT(notes(), ::testing::ElementsAre(
                         "OPENBLAS_CORETYPE=Haswell chooses kernels, and not "
                         "this processor"));
  code.set("default");
  EXPECT_THAT(notes(), ::testing::SizeIs(2));
  const auto x = run({"doctor"});
  EXPECT_EQ(x.how, exit_code::ok) << "nothing is missing";
  EXPECT_THAT(x.out, HasSubstr("note    environment     OPENBLAS_CORETYPE="));
  EXPECT_THAT(x.out, HasSubstr("bits of results change with them"));
  EXPECT_THAT(run({"doctor", "--format", "json"}).out,
              HasSubstr("\"state\": \"note\""));
}

} // namespace troupe::node::doctor_test
