#include "models/layout.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::models::layout_test {

namespace {

const tensor_list linear{{"weight", {2, 3}}, {"bias", {2}}};

recipe method_of(std::vector<block_spec> blocks) {
  recipe x;
  x.name = "example";
  x.blocks = std::move(blocks);
  return x;
}

layout made(const recipe& method,
            const std::map<std::string, tensor_list>& shapes) {
  auto x = make_layout(method, shapes, {.weight_max = 128, .delta_max = 8});
  EXPECT_TRUE(x) << x.error().context;
  return x ? *x : layout{};
}

std::string refusal(const recipe& method,
                    const std::map<std::string, tensor_list>& shapes,
                    const layout_options& opts = {}) {
  const auto x = make_layout(method, shapes, opts);
  if (x)
    return "made";
  EXPECT_EQ(x.error().code, errc::invalid_config);
  return x.error().context;
}

} // namespace

TEST(layout, counts_blocks_and_lines_from_one_in_the_order_of_the_recipe) {
  const auto x =
    made(method_of({{.name = "gate"},
                    {.name = "expert", .where = scope::expert, .count = 3}}),
         {{"gate", linear}, {"expert", {{"w", {4}}}}});
  ASSERT_EQ(x.blocks.size(), 4u);
  ASSERT_EQ(x.lines.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(x.blocks[i].id.value, i + 1);
    EXPECT_EQ(x.lines[i].id.value, i + 1);
    EXPECT_EQ(x.lines[i].blocks, std::vector<block_id>{x.blocks[i].id});
    EXPECT_EQ(x.lines[i].name, x.blocks[i].name);
  }
  EXPECT_EQ(x.blocks[0].name, "gate");
  EXPECT_EQ(x.blocks[0].size, 8u);
  EXPECT_EQ(x.blocks[3].name, "expert.2");
  EXPECT_EQ(x.blocks[3].instance, 2u);
  EXPECT_EQ(x.blocks[3].grid, kernels::grid_for(128, 8));
  EXPECT_EQ(x.family("expert"), (std::vector<block_id>{{2}, {3}, {4}}));
  EXPECT_EQ(x.lead(), line_id{1});
}

TEST(layout, finds_what_is_there_and_nothing_else) {
  const auto x = made(method_of({{.name = "model"}}), {{"model", linear}});
  EXPECT_EQ(x.find(block_id{1}), &x.blocks[0]);
  EXPECT_EQ(x.find("model"), &x.blocks[0]);
  EXPECT_EQ(x.find(line_id{1}), &x.lines[0]);
  EXPECT_EQ(x.find(block_id{0}), nullptr);
  EXPECT_EQ(x.find(block_id{2}), nullptr);
  EXPECT_EQ(x.find(line_id{0}), nullptr);
  EXPECT_EQ(x.find(line_id{2}), nullptr);
  EXPECT_EQ(x.find("mode"), nullptr);
  EXPECT_TRUE(x.family("mode").empty());
}

TEST(layout, puts_a_group_on_one_line) {
  const auto x =
    made(method_of({{.name = "model", .group = "both"},
                    {.name = "control", .group = "both"},
                    {.name = "other"}}),
         {{"model", linear}, {"control", linear}, {"other", linear}});
  ASSERT_EQ(x.lines.size(), 2u);
  EXPECT_EQ(x.lines[0].name, "both");
  EXPECT_EQ(x.lines[0].blocks, (std::vector<block_id>{{1}, {2}}));
  EXPECT_EQ(x.lines[1].name, "other");
}

TEST(layout, gives_each_instance_of_a_group_a_line) {
  const auto x =
    made(method_of(
           {{.name = "a", .where = scope::expert, .count = 2, .group = "g"},
            {.name = "b", .where = scope::expert, .count = 2, .group = "g"}}),
         {{"a", linear}, {"b", linear}});
  ASSERT_EQ(x.lines.size(), 2u);
  EXPECT_EQ(x.lines[0].name, "g.0");
  EXPECT_EQ(x.lines[0].blocks, (std::vector<block_id>{{1}, {3}}));
  EXPECT_EQ(x.lines[1].blocks, (std::vector<block_id>{{2}, {4}}));
  EXPECT_FALSE(x.lead());
}

TEST(layout, has_no_place_for_blocks_without_versions) {
  const auto x = made(method_of({{.name = "mine", .where = scope::personal},
                                 {.name = "base", .where = scope::frozen},
                                 {.name = "buffers"},
                                 {.name = "model"}}),
                      {{"buffers", {}}, {"model", linear}});
  ASSERT_EQ(x.blocks.size(), 1u);
  EXPECT_EQ(x.blocks[0].name, "model");
}

