#include "node/commands/inspect_language.hpp"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "models/language/language_data.hpp"
#include "node/commands/inspect_labelled.hpp"
#include "node/task/language.hpp"
#include "node/watch/wait_notice.hpp"

namespace troupe::node {

namespace {

using models::language_data;

/// Windows of one client.
struct window_counts {
  std::size_t train = 0;
  std::size_t validation = 0;
  std::size_t test = 0;
};

window_counts windows_of(const language_data& data, std::size_t k) {
  const auto& clients = data.clients();
  return {.train = clients.train[k].size(),
          .validation = clients.own_validation[k].size(),
          .test = clients.test[k].size()};
}

/// @param aside files of nobody
void print(const language_data& data, const std::vector<std::string>& aside,
           std::ostream& out) {
  const auto tokens = data.tokens();
  out << tokens.size() << (tokens.size() == 1 ? " user" : " users")
      << ", windows of " << data.context() << " tokens out of "
      << data.vocabulary() << "; " << data.dropped_paragraphs()
      << " repeated paragraphs are left out\n"
      << (aside.empty() ? "" : about_files(aside) + "\n")
      << "\nclient  documents       tokens  windows  validation     test  "
         "user\n";
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const auto windows = windows_of(data, k);
    out << std::setw(6) << k + 1 << std::setw(11) << tokens[k].documents
        << std::setw(13) << tokens[k].train << std::setw(9) << windows.train
        << std::setw(12) << windows.validation << std::setw(9) << windows.test
        << "  " << printable(shortened(data.users()[k])) << '\n';
  }
}

json described(const language_data& data,
               const std::vector<std::string>& aside) {
  auto clients = json::array();
  const auto tokens = data.tokens();
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const auto windows = windows_of(data, k);
    clients.push_back({{"client", k + 1},
                       {"user", data.users()[k]},
                       {"documents", tokens[k].documents},
                       {"tokens", tokens[k].train},
                       {"validation_tokens", tokens[k].validation},
                       {"test_tokens", tokens[k].test},
                       {"windows", windows.train},
                       {"validation_windows", windows.validation},
                       {"test_windows", windows.test}});
  }
  return {{"success", true},
          {"context", data.context()},
          {"vocabulary", data.vocabulary()},
          {"dropped_paragraphs", data.dropped_paragraphs()},
          {"files_of_nobody", aside},
          {"digest", models::to_hex(data.content())},
          {"clients", std::move(clients)}};
}

} // namespace

exit_code inspect_language(const experiment& x, bool json, streams io) {
  if (x.data.is_labelled_text())
    return inspect_labelled(x, json, io);
  const auto data = told_while(io.err, "reading the texts",
                               [&](const auto&) { return load_language(x); });
  if (!data)
    return report(data.error(), json, io);
  const auto aside = files_left_out(x.data);
  if (json)
    io.out << described(**data, aside).dump(2) << '\n';
  else
    print(**data, aside, io.out);
  return exit_code::ok;
}

} // namespace troupe::node
