#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/dialects/onnx/control.h"
#include "kernels/reference/control/control.h"
#include "kernels/runtime/isolate.h"

namespace weft::kernels::reference {
namespace {

using ir::ops::Scan;
using ScanAttrs = Scan::Attrs<ir::Plain>;

int64_t Entry(const std::optional<ir::Ints>& list, size_t i) {
  return list && i < list->size() ? (*list)[i] : 0;
}

// One scanned tensor and memory for a slice of it.
struct ScanInput {
  TensorView tensor;
  size_t axis = 0;
  bool backward = false;
  std::shared_ptr<Tensor> slice;

  int64_t length() const { return tensor.dims[axis]; }
  void Take(int64_t iteration) {
    const TensorView view = slice->view();
    if (tensor.dtype == ir::DataType::kString) {
      TakeRows(reinterpret_cast<const std::string*>(tensor.data), iteration,
               slice->values<std::string>());
    } else {
      TakeRows(tensor.data, iteration, std::span(view.data, view.NumBytes()));
    }
  }

 private:
  template <class T>
  void TakeRows(const T* from, int64_t iteration, std::span<T> to) const {
    if (to.empty()) return;
    const auto at = static_cast<size_t>(backward ? length() - 1 - iteration : iteration);
    const auto outer = static_cast<size_t>(CountElements(tensor.dims.first(axis)));
    const size_t row = to.size() / outer;
    for (size_t o = 0; o < outer; ++o)
      std::copy_n(from + (o * static_cast<size_t>(length()) + at) * row, row, &to[o * row]);
  }
};

absl::StatusOr<Tensor> NewTensor(ir::DataType dtype, ir::Shape dims) {
  if (dtype != ir::DataType::kString) return Tensor::Create(dtype, std::move(dims));
  std::vector<std::string> strings(static_cast<size_t>(CountElements(dims)));
  return Tensor::OfStrings(std::move(dims), std::move(strings));
}

// Inputs of the body: states, slices, captured values. Its outputs: states, scan outputs.
class ScanKernel final : public ValueKernel, public PlansWhileRunning {
 public:
  ScanKernel(const KernelContext& context, std::unique_ptr<RegionProgram> body, size_t num_states)
      : ValueKernel(context),
        attrs_(context.attrs_of<Scan>()),
        body_(std::move(body)),
        num_states_(num_states) {}

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override;
  absl::StatusOr<std::vector<ScanInput>> ScanInputs(const KernelArgs& args) const;

  const ScanAttrs attrs_;
  const std::unique_ptr<RegionProgram> body_;
  const size_t num_states_;
};

absl::StatusOr<std::vector<ScanInput>> ScanKernel::ScanInputs(const KernelArgs& args) const {
  std::vector<ScanInput> scanned;
  for (size_t i = 0; i < static_cast<size_t>(attrs_.num_scan_inputs); ++i) {
    const TensorView& tensor = args.inputs[num_states_ + i];
    const auto rank = static_cast<int64_t>(tensor.dims.size());
    const int64_t axis = Entry(attrs_.scan_input_axes, i);
    if (axis < -rank || axis >= rank)
      return ir::InvalidArgument("axis " + std::to_string(axis) + " is outside of scan input " +
                                 std::to_string(i) + ", which has rank " + std::to_string(rank));
    ScanInput& input = scanned.emplace_back();
    input.tensor = tensor;
    input.axis = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    input.backward = Entry(attrs_.scan_input_directions, i) == 1;
    ir::Shape dims(tensor.dims.begin(), tensor.dims.end());
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(input.axis));
    WEFT_ASSIGN_OR_RETURN(Tensor slice, NewTensor(tensor.dtype, std::move(dims)));
    input.slice = std::make_shared<Tensor>(std::move(slice));
    if (input.length() != scanned[0].length())
      return ir::InvalidArgument("scan input " + std::to_string(i) + " has " +
                                 std::to_string(input.length()) + " slices but the first has " +
                                 std::to_string(scanned[0].length()));
  }
  return scanned;
}

absl::StatusOr<std::vector<RuntimeValue>> ScanKernel::Results(const KernelArgs& args) {
  WEFT_ASSIGN_OR_RETURN(std::vector<ScanInput> scanned, ScanInputs(args));
  std::vector<RuntimeValue> inputs = ValuesFrom(args, 0);
  for (size_t i = 0; i < scanned.size(); ++i)
    inputs[num_states_ + i] = {scanned[i].slice->view(), scanned[i].slice};
  std::vector<ScanOutput> scans;
  for (size_t s = 0; s < body_->num_outputs() - num_states_; ++s)
    scans.emplace_back(Entry(attrs_.scan_output_axes, s),
                       Entry(attrs_.scan_output_directions, s) == 1);
  std::vector<RuntimeValue> outputs;
  size_t total = 0;
  const int64_t length = scanned[0].length();
  for (int64_t i = 0; i < length; ++i) {
    for (ScanInput& input : scanned) input.Take(i);
    WEFT_RETURN_IF_ERROR(body_->Run(inputs, &outputs));
    for (size_t s = 0; s < scans.size(); ++s)
      WEFT_RETURN_IF_ERROR(scans[s].Add(outputs[num_states_ + s].view, &total));
    for (size_t k = 0; k < num_states_; ++k) {
      for (const ScanInput& input : scanned)
        WEFT_RETURN_IF_ERROR(KeepApart(input.slice, &outputs[k]));
      std::swap(inputs[k], outputs[k]);
    }
  }
  outputs.clear();
  return LoopResults(*body_, std::move(inputs), 0, num_states_, scans, length > 0);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeScan(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(auto body, RegionProgram::Create(context, 0));
  const auto operands = static_cast<int64_t>(context.num_inputs()) - NumCaptured(context.op());
  const int64_t scanned = context.attrs_of<Scan>().num_scan_inputs;
  if (scanned < 1 || scanned > operands)
    return context.InvalidArgument("num_scan_inputs is " + std::to_string(scanned) +
                                   ", expected 1 to " + std::to_string(operands));
  const auto states = static_cast<size_t>(operands - scanned);
  if (body->num_arguments() != context.num_inputs() || body->num_outputs() < states)
    return context.InvalidArgument("its body does not fit its operands");
  return std::make_unique<ScanKernel>(context, std::move(body), states);
}
const RegisterKernel<Scan> kScan("reference", &MakeScan, kValueKernel);

}  // namespace
}  // namespace weft::kernels::reference
