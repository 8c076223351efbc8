// A client that hears anything in any order, and what its owner and its worker
// do meanwhile. Whatever that is: it repeats itself in time and not at once,
// trains a visit once, offers what it trained and nothing else, and keeps
// within its bounds.

#include "actors/client/dialogue.hpp"

#include <algorithm>
#include <limits>

#include "core/assert.hpp"
#include "core/limits.hpp"
#include "tests/fuzz/whim.hpp"

namespace {

using namespace troupe;
using namespace troupe::actors;
using namespace std::chrono_literals;

const client_id me{7};

/// A gate for all, then chosen experts, as DDOME has it; a client of one role
/// does not choose.
recipe method_of(state_rule state) {
  return {.name = "two_legs",
          .summary = "",
          .blocks = {{.name = "gate"},
                     {.name = "expert", .where = scope::expert, .count = 3}},
          .legs = {{.fetch = {{.family = "gate"}}, .choice = {"best"}},
                   {.fetch = {{.family = "expert", .chosen = true}}}},
          .roles = {{.name = "free"}, {.name = "fixed", .choice_fixed = true}},
          .state = state,
          .disclosures = {{.name = "shares", .count_max = 3}}};
}

class client {
public:
  client(fuzz::whim luck, state_rule state)
    : luck_(luck),
      method_(method_of(state)),
      blocks_(std::make_shared<models::layout>(
        *models::make_layout(method_,
                             {{"gate", {{.name = "w", .shape = {2}}}},
                              {"expert", {{.name = "w", .shape = {3}}}}},
                             {}))) {
    begin({});
  }

  void run() {
    // So many bytes say enough, and a long input teaches nothing.
    for (int i = 0; i < 4'000 && !luck_.done(); ++i) {
      step();
      check();
    }
  }

private:
  void begin(client_file found) {
    testee_.emplace(
      dialogue::options{.me = me,
                        .examples = 5,
                        .method = &method_,
                        .blocks = blocks_,
                        .resend_after = 10s,
                        .beat_every = beats_ ? 3s : 0s,
                        .cache =
                          caches_ ? std::make_shared<line_cache>() : nullptr},
      std::move(found));
    job_.reset();
    asks_ = false;
    did(testee_->start(now_));
  }

  void step() {
    switch (luck_.below(12)) {
      case 0:
        return did(testee_->drain());
      case 1:
        return did(testee_->go());
      case 2:
        return did(testee_->come(now_));
      case 3:
        return did(testee_->give_up(some_visit()));
      case 4: // It dies, and what it wrote is there.
        beats_ = luck_.coin();
        caches_ = luck_.coin();
        return begin(client_file{kept_});
      case 5:
        return wait();
      case 6:
      case 7:
        return work();
      default:
        hear(some_message());
    }
  }

  void hear(const messages::any_message& x) {
    if (const auto* in = std::get_if<messages::welcome>(&x))
      asks_ = asks_ && in->nonce != nonce_;
    did(testee_->heard(x, now_));
  }

  void wait() {
    now_ += std::chrono::milliseconds{250 * luck_.below(100)};
    did(testee_->due(now_));
    const auto next = testee_->next_due();
    TROUPE_ASSERT(!next || *next > now_);
  }

  /// What the kernel worker makes of the last job, if that is of the visit.
  void work() {
    if (!job_)
      return;
    const auto visit = job_->visit;
    messages::job_finished x{visit, error{errc::invalid_argument, "no"}};
    if (luck_.below(8) == 0) {
      // As it is.
    } else if (job_is_choice_) {
      models::choice choice;
      for (const auto block : blocks_->family("expert"))
        if (luck_.coin())
          choice.chosen.push_back(block);
      if (luck_.coin())
        choice.disclosures["shares"] = {0.5};
      x.outcome = choice;
    } else {
      models::trained done;
      for (const auto& from : job_->fetched)
        if (luck_.below(4) != 0)
          done.parts.push_back(
            {.block = from.block,
             .weight = 1,
             .delta = share(std::vector<float>(from.values->size(), 1.f))});
      done.next = *job_->state;
      ++done.next.visits;
      x.outcome = done;
    }
    if (!job_is_choice_)
      done_ = std::max(done_, visit.number);
    job_.reset();
    did(testee_->finished(x, now_));
  }

  void did(const dialogue::actions& what) {
    for (const auto& x : what)
      if (std::holds_alternative<dialogue::keep>(x))
        kept_ = testee_->file();
      else if (const auto* job = std::get_if<dialogue::job>(&x))
        asked(*job);
      else
        said(std::get<messages::any_message>(x));
  }

  void asked(const dialogue::job& x) {
    const auto* choose = std::get_if<messages::choose_job>(&x.what);
    job_is_choice_ = choose != nullptr;
    job_ = choose ? choose->input : std::get<messages::train_job>(x.what).input;
    TROUPE_ASSERT(testee_->is_open(job_->visit));
    TROUPE_ASSERT(done_ < job_->visit.number);
    TROUPE_ASSERT(job_->role < 2);
    for (const auto& block : job_->fetched) {
      const auto* known = blocks_->find(block.block);
      TROUPE_ASSERT(known && block.values
                    && block.values->size() == known->size);
      TROUPE_ASSERT(
        std::ranges::all_of(*block.values, [](float y) { return y - y == 0; }));
    }
  }

