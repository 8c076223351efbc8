#include "node/join/admission.hpp"

#include <filesystem>
#include <utility>

#include "core/hex.hpp"
#include "node/join/enrolment.hpp"
#include "node/join/farewells.hpp"
#include "node/keys/pair.hpp"

namespace troupe::node {

using transport::turned_away;
using end = join_summary::end;

namespace {

join_summary turned_down(std::string why, std::string hint) {
  return ended(end::refused, std::move(why), std::move(hint));
}

} // namespace

std::optional<join_summary>
admission::prepare(transport::socket_endpoint::options& to) {
  to.away = [this](turned_away why) {
    why_ = why;
    refused_ = true;
  };
  if (!in_.server)
    return std::nullopt;
  const auto own = pair_at(std::filesystem::path{in_.store} / "pair");
  if (!own)
    return ended(end::failed, own.error().context);
  own_ = to_hex(own->open);
  to.keys = transport::dialler_keys{*own, *in_.server};
  return in_.invitation ? enrol_own(own->open) : std::nullopt;
}

// Who was enrolled before comes in by its own key, whatever became of the line.
std::optional<join_summary> admission::enrol_own(const public_key& own) {
  using how = enrolment_outcome::how;
  const auto found = enrol({.address = in_.address,
                            .server = *in_.server,
                            .line = *in_.invitation,
                            .own = own,
                            .wait = in_.wait,
                            .stop = in_.stop});
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

join_summary admission::not_let_in() const {
  if (why_ == turned_away::our_key && !line_problem_.empty())
    return turned_down(line_problem_, "where it is served: troupe keys invite "
                                      "--name NAME --keys DIR makes another");
  if (why_ == turned_away::our_key)
    return turned_down("it does not let this key in, or no longer: " + own_,
                       "where it is served: troupe keys allow KEY --name NAME "
                       "--keys DIR");
  if (in_.server)
    return turned_down("who answers at " + in_.address + " has not the key "
                         + to_hex(*in_.server),
                       "the first line that troupe serve prints has it; with "
                       "--insecure there is none, on neither side");
  return turned_down("who answers at " + in_.address + " wants keys",
                     "--server KEY --store DIR, with the key that troupe serve "
                     "prints behind its address");
}

join_summary admission::no_answer() const {
  if (refused_)
    return not_let_in();
  if (in_.stop && *in_.stop)
    return interrupted(in_);
  return ended(end::unreachable, "nobody answers at " + in_.address,
               "is a server there? The first line that troupe serve prints "
               "is its address; --wait SECONDS waits longer");
}

} // namespace troupe::node
