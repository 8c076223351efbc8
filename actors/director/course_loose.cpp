// Visits that are over while lines of windows hold parts of them.

#include <algorithm>
#include <utility>

#include "actors/director/course.hpp"

namespace troupe::actors {

// Its parts may still become whole, as a buffer would take each of them.
void course::give_up(visit_id x, instant now) {
  if (auto* found = find_open(x); found && options_.mode == pace_kind::semisync
                                  && is_any_kept(found->parts)) {
    auto& v = loose_[x] = *found;
    v.again = now + 2 * options_.window;
    loose_until_ = std::min(loose_until_, v.again);
  }
  close_visit(x);
}

// What lines hold of it they drop and answer, in every pace; the client may
// still be at work only where none of them has heard of it.
void course::expire(visit_id x, actions& out, instant now) {
  if (is_any_kept(find_open(x)->parts)) {
    out.push_back(messages::visit_dropped{x});
  } else {
    out.push_back(messages::visit_withdrawn{x});
    if (options_.strangers)
      came_to_nothing(x.client, now);
  }
  close_visit(x);
}

void course::take_loose(const messages::part_taken& x, instant now) {
  if (options_.mode != pace_kind::semisync || finishing_)
    return;
  auto found = loose_.find(x.visit);
  if (found == loose_.end()) {
    if (x.verdict != policies::verdict::accepted
        || is_on_a_list(x.visit, x.line))
      return;
    found = loose_.emplace(x.visit, open_visit{}).first;
    found->second.again = now + 2 * options_.window;
    loose_until_ = std::min(loose_until_, found->second.again);
  }
  auto& v = found->second;
  v.parts[x.line] = x.verdict;
  if (!is_whole(v.parts, x.lines_total)) {
    if (!is_any_kept(v.parts))
      loose_.erase(found);
    return;
  }
  offered(x.visit, v, now);
  const auto merged = std::move(v.merged);
  loose_.erase(found);
  for (const auto line : merged)
    list_no_more(x.visit, line);
}

// It was struck off a list, came after all, and was merged before its line
// heard that it was struck.
void course::list_no_more(visit_id x, line_id of) {
  if (const auto found = loose_.find(x); found != loose_.end())
    found->second.merged.insert(of);
  const auto at = std::ranges::find_if(
    offered_, [x](const auto& y) { return y.what.visit == x; });
  if (at == offered_.end())
    return;
  auto node = offered_.extract(at);
  std::erase(node.value().what.lines, of);
  if (!node.value().what.lines.empty())
    offered_.insert(std::move(node));
}

// A list that is made is merged as it is: it is durable, and lines wait for it.
void course::drop_offer(visit_id x, actions& out) {
  voided_[x.client].insert(x.number);
  std::erase_if(offered_, [x](const auto& y) { return y.what.visit == x; });
  loose_.erase(x);
  const auto at = pending_.lower_bound({x, line_id{}});
  if (at != pending_.end() && at->first.first == x && !is_on_a_list(x))
    out.push_back(messages::visit_dropped{x});
}

bool course::is_on_a_list(visit_id x, std::optional<line_id> of) const {
  const auto names = [&](const messages::closed_visit& y) {
    return y.visit == x
           && (!of || std::ranges::find(y.lines, *of) != y.lines.end());
  };
  return std::ranges::any_of(round_.visits, names)
         || std::ranges::any_of(offered_,
                                [&](const auto& o) { return names(o.what); });
}

void course::drop_loose(actions& out, instant now) {
  loose_until_ = never;
  std::erase_if(loose_, [&](const auto& x) {
    if (x.second.again > now) {
      loose_until_ = std::min(loose_until_, x.second.again);
      return false;
    }
    out.push_back(messages::visit_dropped{x.first});
    return true;
  });
}

} // namespace troupe::actors
