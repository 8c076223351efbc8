#pragma once

#include <gtest/gtest.h>

#include "actors/client/dialogue.hpp"

namespace troupe::actors {

using policies::verdict;

inline const client_id me{7};
inline const line_id first{1}, second{2};

/// One leg, two lines.
inline recipe method_of(state_rule state) {
  return {.name = "two_lines",
          .summary = "",
          .blocks = {{.name = "a"}, {.name = "b"}},
          .legs = {{.fetch = {{"a"}, {"b"}}}},
          .roles = {},
          .state = state};
}

/// A client that has said hello and was welcomed, and what it has said since.
struct talk {
  explicit talk(state_rule state, client_file found = {},
                std::shared_ptr<line_cache> cache = {})
    : method(method_of(state)),
      blocks(std::make_shared<models::layout>(
        *models::make_layout(method,
                             {{"a", {{.name = "w", .shape = {1}}}},
                              {"b", {{.name = "w", .shape = {1}}}}},
                             {}))),
      testee({.me = me,
              .examples = 5,
              .method = &method,
              .blocks = blocks,
              .resend_after = std::chrono::seconds{10},
              .cache = std::move(cache)},
             std::move(found)) {
    did(testee.start(now));
    welcome();
    said.clear();
  }

  void welcome() {
    const auto nonce = last<messages::hello>().nonce;
    hear(messages::welcome{.nonce = nonce, .session = {1}, .heads = {}});
  }

  void did(const dialogue::actions& what) {
    said.insert(said.end(), what.begin(), what.end());
  }

  void hear(const messages::any_message& x) {
    did(testee.heard(x, now));
  }

  void invite(std::uint64_t number) {
    messages::ticket pass;
    pass.visit = {me, {number}};
    hear(messages::invited{pass});
  }

  void serve(std::uint64_t number, line_id line, version base = {4}) {
    hear(messages::line_served{.visit = {me, {number}},
                               .line = line,
                               .base = base,
                               .blocks = {{{line.value}, share({0.f})}}});
  }

  void serve_unchanged(std::uint64_t number, line_id line, version base) {
    hear(messages::line_served{.visit = {me, {number}},
                               .line = line,
                               .base = base,
                               .unchanged = 1,
                               .blocks = {}});
  }

  /// A visit up to its offer.
  void visit(std::uint64_t number, std::size_t values = 1) {
    invite(number);
    serve(number, first);
    serve(number, second);
    models::trained done;
    const auto delta = share(std::vector<float>(values, 1.f));
    done.parts = {{.block = {1}, .weight = 1, .delta = delta},
                  {.block = {2}, .weight = 1, .delta = delta}};
    done.next = *testee.file().state;
    ++done.next.visits;
    did(testee.finished({{me, {number}}, done}, now));
  }

  void answer(std::uint64_t number, line_id line, verdict x) {
    hear(messages::offer_answered{{me, {number}}, line, x, {5}});
  }

  template <class T>
  std::vector<T> all() const {
    std::vector<T> result;
    for (const auto& x : said)
      if constexpr (std::is_same_v<T, dialogue::job>) {
        if (const auto* one = std::get_if<T>(&x))
          result.push_back(*one);
      } else if (const auto* any = std::get_if<messages::any_message>(&x)) {
        if (const auto* one = std::get_if<T>(any))
          result.push_back(*one);
      }
    return result;
  }

  template <class T>
  T last() const {
    const auto found = all<T>();
    EXPECT_FALSE(found.empty());
    return found.empty() ? T{} : found.back();
  }

  instant now = std::chrono::seconds{1};
  recipe method;
  std::shared_ptr<const models::layout> blocks;
  dialogue testee;
  dialogue::actions said;
};

inline std::vector<std::uint64_t> blocks_of(const messages::offer_made& x) {
  std::vector<std::uint64_t> result;
  for (const auto& block : x.blocks)
    result.push_back(block.block.value);
  return result;
}

} // namespace troupe::actors
