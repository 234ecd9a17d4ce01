// What kernels have in common that may make plans, and so types and constants in the context of their
// program, while they run.
#pragma once

namespace weft::kernels {

// A second base of such a kernel.
class PlansWhileRunning {
 public:
  virtual ~PlansWhileRunning() = default;
  virtual bool plans_while_running() const { return true; }
};

}  // namespace weft::kernels
