// What a run left is read only where it is what the run ended with.

#include "node/task/result_file.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "models/file_digest.hpp"
#include "models/files.hpp"
#include "node/commands/checkup.hpp"
#include "node/commands/export.hpp"
#include "tests/support/gated_runs.hpp"

namespace troupe::test::result_file_test {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* refused =
  "/model.safetensors is not what the run ended with: its digest is ";

/// The last value is another.
void alter(const fs::path& file) {
  std::fstream x{file, std::ios::in | std::ios::out | std::ios::binary};
  x.seekg(-1, std::ios::end);
  const auto last = static_cast<char>(x.get() ^ 1);
  x.seekp(-1, std::ios::end);
  x.put(last);
}

/// What this process has read of files and all else, as the system says.
std::uint64_t bytes_read() {
  std::ifstream in{"/proc/self/io"};
  std::string name;
  std::uint64_t bytes = 0;
  in >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

class result_file : public common_model_run {
protected:
  static std::string refusal(const auto& found) {
    return found ? "taken" : found.error().context;
  }

  /// What a look at a run's folder says of one of its files.
  static actors::remark remark_on(const std::string& name,
                                  const std::string& run) {
    const auto all = node::check_up(run, false);
    EXPECT_TRUE(all) << all.error().context;
    if (all)
      for (const auto& x : *all)
        if (x.place == name)
          return x;
    return {.place = name, .what = "nothing"};
  }

  static std::string exporting(const std::string& run, const std::string& to) {
    const overrides args{run, "--block", "model", "--to", to};
    std::ostringstream out;
    std::ostringstream err;
    const auto how = node::export_command(args, {out, err});
    return how == node::exit_code::ok ? "taken" : err.str();
  }
};

} // namespace

TEST_F(result_file, is_known_to_the_summary_by_all_of_its_bytes) {
  const auto run = trained("1");
  const auto file = run + "/model.safetensors";
  EXPECT_EQ(refusal(node::read_result(file)), "taken");
  const auto summary = json::parse(
    models::read_text(run + "/summary.json", errc::invalid_data).value());
  const auto was =
    models::to_hex(models::digest_of_file(file, errc::invalid_data).value());
  EXPECT_EQ(*summary->find("files")->find("model.safetensors")->text(), was);
  alter(file);
  const auto now =
    models::to_hex(models::digest_of_file(file, errc::invalid_data).value());
  EXPECT_EQ(refusal(node::read_result(file)),
            file + " is not what the run ended with: its digest is "
              + now.substr(0, 8) + ", and summary.json says " + was.substr(0, 8)
              + "; a copy of it as it was would do");
}

// It may be large; and what is read once is what was checked.
TEST_F(result_file, is_read_once) {
  const auto path = folder("model.safetensors");
  const std::vector<float> values(1 << 20);
  ASSERT_TRUE(
    models::write_safetensors(path, {{{"a", {1 << 20}}}, values, {}}));
  const auto digest = models::digest_of_file(path, errc::invalid_data).value();
  std::ofstream{folder("summary.json")}
    << R"({"files": {"model.safetensors": ")" << models::to_hex(digest)
    << R"("}})";
  const auto before = bytes_read();
  const auto read = node::read_result(path);
  const auto after = bytes_read();
  ASSERT_TRUE(read) << read.error().context;
  EXPECT_EQ(read->values, values);
  EXPECT_LT(after - before, fs::file_size(path) * 3 / 2) << "it is read again";
}

TEST_F(result_file, that_was_altered_is_no_beginning_of_another_run) {
  const auto run = trained("1");
  const auto begun = [&] {
    return refusal(
      node::prepare(configured(gated_run,
                               {"method=fedavg", "model.hidden=[4]",
                                "init=" + run + "/model.safetensors"},
                               ""),
                    no_model));
  };
  EXPECT_EQ(begun(), "taken");
  alter(run + "/model.safetensors");
  EXPECT_THAT(begun(), HasSubstr(refused));
}

