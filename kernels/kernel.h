// Kernels: what runs an op. A kernel is made once per (op, shapes) by a factory and then run many
// times on different memory. Factories register by op type from the kernel's own .cc file:
//
//   class SoftmaxKernel final : public Kernel { ... };
//   absl::StatusOr<std::unique_ptr<Kernel>> MakeSoftmax(const KernelContext& context) {
//     if (!context.AllFloat32()) return context.Unsupported("only f32");
//     return std::make_unique<SoftmaxKernel>(...);
//   }
//   const RegisterKernel<ir::ops::Softmax> kSoftmax("native", &MakeSoftmax);
//
// A factory that cannot run these types, shapes or attributes says Unsupported and the next provider
// is asked (kernels/runtime/registry.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/packed_weights.h"
#include "kernels/runtime_value.h"
#include "kernels/shape_math.h"
#include "kernels/tensor.h"
#include "kernels/thread_pool.h"

namespace weft::kernels {

// One run. Inputs are read only; a missing optional input is a null view. Dims are those the kernel
// was made for; addresses may differ from run to run.
struct KernelArgs {
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  std::byte* scratch = nullptr;  // Kernel::scratch_bytes() bytes, aligned to kAlignment
  ThreadPool* pool = nullptr;
  // Elements from one row (of the last axis) of result 0 to the next, where they lie apart because
  // they are a part of a wider tensor; only for kernels of which SpacesRows().
  int64_t result_stride = 0;
  // Of the inputs, where some lie in rows apart, as parts of wider tensors; else empty. The same in every run, and not
  // dense only for inputs of which the kernel said that it ReadsSpaced.
  std::span<const RowSpacing> spacings{};
  // The inputs again, for kernels with kTakesSequences where no plan holds some value; else empty.
  std::span<const RuntimeValue> values{};

  bool HasInput(size_t i) const { return i < inputs.size() && inputs[i]; }
  template <class T>
  const T* input(size_t i) const {  // null when not given
    return HasInput(i) ? reinterpret_cast<const T*>(inputs[i].data) : nullptr;
  }
  template <class T>
  T* output(size_t i) const {
    return reinterpret_cast<T*>(outputs[i].data);
  }
  RowSpacing spacing(size_t i) const { return i < spacings.size() ? spacings[i] : RowSpacing{}; }
  int64_t InputStrideOr(size_t i, int64_t dense) const {
    const RowSpacing rows = spacing(i);
    return rows.row == 0 ? dense : rows.stride;
  }
  int64_t ResultStrideOr(int64_t dense) const { return result_stride == 0 ? dense : result_stride; }
};

// Where the elements of a part stand in a wider tensor, from element `offset` of that one on.
struct Placement {
  int64_t offset = 0;
  RowSpacing rows = {};
};

// Not safe to run from two threads at once: a kernel may keep state between runs.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Fails only for what depends on the values of inputs (an index out of range, a division by 0).
  virtual absl::Status Run(const KernelArgs& args) = 0;
  virtual std::string_view name() const = 0;  // for profiles: "xnnpack conv2d"

  // For kernels with kSizesResults: the results, in the sizes that the values of the inputs give
  // them, each made by CreateDynamic(). args.outputs is empty.
  virtual absl::StatusOr<std::vector<Tensor>> RunDynamic(const KernelArgs& args) {
    (void)args;
    return ir::Unsupported("this kernel needs to know the sizes of its results");
  }

  // For kernels with kTakesSequences, which are run by it wherever an operand or result of their op
  // is no tensor, or one of strings.
  virtual absl::StatusOr<std::vector<RuntimeValue>> RunValues(const KernelArgs& args) {
    (void)args;
    return ir::Unsupported("this kernel runs on tensors only");
  }

  virtual size_t scratch_bytes() const { return 0; }
  // Whether result 0 may lie in the memory of that operand, which then has the same type: the kernel
  // writes no element before it has read what lies there. Plans ask for no other operands than those
  // that the op's definition names (ir::OpInfo::inplace).
  virtual bool MayOverwrite(size_t operand) const {
    (void)operand;
    return false;
  }
  // Whether result 0, which is larger, may begin where that operand, which nobody reads later, begins: where Run finds it
  // there, it moves apart what lies there.
  virtual bool MayGrowOver(size_t operand) const {
    (void)operand;
    return false;
  }
  // Whether Run reads that operand: not a constant that was packed when the kernel was made, of which a plan then gives
  // no data.
  virtual bool Reads(size_t operand) const {
    (void)operand;
    return true;
  }
  // Result 0 is operand 0 under another shape: plans share the memory and never run the kernel.
  virtual bool IsView() const { return false; }
  // Of kernels that put operands into result 0 as they are: where. A plan may have what computes the
  // operand write it there, and Run leaves an operand alone that lies there already.
  virtual std::optional<Placement> PlacementOf(size_t operand) const {
    (void)operand;
    return std::nullopt;
  }
  // Of kernels whose results are parts of operand 0 as they are: where. A plan may have those who use the result read
  // it there, and Run leaves a result alone that lies there already.
  virtual std::optional<Placement> PlacementInOperand(size_t result) const {
    (void)result;
    return std::nullopt;
  }
  // Whether Run heeds args.result_stride.
  virtual bool SpacesRows() const { return false; }
  // Whether Run reads that operand where its rows lie so, by args.spacings.
  virtual bool ReadsSpaced(size_t operand, const RowSpacing& rows) const {
    (void)operand, (void)rows;
    return false;
  }
  // The kernel may read up to kAlignment bytes behind its inputs.
  virtual bool ReadsPastEnd() const { return false; }
};

