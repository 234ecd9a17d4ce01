// Running a program whose sizes are not all known before it runs. It is cut into segments: one plan
// for all that has known sizes, then the ops that wait for values. NonZero and its like run on
// kernels that size their results; of others (Reshape, Slice, ConstantOfShape...) the operands that
// say sizes become constants. What is left is specialised for the sizes found and is the next
// segment. Segments are kept per set of sizes, so runs that repeat sizes plan nothing. Sequences,
// optionals and tensors of strings pass between segments and through kernels that take them; plans
// see other tensors only.
//
//   if (!HasKnownSizes(*program))
//     WEFT_ASSIGN_OR_RETURN(auto first, Segment::Create(std::move(program), resources, 0));
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/kernel.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/segments/dynamic_step.h"
#include "kernels/runtime/segments/program_cut.h"

namespace weft::kernels {

class Segment {
 public:
  // The `number`-th segment, from 0, of a run. `program` is specialised for its inputs; what
  // `resources` refers to must outlive the segment. Unsupported names an op that waits for sizes
  // which no value will tell.
  static absl::StatusOr<std::unique_ptr<Segment>> Create(std::unique_ptr<ir::Program> program,
                                                         const PlanResources& resources,
                                                         int number);
  ~Segment();

  const std::vector<ir::Type>& input_types() const { return input_types_; }
  // From here to the end of the program. `parts` (may be null) receives what ran, in order.
  // Tensors among the results that are no input's have an owner.
  absl::StatusOr<std::vector<RuntimeValue>> Run(std::span<const RuntimeValue> inputs,
                                                std::vector<RunPart>* parts = nullptr);

  // Of its plan, and of all segments that it keeps.
  size_t arena_bytes() const;

  static constexpr int kMaxSegments = 1000;  // of one run
  // How many next segments one of them keeps, or fewer, of more bytes. All together: 8 * 4 * 2 paths.
  static constexpr size_t kMostNextBytes = size_t{64} << 20;
  static constexpr size_t MaxNext(int number) { return number < 3 ? size_t{8} >> number : 1; }

 private:
  using Values = std::vector<RuntimeValue>;
  struct Next {
    std::vector<ir::Type> types;     // of its inputs
    std::vector<std::byte> learned;  // contents of those that are constants in it
    std::unique_ptr<Segment> segment;
  };
  struct Output {  // of the last segment
    bool is_input = false;
    size_t number = 0;        // of an input, or of a result of the plan
    RuntimeValue constant{};  // instead of both
  };

  Segment(const PlanResources& resources, int number) : resources_(resources), number_(number) {}
  absl::Status AddSteps(const ProgramCut& cut);
  absl::Status MakeRest(const ProgramCut& cut, const ir::Program& program);
  absl::Status MakePlan(std::unique_ptr<ir::Program> program);
  absl::Status MakeLastPlan(std::unique_ptr<ir::Program> program);
  absl::StatusOr<Values> RunPlanAndSteps(const Values& inputs, std::vector<RunPart>* parts);
  absl::StatusOr<Values> RunPlan(const Values& inputs, std::vector<RunPart>* parts);
  absl::StatusOr<Values> RunLast(const Values& inputs, std::vector<RunPart>* parts);
  absl::StatusOr<Segment*> FindNext(const Values& inputs);
  absl::StatusOr<std::unique_ptr<Segment>> MakeNext(const Values& inputs,
                                                    const std::vector<ir::Type>& types) const;

  // Of a next segment: what is packed of the constants that were computed for it, and these.
  std::unique_ptr<PackedWeights> own_;
  const PlanResources resources_;
  const int number_;
  std::vector<ir::Type> input_types_;
  size_t NextBytes() const;

  std::unique_ptr<Plan> plan_;       // null when nothing can be planned
  std::vector<size_t> plan_inputs_;  // inputs by number: the tensors
  std::vector<Output> outputs_;
  // Values of a run: inputs, results of the plan, results of the steps.
  std::vector<DynamicStep> steps_;
  std::unique_ptr<ir::Program> rest_;  // null in the last segment
  std::vector<size_t> rest_inputs_;    // values by number
  std::vector<bool> learned_;          // by input of rest_: whether it becomes a constant
  std::vector<Next> next_;             // the one used last is last
};

}  // namespace weft::kernels
