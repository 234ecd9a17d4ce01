// SIGINT as a reason to stop a run: stop_at_interrupt of weft_run_options.
#pragma once

#include <cstdint>

namespace weft::c {

// While one exists, the program's handler of SIGINT is still called, and the signal counted. Where there is none the
// signal does what it always does. Any number may exist, in any threads; a handler that is set meanwhile stays.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool interrupted() const;  // since it exists

 private:
  const uint32_t before_;
};

}  // namespace weft::c