TEST(layout, refuses_what_cannot_be_and_says_why) {
  EXPECT_EQ(refusal(method_of({{.name = "gate"}}), {{"model", linear}}),
            "method 'example' has a block 'gate', but the model has no part of "
            "that name");
  EXPECT_EQ(
    refusal(method_of({{.name = "a", .rank = 1}}), {{"a", linear}}),
    "block 'a': its tensor 'weight' has more rows than 1, one for each rank");
  EXPECT_EQ(refusal(method_of({{.name = "a", .count = 0}}), {{"a", linear}}),
            "block 'a': count is 0; from 1 to 4096 would do");
  EXPECT_EQ(refusal(method_of({{.name = "a"}}), {{"a", {{"w", {2, -1}}}}}),
            "block 'a': tensor 'w' has an extent of -1; extents count from 1");
  EXPECT_EQ(
    refusal(method_of({{.name = "a"}}), {{"a", {{"w", {1L << 40, 1L << 40}}}}}),
    "block 'a': its tensors hold more than 1000000000 values; split it into "
    "several blocks");
  EXPECT_EQ(refusal(method_of({{.name = "a", .count = 2}, {.name = "a.1"}}),
                    {{"a", linear}, {"a.1", linear}}),
            "two blocks are named 'a.1'; their names must differ");
  EXPECT_EQ(refusal(method_of({{.name = "a"}, {.name = "b", .group = "a"}}),
                    {{"a", linear}, {"b", linear}}),
            "two version lines are named 'a'; their names must differ");
  EXPECT_EQ(
    refusal(method_of({{.name = "a", .group = "g"},
                       {.name = "b", .count = 2, .group = "g"}}),
            {{"a", linear}, {"b", linear}}),
    "group 'g': 'a' and 'b' differ in scope or number of instances; blocks "
    "of a group form one version line and need the same");
  EXPECT_EQ(refusal(method_of({}), {}, {.weight_max = 0x1p38, .delta_max = 8})
              .substr(0, 15),
            "weights up to 2");
}

TEST(layout, its_fingerprint_changes_with_all_that_two_hosts_must_agree_on) {
  const std::map<std::string, tensor_list> shapes{{"a", linear}, {"b", linear}};
  const auto of = [](const recipe& method,
                     const std::map<std::string, tensor_list>& shapes) {
    return to_hex(made(method, shapes).fingerprint());
  };
  const auto same = method_of({{.name = "a"}, {.name = "b"}});
  const auto print = of(same, shapes);
  EXPECT_EQ(of(same, shapes), print);
  // What only the server acts on is not part of it.
  EXPECT_EQ(of(method_of({{.name = "a", .merge = {.kind = merge_kind::median}},
                          {.name = "b"}}),
               shapes),
            print);
  EXPECT_NE(of(method_of({{.name = "b"}, {.name = "a"}}), shapes), print);
  EXPECT_NE(
    of(method_of({{.name = "a"}, {.name = "b", .where = scope::expert}}),
       shapes),
    print);
  EXPECT_NE(of(method_of({{.name = "a"}, {.name = "b", .rank = 2}}), shapes),
            print);
  EXPECT_NE(
    of(method_of({{.name = "a", .group = "g"}, {.name = "b", .group = "g"}}),
       shapes),
    print);
  EXPECT_NE(
    of(same, {{"a", linear}, {"b", {{"weight", {3, 2}}, {"bias", {2}}}}}),
    print);
  EXPECT_NE(
    of(same, {{"a", linear}, {"b", {{"weight", {2, 3}}, {"bios", {2}}}}}),
    print);
}

namespace {

/// A recipe over what nobody trains, which a leg names or not.
recipe over_frozen(bool named) {
  auto x =
    method_of({{.name = "base", .where = scope::frozen}, {.name = "gate"}});
  x.legs = {{.fetch = {{.family = "gate"}}}};
  if (named)
    x.legs.front().fetch.push_back({.family = "base"});
  return x;
}

const std::map<std::string, tensor_list> base_and_gate{{"base", linear},
                                                       {"gate", {{"w", {3}}}}};

} // namespace

TEST(layout, has_what_is_frozen_where_a_leg_names_it) {
  const auto x = made(over_frozen(true), base_and_gate);
  ASSERT_EQ(x.frozen.size(), 1u);
  EXPECT_EQ(x.frozen[0].name, "base");
  EXPECT_EQ(x.frozen[0].tensors, linear);
  EXPECT_EQ(x.frozen[0].size, 8u);
  EXPECT_EQ(x.frozen[0].content, digest{});
  // It has neither an id nor a line.
  ASSERT_EQ(x.blocks.size(), 1u);
  EXPECT_EQ(x.lines.size(), 1u);
  EXPECT_TRUE(x.family("base").empty());
  EXPECT_TRUE(made(over_frozen(false), base_and_gate).frozen.empty());
  // Of a model without it there is nothing to name.
  EXPECT_TRUE(made(over_frozen(true), {{"base", {}}, {"gate", {{"w", {3}}}}})
                .frozen.empty());
}

