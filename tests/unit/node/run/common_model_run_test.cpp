// Runs whose clients look through a model that nobody trains: it is the same
// for all, it stays, and the run's folder has it.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/roster/attendance.hpp"
#include "models/safetensors.hpp"
#include "node/commands/export.hpp"
#include "node/join/task.hpp"
#include "node/replay/replay.hpp"
#include "node/run/serving_terms.hpp"
#include "node/task/common_values.hpp"
#include "node/task/finished_run.hpp"
#include "node/task/frozen.hpp"
#include "tests/support/gated_runs.hpp"

namespace troupe::test {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

} // namespace

TEST_F(common_model_run, keeps_it_in_its_folder_with_its_digest) {
  const auto common = trained("1");
  const auto done = finished(over(common));
  const auto kept = models::read_safetensors(kept_in(done.folder));
  ASSERT_TRUE(kept) << kept.error().context;
  EXPECT_EQ(kept->tensors.front().name, "common/hidden1.weight");
  const auto was =
    models::read_safetensors(common + "/model.safetensors").value();
  EXPECT_EQ(kept->values, was.values) << "it is trained";
  EXPECT_EQ(kept->metadata.at("digest"),
            models::to_hex(node::digest_of(*kept)));
  // A run that has none keeps none.
  EXPECT_FALSE(fs::exists(kept_in(common)));
}

TEST_F(common_model_run, goes_on_with_what_its_folder_has) {
  const auto common = trained("1");
  const auto x = over(common, {"ledger=disk", "events=true"});
  const auto whole = finished(x);
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  fs::remove_all(common);
  const auto done =
    node::run(x, {.make_model = no_model, .resume = cut->folder});
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(done->digest, whole.digest);
}

TEST_F(common_model_run, is_computed_again_from_its_folder_alone) {
  const auto common = trained("1");
  const auto x = over(common, {"events=true"});
  const auto done = finished(x);
  fs::remove_all(common);
  const auto again = node::replay(x, done.folder,
                                  {.make_model = no_model,
                                   .fingerprint = {},
                                   .note = [](const auto&) {},
                                   .show = [](const auto&) {}});
  ASSERT_TRUE(again) << again.error().context;
  EXPECT_FALSE(again->digests.first) << again->digests.first->what;
  EXPECT_EQ(again->digests.equal, again->digests.total);
  EXPECT_GT(again->digests.total, 0u);
}

TEST_F(common_model_run, does_not_go_on_with_what_was_changed) {
  const auto x = over(trained("1"), {"ledger=disk"});
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  auto kept = models::read_safetensors(kept_in(cut->folder)).value();
  kept.values.front() += 1;
  ASSERT_TRUE(models::write_safetensors(kept_in(cut->folder), kept));
  const auto done =
    node::run(x, {.make_model = no_model, .resume = cut->folder});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().context,
              HasSubstr("common.safetensors is damaged: the digest of its "
                        "values is "));
}

// The file is whole, and has the digest that it says.
TEST_F(common_model_run, does_not_go_on_with_that_of_another_run) {
  const auto x = over(trained("1"), {"ledger=disk"});
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  const auto other = finished(over(trained("2")));
  fs::copy_file(kept_in(other.folder), kept_in(cut->folder),
                fs::copy_options::overwrite_existing);
  const auto done =
    node::run(x, {.make_model = no_model, .resume = cut->folder});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().context,
              HasSubstr(kept_in(cut->folder).string()
                        + " is not the common model that the run began with: "
                          "the digest of its values is "));
  EXPECT_THAT(done.error().context,
              HasSubstr("; a copy of common.safetensors as it was would do"));
}

