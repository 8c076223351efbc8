#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "core/hex.hpp"
#include "node/keys/keyring.hpp"
#include "node/keys/pair.hpp"
#include "node/keys/private_file.hpp"
#include "tests/support/no_more_files.hpp"

namespace troupe::node {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t now = 1'764'000'000'000; // 2025-11-24T16:00:00Z

class keyring_test : public ::testing::Test {
protected:
  void SetUp() override {
    auto pattern = (fs::temp_directory_path() / "keyring-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }

  void TearDown() override {
    fs::remove_all(folder);
  }

  static permit named(std::string name) {
    permit out;
    out.name = std::move(name);
    return out;
  }

  fs::path file_of(const public_key& who) const {
    return folder / "allowed" / to_hex(who);
  }

  static std::string text_at(const fs::path& path) {
    return read_private(path).value_or("");
  }

  static void put(const fs::path& path, const std::string& text) {
    std::ofstream{path} << text;
  }

  fs::path folder;
  public_key alice = draw_pair().open;
  public_key bob = draw_pair().open;
};

TEST_F(keyring_test, lets_in_who_is_allowed_until_they_are_denied) {
  const keyring keys{folder};
  EXPECT_EQ(keys.standing(alice, now), key_standing::unknown);
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  ASSERT_TRUE(keys.allow(bob, named("bob")));
  EXPECT_EQ(keys.standing(alice, now), key_standing::allowed);
  EXPECT_EQ(keys.find(alice, now).value(), named("alice"));
  ASSERT_TRUE(keys.deny("alice"));
  EXPECT_EQ(keys.standing(alice, now), key_standing::unknown);
  ASSERT_TRUE(keys.deny(to_hex(bob)));
  EXPECT_EQ(keys.standing(bob, now), key_standing::unknown);
  EXPECT_FALSE(keys.deny("bob"));
}

TEST_F(keyring_test, knows_whom_it_allows_and_that_this_has_changed) {
  const keyring keys{folder};
  auto late = named("bob");
  late.expires_ms = now;
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  ASSERT_TRUE(keys.allow(bob, late));
  put(folder / "allowed" / "README", "who edits adds files");
  EXPECT_EQ(keys.good(now).value(), std::set{hash_of(alice)});
  const auto before = keys.changed();
  EXPECT_EQ(keys.changed(), before);
  std::this_thread::sleep_for(std::chrono::milliseconds{20}); // A tick.
  ASSERT_TRUE(keys.deny("alice"));
  EXPECT_NE(keys.changed(), before);
  EXPECT_TRUE(keys.good(now).value().empty());
}

TEST_F(keyring_test, says_nothing_of_a_file_that_cannot_be_read_just_now) {
  const keyring keys{folder};
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  {
    const test::no_more_files short_of_files;
    EXPECT_EQ(keys.standing(alice, now), key_standing::unsure);
    EXPECT_EQ(keys.standing(bob, now), key_standing::unknown)
      << "that there is none is seen";
    EXPECT_FALSE(keys.good(now));
    EXPECT_EQ(keys.find(alice, now).error().code, errc::unavailable);
  }
  EXPECT_EQ(keys.standing(alice, now), key_standing::allowed);
  EXPECT_EQ(keys.standing(bob, now), key_standing::unknown);
  EXPECT_EQ(keys.good(now).value(), std::set{hash_of(alice)});
}

TEST_F(keyring_test, refuses_no_line_that_cannot_be_read_just_now) {
  const keyring keys{folder};
  const auto line = keys.invite(named("alice"), now);
  ASSERT_TRUE(line);
  for (const int files : {0, 1}) { // One is for the folder's lock.
    const test::no_more_files short_of_files{files};
    const auto done = keys.enrol(line->open, alice, now);
    EXPECT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::unavailable) << files;
    EXPECT_NE(done.error().context.find(folder.string()), std::string::npos);
  }
  EXPECT_TRUE(keys.enrol(line->open, alice, now));
}

TEST_F(keyring_test, lets_nobody_in_beyond_a_date) {
  const keyring keys{folder};
  auto what = named("alice");
  what.expires_ms = now + 1000;
  ASSERT_TRUE(keys.allow(alice, what));
  EXPECT_EQ(keys.standing(alice, now), key_standing::allowed);
  EXPECT_EQ(keys.standing(alice, now + 1000), key_standing::expired);
  EXPECT_FALSE(keys.find(alice, now + 1000));
}

TEST_F(keyring_test, takes_no_name_twice_and_none_that_a_terminal_would_obey) {
  const keyring keys{folder};
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  EXPECT_FALSE(keys.allow(bob, named("alice")));
  EXPECT_TRUE(keys.allow(alice, named("alice")));
  for (const auto* name : {"", "a b", "\x1b[1m", "a\nb", "../x", "-x", "\xff"})
    EXPECT_FALSE(keys.allow(bob, named(name))) << name;
  EXPECT_FALSE(keys.allow(bob, named(std::string(65, 'x'))));
}

TEST_F(keyring_test, denies_whose_file_is_half_of_one) {
  const keyring keys{folder};
  auto what = named("alice");
  what.clients = "ward-*";
  ASSERT_TRUE(keys.allow(alice, what));
  const auto whole = text_at(file_of(alice));
  ASSERT_EQ(whole, "troupe key 1\nname alice\nrole client\nclients ward-*\n"
                   "numbers 1000\nexpires never\nend\n");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    put(file_of(alice), whole.substr(0, n));
    EXPECT_EQ(keys.standing(alice, now), key_standing::unknown) << n;
  }
  put(file_of(alice), whole);
  EXPECT_EQ(keys.standing(alice, now), key_standing::allowed);
}

TEST_F(keyring_test, denies_whose_file_says_something_else) {
  const keyring keys{folder};
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  const auto whole = text_at(file_of(alice));
  const auto refuses = [&](const std::string& from, const std::string& to) {
    auto text = whole;
    text.replace(text.find(from), from.size(), to);
    put(file_of(alice), text);
    EXPECT_EQ(keys.standing(alice, now), key_standing::unknown) << text;
    const auto all = keys.all();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() || all[0].what ? "" : all[0].what.error().context;
  };
  EXPECT_EQ(refuses("role client", "role operator"),
            "'role' is 'client'; there is no other yet");
  EXPECT_EQ(refuses("numbers 1000", "numbers 10x"),
            "'numbers' is not a number");
  EXPECT_EQ(refuses("numbers 1000", "numbers 4294967295"),
            "'numbers' is at most 1048576");
  EXPECT_EQ(refuses("never", "tomorrow"),
            "'expires' is neither 'never' nor as 2026-12-01T08:30:00Z");
  EXPECT_FALSE(refuses("never", "2026-02-30T08:30:00Z").empty());
  EXPECT_FALSE(refuses("never", "2026-02-20T24:30:00Z").empty());
  EXPECT_EQ(refuses("role client\n", ""), "line 3 should be 'role …'");
  EXPECT_EQ(refuses("end\n", "end\nmore\n"),
            "there is something behind its end");
  EXPECT_EQ(refuses("key 1", "key 2"), "line 1 should be 'troupe key 1'");
}

TEST_F(keyring_test, reads_no_file_that_others_may) {
  const keyring keys{folder};
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  using fs::perms;
  for (const auto more : {perms::group_read, perms::others_write}) {
    fs::permissions(file_of(alice), more, fs::perm_options::add);
    EXPECT_EQ(keys.standing(alice, now), key_standing::unknown);
    fs::permissions(file_of(alice), more, fs::perm_options::remove);
  }
  EXPECT_EQ(keys.standing(alice, now), key_standing::allowed);
  ASSERT_TRUE(keys.own());
  fs::permissions(folder / "pair", perms::group_read, fs::perm_options::add);
  EXPECT_FALSE(keys.own());
  fs::permissions(folder, perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(keys.allow(bob, named("bob")));
}

TEST_F(keyring_test, keeps_the_server_s_pair) {
  const keyring keys{folder};
  const auto first = keys.own();
  ASSERT_TRUE(first);
  EXPECT_EQ(keys.own()->open, first->open);
  EXPECT_EQ(fs::status(folder / "pair").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  auto text = text_at(folder / "pair");
  text[text.find("secret ") + 7] ^= 1; // A digit, or none.
  put(folder / "pair", text);
  EXPECT_FALSE(keys.own());
}

TEST_F(keyring_test, has_a_next_pair_until_it_serves) {
  const keyring keys{folder};
  const auto first = keys.own();
  ASSERT_TRUE(first);
  EXPECT_FALSE(*keys.coming());
  const auto next = keys.renew(now + 1);
  ASSERT_TRUE(next);
  EXPECT_NE(next->pair.open, first->open);
  EXPECT_EQ(next->at_ms, now + 1000) << "whole seconds, and none too early";
  const auto found = keys.coming();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->pair.open, next->pair.open);
  EXPECT_EQ((*found)->pair.secret, next->pair.secret);
  EXPECT_EQ((*found)->at_ms, next->at_ms);
  EXPECT_EQ(fs::status(folder / "next").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(keys.serves(first->open)) << "it is not the next";
  EXPECT_EQ(keys.own()->open, first->open);
  ASSERT_TRUE(keys.serves(next->pair.open));
  EXPECT_EQ(keys.own()->open, next->pair.open);
  EXPECT_FALSE(*keys.coming());
  ASSERT_TRUE(keys.serves(next->pair.open)) << "another server has said so";
}

// Its server may be down, and begins with that.
TEST_F(keyring_test, meets_whoever_is_invited_with_the_pair_that_is_due) {
  const keyring keys{folder};
  EXPECT_FALSE(keys.serves_by(now)) << "no server has been here";
  const auto own = keys.own();
  ASSERT_TRUE(own);
  EXPECT_EQ(keys.serves_by(now)->key, own->open);
  EXPECT_FALSE(keys.serves_by(now)->until_ms);
  const auto next = keys.renew(now + 5000);
  ASSERT_TRUE(next);
  EXPECT_EQ(keys.serves_by(now + 4999)->key, own->open);
  EXPECT_EQ(keys.serves_by(now + 4999)->until_ms, now + 5000);
  for (const auto late : {now + 5000, now + 86'400'000}) {
    EXPECT_EQ(keys.serves_by(late)->key, next->pair.open);
    EXPECT_FALSE(keys.serves_by(late)->until_ms) << "no line ends before it";
  }
  ASSERT_TRUE(replace_pair(folder / "pair", next->pair));
  EXPECT_EQ(keys.serves_by(now)->key, next->pair.open);
  EXPECT_FALSE(keys.serves_by(now)->until_ms);
}

TEST_F(keyring_test, moves_the_moment_of_a_pair_that_some_may_know) {
  const keyring keys{folder};
  EXPECT_FALSE(keys.renew(now)) << "no server has been here";
  ASSERT_TRUE(keys.own());
  const auto next = keys.renew(now + 60'000);
  const auto sooner = keys.renew(now + 10'000);
  ASSERT_TRUE(next && sooner);
  EXPECT_EQ(sooner->pair.open, next->pair.open);
  EXPECT_EQ((*keys.coming())->at_ms, now + 10'000);
  // A server that was killed between the two files.
  ASSERT_TRUE(replace_pair(folder / "pair", next->pair));
  const auto another = keys.renew(now + 60'000);
  ASSERT_TRUE(another);
  EXPECT_NE(another->pair.open, next->pair.open) << "that one serves already";
}

TEST_F(keyring_test, says_what_is_wrong_with_a_next_pair) {
  const keyring keys{folder};
  ASSERT_TRUE(keys.own());
  ASSERT_TRUE(keys.renew(now));
  const auto whole = text_at(folder / "next");
  const auto refused = [&](const std::string& text) {
    put(folder / "next", text);
    const auto found = keys.coming();
    return found ? "" : found.error().context;
  };
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(refused(whole.substr(0, n)), "") << n;
  auto text = whole;
  text[text.find("public ") + 7] ^= 1;
  EXPECT_EQ(refused(text),
            (folder / "next").string() + ": this is no pair of keys");
  text = whole;
  text.replace(text.find("2025"), 4, "soon");
  EXPECT_EQ(refused(text), (folder / "next").string()
                             + ": 'from' is not as 2026-12-01T08:30:00Z");
  EXPECT_EQ(refused(whole), "");
  fs::permissions(folder / "next", fs::perms::group_read,
                  fs::perm_options::add);
  EXPECT_FALSE(keys.coming());
}

TEST_F(keyring_test, invites_a_key_that_is_known_again_and_no_other) {
  const keyring keys{folder};
  ASSERT_TRUE(keys.allow(alice, named("alice")));
  const auto line = keys.invite(named("alice"), now);
  ASSERT_TRUE(line);
  EXPECT_FALSE(keys.enrol(line->open, bob, now)) << "the name is another's";
  EXPECT_TRUE(keys.enrol(line->open, alice, now));
}

TEST_F(keyring_test, enrols_one_key_by_a_line) {
  const keyring keys{folder};
  auto what = named("alice");
  what.numbers = 7;
  what.expires_ms = now + 1000;
  const auto line = keys.invite(what, now);
  ASSERT_TRUE(line);
  EXPECT_EQ(keys.standing(line->open, now), key_standing::invited);
  EXPECT_FALSE(keys.find(line->open, now)) << "it is good for nothing else";
  EXPECT_EQ(keys.good(now).value(), std::set{hash_of(line->open)});
  EXPECT_TRUE(keys.good(now + 1000).value().empty());
  ASSERT_TRUE(keys.enrol(line->open, alice, now));
  const auto found = keys.find(alice, now + 2000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "alice");
  EXPECT_EQ(found->numbers, 7U);
  EXPECT_TRUE(keys.enrol(line->open, alice, now)) << "it asks again";
  EXPECT_FALSE(keys.enrol(line->open, bob, now));
  EXPECT_EQ(keys.standing(bob, now), key_standing::unknown);
}

TEST_F(keyring_test, a_line_that_comes_again_undoes_nothing) {
  const keyring keys{folder};
  const auto line = keys.invite(named("alice"), now);
  ASSERT_TRUE(keys.enrol(line->open, alice, now));
  auto less = named("alice");
  less.expires_ms = now + 1;
  ASSERT_TRUE(keys.allow(alice, less));
  EXPECT_TRUE(keys.enrol(line->open, alice, now));
  EXPECT_EQ(keys.standing(alice, now + 1), key_standing::expired);
}

TEST_F(keyring_test, enrols_nobody_by_an_old_line_or_one_of_who_is_denied) {
  const keyring keys{folder};
  auto what = named("alice");
  what.expires_ms = now + 1000;
  const auto old = keys.invite(what, now);
  EXPECT_FALSE(keys.enrol(old->open, alice, now + 1000));
  EXPECT_EQ(keys.standing(old->open, now + 1000), key_standing::expired);
  const auto line = keys.invite(what, now + 1000);
  EXPECT_EQ(keys.all().size(), 1U) << "who has expired goes";
  EXPECT_FALSE(keys.enrol(line->open, alice, now + 1000));
  what.expires_ms = now + 5000;
  const auto good = keys.invite(what, now + 1000);
  ASSERT_TRUE(keys.enrol(good->open, alice, now + 1000));
  ASSERT_TRUE(keys.deny(to_hex(alice)));
  EXPECT_FALSE(keys.enrol(good->open, alice, now + 1000));
}

TEST_F(keyring_test, keeps_no_secret_of_a_line) {
  const keyring keys{folder};
  const auto line = keys.invite(named("alice"), now);
  ASSERT_TRUE(line);
  for (const auto& x : fs::recursive_directory_iterator{folder})
    if (x.is_regular_file()) {
      std::ifstream in{x.path()};
      const std::string text{std::istreambuf_iterator<char>{in}, {}};
      EXPECT_EQ(text.find(to_hex(line->secret)), text.npos);
      EXPECT_EQ(text.find(to_hex(line->open)), text.npos);
      EXPECT_EQ(x.path().string().find(to_hex(line->open)), std::string::npos);
    }
}

TEST_F(keyring_test, a_line_serves_once_though_many_come_at_one_instant) {
  for (int round = 0; round < 20; ++round) {
    const auto home = folder / std::to_string(round);
    const auto line = keyring{home}.invite(named("x"), now);
    ASSERT_TRUE(line);
    std::atomic<int> ready{0};
    std::atomic<int> enrolled{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i)
      all.emplace_back([&] {
        const keyring mine{home};
        const auto own = draw_pair().open;
        ++ready;
        while (ready < 4)
          std::this_thread::yield();
        enrolled += mine.enrol(line->open, own, now).has_value();
      });
    for (auto& x : all)
      x.join();
    EXPECT_EQ(enrolled, 1);
    EXPECT_EQ(keyring{home}.all().size(), 2U) << "the line, and a key";
  }
}

} // namespace
} // namespace troupe::node
