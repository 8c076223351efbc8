#include "node/task/memory_there.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/small_language.hpp"

namespace troupe::test::memory_there_test {

namespace {

std::string said(const result<void>& x) {
  if (x)
    return "";
  EXPECT_EQ(x.error().code, errc::invalid_config);
  return x.error().context;
}

} // namespace

TEST(memory_there, is_some_and_not_all_there_could_be) {
  const auto found = node::memory_there();
  ASSERT_TRUE(found);
  EXPECT_GT(*found, std::uint64_t{1} << 20);
  EXPECT_LT(*found, std::uint64_t{1} << 60);
}

TEST(memory_there, has_room_for_weights_or_they_are_refused) {
  const auto model = small_llama();
  const auto bytes = 4 * counted_values(model).size();
  EXPECT_EQ(said(node::check_weights(model, bytes)), "");
  EXPECT_EQ(said(node::check_weights(model, {})), "") << "nobody knows";
  EXPECT_EQ(said(node::check_weights(model, bytes - 1)),
            "[model]: its weights take " + std::to_string(bytes)
              + " bytes, and there are " + std::to_string(bytes - 1)
              + " here; a smaller 'embedding', or fewer 'layers', would do");
}

TEST(memory_there, has_room_for_a_batch_or_it_is_refused) {
  node::experiment x;
  x.data.context = 128;
  x.training.batches = models::batch_rule::anywhere;
  x.training.batch_size = 1'000'000'000;
  models::language_spec model;
  model.width = 32;
  model.inner = 128;
  // 128 tokens of 160 values of four bytes.
  const std::uint64_t bytes = std::uint64_t{1'000'000'000} * 81'920;
  EXPECT_EQ(said(node::check_batch(x, model, bytes)), "");
  EXPECT_EQ(said(node::check_batch(x, model, bytes - 1)),
            "'batch_size' is 1000000000, and a step of so many rows of 128 "
            "tokens takes at least 81920000000000 bytes, and there are "
            "81919999999999 here; a smaller one, or a 'micro_batch', would do");
  // Then the rows' numbers are what is most.
  x.training.micro_batch = 16;
  EXPECT_EQ(said(node::check_batch(x, model, 4'000'000'000)), "");
  EXPECT_NE(said(node::check_batch(x, model, 3'999'999'999)), "");
  x.training.batches = models::batch_rule::epochs;
  EXPECT_EQ(said(node::check_batch(x, model, 1)), "") << "there are few rows";
}

// More than 64 bits hold.
TEST(memory_there, is_less_than_what_no_number_says) {
  node::experiment x;
  x.data.context = 1 << 24;
  x.training.batches = models::batch_rule::drawn;
  x.training.batch_size = 4'000'000'000;
  models::language_spec model;
  model.width = 1 << 16;
  model.inner = 1 << 20;
  EXPECT_NE(said(node::check_batch(x, model, node::memory_there())), "");
}

} // namespace troupe::test::memory_there_test
