#include "policies/methods/averaged.hpp"
#include "policies/methods/methods.hpp"

namespace troupe::policies {

/// One model on the union of all texts, which no federation has: the same steps
/// as `local_lora` makes, of the one client of `data.pooled`. As published its
/// batches are as large as those of all users together, which is for the
/// configuration to say.
recipe methods::centralised_lora() {
  auto x = averaged_alone("centralised_lora",
                          "two averaged experts of low rank on all texts in "
                          "one place");
  x.pooled = true;
  return x;
}

} // namespace troupe::policies
