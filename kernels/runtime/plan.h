// A program made ready to run on inputs of fixed shapes: one step per op that computes something,
// each with its kernel and the addresses of its tensors in one arena. Views (reshapes) share the
// memory of what they view, elementwise ops write over an operand nobody reads later, what is
// concatenated is written into the whole, what is split off is read there, outputs are written where
// the caller wants them. Running allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/isa.h"
#include "kernels/kernel.h"
#include "kernels/kernel_choices.h"
#include "kernels/runtime/memory_plan.h"
#include "kernels/runtime/registry.h"

namespace weft::kernels {

// What several plans of one session share. Must outlive them.
struct PlanResources {
  std::vector<std::string> providers;  // in the order they are asked
  ThreadPool* pool = nullptr;
  PackedWeights* packed =
      nullptr;  // and copies of constants that kernels cannot read where they lie
  bool profile = false;
  const KernelChoices* choices = nullptr;  // null: none
  // Asked before every step, if it is set when a plan runs; true ends the run with Cancelled.
  const std::function<bool()>* stop = nullptr;
};

// An output that lies where an input lies, by number.
struct BoundPorts {
  size_t output = 0, input = 0;
};

struct Step {
  std::string op;        // name of the op
  std::string location;  // of the op: a source place, an ONNX node, a rule
  std::string provider;
  std::string key;         // KernelKey(), when profiling and where there are choices
  std::optional<Isa> isa;  // other than that of the plan
  std::unique_ptr<Kernel> kernel;
  std::span<const TensorView> inputs, outputs;
  std::byte* scratch = nullptr;
  int64_t result_stride = 0;              // KernelArgs::result_stride
  std::vector<RowSpacing> spacings = {};  // KernelArgs::spacings
  int64_t nanoseconds = 0, runs = 0;      // in all runs, when profiling
};

// Memory of a step's tensor or scratch, for tests that walk a plan.
struct ArenaBuffer {
  size_t offset = 0;
  BufferLifetime lifetime;
};

class Plan {
 public:
  // Runs on the instruction set that is in use when it is made, for which its scratch is sized.
  // Every type in `program` must be static (kernels/runtime/specialize.h) and known to the kernels.
  // Unsupported names the first op that cannot run.
  static absl::StatusOr<std::unique_ptr<Plan>> Create(std::unique_ptr<ir::Program> program,
                                                      const PlanResources& resources,
                                                      std::span<const BoundPorts> bound = {});
  ~Plan();

  // Inputs and outputs must have exactly these types, and outputs must not overlap anything but, where they are bound,
  // the input whose address they have.
  const std::vector<ir::Type>& input_types() const { return input_types_; }
  const std::vector<ir::Type>& output_types() const { return output_types_; }
  absl::Status Run(std::span<const TensorView> inputs, std::span<const TensorView> outputs);
  // Whether a run may make plans for what some step holds, and use the context for that.
  bool plans_while_running() const { return plans_while_running_; }

  std::span<const Step> steps() const { return steps_; }
  int64_t runs() const { return runs_; }
  std::span<const ArenaBuffer> arena_buffers() const { return arena_buffers_; }
  size_t arena_bytes() const { return arena_bytes_; }
  const std::byte* arena() const { return arena_.data(); }

 private:
  friend class PlanBuilder;
  // Where a tensor is: at a fixed address, or where the caller's input or output is in this run.
  struct Address {
    enum class Kind { kFixed, kInput, kOutput } kind = Kind::kFixed;
    std::byte* fixed = nullptr;
    size_t port = 0;
    size_t offset = 0;  // in bytes, in the port
  };
  struct Binding {
    size_t view;  // in views_
    Address address;
  };
  struct Copy {
    Address from, to;
    size_t bytes;
  };

  Plan() = default;
  absl::Status RunStep(Step& step);

  std::unique_ptr<ir::Program> program_;
  std::vector<ir::Type> input_types_, output_types_;
  ThreadPool* pool_ = nullptr;
  bool profile_ = false;
  const std::function<bool()>* stop_ = nullptr;
  bool plans_while_running_ = false;
  ComputeMode mode_;
  std::vector<Step> steps_;
  std::vector<TensorView> views_;  // of all steps
  std::vector<Binding> bindings_;  // views whose address the caller gives, anew in every run
  std::vector<Copy> copies_in_;    // before the steps: inputs that kernels read past the end
  std::vector<Copy> copies_out_;   // after: outputs that are inputs, constants or each other
  std::vector<ArenaBuffer> arena_buffers_;
  AlignedBytes arena_;
  size_t arena_bytes_ = 0;
  int64_t runs_ = 0;
};

// Of a run: a plan, or one op that ran between plans because its kernel sizes its results.
struct RunPart {
  const Plan* plan = nullptr;
  const Step* step = nullptr;  // where there is no plan; knows no tensors
  std::span<const Step> steps() const { return plan ? plan->steps() : std::span(step, 1); }
};

}  // namespace weft::kernels
