#include "node/sweep/sweep_remark.hpp"

#include "node/report/markup.hpp"
#include "node/sweep/sweep_table.hpp"

namespace troupe::node {

std::string time_left(const sweep_moment& x) {
  if (x.here == 0 || x.done >= x.all)
    return "";
  const auto each = x.seconds / static_cast<double>(x.here);
  return "; about " + duration(each * static_cast<double>(x.all - x.done))
         + " left";
}

std::string come_to(const json& result, const std::string& metric) {
  std::string text;
  if (const auto value = metric_of(result, metric))
    text += ": " + metric + " " + number(*value);
  if (const auto took = metric_of(result, "wall_seconds"))
    text += (text.empty() ? ": in " : ", in ") + duration(*took);
  return text;
}

} // namespace troupe::node
