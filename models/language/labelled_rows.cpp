#include "models/language/labelled_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/assert.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "models/language/document_parts.hpp"
#include "models/language/documents.hpp"
#include "models/language/label_deal.hpp"
#include "models/language/row_maker.hpp"
#include "models/language/stream_cache.hpp"

namespace troupe::models {

namespace {

using number_list = std::vector<std::uint32_t>;

constexpr std::size_t text_labels_max = 65'536;

/// A text of two sources that are drawn apart stays in the first of them.
constexpr std::array all_parts{text_part::train, text_part::validation,
                               text_part::test};

/// Equal rows have equal ones.
digest content_of(const labelled_text& x) {
  const auto all =
    x.before + '\0' + x.text + (x.second ? '\0' + *x.second : "");
  return digest_of(std::as_bytes(std::span{all}));
}

/// What it says, or is drawn. Of those without a source equal ones are drawn
/// alike.
text_part part_of(const labelled_text& x, const digest& content,
                  const labelled_options& how) {
  if (x.part)
    return *x.part;
  return part_of_source(
    x.source.empty() ? to_hex(content) : x.source,
    {.validation = how.validation_share, .test = how.test_share}, how.seed);
}

/// No more than so many, drawn.
void bound(number_list& rows, std::size_t most, std::uint64_t seed) {
  if (most == 0 || rows.size() <= most)
    return;
  random_stream{seed}.shuffle(rows);
  rows.resize(most);
  std::ranges::sort(rows);
}

digest digest_of_numbers(const std::vector<std::uint64_t>& xs) {
  return digest_of(std::as_bytes(std::span{xs}));
}

} // namespace

/// Makes rows of texts, part after part.
struct labelled_rows::loader {
  const labelled_options& how;
  row_maker rows_of;
  labelled_rows& to;
  std::map<std::string, std::uint32_t> numbers = {}; ///< Of labels.
  /// Of each part and user, as they lie in their set.
  std::map<text_part, std::vector<number_list>> rows = {};
  std::map<digest, text_part> placed = {};        ///< Texts, by what they are.
  std::map<text_part, std::uint64_t> beyond = {}; ///< Rows that are none.
  std::set<text_part> said = {};                  ///< Parts that lines name.

  result<void> load() {
    auto users = read_labelled(how.files);
    if (!users)
      return tl::make_unexpected(users.error());
    if (how.files.task == text_task::classify)
      to.dropped_paragraphs_ = drop_repeated(*users);
    to.emptied_ = emptied_of(*users);
    if (auto ok = number_labels(*users); !ok)
      return ok;
    for (const auto part : all_parts)
      for (const auto& user : *users)
        if (auto ok = add_user(user, part); !ok)
          return ok;
    to.training_.close();
    to.test_.close();
    return (how.clients > 0 ? deal_all() : deal_users(*users)).map([&] {
      to.content_ = sum();
    });
  }

private:
  tl::unexpected<error> refuse(const std::string& what) const {
    return fail(errc::invalid_data, how.files.folder.string() + ": " + what);
  }

  result<void> number_labels(const std::vector<labelled_user>& users) {
    std::set<std::string> names;
    for (const auto& user : users)
      for (const auto& x : user.texts)
        names.insert(x.label);
    to.labels_.assign(names.begin(), names.end());
    for (const auto& name : to.labels_)
      numbers.emplace(name, static_cast<std::uint32_t>(numbers.size()));
    if (how.files.task != text_task::classify)
      return check_kinds();
    if (to.labels_.size() < 2)
      return refuse("all texts have one label"
                    + (to.labels_.empty()
                         ? std::string{}
                         : ", " + in_quotes(shortened(to.labels_.front())))
                    + ", which nothing tells apart; two would do");
    if (to.labels_.size() > text_labels_max)
      return refuse("there are " + std::to_string(to.labels_.size())
                    + " labels, and at most " + std::to_string(text_labels_max)
                    + " would do; 'label' says which key has them");
    return {};
  }

  /// Sorted by what no text has, they would be dealt as they come.
  result<void> check_kinds() const {
    if (!is_by_label(as_dealt()) || to.labels_ != std::vector<std::string>{""})
      return {};
    return refuse("no text has " + in_quotes(shortened(how.files.label))
                  + ", by which they are dealt; another 'data.label', or "
                    "'sorted_fraction' 0, would do");
  }

