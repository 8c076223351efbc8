#pragma once

#include "node/config/entries.hpp"

namespace troupe::node {

/// Fills an experiment from what was said. Keys that have no effect beside the
/// others keep their defaults and are noted.
loaded_config read_experiment(const entries& said, problems& wrong);

/// Adds the rule of the partition where only its number was given, and the one
/// client per generator of generated data.
void imply(entries& said);

/// Makes as many clients as there are users, where texts have users and nobody
/// says how many there are, and notes whom a smaller number leaves out.
/// @param look which users have texts may be looked up where none is named
void settle_users(loaded_config& loaded, const entries& said, bool look);

/// Makes defaults that depend on others explicit: the method and its options,
/// the cohort, the concurrency. Options are read here, since only a method says
/// what they may be. @pre `said` is what it was read from.
void settle(loaded_config& loaded, const entries& said,
            const method_list& methods, problems& wrong);

/// Says what comes to nothing by its numbers: what never learns, tests without
/// rows, bounds that bind nothing. @pre `said` is what it was read from
void remark_on_idle(loaded_config& loaded, const entries& said,
                    const recipe& method);

/// Finds combinations that cannot work, and names what would do.
void check(const experiment& x, const entries& said, std::string_view origin,
           const method_list& methods, problems& wrong);

} // namespace troupe::node
