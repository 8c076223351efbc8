#include "node/replay/replay.hpp"

#include <fstream>

#include "node/replay/replayer.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

namespace {

/// The whole lines of a file, one after the other.
class record {
public:
  explicit record(const fs::path& path) : path_(path), in_(path) {
    std::error_code none;
    size_ = fs::file_size(path, none);
  }

  bool readable() const {
    return in_.is_open();
  }

  bool next() {
    if (!std::getline(in_, text_))
      return false;
    ++number_;
    bytes_ += text_.size() + 1;
    // Only the last line can end without its end.
    cut_off_ = in_.eof();
    return !cut_off_;
  }

  result<actors::recorded_event> event() const {
    auto found = actors::read_event(text_);
    if (!found)
      return refuse(found.error().context);
    return found;
  }

  tl::unexpected<error> refuse(const std::string& why) const {
    return fail(errc::invalid_data,
                path_.string() + ":" + std::to_string(number_) + ": " + why);
  }

  bool cut_off() const noexcept {
    return cut_off_;
  }

  std::uint64_t number() const noexcept {
    return number_;
  }

  double done() const noexcept {
    return static_cast<double>(bytes_) / static_cast<double>(size_);
  }

private:
  fs::path path_;
  std::ifstream in_;
  std::uintmax_t size_ = 0;
  std::string text_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
  bool cut_off_ = false;
};

std::uint64_t digests_in(const actors::recorded_event& x) {
  if (const auto* version = std::get_if<actors::version_recorded>(&x))
    return version->digests.size();
  return std::holds_alternative<actors::offer_recorded>(x) ? 1 : 0;
}

/// What no longer can be compared still counts.
void count_rest(record& from, comparison& to) {
  while (from.next())
    if (const auto event = from.event())
      to.total += digests_in(*event);
}

void note_fingerprint(const actors::recorded_event& x,
                      const replay_context& in) {
  const auto* began = std::get_if<actors::process_began>(&x);
  if (began && began->fingerprint != in.fingerprint)
    in.note("this run was recorded with other arithmetic: '"
            + began->fingerprint + "', and here is '" + in.fingerprint
            + "'; equal digests are promised only where the two are equal");
}

} // namespace

result<replay_summary> replay(const experiment& x, const fs::path& folder,
                              const replay_context& in) {
  record from{folder / "events.jsonl"};
  if (!from.readable())
    return fail(errc::invalid_data,
                (folder / "events.jsonl").string()
                  + " cannot be read; the folder of a run with events = true "
                    "would do");
  std::optional<workload> work;
  std::unique_ptr<replayer> story;
  replay_summary s;
  while (from.next()) {
    const auto event = from.event();
    if (!event)
      return tl::make_unexpected(event.error());
    note_fingerprint(*event, in);
    if (!story) {
      auto prepared = prepare(x, in.make_model);
      if (!prepared)
        return tl::make_unexpected(prepared.error());
      work = std::move(*prepared);
      auto made = replayer::make(x, *work);
      if (!made)
        return tl::make_unexpected(made.error());
      story = std::move(*made);
    }
    auto heard = story->hear(*event);
    if (!heard)
      return from.refuse(heard.error().context);
    s.digests.equal += heard->equal;
    s.digests.total += heard->total;
    in.show({from.done(), from.number(), s.digests.equal});
    if (heard->first) {
      s.digests.first = std::move(heard->first);
      s.differs_at = from.number();
      count_rest(from, s.digests);
    }
  }
  if (from.cut_off())
    in.note("the last line of the record is cut off, as by a kill; it is left "
            "out");
  if (story)
    s.product_gap = story->product_gaps();
  return s;
}

} // namespace troupe::node