// What a factory sees: the op, its static types, the constants among its operands.
class KernelContext {
 public:
  // `types` has one entry per operand (null where not given), `constants` too (null where unknown).
  KernelContext(ir::Operation op, std::vector<ir::Type> input_types,
                std::vector<ir::Type> result_types, std::vector<ir::Attribute> constants,
                ThreadPool* pool, PackedWeights* packed)
      : op_(op),
        input_types_(std::move(input_types)),
        result_types_(std::move(result_types)),
        constants_(std::move(constants)),
        pool_(pool),
        packed_(packed) {}

  ir::Operation op() const { return op_; }
  template <class O>
  typename O::template Attrs<ir::Plain> attrs_of() const {
    return op_.attrs_of<O>();
  }
  size_t num_inputs() const { return input_types_.size(); }
  size_t num_results() const { return result_types_.size(); }
  bool HasInput(size_t i) const { return i < input_types_.size() && input_types_[i]; }
  ir::Type input_type(size_t i) const { return HasInput(i) ? input_types_[i] : ir::Type(); }
  ir::Type result_type(size_t i) const { return result_types_[i]; }
  std::span<const int64_t> dims(size_t i) const { return input_types_[i].dims(); }
  std::span<const int64_t> result_dims(size_t i) const { return result_types_[i].dims(); }
  // Dense contents of an operand known before run time; null otherwise.
  ir::Attribute constant(size_t i) const {
    return i < constants_.size() ? constants_[i] : ir::Attribute();
  }
  bool AllFloat32() const;              // every operand and result
  uint32_t OperandsLikeResult() const;  // of exactly the type of result 0, as bits
  bool HasEmptyTensor() const;

  ThreadPool& pool() const { return *pool_; }
  // For kernels that plan programs: the providers of their kernels, in the order they are asked.
  const std::vector<std::string>& providers() const { return providers_; }
  void set_providers(std::vector<std::string> providers) { providers_ = std::move(providers); }
  PackedWeights& packed() const { return *packed_; }

  absl::Status Unsupported(const std::string& why) const;      // "onnx.Conv: why"
  absl::Status InvalidArgument(const std::string& why) const;  // likewise

 private:
  ir::Operation op_;
  std::vector<ir::Type> input_types_, result_types_;
  std::vector<ir::Attribute> constants_;
  ThreadPool* pool_;
  PackedWeights* packed_;
  std::vector<std::string> providers_ = {"reference"};
};

// Ok when kernels can handle tensors of this type: static shape, fixed element size, and a size in
// bytes that does not overflow. The message names the op and e.g. "result 0".
absl::Status CheckRunnable(ir::Type type, ir::Operation op, std::string_view what, uint32_t i);

// A tensor whose sizes follow from values met at run time, which nobody vouches for: InvalidArgument
// above kMaxDynamicBytes.
inline constexpr size_t kMaxDynamicBytes = size_t{1} << 32;
absl::StatusOr<Tensor> CreateDynamic(ir::DataType dtype, ir::Shape dims);

using KernelFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(const KernelContext&);

// What is known of an op's kernels of one provider.
enum KernelTrait : uint32_t {
  kNoKernelTraits = 0,
  // On some machine or for some shapes a NaN in an operand becomes a number in the result where the
  // reference has NaN, or an infinity or the sign of a zero goes wrong. Such kernels run only where
  // the provider was asked for by name (kernels/runtime/registry.h).
  kHidesNan = 1 << 0,
  // Can be made although the sizes of its results are not known, and then finds them when it runs
  // (Kernel::RunDynamic). Its factory must not look at the sizes of results.
  kSizesResults = 1 << 1,
  // Takes and gives sequences, optionals and tensors of strings, with Kernel::RunValues; sizes its
  // results too.
  kTakesSequences = 1 << 2,
};

// The provider of the kernels (kTakesSequences) for tensors of strings of ops that have others for
// numbers: they run whatever providers are asked for, where an operand or result holds strings.
inline constexpr std::string_view kStringsProvider = "strings";

// `file` is where the kernel is written, as __FILE__ has it; kept by address.
void AddKernelFactory(ir::Opcode opcode, std::string_view provider, KernelFactory factory,
                      uint32_t traits = kNoKernelTraits, const char* file = __builtin_FILE());

template <class O>
struct RegisterKernel {
  // kOpcodeOf<O> may not be initialised yet when static objects register.
  RegisterKernel(std::string_view provider, KernelFactory factory,
                 uint32_t traits = kNoKernelTraits, const char* file = __builtin_FILE()) {
    AddKernelFactory(ir::Opcode::FindOrAdd(O::kInfo.name), provider, factory, traits, file);
  }
};

}  // namespace weft::kernels