  result<void> add_user(const labelled_user& user, text_part part) {
    auto& own = rows[part].emplace_back();
    auto& set = part == text_part::test ? to.test_ : to.training_;
    for (const auto& text : user.texts) {
      const auto content = content_of(text);
      if (part_of(text, content, how) != part)
        continue;
      if (text.part)
        said.insert(part);
      if (placed.emplace(content, part).first->second != part) {
        ++to.left_out_;
        continue;
      }
      const auto made = rows_of.make_all(text, part != text_part::train);
      if (!made)
        return fail(made.error().code, how.files.folder.string() + ": user "
                                         + in_quotes(shortened(user.name))
                                         + ": " + made.error().context);
      if (made->empty()) {
        ++to.left_out_;
        ++to.beyond_;
        ++beyond[part];
        continue;
      }
      own.push_back(static_cast<std::uint32_t>(set.rows.size()));
      set.add(*made, numbers.at(text.label));
      to.in_pairs_ += text.second ? 1 : 0;
      if (made->front().second_from > 0)
        to.types_ = 2;
      if (part == text_part::test && how.files.task == text_task::span)
        to.asked_.push_back(asked_of(text, made->front().text_first));
    }
    return {};
  }

  static asked_text asked_of(const labelled_text& text, std::size_t first) {
    asked_text x{.text = text.text, .first = first, .meant = text.meant};
    if (x.meant.empty())
      x.meant.emplace_back();
    return x;
  }

  bool is_wanted(text_part part) const {
    const auto share =
      part == text_part::test ? how.test_share : how.validation_share;
    return part == text_part::train || said.contains(part) || share > 0;
  }

  std::string more_of(text_part part) const {
    return std::string{larger_share(part, said.contains(part))} + " would do";
  }

  std::vector<number_list>& clients_of(text_part part) const noexcept {
    auto& all = to.clients_;
    return part == text_part::train        ? all.train
           : part == text_part::validation ? all.own_validation
                                           : all.test;
  }

  /// What would do where rows were left out that a larger context has room for.
  std::string about_context(text_part part) const {
    const auto found = beyond.find(part);
    if (found == beyond.end() || how.files.task == text_task::classify)
      return "; ";
    return "; " + std::to_string(found->second)
           + " more have what is asked for beyond 'context', which is "
           + std::to_string(how.context) + ": a larger one, ";
  }

  result<void> deal_users(const std::vector<labelled_user>& users) {
    for (const auto part : all_parts) {
      auto& own = clients_of(part) = std::move(rows[part]);
      for (std::size_t k = 0; k < own.size(); ++k)
        if (own[k].empty() && is_wanted(part))
          return refuse("user " + in_quotes(shortened(users[k].name))
                        + " has no rows for " + std::string{name_of(part)}
                        + about_repeats(users[k].dropped) + about_context(part)
                        + "more texts" + more_of(part));
    }
    bound_all();
    return {};
  }

  label_deal as_dealt() const {
    return {.clients = how.clients,
            .scheme = how.scheme,
            .sorted_fraction = how.sorted_fraction,
            .even_tests = how.even_tests,
            .seed = how.seed};
  }

  result<void> deal_all() {
    std::map<text_part, number_list> all;
    std::map<text_part, number_list> labels;
    for (const auto part : all_parts) {
      auto& own = all[part];
      for (const auto& x : rows[part])
        own.insert(own.end(), x.begin(), x.end());
      if (own.size() < how.clients && is_wanted(part))
        return refuse(
          "there are " + std::to_string(own.size()) + " rows for "
          + std::string{name_of(part)} + ", and " + std::to_string(how.clients)
          + " clients who share them" + about_repeats(to.dropped_paragraphs_)
          + about_context(part) + "more texts, fewer clients" + more_of(part));
      const auto& set = part == text_part::test ? to.test_ : to.training_;
      auto& of = labels[part];
      for (const auto number : own)
        of.push_back(set.rows[number].label);
    }
    auto dealt = deal_by_label(labels, as_dealt());
    if (!dealt)
      return tl::make_unexpected(dealt.error());
    for (auto& [part, clients] : *dealt)
      if (auto ok = give_all(part, all[part], std::move(clients)); !ok)
        return ok;
    bound_all();
    return {};
  }

  result<void> give_all(text_part part, const number_list& all,
                        std::vector<number_list> places) {
    auto& clients = clients_of(part) = std::move(places);
    for (std::size_t k = 0; k < clients.size(); ++k) {
      if (clients[k].empty() && is_wanted(part))
        return refuse("client " + std::to_string(k + 1) + " of "
                      + std::to_string(clients.size()) + " has none of "
                      + std::to_string(all.size()) + " rows for "
                      + std::string{name_of(part)} + ", as its labels have few"
                      + about_context(part)
                      + std::string{more_labels(how.scheme)} + ", fewer clients"
                      + more_of(part));
      for (auto& x : clients[k])
        x = all[x];
    }
    return {};
  }

  void bound_all() {
    auto& all = to.clients_.train;
    for (std::size_t k = 0; k < all.size(); ++k)
      bound(all[k], how.rows_max, derive_seed(how.seed, "bound", k));
    for (auto& own : all)
      add_later(own);
  }

