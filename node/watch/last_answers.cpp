#include "node/watch/last_answers.hpp"

#include <utility>

namespace troupe::node {

bool last_answers::look_at(status_desk::draft x) {
  const auto before = std::exchange(last_, std::move(x));
  const bool late = before && before != last_ && take(before);
  return (last_ && take(last_)) || late;
}

bool last_answers::take(const status_desk::draft& x) {
  auto said = x->taken();
  const bool is_news = said.course && answered_ != x;
  if (is_news)
    answered_ = x;
  if (said.course)
    parts_.course = std::move(said.course);
  if (said.door)
    parts_.door = std::move(said.door);
  if (said.load)
    parts_.load = std::move(said.load);
  if (said.storage)
    parts_.storage = said.storage;
  for (auto& [line, status] : said.lines)
    parts_.lines[line] = std::move(status);
  for (const auto& [actor, messages] : said.mailboxes)
    parts_.mailboxes[actor] = messages;
  for (const auto& [line, messages] : said.readers)
    parts_.readers[line] = messages;
  return is_news;
}

} // namespace troupe::node
