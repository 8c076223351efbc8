#include "models/thrown.hpp"

#include <exception>
#include <new>

namespace troupe::models {

namespace {

/// Without a text where there is no room even for that.
error with_text(const char* x) noexcept {
  try {
    return {errc::device_failure, x};
  } catch (...) {
    return {errc::device_failure, {}};
  }
}

} // namespace

error what_was_thrown() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return with_text("there is not enough memory for this visit's arithmetic");
  } catch (const std::exception& x) {
    return with_text(x.what());
  } catch (...) {
    return with_text("an exception without a name");
  }
}

} // namespace troupe::models
