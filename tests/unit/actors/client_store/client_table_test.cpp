#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "actors/client_store/client_table.hpp"
#include "actors/client_store/disk_vault.hpp"
#include "actors/client_store/stored_file.hpp"
#include "actors/transport/envelope.hpp"
#include "core/random.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/wire_examples.hpp"

namespace troupe::actors::client_table_test {
namespace {

using test::scratch_folder;
using ::testing::HasSubstr;

std::unique_ptr<client_table> opened(const scratch_folder& in) {
  auto made = client_table::open(in.path(), "run");
  EXPECT_TRUE(made) << (made ? "" : made.error().context);
  return made ? std::move(*made) : nullptr;
}

state_ptr state_of(std::size_t values, std::uint64_t visits) {
  models::client_state x;
  x.blocks.emplace("own", personal_values{std::vector<float>(
                            values, static_cast<float>(visits))});
  x.moments.emplace("own", personal_values{std::vector<float>{1, 2}});
  x.counters["steps"] = 7 * visits;
  x.random = {1, 2, 3, visits};
  x.visits = visits;
  return std::make_shared<const models::client_state>(std::move(x));
}

kept_offer offer_of(client_id who, std::uint64_t number, std::size_t values) {
  kept_offer x;
  x.offer.pass = test::example_ticket();
  x.offer.pass.visit = {who, {number}};
  messages::offer_block part;
  part.block = {3};
  part.delta = share(std::vector<float>(values, 0.5F));
  x.offer.blocks.push_back(std::move(part));
  x.unanswered = {{4}, {5}};
  return x;
}

void expect_same(const client_file& x, const client_file& y) {
  EXPECT_EQ(x.incarnation, y.incarnation);
  EXPECT_EQ(x.last, y.last);
  EXPECT_EQ(*x.state, *y.state);
  EXPECT_EQ(x.declined, y.declined);
  ASSERT_EQ(x.open.has_value(), y.open.has_value());
  if (x.open) {
    EXPECT_EQ(transport::encode(messages::invited{x.open->pass}),
              transport::encode(messages::invited{y.open->pass}));
    EXPECT_EQ(x.open->fetched, y.open->fetched);
  }
  ASSERT_EQ(x.outbox.size(), y.outbox.size());
  for (std::size_t i = 0; i < x.outbox.size(); ++i) {
    const auto& a = x.outbox[i];
    const auto& b = y.outbox[i];
    EXPECT_EQ(transport::encode(a.offer), transport::encode(b.offer));
    EXPECT_EQ(a.unanswered, b.unanswered);
    EXPECT_EQ(a.refused, b.refused);
    ASSERT_EQ(a.next == nullptr, b.next == nullptr);
    if (a.next) {
      EXPECT_EQ(*a.next, *b.next);
    }
  }
}

std::size_t has_a_file(const state_ptr& x) {
  return x && encode_state(*x).size() > client_table::row_bytes_max;
}

using files = std::map<client_id, client_file>;

result<void> save(client_table& to, const files& all) {
  std::map<client_id, const client_file*> pointers;
  for (const auto& [who, x] : all)
    pointers[who] = &x;
  return to.save(pointers);
}

/// What a client's life may do to its file.
void change(client_file& x, client_id who, random_stream& draw) {
  const auto values = [&] { return draw.below(2) == 0 ? 5 : 40'000; };
  switch (draw.below(8)) {
    case 0:
      ++x.incarnation;
      break;
    case 1:
      x.last = next(x.last);
      x.open = begun_visit{test::example_ticket(), {{{1}, {draw.below(9)}}}};
      x.declined.reset();
      break;
    case 2:
      x.open.reset();
      x.declined = messages::decline_reason::dropped;
      break;
    case 3: {
      x.last = next(x.last);
      auto made = offer_of(who, x.last.value, values());
      if (draw.below(2) == 0)
        made.next = state_of(values(), x.last.value);
      x.outbox.push_back(std::move(made));
      break;
    }
    case 4:
      if (!x.outbox.empty()) {
        x.outbox[0].unanswered.erase({4});
        x.outbox[0].refused = draw.below(2) == 0;
      }
      break;
    case 5:
      if (!x.outbox.empty()) {
        const auto at = draw.below(x.outbox.size());
        if (x.outbox[at].next)
          x.state = x.outbox[at].next;
        x.outbox.erase(x.outbox.begin() + static_cast<std::ptrdiff_t>(at));
      }
      break;
    case 6:
      if (!x.outbox.empty())
        x.outbox[draw.below(x.outbox.size())].offer.blocks.clear();
      break;
    default:
      x.state = state_of(values(), draw.below(100));
  }
}

std::set<std::string> large_files(const scratch_folder& in) {
  std::set<std::string> out;
  for (const auto& x : std::filesystem::directory_iterator{in.path()})
    if (const auto name = x.path().filename().string();
        name.starts_with("state-") || name.starts_with("offer-"))
      out.insert(name);
  return out;
}

TEST(client_table, has_what_was_saved_after_any_life) {
  std::size_t large = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const scratch_folder folder;
    random_stream draw{derive_seed(seed, "client files")};
    files all{{{1}, {}}, {{2}, {}}, {{9}, {}}};
    auto table = opened(folder);
    for (int i = 0; i < 40; ++i) {
      files changed;
      for (auto& [who, x] : all)
        if (draw.below(2) == 0) {
          change(x, who, draw);
          changed.emplace(who, x);
        }
      ASSERT_TRUE(save(*table, changed));
      if (draw.below(8) == 0) { // Another process.
        table = opened(folder);
        auto found = table->load();
        ASSERT_TRUE(found) << found.error().context;
        for (auto& [who, x] : *found) {
          expect_same(x, all[who]);
          all[who] = std::move(x);
        }
      }
    }
    // Nothing stays that no row names.
    std::size_t needed = 0;
    for (const auto& [who, x] : all) {
      needed += has_a_file(x.state);
      for (const auto& y : x.outbox)
        needed +=
          (transport::encoded_size(y.offer) > client_table::row_bytes_max)
          + (y.next != x.state ? has_a_file(y.next) : 0);
    }
    const auto found = large_files(folder);
    EXPECT_LE(found.size(), needed) << "seed " << seed;
    large += found.size();
  }
  EXPECT_GT(large, 4U);
}

TEST(client_table, writes_what_has_changed_and_no_more) {
  const scratch_folder folder;
  auto table = opened(folder);
  constexpr std::size_t n = 100'000;
  files all{{{1}, {}}};
  auto& x = all[{1}];
  x.state = state_of(n, 1);
  ASSERT_TRUE(save(*table, all));
  const auto before = table->bytes_written();
  const auto number = visit_number{5};
  // A visit: begun, fetched twice, offered, answered line by line.
  x.last = number;
  x.open = begun_visit{test::example_ticket(), {}};
  ASSERT_TRUE(save(*table, all));
  x.open->fetched[{1}] = {2};
  ASSERT_TRUE(save(*table, all));
  x.open.reset();
  x.outbox.push_back(offer_of({1}, number.value, n));
  x.outbox[0].next = state_of(n, 2);
  ASSERT_TRUE(save(*table, all));
  x.outbox[0].unanswered.erase({4});
  ASSERT_TRUE(save(*table, all));
  x.state = x.outbox[0].next;
  x.outbox.clear();
  ASSERT_TRUE(save(*table, all));
  EXPECT_LT(table->bytes_written() - before, 2 * n * sizeof(float) * 1.01);
  EXPECT_EQ(large_files(folder).size(), 1U);
}

TEST(client_table, of_another_run_or_version_is_refused) {
  const scratch_folder folder;
  {
    const auto table = opened(folder);
    ASSERT_TRUE(table);
  }
  const auto other = client_table::open(folder.path(), "another");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().context, HasSubstr("is of another run"));
  {
    auto db = sqlite::database::open(
      std::filesystem::path{folder.path()} / "clients.sqlite", {});
    ASSERT_TRUE(db);
    (*db)->run("UPDATE meta SET value = '2' WHERE name = 'schema_version'");
  }
  const auto later = client_table::open(folder.path(), "run");
  ASSERT_FALSE(later);
  EXPECT_THAT(later.error().context,
              HasSubstr("has version 2; this build reads 1"));
}

TEST(client_table, with_a_damaged_or_missing_file_is_refused_by_name) {
  const scratch_folder folder;
  {
    auto table = opened(folder);
    files all{{{7}, {}}};
    all[{7}].outbox.push_back(offer_of({7}, 3, 50'000));
    ASSERT_TRUE(save(*table, all));
  }
  const auto path = std::filesystem::path{folder.path()} / "offer-7-3";
  {
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(5000);
    file.put('x');
  }
  const auto damaged = opened(folder)->load();
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().context, HasSubstr("offer-7-3 is damaged"));
  std::filesystem::remove(path);
  const auto missing = opened(folder)->load();
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().context, HasSubstr("offer-7-3"));
}

// Values have no form by which a wrong bit would show.
TEST(client_table, says_whose_file_is_damaged_and_whose_is_not) {
  const scratch_folder folder;
  {
    auto table = opened(folder);
    files all{{{7}, {}}, {{8}, {}}};
    for (auto& [who, file] : all)
      file.outbox.push_back(offer_of(who, 3, 50'000));
    ASSERT_TRUE(save(*table, all));
    EXPECT_TRUE(table->damage().empty());
  }
  std::filesystem::remove(std::filesystem::path{folder.path()} / "offer-8-3");
  EXPECT_THAT(opened(folder)->damage(),
              testing::ElementsAre(HasSubstr("client 8: ")));
}

TEST(client_table, refuses_a_state_with_a_wrong_bit) {
  const scratch_folder folder;
  {
    auto table = opened(folder);
    auto state = std::make_shared<models::client_state>();
    state->blocks["personal"] =
      personal_values{std::vector<float>(50'000, 0.5F)};
    client_file x;
    x.state = state;
    files all{{{7}, x}};
    ASSERT_TRUE(save(*table, all));
  }
  EXPECT_TRUE(opened(folder)->load());
  const auto path = std::filesystem::path{folder.path()} / "state-1";
  {
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(100'000);
    file.put('x');
  }
  const auto damaged = opened(folder)->load();
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().context, HasSubstr("state-1 is damaged"));
}

// Or its clients would begin anew, and what they keep would stay there.
TEST(client_table, that_is_empty_is_not_taken_for_new_beside_what_it_knew) {
  const scratch_folder folder;
  const auto path = std::filesystem::path{folder.path()} / "clients.sqlite";
  ASSERT_TRUE(opened(folder)) << "it is new";
  files all{{{7}, {}}};
  all[{7}].state = state_of(50'000, 1);
  ASSERT_TRUE(save(*opened(folder), all));
  std::ofstream{path, std::ios::trunc};
  for (const bool is_there : {true, false}) {
    if (!is_there)
      std::filesystem::remove(path);
    const auto lost = client_table::open(folder.path(), "run");
    ASSERT_FALSE(lost) << is_there;
    EXPECT_THAT(lost.error().context,
                HasSubstr("clients.sqlite has no clients, and state-1 beside "
                          "it is what one of them keeps"));
  }
}

TEST(client_table, refuses_a_reason_that_is_none) {
  const scratch_folder folder;
  ASSERT_TRUE(save(*opened(folder), {{{7}, {}}}));
  {
    auto db = sqlite::database::open(
      std::filesystem::path{folder.path()} / "clients.sqlite", {});
    ASSERT_TRUE(db);
    (*db)->run("UPDATE clients SET declined = 200");
  }
  const auto damaged = opened(folder)->load();
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().context, HasSubstr("is no reason"));
}

TEST(disk_vault, keeps_what_clients_say_at_once_and_calls_back) {
  const scratch_folder folder;
  constexpr std::uint64_t n = 50;
  std::atomic<std::uint64_t> kept{0};
  {
    auto vault = disk_vault::open(folder.path(), "run", {});
    ASSERT_TRUE(vault) << vault.error().context;
    EXPECT_FALSE((*vault)->load({1}));
    for (std::uint64_t i = 1; i <= n; ++i) {
      client_file x;
      x.incarnation = i;
      EXPECT_FALSE((*vault)->save({i}, x, [&] { ++kept; }));
      x.last = {i};
      EXPECT_FALSE((*vault)->save({i}, x, [&] { ++kept; }));
    }
    EXPECT_FALSE(disk_vault::open(folder.path(), "run", {}));
  }
  EXPECT_EQ(kept, 2 * n);
  const auto again = disk_vault::open(folder.path(), "run", {});
  ASSERT_TRUE(again);
  for (std::uint64_t i = 1; i <= n; ++i)
    EXPECT_EQ((*again)->load({i})->last, visit_number{i});
}

} // namespace
} // namespace troupe::actors::client_table_test
