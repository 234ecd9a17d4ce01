// The ways to run a program that GraphCheck (compare_graph.h) compares, and the passes of each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "drr/rule/numeric_class.h"
#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::fuzz {

struct Leg {
  std::string pipeline;  // "none": as it is
  drr::NumericClass numerics = drr::NumericClass::kReassociates;
  std::string provider;  // of kernels
  bool onnx = false;     // through a file

  std::string Name() const;  // "fuse/exact/auto", "none/onnx/reference"
  bool IsExact() const { return numerics == drr::NumericClass::kExact; }
};

std::vector<Leg> AllLegs();

// The passes of each leg for programs of one context, which must outlive them. What they have built
// serves the next program: to freeze a library's rules takes longer than to apply them to a small
// graph.
class LegPasses {
 public:
  explicit LegPasses(ir::IrContext* context);
  ~LegPasses();

  // Rewrites the program, and adds to *applied how often each rule was applied.
  absl::Status Run(ir::Program& program, const Leg& leg, std::map<std::string, uint64_t>* applied);

 private:
  struct Passes;
  absl::StatusOr<Passes*> Of(const Leg& leg);

  ir::IrContext* context_;
  std::map<std::string, std::unique_ptr<Passes>> by_leg_;  // by its pipeline, class and provider
};

}  // namespace weft::fuzz
