// Sums of products in Einstein's notation: one loop per label.
#include "ir/dialects/onnx/infer/einsum.h"

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/math.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Nested loops, those of the result outside.
struct Loops {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;  // [operand][loop]
  size_t num_result_loops = 0;
};

absl::StatusOr<Loops> MakeLoops(const std::string& equation,
                                const std::vector<std::span<const int64_t>>& dims) {
  std::vector<size_t> ranks;
  ranks.reserve(dims.size());
  for (const auto& d : dims) ranks.push_back(d.size());
  ir::EinsumLabels labels;
  std::string error;
  if (!ir::ReadEinsum(equation, ranks, &labels, &error)) return ir::InvalidArgument(error);
  std::vector<int> loop_labels = labels.result;
  for (const std::vector<int>& operand : labels.operands)
    for (int label : operand)
      if (std::count(loop_labels.begin(), loop_labels.end(), label) == 0)
        loop_labels.push_back(label);

  Loops loops;
  loops.num_result_loops = labels.result.size();
  loops.sizes.assign(loop_labels.size(), 1);
  for (size_t o = 0; o < dims.size(); ++o) {
    const Dims strides = RowMajorStrides(dims[o]);
    loops.strides.emplace_back(loop_labels.size(), 0);
    for (size_t d = 0; d < dims[o].size(); ++d) {
      if (dims[o][d] == 1) continue;  // as often as the others want it
      const auto at = std::find(loop_labels.begin(), loop_labels.end(), labels.operands[o][d]);
      const auto loop = static_cast<size_t>(at - loop_labels.begin());
      if (loops.sizes[loop] != 1 && loops.sizes[loop] != dims[o][d])
        return ir::InvalidArgument("operands of different sizes for one label");
      loops.sizes[loop] = dims[o][d];
      loops.strides[o][loop] += strides[static_cast<int>(d)];
    }
  }
  return loops;
}

// An index per loop, and where it is in every operand.
class Counter {
 public:
  explicit Counter(const Loops& loops)
      : loops_(loops), index_(loops.sizes.size()), offsets_(loops.strides.size()) {}
  const std::vector<int64_t>& offsets() const { return offsets_; }
  void Next() {
    for (size_t loop = index_.size(); loop-- > 0;) {
      const bool wraps = ++index_[loop] == loops_.sizes[loop];
      for (size_t o = 0; o < offsets_.size(); ++o)
        offsets_[o] += loops_.strides[o][loop] * (wraps ? 1 - index_[loop] : 1);
      if (!wraps) return;
      index_[loop] = 0;
    }
  }

 private:
  const Loops& loops_;
  std::vector<int64_t> index_, offsets_;
};

template <class T>
void Contract(const Loops& loops, const KernelArgs& args) {
  using Wide = std::conditional_t<kIsFloat<T>, double, uint64_t>;  // integers wrap around
  const std::span<T> out = args.outputs[0].values<T>();
  const int64_t terms = NumElements(std::span(loops.sizes).subspan(loops.num_result_loops));
  Counter at(loops);
  for (T& result : out) {
    Wide sum = 0;
    for (int64_t i = 0; i < terms; ++i, at.Next()) {
      Wide product = 1;
      for (size_t o = 0; o < args.inputs.size(); ++o)
        product *= static_cast<Wide>(args.input<T>(o)[at.offsets()[o]]);
      sum += product;
    }
    result = T(sum);
  }
}

absl::Status Einsum(const AttrsOf<ops::Einsum>& attrs, const KernelArgs& args) {
  std::vector<std::span<const int64_t>> dims;
  for (const TensorView& x : args.inputs) dims.emplace_back(x.dims);
  WEFT_ASSIGN_OR_RETURN(const Loops loops, MakeLoops(attrs.equation, dims));
  VisitNumber(args.outputs[0].dtype, [&](auto tag) { Contract<decltype(tag)>(loops, args); });
  return absl::OkStatus();
}
absl::Status CheckEinsum(const KernelContext& context) {
  std::vector<std::span<const int64_t>> dims;
  for (size_t i = 0; i < context.num_inputs(); ++i) dims.push_back(context.dims(i));
  const auto loops = MakeLoops(context.attrs_of<ops::Einsum>().equation, dims);
  if (!loops.ok()) return context.InvalidArgument(std::string(loops.status().message()));
  if (!ir::IsCountable(loops->sizes)) return context.Unsupported("so many products");
  const auto results = std::span(loops->sizes).first(loops->num_result_loops);
  if (!std::equal(results.begin(), results.end(), context.result_dims(0).begin(),
                  context.result_dims(0).end()))
    return context.InvalidArgument("the result has another shape than the equation says");
  return SameNumbers(context);
}
const RegisterReference<ops::Einsum> kEinsum(&Einsum, &CheckEinsum);

}  // namespace
}  // namespace weft::kernels::reference