  void said(const messages::any_message& x) {
    if (const auto* offer = std::get_if<messages::offer_made>(&x)) {
      const auto& box = testee_->file().outbox;
      const auto at = std::ranges::find(
        box, offer->pass.visit, [](auto& y) { return y.offer.pass.visit; });
      TROUPE_ASSERT(at != box.end());
      TROUPE_ASSERT(offer->pass.visit.number <= done_);
      for (const auto& part : offer->blocks)
        TROUPE_ASSERT(at->unanswered.contains(blocks_->find(part.block)->line));
    } else if (const auto* hello = std::get_if<messages::hello>(&x)) {
      // A copy until it is answered, and never one of an answered question.
      TROUPE_ASSERT(hello->nonce != nonce_ || asks_);
      asks_ = true;
      nonce_ = hello->nonce;
    } else if (const auto* want = std::get_if<messages::fetch_requested>(&x)) {
      TROUPE_ASSERT(!want->wanted.empty());
      pass_ = want->pass;
      leg_ = want->leg;
      wanted_ = want->wanted;
    }
  }

  void check() const {
    const auto& file = testee_->file();
    TROUPE_ASSERT(file.outbox.size() <= limits::outbox_offers_max);
    TROUPE_ASSERT(last_ <= file.last);
    TROUPE_ASSERT(file.last.value - last_.value <= std::uint64_t{1} << 32);
    for (const auto& x : file.outbox)
      TROUPE_ASSERT(!x.unanswered.empty());
    last_ = file.last;
  }

  visit_id some_visit() {
    const auto& file = testee_->file();
    if (luck_.coin() && file.open)
      return file.open->pass.visit;
    if (luck_.coin() && !file.outbox.empty())
      return file.outbox[luck_.below(file.outbox.size())].offer.pass.visit;
    return {luck_.below(8) == 0 ? client_id{luck_.number()} : me,
            {luck_.number()}};
  }

  messages::ticket some_ticket() {
    messages::ticket x;
    x.visit = {
      luck_.below(16) == 0 ? client_id{1} : me,
      {luck_.below(4) == 0 ? luck_.number() : testee_->file().last.value + 1}};
    x.role = static_cast<std::uint32_t>(luck_.below(8) == 0 ? luck_.number()
                                                            : luck_.below(2));
    x.progress = luck_.real();
    x.expires_ns = static_cast<std::int64_t>(luck_.number());
    return x;
  }

  messages::line_served some_line() {
    messages::line_served x{
      .visit = luck_.below(8) == 0 ? some_visit() : pass_.visit,
      .leg =
        luck_.below(8) == 0 ? static_cast<std::uint32_t>(luck_.number()) : leg_,
      .line = {wanted_.empty() || luck_.below(8) == 0
                 ? luck_.number()
                 : wanted_[luck_.below(wanted_.size())].line.value},
      .base = {luck_.number()},
      .blocks = {}};
    if (luck_.below(4) == 0) {
      x.unchanged = luck_.byte();
      return x;
    }
    const auto* line = blocks_->find(x.line);
    if (line != nullptr)
      for (const auto block : line->blocks)
        x.blocks.push_back(
          {block, share(std::vector<float>(blocks_->find(block)->size, 0.f))});
    switch (luck_.below(16)) {
      case 0:
        x.blocks.push_back({{luck_.number()}, nullptr});
        break;
      case 1:
        if (!x.blocks.empty())
          x.blocks[0].values =
            share({std::numeric_limits<float>::quiet_NaN(), 0});
        break;
      case 2:
        if (!x.blocks.empty())
          x.blocks[0].block = {luck_.number()};
        break;
      default:
        break;
    }
    return x;
  }

  messages::any_message some_message() {
    switch (luck_.below(16)) {
      case 0:
      case 1:
        return messages::welcome{.nonce = luck_.below(4) == 0 ? luck_.number()
                                                              : nonce_,
                                 .session = {luck_.number()},
                                 .heads = {{{luck_.number()}, {9}}}};
      case 2:
        return messages::farewell{
          static_cast<messages::farewell_reason>(luck_.below(6)), "go",
          luck_.coin() ? nonce_ : luck_.number(), luck_.number()};
      case 3:
        return messages::visit_ended{
          some_visit(), static_cast<policies::verdict>(luck_.below(7))};
      case 4:
      case 5:
      case 6:
        return messages::offer_answered{
          some_visit(),
          {luck_.below(8) == 0 ? luck_.number() : 1 + luck_.below(4)},
          static_cast<policies::verdict>(luck_.below(7)),
          {luck_.number()},
          luck_.coin() ? luck_.number() : 500};
      case 7:
        return messages::version_announced{{luck_.number()}, {luck_.number()}};
      case 8: // What only clients say.
        return messages::offer_made{.pass = some_ticket(),
                                    .disclosures = {},
                                    .blocks = {},
                                    .fetched = {}};
      case 9:
        return messages::beat_answered{};
      case 10:
      case 11:
        return messages::invited{some_ticket()};
      default:
        return some_line();
    }
  }

  fuzz::whim luck_;
  recipe method_;
  std::shared_ptr<const models::layout> blocks_;
  instant now_ = 1s;
  bool beats_ = true;
  bool caches_ = false;
  client_file kept_;
  std::optional<dialogue> testee_;
  std::optional<models::visit_input> job_; ///< That was asked for last.
  bool job_is_choice_ = false;
  visit_number done_{}; ///< The newest that was trained.
  mutable visit_number last_{};
  std::uint64_t nonce_ = 0;
  bool asks_ = false; ///< A hello with this nonce was not answered.
  messages::ticket pass_;
  std::uint32_t leg_ = 0;
  std::vector<messages::want> wanted_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  fuzz::whim luck{{data, size}};
  const auto state = luck.coin() ? state_rule::on_accept : state_rule::on_offer;
  client{luck, state}.run();
  return 0;
}
