// Runs programs once, in a session each: for passes that compare programs (as ir::ProgramRunner).
#pragma once

#include "ir/evaluator.h"

namespace weft::kernels {

class SessionRunner final : public ir::ProgramRunner {
 public:
  absl::StatusOr<std::vector<ir::Attribute>> Run(const ir::Program& program,
                                                 std::span<const ir::Attribute> inputs,
                                                 Kernels kernels) override;
};

}  // namespace weft::kernels
