#include "node/task/own_text.hpp"

#include <string>
#include <utility>

#include "node/task/language.hpp"

namespace troupe::node {

namespace fs = std::filesystem;

result<own_data> read_own_text(const experiment& x, const fs::path& path,
                               const example_shape& wanted) {
  auto by = tokenizer_for(x);
  if (!by)
    return tl::make_unexpected(by.error());
  auto text = load_user(x, path, std::move(*by));
  if (!text)
    return tl::make_unexpected(text.error());
  const auto& rows = (*text)->clients();
  if (const auto found = rows.train.front().size(); found > wanted.examples_max)
    return fail(errc::invalid_data,
                path.string() + ": there are " + std::to_string(found)
                  + " training windows, and a client of this run has "
                  + std::to_string(wanted.examples_max)
                  + " at most; 'merge.samples_max' of the run says so");
  return own_data{.data = nullptr, .rows = rows, .text = std::move(*text)};
}

result<materials> materials_of_text(const experiment& x, const own_data& mine,
                                    client_id me, const example_shape& shape,
                                    const language_maker& make) {
  return language_over(x, mine.text, make).map([&](materials found) {
    found.clients = rows_of_one(x, mine, me);
    found.users.insert(found.users.begin(), me.value - 1, "");
    found.user_names = {}; // Its own business.
    found.data_digest = {};
    found.shape = shape;
    return found;
  });
}

} // namespace troupe::node
