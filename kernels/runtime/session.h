// Session: a program loaded for running. Plans are made per set of input shapes and kept; weights
// are packed once for all of them. Where sizes follow from values (NonZero, a Reshape to a computed
// shape), a run makes and keeps plans as it finds them (kernels/runtime/segments/segment.h).
//
//   WEFT_ASSIGN_OR_RETURN(auto session, Session::Create(program, {.threads = 2}));
//   WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> y, session->Run({x.view()}));
//
// or, without any allocation after the first run of these shapes if all sizes follow from them, into
// memory of the caller's:
//
//   WEFT_RETURN_IF_ERROR(session->Run(inputs, outputs));
//
// Inputs and outputs may be sequences and optionals, too (kernels/runtime_value.h):
//
//   WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> y, session->RunValues(values));
//
// Errors: InvalidArgument for inputs that do not fit, Unsupported naming the op that cannot run.
// Not thread safe, nor may another thread use the program's context meanwhile, unless IsReady().
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
#include "kernels/runtime/input_ranges.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/plan_cache.h"

namespace weft::kernels {

// Of a program's outputs and inputs, by name.
struct BoundOutput {
  std::string output, input;
};

struct SessionOptions {
  // The calling thread counts; AvailableCpus() (kernels/available_cpus.h) asks for all that help. A
  // session starts no more than those, because threads without a CPU of their own keep the others
  // waiting in every loop, unless it is to oversubscribe.
  int threads = 1;
  std::string provider = "auto";  // see kernels/runtime/registry.h
  // The instruction set of our own kernels, "portable", "avx2", "avx512" or "amx"; empty: the best of
  // the machine (kernels/isa.h). Products are chains of multiply-adds on all but amx, whose sums have
  // another order (kernels/native/simd/amx_gemm.h).
  std::string isa = {};
  // On amx; others compute in f32 whatever it says.
  MatmulPrecision matmul_precision = MatmulPrecision::kFloat32;
  bool profile = false;  // measure every step
  bool oversubscribe = false;
  // Which kernels run, where that was measured (kernels/tuning/tuner.h); null: none was. Those for
  // another machine (MachineName() of kernels/kernel_choices.h) are for nothing here: see that first.
  std::shared_ptr<const KernelChoices> choices = nullptr;
  // What other sessions of the same context packed and will pack; null: the session's own.
  std::shared_ptr<PackedWeights> packed = nullptr;
  // Threads that other sessions, of whatever program, use too, also at the same time
  // (kernels/thread_pool.h). Null: `threads` of the session's own; where those take all CPUs, the ones
  // that all such sessions of the process share.
  std::shared_ptr<ThreadPool> pool = nullptr;
  // Outputs that lie where an input lies: a cache that grows, or changes, in place from run to run. Run is given one
  // address for both, with memory for the larger. An op that writes over the input (TensorScatter, ScatterND) and a
  // Concat that puts it first copy nothing of it, but that along an inner axis its rows move apart; any other result is
  // copied there at the end of the run. A run that fails or is stopped may leave neither the input nor the output.
  std::vector<BoundOutput> bound_outputs = {};
};

struct TensorInfo {
  std::string name;
  ir::Type type;  // dims may be symbols; may be a sequence or an optional
  // What an input is when it is not given (ir/analysis/default_inputs.h); null when it must be given.
  ir::Attribute default_value{};
  std::optional<ImpliedRange> range{};  // of an input of integers, where the program implies one
};

// Ok for "" and the instruction sets of this machine.
absl::Status CheckIsa(const std::string& name);

class Session {
 public:
  // Keeps a copy of the program (which shares its weights); the context must outlive the session.
  static absl::StatusOr<std::unique_ptr<Session>> Create(const ir::Program& program,
                                                         const SessionOptions& options);
  // Another session of the same program for another thread. The two share threads and packed weights;
  // each has plans, and their memory, of its own.
  absl::StatusOr<std::unique_ptr<Session>> Fork() const;
  ~Session();

  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }

