#include "models/data/combinations.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/random.hpp"
#include "models/data/deal.hpp"

namespace troupe::models {

namespace {

/// Up to here combinations are listed; of more they are drawn.
constexpr std::size_t listed_max = 100'000;

/// Far above what clients can have, and far below what a number can hold.
constexpr std::size_t counted_max = 1'000'000'000'000;

/// How many combinations of k of n there are, or more than `counted_max`.
/// @pre k <= n
std::size_t count_combinations(std::size_t n, std::size_t k) {
  k = std::min(k, n - k);
  std::size_t count = 1;
  // Each of these is a whole number, and none below the one before.
  for (std::size_t i = 1; i <= k && count <= counted_max; ++i)
    count = count * (n - k + i) / i;
  return count;
}

std::vector<kind_set> list_combinations(const kind_set& of, std::size_t k) {
  std::vector<kind_set> all;
  std::vector<bool> chosen(of.size(), false);
  std::fill_n(chosen.begin(), k, true);
  do {
    auto& mine = all.emplace_back();
    for (std::size_t i = 0; i < of.size(); ++i)
      if (chosen[i])
        mine.push_back(of[i]);
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return all;
}

kind_set draw_combination(kind_set of, std::size_t k, random_stream& random) {
  for (std::size_t i = 0; i < k; ++i)
    std::swap(of[i], of[i + random.below(of.size() - i)]);
  of.resize(k);
  std::sort(of.begin(), of.end());
  return of;
}

/// Part `i` of `n` equal ones, in order.
kind_set part_of(const kind_set& all, std::size_t i, std::size_t n) {
  kind_set part;
  give(part, all, i * all.size() / n, (i + 1) * all.size() / n);
  std::sort(part.begin(), part.end());
  return part;
}

/// Draws what the clients of one group have.
class group_draw {
public:
  group_draw(kind_set kinds, const combinations_partition& how,
             std::uint64_t seed, std::size_t group)
    : kinds_(std::move(kinds)),
      size_(how.kinds),
      seed_(seed),
      group_(group),
      training_(stream("combinations")),
      strangers_(stream("held-out combinations")) {
    // nop
  }

  std::vector<kind_set> anchors(std::size_t count) {
    auto order = kinds_;
    auto random = stream("anchors");
    random.shuffle(order);
    std::vector<kind_set> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(part_of(order, i, count));
    taken_ = std::set<kind_set>(out.begin(), out.end());
    return out;
  }

  /// Keeps so many that nobody trains on, if `rest` others are left.
  bool withhold(std::size_t count, std::size_t rest) {
    auto random = stream("withheld combinations");
    const auto total = count_combinations(kinds_.size(), size_);
    if (total > listed_max) // Who trains must soon find one of the others.
      return count <= total / 2 && withhold_drawn(count, random);
    auto all = list_combinations(kinds_, size_);
    std::erase_if(all, [&](const auto& x) { return taken_.contains(x); });
    if (all.size() < count + rest)
      return false;
    random.shuffle(all);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
    withheld_.assign(all.begin(), end);
    left_.assign(end, all.end());
    return true;
  }

  kind_set training() {
    if (!left_.empty())
      return left_[training_.below(left_.size())];
    // Where some are withheld and not all are listed there are many more.
    auto x = draw_combination(kinds_, size_, training_);
    while (kept_.contains(x))
      x = draw_combination(kinds_, size_, training_);
    return x;
  }

  /// Of the i-th that is held out.
  kind_set held_out(std::size_t i) {
    if (!withheld_.empty())
      return withheld_[i % withheld_.size()];
    return draw_combination(kinds_, size_, strangers_);
  }

private:
  random_stream stream(std::string_view name) const {
    return random_stream{derive_seed(seed_, name, group_)};
  }

  bool withhold_drawn(std::size_t count, random_stream& random) {
    for (std::size_t i = 0; i < 1000 * count && withheld_.size() < count; ++i) {
      const auto x = draw_combination(kinds_, size_, random);
      if (!taken_.contains(x) && kept_.insert(x).second)
        withheld_.push_back(x);
    }
    return withheld_.size() == count;
  }

  kind_set kinds_;
  std::size_t size_;
  std::uint64_t seed_;
  std::size_t group_;
  random_stream training_;
  random_stream strangers_;
  std::set<kind_set> taken_;       ///< By anchors.
  std::vector<kind_set> withheld_; ///< In the order of who gets them.
  std::set<kind_set> kept_;        ///< The same, where not all are listed.
  std::vector<kind_set> left_;     ///< Empty: all that is not kept.
};

std::string text(std::size_t x) {
  return std::to_string(x);
}

result<void> check(const combinations_partition& how, std::size_t kinds,
                   const std::string& name, client_counts clients) {
  const auto groups = std::size_t{how.groups};
  if (groups < 1 || groups > kinds)
    return refuse_partition("groups is " + text(groups) + ", and the data has "
                            + text(kinds) + " kinds; 1 to " + text(kinds)
                            + " would do");
  const auto of_group = kinds / groups;
  if (how.kinds < 1 || how.kinds > of_group)
    return refuse_partition(
      "kinds_per_client is " + text(how.kinds)
      + (groups == 1 ? ", and the data has " + text(kinds) + " kinds"
                     : ", and each of " + text(groups) + " groups has "
                         + text(of_group) + " of " + text(kinds) + " kinds")
      + "; 1 to " + text(of_group) + " would do");
  if (how.anchors > of_group * groups)
    return refuse_partition(
      "anchors is " + text(how.anchors) + ": " + text(kinds) + " " + name
      + " cannot be shared out to " + text(how.anchors) + " anchors; at most "
      + text(of_group * groups) + " would do");
  if (how.anchors > 0 && how.anchors < groups)
    return refuse_partition("anchors is " + text(how.anchors)
                            + ", and there are " + text(groups)
                            + " groups: each needs one of its own; 0, or from "
                            + text(groups) + ", would do");
  return check_anchors(how.anchors, clients);
}

/// How many of `n` clients, from client `first` on, are in the group.
std::size_t members(std::size_t first, std::size_t n, std::size_t group,
                    std::size_t groups) {
  const auto up_to = [&](std::size_t end) {
    return (end + groups - 1 - group) / groups;
  };
  return up_to(first + n) - up_to(first);
}

tl::unexpected<error> nothing_left(const combinations_partition& how,
                                   std::size_t kinds, const std::string& name,
                                   std::size_t held_out) {
  const auto of = text(how.kinds) + " of " + text(kinds) + " " + name;
  if (how.withheld > 0)
    return refuse_partition("there are too few combinations of " + of
                            + " to withhold " + text(how.withheld)
                            + "; a smaller 'withheld' or another "
                              "'kinds_per_client' would do");
  return refuse_partition("there is no combination of " + of + " left for "
                          + text(held_out)
                          + " held-out clients; a smaller 'held_out' or fewer "
                            "'kinds_per_client' would do");
}

} // namespace

result<void> check_anchors(std::size_t anchors, client_counts clients) {
  if (anchors > clients.training())
    return refuse_partition("anchors is " + text(anchors) + ", and "
                            + text(clients.training())
                            + " clients train; at most that would do");
  return {};
}

result<std::vector<kind_set>>
draw_combinations(const combinations_partition& how, const kind_set& present,
                  std::string_view name, client_counts clients,
                  std::uint64_t seed) {
  const std::string called{name};
  if (auto ok = check(how, present.size(), called, clients); !ok)
    return tl::unexpected{ok.error()};
  const auto groups = std::size_t{how.groups};
  auto order = present;
  if (groups > 1) {
    random_stream random{derive_seed(seed, "kinds of groups")};
    random.shuffle(order);
  }
  std::vector<kind_set> out(clients.all);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto kinds = part_of(order, g, groups);
    const auto in_group = [&](std::size_t first, std::size_t n) {
      return members(first, n, g, groups);
    };
    const auto anchors = in_group(0, how.anchors);
    const auto commons =
      in_group(how.anchors, clients.training() - how.anchors);
    const auto held_out = in_group(clients.training(), clients.held_out);
    group_draw draw{kinds, how, seed, g};
    const auto of_anchors = draw.anchors(anchors);
    std::size_t withheld = how.withheld > 0 ? how.withheld : held_out;
    if (!how.unseen)
      withheld = 0;
    if (withheld > 0 && !draw.withhold(withheld, commons > 0 ? 1 : 0))
      return nothing_left(how, kinds.size(), called, held_out);
    std::size_t anchor = 0, stranger = 0;
    for (std::size_t k = g; k < clients.all; k += groups)
      out[k] = k < how.anchors          ? of_anchors[anchor++]
               : k < clients.training() ? draw.training()
                                        : draw.held_out(stranger++);
  }
  return out;
}

} // namespace troupe::models
