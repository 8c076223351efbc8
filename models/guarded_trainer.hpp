#pragma once

#include "models/trainer.hpp"

namespace troupe::models {

/// Trainers whose work fails where a library throws: on a thread of ours that
/// would be the end of the process.
trainer_factory guarded(trainer_factory behind);

} // namespace troupe::models
