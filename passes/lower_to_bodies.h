// Base of passes that put the reference bodies of ops in their place.
//
// A pass and not rules: an op may have any number of results, and the bodies are there already.
#pragma once

#include "passes/pass.h"

namespace weft::passes {

// An op whose body needs more than is known of its operands stays.
class LowerToBodies : public Pass {
 public:
  LowerToBodies(std::string_view name, std::string_view description)
      : Pass(name, description, {.numerics = drr::NumericClass::kReassociates}) {}
  absl::Status Run(ir::Program& program) override;

 protected:
  virtual bool Lowers(ir::Operation op) const = 0;
};

}  // namespace weft::passes