TEST(layout, its_fingerprint_is_of_what_is_frozen_too) {
  auto x = made(over_frozen(true), base_and_gate);
  const auto holds = [&](float first) {
    set_content(x, {{"base", share({first, 0, 0, 0, 0, 0, 0, 0})},
                    {"other", share({1})}});
    return to_hex(x.fingerprint());
  };
  const auto print = holds(1);
  EXPECT_NE(holds(2), print) << "another content is the same layout";
  EXPECT_EQ(holds(1), print);
  const std::vector<float> values{1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(x.frozen[0].content, digest_of(std::as_bytes(std::span{values})));
  // What was noted stays where nothing is said.
  set_content(x, {});
  EXPECT_EQ(to_hex(x.fingerprint()), print);
  auto renamed = x;
  renamed.frozen[0].tensors[0].name = "weights";
  EXPECT_NE(to_hex(renamed.fingerprint()), print);
}

// Runs of before there were any have their fingerprints still.
TEST(layout, its_fingerprint_is_as_ever_where_no_leg_names_what_is_frozen) {
  const auto named = made(over_frozen(true), base_and_gate).fingerprint();
  const auto not_named = made(over_frozen(false), base_and_gate).fingerprint();
  EXPECT_NE(named, not_named);
  EXPECT_EQ(not_named,
            made(method_of({{.name = "gate"}}), {{"gate", {{"w", {3}}}}})
              .fingerprint());
}

// Who rounds and who does not are no peers.
TEST(layout, its_fingerprint_is_of_what_is_sent_otherwise_too) {
  const auto method = method_of({{.name = "gate"}});
  const std::map<std::string, tensor_list> shapes{{"gate", {{"w", {3}}}}};
  const auto plain = made(method, shapes);
  const auto rounded = make_layout(method, shapes, {.sent = sent_as::bf16});
  ASSERT_TRUE(rounded);
  EXPECT_NE(rounded->fingerprint(), plain.fingerprint());
  EXPECT_TRUE(rounded->rounds());
  EXPECT_FALSE(plain.rounds());
  const auto values = share({1.f, 1.01f, 2.f});
  EXPECT_EQ(sent_of(plain.blocks[0], values), values);
  const auto sent = sent_of(rounded->blocks[0], values);
  EXPECT_EQ(*sent, (std::vector{1.f, 1.0078125f, 2.f}));
  // Of the version, however it is sent.
  EXPECT_EQ(digest_of(rounded->blocks[0], *values),
            digest_of(plain.blocks[0], *values));
}

TEST(digest, is_blake2b_of_the_documented_bytes) {
  // BLAKE2b-256 of "abc", as b2sum -l 256 prints it.
  const char abc[] = {'a', 'b', 'c'};
  EXPECT_EQ(to_hex(digest_of(std::as_bytes(std::span{abc}))),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  const auto x = made(method_of({{.name = "m"}}), {{"m", {{"w", {1, 2}}}}});
  const std::vector<float> values{1, -2};
  std::string bytes{"m\0f32\0", 6};
  const auto add = [&](std::uint64_t n) {
    bytes.append(reinterpret_cast<const char*>(&n), sizeof n);
  };
  add(1); // One tensor
  add(2); // of two dimensions:
  add(1);
  add(2);
  bytes += std::string{"\x00\x00\x80\x3f\x00\x00\x00\xc0", 8};
  EXPECT_EQ(to_hex(digest_of(x.blocks[0], values)),
            to_hex(digest_of(std::as_bytes(std::span{bytes}))));
}

TEST(digest, of_a_version_covers_the_optimiser) {
  const digest a{1};
  const digest b{2};
  const std::vector<digest> both{a, b};
  const std::vector<digest> turned{b, a};
  const std::vector<double> moments{0.5};
  const auto plain = digest_of(both, {});
  EXPECT_EQ(plain, digest_of(both, {}));
  EXPECT_NE(plain, digest_of(both, moments));
  EXPECT_NE(plain, digest_of(turned, {}));
}

TEST(digest, of_a_run_depends_on_names_and_values) {
  const digest a{1};
  const digest b{2};
  const auto run = digest_of(std::map<std::string, digest>{{"x", a}, {"y", b}});
  EXPECT_EQ(run, digest_of(std::map<std::string, digest>{{"y", b}, {"x", a}}));
  EXPECT_NE(run, digest_of(std::map<std::string, digest>{{"y", a}, {"x", b}}));
  EXPECT_NE(run, digest_of(std::map<std::string, digest>{{"x", a}}));
}

} // namespace troupe::models::layout_test
