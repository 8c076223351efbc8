#pragma once

/// The methods that are built: one file beside this one and one line here. The
/// file defines `recipe methods::name()`.
#define TROUPE_METHODS(METHOD)                                                 \
  METHOD(fedavg)                                                               \
  METHOD(fedprox)                                                              \
  METHOD(scaffold)                                                             \
  METHOD(ditto)                                                                \
  METHOD(local)                                                                \
  METHOD(floral)                                                               \
  METHOD(floral_optimal)                                                       \
  METHOD(local_adaptor)                                                        \
  METHOD(ifca)                                                                 \
  METHOD(ensemble)                                                             \
  METHOD(ensemble_optimal)                                                     \
  METHOD(fedem)                                                                \
  METHOD(pfedme)                                                               \
  METHOD(per_fedavg)                                                           \
  METHOD(fedrep)                                                               \
  METHOD(fedper)                                                               \
  METHOD(pf2lora)                                                              \
  METHOD(per_fedavg_lora)                                                      \
  METHOD(homlora)                                                              \
  METHOD(hetlora)                                                              \
  METHOD(ddome)                                                                \
  METHOD(fedmix)                                                               \
  METHOD(average_ensemble)                                                     \
  METHOD(common_expert)                                                        \
  METHOD(comigs)                                                               \
  METHOD(comigs_2g)                                                            \
  METHOD(comigs_2s)                                                            \
  METHOD(pfedmoe)                                                              \
  METHOD(pretrained)                                                           \
  METHOD(centralised_lora)                                                     \
  METHOD(local_lora)                                                           \
  METHOD(fedavg_lora)                                                          \
  METHOD(ffa_lora)                                                             \
  METHOD(fedsa_lora)                                                           \
  METHOD(fdlora)                                                               \
  METHOD(flexlora)                                                             \
  METHOD(pcl)

/// Methods that people may name and that are not built yet.
#define TROUPE_ANNOUNCED_METHODS(METHOD)

#include "core/recipe.hpp"

namespace troupe::policies::methods {

#define TROUPE_DECLARE_METHOD(name) recipe name();
TROUPE_METHODS(TROUPE_DECLARE_METHOD)
#undef TROUPE_DECLARE_METHOD

} // namespace troupe::policies::methods
