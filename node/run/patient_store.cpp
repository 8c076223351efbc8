#include "node/run/patient_store.hpp"

namespace troupe::node {

namespace {

result<void> insist(const patient_store::patience& goes_on, auto&& attempt) {
  auto done = attempt();
  while (!done && goes_on(done.error()))
    done = attempt();
  return done;
}

} // namespace

result<actors::stored_node> patient_store::load() {
  return behind_->load();
}

result<void>
patient_store::begin(line_id line,
                     const std::vector<messages::merged_block>& first) {
  return behind_->begin(line, first);
}

result<void> patient_store::commit(const messages::commit_requested& x) {
  if (what_ == waiting::for_lines)
    return behind_->commit(x);
  return insist(goes_on_, [&] { return behind_->commit(x); });
}

result<void> patient_store::save(const messages::save_requested& x) {
  if (what_ == waiting::for_lines)
    return behind_->save(x);
  return insist(goes_on_, [&] { return behind_->save(x); });
}

result<void> patient_store::note(const messages::line_noted& x) {
  auto done = insist(goes_on_, [&] { return behind_->note(x); });
  if (x.where != messages::line_noted::file::events || !events_.reached)
    return done;
  events_.bytes += x.text.size() + 1;
  if (events_.bytes > events_.bytes_max)
    std::exchange(events_.reached, nullptr)();
  return done;
}

result<std::optional<messages::version_published>>
patient_store::read(const messages::version_wanted& x) {
  return behind_->read(x);
}

result<void> patient_store::flush() {
  return behind_->flush();
}

// One that could not be taken costs time after a crash, and no result.
result<void> patient_store::keep(const actors::snapshot& x) {
  return behind_->keep(x);
}

result<std::optional<actors::snapshot>> patient_store::rewind() {
  return behind_->rewind();
}

} // namespace troupe::node