TEST_F(common_model_run, does_not_take_what_lies_where_a_lost_one_was) {
  const auto common = trained("1") + "/model.safetensors";
  const auto there = folder("common.safetensors");
  fs::copy_file(common, there);
  const auto x = over(there, {"ledger=disk", "events=true"});
  std::atomic<bool> stop{true};
  const auto cut = node::run(x, {.make_model = no_model, .stop = &stop});
  ASSERT_TRUE(cut && cut->interrupted);
  const auto whole = finished(x);
  fs::remove(kept_in(cut->folder));
  fs::remove(kept_in(whole.folder));
  fs::copy_file(trained("2") + "/model.safetensors", there,
                fs::copy_options::overwrite_existing);
  const auto refused = [&](const auto& done) {
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().context,
                HasSubstr(there
                          + " is not the common model that the run began with: "
                            "the digest of its values is "));
  };
  const auto goes_on = [&] {
    return node::run(x, {.make_model = no_model, .resume = cut->folder});
  };
  refused(goes_on());
  refused(node::replay(x, whole.folder,
                       {.make_model = no_model,
                        .fingerprint = {},
                        .note = [](const auto&) {},
                        .show = [](const auto&) {}}));
  refused(node::read_finished_run(whole.folder, no_model));
  // The same one does, and is kept again.
  fs::copy_file(common, there, fs::copy_options::overwrite_existing);
  const auto done = goes_on();
  ASSERT_TRUE(done) << done.error().context;
  EXPECT_EQ(done->digest, whole.digest);
  EXPECT_TRUE(fs::exists(kept_in(cut->folder)));
}

// What protects it is no less the run's than itself.
TEST_F(common_model_run, is_not_taken_where_its_digest_is_lost_or_damaged) {
  const auto x = over(trained("1"), {"events=true"});
  const auto done = finished(x);
  const auto digest = fs::path{done.folder} / node::common_digest_file;
  const auto refusals = [&](const std::string& why) {
    const auto read = node::read_finished_run(done.folder, no_model);
    const auto again = node::replay(x, done.folder,
                                    {.make_model = no_model,
                                     .fingerprint = {},
                                     .note = [](const auto&) {},
                                     .show = [](const auto&) {}});
    const auto begun = node::prepare(over(done.folder), no_model);
    ASSERT_FALSE(read || again || begun) << why;
    for (const auto& said : {read.error(), again.error(), begun.error()}) {
      EXPECT_EQ(said.code, errc::invalid_data);
      EXPECT_THAT(said.context, HasSubstr(digest.string() + why));
    }
  };
  ASSERT_TRUE(node::read_finished_run(done.folder, no_model));
  fs::remove(digest);
  refusals(" is gone, so nothing says with which common model the run began; "
           "a copy of it as it was would do");
  std::ofstream{digest} << "";
  refusals(
    " is damaged: it says nothing, and a line of it has a name and 64 hex "
    "digits; a copy of it as it was would do");
  const std::string cut(63, 'a');
  for (const auto& line : {cut, "common " + cut, "base " + cut + 'a'}) {
    std::ofstream{digest} << line << '\n';
    refusals(" is damaged: it says '" + line + "', and a line of it ");
  }
  fs::remove(digest);
  fs::create_directory(digest);
  refusals(": is a folder; a file would do");
  // Both are gone: what the seed says is not what the run began with.
  fs::remove(digest);
  fs::remove(kept_in(done.folder));
  const auto read = node::read_finished_run(done.folder, no_model);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().context, HasSubstr(digest.string() + " is gone"));
}

// As earlier versions wrote it: without its name.
TEST_F(common_model_run, is_known_by_a_digest_without_a_name) {
  const auto done = finished(over(trained("1")));
  const auto digest = fs::path{done.folder} / node::common_digest_file;
  std::ifstream in{digest};
  std::string name;
  std::string digits;
  ASSERT_TRUE(in >> name >> digits) << name;
  EXPECT_EQ(name, "common");
  std::ofstream{digest} << digits << '\n';
  const auto read = node::read_finished_run(done.folder, no_model);
  EXPECT_TRUE(read) << read.error().context;
  std::ofstream{digest} << std::string(64, 'a') << '\n';
  EXPECT_FALSE(node::read_finished_run(done.folder, no_model));
}

// A run of an earlier version has none, and a killed one may be of one.
TEST_F(common_model_run, of_which_no_digest_was_kept_is_taken_as_it_is) {
  const auto done = finished(over(trained("1")));
  fs::remove(fs::path{done.folder} / node::common_digest_file);
  std::ofstream{done.folder + "/summary.json"} << R"({"success": true})";
  const auto read = node::read_finished_run(done.folder, no_model);
  EXPECT_TRUE(read) << read.error().context;
}