  // The plan for inputs of these shapes (none for what is no tensor), made now or before. Valid until the session has made
  // kMaxPlans others. Unsupported where HasOnePlan() is false.
  absl::StatusOr<Plan*> PlanFor(std::span<const std::span<const int64_t>> input_dims);
  // Whether the shapes of inputs decide all sizes.
  absl::StatusOr<bool> HasOnePlan(std::span<const std::span<const int64_t>> input_dims);
  // Whether a run on inputs of these shapes makes no plan, because it has been made and no loop or
  // branch makes one on the way: it uses the context for nothing, so that other threads may.
  bool IsReady(std::span<const TensorView> inputs);
  // What the last run consisted of, in order. Valid until the next.
  std::span<const RunPart> last_run() const { return last_run_; }

  // Inputs in the order of inputs(); those with a default may be null views, or missing at the end,
  // for which the default is taken. Outputs must not overlap each other, nor inputs to which they are not bound; bound
  // ones have the input's address.
  absl::Status Run(std::span<const TensorView> inputs, std::span<const TensorView> outputs);
  absl::StatusOr<std::vector<Tensor>> Run(std::span<const TensorView> inputs);
  absl::StatusOr<std::vector<Tensor>> Run(std::initializer_list<TensorView> inputs) {
    return Run(std::span<const TensorView>(inputs.begin(), inputs.size()));
  }

  // Of any kind. An input that is nothing is an empty optional, or not given. Tensors of the results
  // have an owner, which may be that of an input.
  absl::StatusOr<std::vector<RuntimeValue>> RunValues(std::span<const RuntimeValue> inputs);

  // Asked before every operation of later runs, in loops and branches too; true ends a run with
  // Cancelled, with outputs partly written. Null: not asked.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  static constexpr size_t kMaxPlans = 16;
  int num_threads() const { return pool_->num_threads(); }
  const std::shared_ptr<ThreadPool>& pool() const { return pool_; }
  size_t num_packed_weights() const { return packed_->size(); }

 private:
  Session(std::shared_ptr<ThreadPool> pool, std::shared_ptr<PackedWeights> shared,
          std::shared_ptr<PackedWeights> packed);
  absl::Status BindOutputs(std::span<const BoundOutput> bound);
  absl::Status CheckBound(std::span<const TensorView> inputs,
                          std::span<const TensorView> outputs) const;
  absl::Status ReadDefaults();
  absl::StatusOr<std::span<const TensorView>> WithDefaults(std::span<const TensorView> inputs);
  absl::StatusOr<PreparedProgram*> Prepare(std::span<const std::span<const int64_t>> input_dims);
  absl::StatusOr<PreparedProgram*> PrepareForInputs(std::span<const TensorView> inputs);
  absl::Status CheckInputs(const PreparedProgram& prepared,
                           std::span<const TensorView> inputs) const;
  absl::StatusOr<std::vector<Tensor>> RunSegments(Segment& first,
                                                  std::span<const TensorView> inputs);
  absl::StatusOr<std::vector<RuntimeValue>> CompleteValues(
      std::span<const RuntimeValue> given) const;
  absl::StatusOr<std::vector<ir::Type>> BindTypes(
      std::span<const std::span<const int64_t>> input_dims) const;

  const std::shared_ptr<ThreadPool> pool_;
  const std::shared_ptr<PackedWeights> shared_;  // with other sessions
  const std::shared_ptr<PackedWeights> packed_;  // inside of it: of the session and its forks
  ComputeMode mode_;
  std::shared_ptr<const KernelChoices> choices_;
  std::function<bool()> stop_;
  PlanResources resources_;
  std::unique_ptr<ir::Program> program_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<BoundPorts> bound_;
  std::vector<Tensor> defaults_;       // of inputs_; empty when there is no default
  std::vector<TensorView> completed_;  // of a run: what is given, and defaults
  PlanCache prepared_{kMaxPlans};
  std::vector<RunPart> last_run_;
};

}  // namespace weft::kernels
