// What versions are made of, and what becomes of them.

#include <algorithm>

#include "actors/kernel_worker/merge.hpp"
#include "node/replay/product_gaps.hpp"
#include "node/replay/replayer.hpp"
#include "node/replay/texts.hpp"

namespace troupe::node {

using namespace actors;

// Whether the configuration makes a version of these.
result<void> replayer::check_batch(const version_recorded& x) const {
  const auto& line = lines_.at(x.line);
  if (!by_round(x_.pace.mode))
    return line.check(x.merged);
  const auto found = rounds_.find(x.round);
  const auto of = "round " + std::to_string(x.round.value);
  if (found == rounds_.end())
    return fail(errc::invalid_data,
                "a version of " + of
                  + ", which was not closed; 'round_closed' before it would "
                    "do");
  for (const auto& visit : x.merged)
    if (!found->second.all.contains(visit))
      return fail(errc::invalid_data, "a version holds " + to_text(visit)
                                        + ", which " + of + " does not name");
  const auto& parts = found->second.parts;
  for (const auto& visit : found->second.last)
    if (line.holds(visit) && (parts.empty() || parts.contains({visit, x.line}))
        && std::ranges::find(x.merged, visit) == x.merged.end())
      return fail(errc::invalid_data, "a version leaves out " + to_text(visit)
                                        + ", which " + of + " names");
  return {};
}

void replayer::adopt(const version_recorded& x,
                     const messages::merge_finished& made) {
  lines_.at(x.line).adopt(made.blocks, x.merged, [&](version y) {
    return ahead_.is_fetched(x.line, y);
  });
  for (const auto& visit : x.merged) {
    say(visit.client, messages::offer_answered{
                        visit, x.line, policies::verdict::accepted, x.head, 0});
    close_if_over(visit);
    let_go_of_other(visit);
  }
}

models::evaluation_input replayer::standing() const {
  models::evaluation_input all;
  for (const auto& [id, line] : lines_)
    for (const auto& x : line.blocks())
      all.versions.push_back(
        {.block = x.block,
         .base = line.head(),
         .values = models::sent_of(*w_.blocks->find(x.block), x.values)});
  std::ranges::sort(all.versions, {}, &models::fetched_block::block);
  for (const auto& [id, talk] : clients_)
    all.states.emplace(id, talk.file().state);
  return all;
}

result<models::evaluated> replayer::scores() const {
  auto all = standing();
  all.per_client = true;
  all.held_out = x_.clients.held_out > 0;
  all.aside = false;
  return chooser_->evaluate(all);
}

result<comparison> replayer::on(const version_recorded& x) {
  const auto due = next(lines_.at(x.line).head());
  const auto& blocks = w_.blocks->find(x.line)->blocks;
  if (x.head != due)
    return fail(errc::invalid_data,
                "version " + std::to_string(x.head.value) + " of "
                  + to_text(x.line) + " cannot come here; "
                  + std::to_string(due.value) + " would do");
  if (x.digests.size() != blocks.size())
    return fail(errc::invalid_data,
                "there are " + std::to_string(x.digests.size()) + " digests; "
                  + std::to_string(blocks.size())
                  + " would do, one for each block of " + to_text(x.line));
  if (auto ok = check_batch(x); !ok)
    return tl::make_unexpected(ok.error());
  if (x.clients > 0)
    lines_.at(x.line).admit(x.clients);
  const auto made =
    lines_.at(x.line).merge_of(x.merged).and_then([&](const auto& y) {
      note_product_gaps(y, w_, gaps_);
      return merge(*arithmetic_, *w_.blocks, y);
    });
  comparison all;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    auto one = compare("version " + std::to_string(x.head.value) + " of block '"
                         + w_.blocks->find(blocks[b])->name + "'",
                       x.digests[b],
                       made ? models::to_hex(made->blocks[b].digest)
                            : made.error().context);
    all.equal += one.equal;
    all.total += one.total;
    if (!all.first)
      all.first = std::move(one.first);
  }
  if (made)
    adopt(x, *made);
  return all;
}

} // namespace troupe::node