TEST_F(common_model_run, that_is_lost_is_no_other_file_of_its_folder) {
  const auto done = finished(over(trained("1")));
  fs::remove(kept_in(done.folder));
  const auto made = node::prepare(over(done.folder), no_model);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().context, HasSubstr("/common.safetensors: cannot "));
}

TEST_F(common_model_run, learns_something_else_through_another) {
  const auto one = trained("1");
  const auto same = finished(over(one)).digest;
  EXPECT_EQ(finished(over(one + "/model.safetensors")).digest, same);
  EXPECT_NE(finished(over(trained("2"))).digest, same);
}

// Who was refused has sent nothing.
TEST_F(common_model_run, another_digest_is_refused_at_hello) {
  const auto ours = prepared(over(trained("1")));
  const auto others = prepared(over(trained("2")));
  actors::attendance server{{.layout = ours.blocks->fingerprint()}};
  const auto hears = [&](const node::workload& x, std::uint64_t client) {
    return server.judge({{9},
                         {.client = {client},
                          .incarnation = 1,
                          .layout = x.blocks->fingerprint(),
                          .nonce = 1}},
                        instant{});
  };
  EXPECT_FALSE(hears(ours, 1).refusal);
  const auto refused = hears(others, 2);
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(*refused.refusal, messages::farewell_reason::layout);
}

TEST_F(common_model_run, its_terms_name_no_file_and_fit_who_has_another) {
  const auto x = over(trained("1"));
  const auto work = prepared(x);
  const actors::leases::room room{
    .clients = 6, .named_above = 6, .named_max = 0};
  const node::process_book book{.run = {1}, .places = actors::leases{room}};
  const auto terms = node::terms_of(book, x, work);
  for (const auto& line : terms.config)
    EXPECT_EQ(line.find(scratch_.path()), std::string::npos) << line;
  ASSERT_EQ(terms.frozen.size(), 1u);
  EXPECT_EQ(terms.frozen[0].name, "common");
  node::experiment there;
  auto wrong = node::read_terms({}, terms, there);
  ASSERT_FALSE(wrong) << wrong->why;
  node::join_context in{.address = {}, .make_model = no_model};
  node::workload joined;
  wrong = node::make_work(in, terms, there, joined);
  ASSERT_FALSE(wrong) << wrong->why;
  EXPECT_NE(joined.blocks->fingerprint(), terms.layout)
    << "its own common model is that of the seed";
  node::set_frozen(joined, "common", work.task->frozen.at("common"));
  EXPECT_EQ(joined.blocks->fingerprint(), terms.layout);
}

TEST_F(common_model_run, its_blocks_are_exported_under_names_of_a_model) {
  const auto common = trained("1");
  const auto done = finished(over(common));
  const auto exports = [&](std::vector<std::string> args) {
    std::ostringstream out;
    std::ostringstream err;
    const auto how = node::export_command(args, {out, err});
    return std::pair{how, err.str()};
  };
  const auto to = folder("one.safetensors");
  const auto first = exports({done.folder, "--block", "common", "--to", to});
  ASSERT_EQ(first.first, node::exit_code::ok) << first.second;
  const auto was =
    models::read_safetensors(common + "/model.safetensors").value();
  auto found = models::read_safetensors(to).value();
  EXPECT_EQ(found.tensors, was.tensors);
  EXPECT_EQ(found.values, was.values);
  const auto beside = folder("expert.safetensors");
  const auto expert =
    exports({done.folder, "--block", "model.1", "--to", beside});
  ASSERT_EQ(expert.first, node::exit_code::ok) << expert.second;
  found = models::read_safetensors(beside).value();
  EXPECT_EQ(found.tensors.front(),
            (models::tensor_spec{"hidden1.weight", {5, 10}}));
  const auto none = exports({done.folder, "--block", "x", "--to", to});
  EXPECT_THAT(none.second,
              HasSubstr("--block: there is no 'x' among what the run learned, "
                        "which is gate, model.0, model.1"));
  const auto nothing = exports({done.folder, "--to", to});
  EXPECT_EQ(nothing.first, node::exit_code::usage);
  EXPECT_THAT(nothing.second,
              HasSubstr("--block NAME would do, of gate, model.0, model.1, "
                        "common"));
}

} // namespace troupe::test
