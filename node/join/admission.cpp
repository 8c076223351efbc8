#include "node/join/admission.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/clock.hpp"
#include "core/hex.hpp"
#include "node/join/enrolment.hpp"
#include "node/join/farewells.hpp"
#include "node/join/host_inquiry.hpp"
#include "node/keys/pair.hpp"

namespace troupe::node {

using transport::turned_away;
using end = join_summary::end;

namespace {

/// For what this machine says of a host. Who resolves names may take longer, or
/// have no end: what is known without is said then.
constexpr std::chrono::seconds resolver_max{5};

constexpr std::uint64_t after_ms_max = std::uint64_t{400} * 86'400'000;

join_summary turned_down(std::string why, std::string hint) {
  return ended(end::refused, std::move(why), std::move(hint));
}

} // namespace

std::optional<join_summary>
admission::prepare(transport::socket_endpoint::options& to,
                   const std::function<void()>& meanwhile) {
  if (auto wrong = open_audit(to))
    return wrong;
  to.away = [this](turned_away why) {
    if (why == turned_away::by_another)
      return say("whoever answers at " + in_.address
                 + " has not the server's key: it is dialled on; if its pair "
                   "was changed while this process was away, this process "
                   "needs a new line");
    why_ = why;
    refused_ = true;
  };
  if (!in_.server)
    return std::nullopt;
  const auto own = pair_at(std::filesystem::path{in_.store} / "pair");
  if (!own)
    return ended(end::failed, own.error().context);
  own_ = to_hex(own->open);
  auto known = servers_.keys(*in_.server, unix_milliseconds());
  if (!known)
    return ended(end::failed, known.error().context);
  keys_ = std::move(*known);
  to.keys = transport::dialler_keys{
    *own, keys_.front(), {keys_.begin() + 1, keys_.end()}};
  to.met = [this](const public_key& who) { met(who); };
  to.announced = [this](const transport::announcement& x) { hear(x); };
  return in_.invitation ? enrol_own(own->open, meanwhile) : std::nullopt;
}

// Who was enrolled before comes in by its own key, whatever became of the line.
std::optional<join_summary>
admission::enrol_own(const public_key& own,
                     const std::function<void()>& meanwhile) {
  using how = enrolment_outcome::how;
  const auto found = enrol(
    {.address = in_.address,
     .keys = {*in_.invitation, keys_.front(), {keys_.begin() + 1, keys_.end()}},
     .own = own,
     .leaving = leaving_,
     .wait = contact_.seconds(),
     .stop = in_.stop,
     .meanwhile = meanwhile});
  if (found.what == how::done || found.what == how::refused)
    contact_.is_made();
  switch (found.what) {
    case how::done:
      return std::nullopt;
    case how::refused:
      line_problem_ = found.why;
      return std::nullopt;
    case how::not_let_in:
      line_problem_ = "this invitation has expired, or is not known";
      return std::nullopt;
    case how::not_theirs:
      why_ = turned_away::their_key;
      return not_let_in();
    case how::unreachable:
      break;
  }
  return no_answer();
}

std::optional<join_summary>
admission::open_audit(transport::socket_endpoint::options& to) {
  if (in_.audit.empty())
    return std::nullopt;
  auto made = audit::open(in_.audit);
  if (!made)
    return ended(end::failed, made.error().context);
  audit_ = std::move(*made);
  leaving_ = [this](const transport::piece& x) {
    if (audit_->leaves(x))
      return true;
    refused_ = true;
    return false;
  };
  to.leaving = leaving_;
  return std::nullopt;
}

void admission::is_turned_out() {
  why_ = turned_away::no_longer;
  refused_ = true;
}

void admission::say(const std::string& line) const {
  if (in_.say)
    in_.say(line);
}

// Whoever has a key from before is somebody else from now on.
void admission::met(const public_key& who) {
  const std::lock_guard guard{mutex_};
  met_ = who;
  const auto found = std::ranges::find(keys_, who);
  if (found == keys_.end() || found == keys_.begin())
    return;
  say("the server has its next key now");
  if (const auto kept = servers_.met(*(found - 1), who); !kept)
    say("this is not kept: " + kept.error().context);
  keys_.erase(keys_.begin(), found);
}

// Kept before it is used: whoever dies now is to find the server later.
void admission::hear(const transport::announcement& what) {
  // Clocks go wrong, and moments are put off.
  constexpr std::int64_t longer_ms = 86'400'000;
  constexpr std::int64_t same_ms = 60'000;
  const std::lock_guard guard{mutex_};
  if (!met_ || what.next == *met_)
    return;
  const auto after =
    static_cast<std::int64_t>(std::min(what.after_ms, after_ms_max));
  const auto until = unix_milliseconds() + after + longer_ms;
  const bool is_known = keys_.back() == what.next;
  if (is_known && std::abs(until - until_ms_) < same_ms)
    return;
  if (const auto kept = servers_.told(*met_, what.next, until); !kept)
    return say("the server's next key is not kept: " + kept.error().context);
  until_ms_ = until;
  if (!is_known)
    keys_.push_back(what.next);
  say("the server has another key in " + std::to_string(after / 1000)
      + " s, which is kept");
}

join_summary admission::not_let_in() const {
  if (why_ == turned_away::our_key && !line_problem_.empty())
    return turned_down(line_problem_, "where it is served: troupe keys invite "
                                      "--name NAME --keys DIR makes another");
  if (why_ == turned_away::our_key || why_ == turned_away::no_longer)
    return turned_down("it does not let this key in, or no longer: " + own_,
                       "where it is served: troupe keys allow KEY --name NAME "
                       "--keys DIR");
  if (in_.server)
    return turned_down("who answers at " + in_.address + " has not the key "
                         + to_hex(*in_.server),
                       "the first line that troupe serve prints has it; if "
                       "the server's pair was changed while this process was "
                       "away, it needs a new line (there: troupe keys invite); "
                       "with --insecure there is no key, on neither side");
  return turned_down("who answers at " + in_.address + " wants keys",
                     "--server KEY --store DIR, with the key that troupe serve "
                     "prints behind its address");
}

join_summary admission::no_answer() const {
  if (audit_ && refused_ && !audit_->problem().empty())
    return ended(end::failed, audit_->problem());
  if (refused_)
    return not_let_in();
  if (in_.stop && *in_.stop)
    return interrupted(in_);
  const host_inquiry host{in_.address};
  auto unknown = host.answer_within(resolver_max, in_.stop);
  if (in_.stop && *in_.stop)
    return interrupted(in_);
  if (unknown && !unknown->empty())
    return ended(end::unreachable, std::move(*unknown),
                 "its number would do, as in tcp://192.0.2.1:7700; where the "
                 "name is known later, --wait SECONDS waits longer");
  return ended(end::unreachable, "nobody answers at " + in_.address,
               "is a server there? The first line that troupe serve prints "
               "is its address; --wait SECONDS waits longer");
}

} // namespace troupe::node