TEST_F(result_file, that_was_altered_is_no_common_model) {
  const auto run = trained("1");
  alter(run + "/model.safetensors");
  for (const auto& common : {run, run + "/model.safetensors"})
    EXPECT_THAT(refusal(node::prepare(over(common), no_model)),
                HasSubstr(refused));
}

TEST_F(result_file, that_was_altered_is_not_exported) {
  const auto run = trained("1");
  const auto to = folder("one.safetensors");
  EXPECT_EQ(exporting(run, to), "taken");
  fs::remove(to);
  alter(run + "/model.safetensors");
  EXPECT_THAT(exporting(run, to), HasSubstr(refused));
  EXPECT_FALSE(fs::exists(to));
}

TEST_F(result_file, that_was_altered_is_broken_to_who_looks) {
  const auto run = trained("1");
  EXPECT_EQ(remark_on("model.safetensors", run).what,
            "is what the run ended with");
  EXPECT_EQ(remark_on("best.safetensors", run).what, "nothing");
  alter(run + "/model.safetensors");
  const auto found = remark_on("model.safetensors", run);
  EXPECT_EQ(found.state, actors::remark::state_kind::broken);
  EXPECT_THAT(found.what, HasSubstr(refused));
}

TEST_F(result_file, that_is_gone_is_broken_to_who_looks) {
  const auto run = trained("1");
  auto summary =
    models::read_text(run + "/summary.json", errc::invalid_data).value();
  const std::string model = "\"model.safetensors\": \"";
  ASSERT_NE(summary.find(model), std::string::npos);
  summary.insert(summary.find(model), "\"best.safetensors\": \"1\", ");
  std::ofstream{run + "/summary.json"} << summary;
  fs::remove(run + "/model.safetensors");
  for (const std::string name : {"model.safetensors", "best.safetensors"}) {
    const auto found = remark_on(name, run);
    EXPECT_EQ(found.state, actors::remark::state_kind::broken) << name;
    EXPECT_EQ(found.what, run + '/' + name
                            + " is gone: summary.json says that the run ended "
                              "with it; a copy of it would do");
  }
}

TEST_F(result_file, of_an_earlier_version_could_not_be_checked) {
  const auto run = trained("1");
  std::ofstream{run + "/summary.json"} << "{\"digest\": \"1\"}";
  const auto found = remark_on("model.safetensors", run);
  EXPECT_EQ(found.state, actors::remark::state_kind::fine);
  EXPECT_THAT(found.what, HasSubstr("could not be checked: "));
  fs::remove(run + "/model.safetensors");
  EXPECT_EQ(remark_on("model.safetensors", run).state,
            actors::remark::state_kind::broken);
  // Of a run that has not ended there is none.
  fs::remove(run + "/summary.json");
  EXPECT_EQ(remark_on("model.safetensors", run).what, "nothing");
  std::ofstream{run + "/summary.json"} << "{";
  EXPECT_THAT(remark_on("summary.json", run).what, HasSubstr(" is damaged"));
}

TEST_F(result_file, needs_a_summary_that_can_be_read) {
  const auto run = trained("1");
  std::ofstream{run + "/summary.json"} << "{";
  EXPECT_EQ(refusal(node::read_result(run + "/model.safetensors")),
            run
              + "/summary.json is damaged, so nothing says whether "
                "model.safetensors is what the run ended with; a copy of it as "
                "it was would do");
  fs::remove(run + "/summary.json");
  EXPECT_EQ(refusal(node::result_of_run(run)),
            run
              + " holds no result: there is no summary.json in it, which a run "
                "writes at its end");
}

// Weights of others, and what a run of before left, which says no digest.
TEST_F(result_file, is_as_it_is_where_nobody_says_a_digest) {
  const auto run = trained("1");
  const auto elsewhere = folder("model.safetensors");
  fs::copy_file(run + "/model.safetensors", elsewhere);
  alter(elsewhere);
  EXPECT_EQ(refusal(node::read_result(elsewhere)), "taken");
  std::ofstream{run + "/summary.json"} << "{\"digest\": \"1\"}";
  EXPECT_EQ(refusal(node::result_of_run(run)), "taken");
}

} // namespace troupe::test::result_file_test
