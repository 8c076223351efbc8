#include "tests/support/sim/sim_homes.hpp"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "actors/messages/wire.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using messages::told_score;

namespace {

/// What is said of another question, or of others' clients, has so many hits
/// less: it might be so, and nothing may come of it.
constexpr std::uint64_t hits_of_lies = 3;

/// So many questions later.
constexpr std::uint64_t never_asked = std::uint64_t{1} << 32;

/// What is said a second time.
constexpr std::uint64_t hits_of_copies = 1;

/// What versions are worth to a client: other versions, other losses.
told_score worth(client_id who,
                 const std::vector<messages::block_values>& blocks) {
  told_score x{
    .client = who, .count = 20 + who.value, .correct = 10 + who.value % 5};
  for (const auto& block : blocks)
    for (const float v : *block.values)
      x.loss += static_cast<double>(who.value) * static_cast<double>(v);
  if (who.value % 2 == 0) {
    x.aside_count = 5 + who.value;
    x.aside_correct = hits_of_lies;
    x.aside_loss = x.loss / 2;
  }
  return x;
}

std::vector<told_score> with_fewer_hits(std::vector<told_score> all,
                                        std::uint64_t hits) {
  for (auto& x : all)
    x.correct -= hits;
  return all;
}

} // namespace

sim_homes::sim_homes(parts x, std::uint64_t seed)
  : x_(std::move(x)),
    draw_(derive_seed(seed, "homes")) {
  // nop
}

void sim_homes::asked(peer_id process, const messages::scores_asked& x) {
  if (!now_ || now_->number != x.question)
    now_ = {.number = x.question,
            .at = x_.w.now(),
            .clients = {},
            .blocks = x.blocks};
  ++x_.luck.happened["home: a process is asked"];
  for (const auto who : x.clients) {
    const bool first = now_->clients.emplace(who, process).second;
    EXPECT_TRUE(first) << "client " << who.value << " is asked twice";
  }
}

void sim_homes::heard(std::uint64_t process, const messages::scores_asked& x) {
  const plan one{.process = process,
                 .life = x_.links.life_of(process),
                 .dialled = x_.links.dialled(process),
                 .what = x};
  const instant soon = std::chrono::milliseconds{draw_.below(300)};
  const instant late = std::chrono::milliseconds{
    draw_.below(static_cast<std::uint64_t>(2 * seconds(x_.wait) * 1000))};
  const bool kind = x_.luck.active.connection_cut == 0;
  // Drawn in a kind world too, so that healing does not reshuffle.
  const auto whim = draw_.below(10);
  const auto truth = [this](const plan& y) { say_truth(y); };
  if (kind || whim < 3)
    return answer_after(soon, one, truth);
  switch (whim) {
    case 3:
    case 4:
      say_at_work(one, x_.w.now() + late);
      return answer_after(late, one, truth);
    case 5:
      return answer_after(late, one, truth);
    case 6:
      ++x_.luck.happened["home: no answer at all"];
      return;
    case 7:
      return answer_after(soon, one, [this](const plan& y) { say_twice(y); });
    case 8:
      return answer_after(soon, one, [this](const plan& y) { say_in_part(y); });
    default:
      return answer_after(soon, one, [this](const plan& y) { say_a_lie(y); });
  }
}

void sim_homes::answer_after(instant delay, const plan& x,
                             std::function<void(const plan&)> how) {
  x_.w.later(delay, [this, x, how = std::move(how)] {
    if (still_there(x)) {
      x_.luck.happened["home: an answer over another connection"] +=
        x_.links.dialled(x.process) != x.dialled;
      how(x);
    } else if (x_.links.is_there(x.process)) {
      // It is another one now, and knows what the one before was asked.
      ++x_.luck.happened["home: a process that began anew answers"];
      say(x, with_fewer_hits(truth(x), hits_of_lies));
    }
  });
}

bool sim_homes::still_there(const plan& x) {
  const bool same = x_.links.life_of(x.process) == x.life;
  x_.luck.happened["home: a process died with a question"] += !same;
  return same;
}

void sim_homes::say_at_work(const plan& x, instant until) {
  if (x_.w.now() >= until || x_.links.life_of(x.process) != x.life)
    return;
  ++x_.luck.happened["home: says that it is at work"];
  say(x, {});
  x_.w.later(1s, [this, x, until] { say_at_work(x, until); });
}

std::vector<told_score> sim_homes::truth(const plan& x) {
  std::vector<told_score> out;
  for (const auto who : x.what.clients)
    if (!x_.is_gone(who))
      out.push_back(worth(who, x.what.blocks));
    else
      ++x_.luck.happened["home: a client is dead, and has no score"];
  return out;
}

void sim_homes::say(const plan& x, std::vector<told_score> scores) {
  x_.links.up_of_process(x.process)(
    messages::scores_told{x.what.question, std::move(scores)});
}

void sim_homes::say_truth(const plan& x) {
  ++x_.luck.happened["home: an answer"];
  say(x, truth(x));
}

