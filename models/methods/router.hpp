#pragma once

// How a client mixes what it shares with others: by the softmax of logits of
// its own.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace troupe::models {

std::vector<double> softmax(std::span<const double> logits);

/// The slope along each logit, from those along each share: it is
/// share (slope - mean slope), and they add up to zero.
std::vector<double> logit_slopes(std::span<const double> shares,
                                 std::span<const double> share_slopes);

/// In nats; 0 for a client that has decided.
double entropy(std::span<const double> shares);

/// Shares of clients. Client k is in group (k - 1) mod `groups`.
using shares_by_client = std::map<client_id, std::vector<double>>;

/// Whether each group has an instance of its own, to which all of its clients
/// give their largest share.
bool recovers_groups(const shares_by_client& x, std::size_t groups);

/// How far the clients who move an instance are from those of one group: the
/// sum over clients of the differences between their part in it, by shares, and
/// their part in the group; the mean over groups, each with the instance that
/// it gives most. 2 (1 - 1/C) where nobody has decided, 0 where all is
/// recovered.
double mismatch_with_groups(const shares_by_client& x, std::size_t groups);

/// `router_entropy` over these clients and, where their groups are known, that
/// is not 0, `recovered` and `router_mismatch`. Nobody: nothing.
/// @pre all have as many shares
std::map<std::string, double> router_figures(const shares_by_client& x,
                                             std::size_t groups);

} // namespace troupe::models
