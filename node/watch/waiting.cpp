#include "node/watch/waiting.hpp"

#include "node/report/markup.hpp"

namespace troupe::node {

std::string waiting_text(const waiting& x) {
  if (x.over)
    return x.what + "\n";
  return "waiting   " + x.what + "\nsince     " + x.since + " ("
         + duration(x.seconds) + ")\nuntil     " + x.ends + "\n";
}

} // namespace troupe::node