  /// Who learns from a text learns from each of its windows as a row.
  void add_later(number_list& own) {
    const auto texts = own;
    for (const auto row : texts) {
      const auto later = std::exchange(to.training_.rows[row].later, {});
      for (std::uint32_t i = 0; i < later.count; ++i)
        own.push_back(later.first + i);
    }
  }

  /// All that decides what a client learns.
  digest sum() const {
    std::map<std::string, digest> parts{
      {"sizes", digest_of_numbers({to.context_, to.vocabulary_,
                                   static_cast<std::uint64_t>(to.task_)})}};
    for (std::size_t i = 0; i < to.labels_.size(); ++i)
      parts["label/" + std::to_string(i)] =
        digest_of(std::as_bytes(std::span{to.labels_[i]}));
    to.training_.say("train", parts);
    to.test_.say("test", parts);
    for (const auto part : all_parts) {
      const auto& clients = clients_of(part);
      for (std::size_t k = 0; k < clients.size(); ++k)
        parts["client/" + std::to_string(k + 1) + '/'
              + std::string{name_of(part)}] =
          digest_of(std::as_bytes(std::span{clients[k]}));
    }
    return digest_of(parts);
  }
};

result<std::shared_ptr<const labelled_rows>>
labelled_rows::load(const labelled_options& how,
                    std::shared_ptr<const tokenizer> by) {
  TROUPE_ASSERT(how.files.task != text_task::language && how.context > 1);
  std::shared_ptr<labelled_rows> out{new labelled_rows};
  out->task_ = how.files.task;
  out->context_ = how.context;
  out->vocabulary_ = static_cast<std::uint32_t>(by->size());
  out->by_ = by;
  loader all{.how = how,
             .rows_of = {how.files.task, how.context, how.stride, *by},
             .to = *out};
  if (auto ok = all.load(); !ok)
    return tl::make_unexpected(ok.error());
  return out;
}

std::size_t labelled_rows::second_from(split part, std::uint32_t row) const {
  TROUPE_ASSERT(row < size(part));
  return of(part).rows[row].second_from;
}

later_windows labelled_rows::later_of(split part, std::uint32_t row) const {
  TROUPE_ASSERT(row < size(part));
  return of(part).rows[row].later;
}

std::size_t labelled_rows::label_of(split part, std::uint32_t row) const {
  TROUPE_ASSERT(row < size(part));
  return of(part).rows[row].label;
}

token_span labelled_rows::asked_of(split part, std::uint32_t number) const {
  TROUPE_ASSERT(number < size(part) && task_ != text_task::classify);
  const auto& all = of(part).rows;
  const auto& x = all[number];
  if (task_ != text_task::span)
    return {x.first, x.size - 1};
  token_span found{x.first, x.last};
  for (std::uint32_t i = 0; found.is_none() && i < x.later.count; ++i)
    found = {all[x.later.first + i].first, all[x.later.first + i].last};
  return found;
}

bool labelled_rows::is_cut(split part, std::uint32_t number) const {
  TROUPE_ASSERT(number < size(part));
  return of(part).rows[number].is_cut;
}

std::string labelled_rows::said(std::uint32_t number,
                                const token_span& x) const {
  TROUPE_ASSERT(number < test_.rows.size() && answers() != nullptr);
  const auto& row = test_.rows[number];
  return said_by(x,
                 {.ids = std::span{test_.ids}.subspan(row.begin, row.size),
                  .skipped = row.skipped},
                 asked_[row.text], *by_);
}

std::span<const std::string> labelled_rows::meant(std::uint32_t number) const {
  TROUPE_ASSERT(number < test_.rows.size() && answers() != nullptr);
  return asked_[test_.rows[number].text].meant;
}

void labelled_rows::read(split part, std::uint32_t row,
                         std::span<std::int32_t> ids,
                         std::span<std::int32_t> targets) const {
  TROUPE_ASSERT(row < size(part) && ids.size() == context_
                && targets.size() == context_);
  const auto& set = of(part);
  const auto& x = set.rows[row];
  std::ranges::fill(ids, -1);
  std::ranges::fill(targets, -1);
  for (std::size_t i = 0; i < x.size; ++i)
    ids[i] = static_cast<std::int32_t>(set.ids[x.begin + i]);
  switch (task_) {
    case text_task::span:
      targets[0] = static_cast<std::int32_t>(x.first);
      targets[1] = static_cast<std::int32_t>(x.last);
      return;
    case text_task::describe:
      for (std::size_t i = x.first; i < x.size; ++i)
        targets[i - 1] = ids[i];
      return;
    case text_task::language:
    case text_task::classify:
      break;
  }
  targets[0] = static_cast<std::int32_t>(x.label);
}

} // namespace troupe::models