// Not the same the second time.
void sim_homes::say_twice(const plan& x) {
  ++x_.luck.happened["home: two answers"];
  auto all = truth(x);
  say(x, all);
  auto again = with_fewer_hits(std::move(all), hits_of_copies);
  x_.w.later(100ms, [this, x, again = std::move(again)] {
    if (x_.links.life_of(x.process) == x.life)
      say(x, again);
  });
}

void sim_homes::say_in_part(const plan& x) {
  ++x_.luck.happened["home: an answer of half its clients, one by one"];
  auto all = truth(x);
  all.resize(all.size() / 2);
  for (const auto& one : all)
    say(x, {one});
}

// The truth comes behind it.
void sim_homes::say_a_lie(const plan& x) {
  constexpr std::array<const char*, lies> names{
    "home: hits beyond rows",         "home: a loss that is no number",
    "home: a loss beyond all",        "home: rows without end",
    "home: of another question",      "home: of another process's client",
    "home: of a client that is none", "home: wrong of what is set aside"};
  const auto what = static_cast<lie>(draw_.below(lies));
  ++x_.luck.happened[names[static_cast<std::size_t>(what)]];
  auto all = with_fewer_hits(truth(x), hits_of_lies);
  auto to = x;
  for (auto& one : all)
    switch (what) {
      case lie::more_hits_than_rows:
        one.correct = one.count + 1;
        break;
      case lie::no_number:
        one.loss = std::numeric_limits<double>::quiet_NaN();
        break;
      case lie::beyond_all_losses:
        one.loss = draw_.chance(0.5) ? -1e300 : 1e300;
        break;
      case lie::rows_without_end:
        one.count = std::numeric_limits<std::uint64_t>::max();
        break;
      case lie::another_question:
        // None that will be asked: what comes late enough would be of that one.
        to.what.question +=
          draw_.below(2) == 0 ? never_asked : ~std::uint64_t{0};
        break;
      case lie::another_processes_client:
        one.client = {1 + one.client.value % x_.clients};
        break;
      case lie::nobodys_client:
        one.client = {x_.clients + 1 + draw_.below(1000)};
        break;
      case lie::wrong_aside:
        one.aside_correct = one.aside_count + 1;
        break;
    }
  // With one process all clients are its own.
  std::erase_if(all, [&](const auto& one) {
    return what == lie::another_processes_client
           && x_.links.has(x.process, one.client);
  });
  say(to, std::move(all));
  say_truth(x);
}

void sim_homes::told(const messages::scores_heard& x) {
  const bool late = !now_ || now_->done || now_->number != x.what.question;
  x_.luck.happened["home: an answer comes too late"] +=
    late && !x.what.scores.empty();
}

void sim_homes::judge(const messages::evaluation_finished& x) {
  ASSERT_TRUE(x.asked) << "an evaluation does not say of how many it is";
  const auto& all = x.scores.per_client;
  auto& happened = x_.luck.happened;
  if (*x.asked == 0) {
    ++happened["home: nobody is here to be asked"];
    EXPECT_TRUE(all.empty()) << "scores of those who were not asked";
    return;
  }
  ASSERT_TRUE(now_);
  EXPECT_FALSE(std::exchange(now_->done, true)) << "an answer to no question";
  EXPECT_EQ(*x.asked, now_->clients.size());
  EXPECT_LE(all.size(), *x.asked);
  // Time may pass though there is mail.
  EXPECT_LE(seconds(x_.w.now() - now_->at), seconds(x_.wait) + 1)
    << "an evaluation waits beyond its deadline";
  models::evaluation_input here{
    .versions = {}, .per_client = false, .states = {}};
  for (const auto& block : now_->blocks)
    here.versions.push_back({block.block, {}, block.values});
  const auto own = x_.evaluator.evaluate(here);
  ASSERT_TRUE(own);
  EXPECT_EQ(x.scores.global.loss, own->global.loss)
    << "clients' scores change the server's own, or others were asked about";
  for (const auto& [who, score] : all)
    judge(who, score, false);
  for (const auto& [who, score] : x.scores.own_validation)
    judge(who, score, true);
  happened["home: a client is counted"] += all.size();
  ++happened[all.size() == *x.asked ? "home: all are counted"
                                    : "home: not all are counted"];
  happened["home: an evaluation does not wait for the silent"] +=
    all.size() < *x.asked && x_.w.now() < now_->at + x_.wait;
}

void sim_homes::judge(client_id who, const models::scores& x,
                      bool aside) const {
  SCOPED_TRACE("client " + std::to_string(who.value));
  EXPECT_TRUE(now_->clients.contains(who)) << "it was not asked";
  const auto wanted = worth(who, now_->blocks);
  EXPECT_EQ(x.count, aside ? wanted.aside_count : wanted.count);
  EXPECT_EQ(x.loss, aside ? wanted.aside_loss : wanted.loss)
    << "it is of other versions, or of another client";
  if (aside)
    EXPECT_EQ(x.correct, wanted.aside_correct);
  else
    EXPECT_TRUE(x.correct == wanted.correct
                || x.correct + hits_of_copies == wanted.correct)
      << "a lie is counted: " << x.correct << " of " << wanted.correct;
}

} // namespace troupe::test
