// Ops that move elements without looking at them: any element type.
#include <algorithm>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// y[i] = x[i . strides + start] for every index i of y. Strides and start count elements.
void CopyFrom(const TensorView& x, const Dims& strides, int64_t start, const TensorView& y) {
  const size_t size = ir::ElementSize(y.dtype);
  std::byte* to = y.data;
  for (Odometer<1> at(y.dims, {strides}); !at.done(); at.Next(), to += size)
    std::memcpy(to, x.data + (start + at.offset[0]) * static_cast<int64_t>(size), size);
}

absl::Status CheckSameType(const KernelContext& context) {
  if (context.input_type(0).dtype() != context.result_type(0).dtype())
    return context.Unsupported("a result of another element type");
  return absl::OkStatus();
}

// --- transpose --------------------------------------------------------------------

absl::Status Transpose(const AttrsOf<ops::Transpose>& attrs, const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  const Dims from = RowMajorStrides(x.dims);
  Dims strides(from.size(), 0);
  for (int i = 0; i < from.size(); ++i)
    strides[i] = from[attrs.perm ? static_cast<int>((*attrs.perm)[i]) : from.size() - 1 - i];
  CopyFrom(x, strides, 0, args.outputs[0]);
  return absl::OkStatus();
}
const RegisterReference<ops::Transpose> kTranspose(&Transpose, &CheckSameType);

// --- concat and split ---------------------------------------------------------------

// Copies rows between a whole and a part that starts at `start` of the axis.
template <class Copy>
void ForEachRow(const TensorView& whole, const TensorView& part, int64_t axis, int64_t start,
                const Copy& copy) {
  const AxisView all(whole.dims, axis), some(part.dims, axis);
  const size_t size = ir::ElementSize(whole.dtype);
  for (int64_t i = 0; i < some.outer; ++i)
    copy(whole.data + (i * all.extent + start) * all.inner * size,
         part.data + i * some.extent * some.inner * size, some.extent * some.inner * size);
}

absl::Status Concat(const AttrsOf<ops::Concat>& attrs, const KernelArgs& args) {
  int64_t start = 0;
  for (const TensorView& x : args.inputs) {
    ForEachRow(args.outputs[0], x, attrs.axis, start,
               [](std::byte* whole, const std::byte* part, size_t n) {
                 std::copy(part, part + n, whole);
               });
    start += AxisView(x.dims, attrs.axis).extent;
  }
  return absl::OkStatus();
}
absl::Status CheckConcat(const KernelContext& context) {
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (context.input_type(i).dtype() != context.result_type(0).dtype())
      return context.Unsupported("operands of different element types");
  }
  return absl::OkStatus();
}
const RegisterReference<ops::Concat> kConcat(&Concat, &CheckConcat);

absl::Status Split(const AttrsOf<ops::Split>& attrs, const KernelArgs& args) {
  int64_t start = 0;
  for (const TensorView& y : args.outputs) {
    ForEachRow(args.inputs[0], y, attrs.axis, start,
               [](const std::byte* whole, std::byte* part, size_t n) {
                 std::copy(whole, whole + n, part);
               });
    start += AxisView(y.dims, attrs.axis).extent;
  }
  return absl::OkStatus();
}
absl::Status CheckSplit(const KernelContext& context) {
  const int64_t axis = context.attrs_of<ops::Split>().axis;
  const AxisView whole(context.dims(0), axis);
  int64_t extent = 0;
  for (size_t i = 0; i < context.num_results(); ++i) {
    const AxisView part(context.result_dims(i), axis);
    if (part.outer != whole.outer || part.inner != whole.inner)
      return context.InvalidArgument("the parts do not make up the whole");
    extent += part.extent;
  }
  if (extent != whole.extent) return context.InvalidArgument("the parts do not make up the whole");
  return CheckSameType(context);
}
const RegisterReference<ops::Split> kSplit(&Split, &CheckSplit);

// --- slice --------------------------------------------------------------------------

absl::Status Slice(const AttrsOf<ops::Slice>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<int64_t> starts = ReadInts(args.inputs[1]);
  const std::vector<int64_t> axes =
      args.HasInput(3) ? ReadInts(args.inputs[3]) : std::vector<int64_t>();
  const std::vector<int64_t> steps =
      args.HasInput(4) ? ReadInts(args.inputs[4]) : std::vector<int64_t>();
  Dims strides = RowMajorStrides(x.dims);
  const Dims from = strides;
  int64_t offset = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis =
        ir::NormalAxis(axes.empty() ? static_cast<int64_t>(i) : axes[i], x.dims.size());
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (axis < 0 || axis >= static_cast<int64_t>(x.dims.size()))
      return ir::InvalidArgument("axis " + std::to_string(axis) + " is out of range");
    const int64_t dim = x.dims[axis];
    const int64_t start = std::clamp<int64_t>(starts[i] < 0 ? starts[i] + dim : starts[i], 0,
                                              step < 0 ? dim - 1 : dim);
    int64_t last;
    if (__builtin_mul_overflow(y.dims[axis] - 1, step, &last) ||
        __builtin_add_overflow(last, start, &last) ||
        (y.dims[axis] > 0 && (last < 0 || last >= dim || start >= dim)))
      return ir::InvalidArgument("a slice of axis " + std::to_string(axis) + " is out of range");
    offset += start * from[axis];
    strides[axis] = from[axis] * step;
  }
  CopyFrom(x, strides, offset, y);
  return absl::OkStatus();
}
absl::Status CheckSlice(const KernelContext& context) {
  for (size_t i = 1; i < context.num_inputs(); ++i) {
    if (!context.HasInput(i)) continue;
    if (!VisitInteger(context.input_type(i).dtype(), [](auto) {}))
      return context.InvalidArgument("operand " + std::to_string(i) + " is not of an integer type");
    if (context.input_type(i).NumElements() != context.input_type(1).NumElements())
      return context.InvalidArgument("starts, ends, axes and steps have different lengths");
  }
  if (context.input_type(1).NumElements() > context.input_type(0).NumElements() + 8 ||
      context.result_dims(0).size() != context.dims(0).size())
    return context.InvalidArgument("the result has another rank than the operand");
  for (size_t i = 0; i < context.dims(0).size(); ++i) {
    if (context.result_dims(0)[i] > context.dims(0)[i])
      return context.InvalidArgument("the result is larger than the operand");
  }
  return CheckSameType(context);
}
const RegisterReference<ops::Slice> kSlice(&Slice, &CheckSlice);

// --- gather -------------------------------------------------------------------------

absl::Status Gather(const AttrsOf<ops::Gather>& attrs, const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  const std::vector<int64_t> indices = ReadInts(args.inputs[1]);
  const AxisView view(x.dims, attrs.axis);
  const int64_t bytes = view.inner * static_cast<int64_t>(ir::ElementSize(x.dtype));
  for (const int64_t index : indices) {
    if (index < -view.extent || index >= view.extent)
      return ir::InvalidArgument("index " + std::to_string(index) +
                                 " is out of range for an axis of size " +
                                 std::to_string(view.extent));
  }
  std::byte* to = args.outputs[0].data;
  for (int64_t i = 0; i < view.outer; ++i) {
    for (const int64_t index : indices) {
      const int64_t at = index < 0 ? index + view.extent : index;
      to = std::copy_n(x.data + (i * view.extent + at) * bytes, bytes, to);
    }
  }
  return absl::OkStatus();
}
absl::Status CheckGather(const KernelContext& context) {
  const ir::DataType index = context.input_type(1).dtype();
  if (index != ir::DataType::kI32 && index != ir::DataType::kI64)
    return context.Unsupported("indices of type " + std::string(ir::DataTypeName(index)));
  return CheckSameType(context);
}
const RegisterReference<ops::Gather> kGather(&Gather, &CheckGather);

// --- expand, tile, pad ----------------------------------------------------------------

absl::Status Expand(const AttrsOf<ops::Expand>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  CopyFrom(x, BroadcastStrides(x.dims, y.dims), 0, y);
  return absl::OkStatus();
}
absl::Status CheckExpand(const KernelContext& context) {
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  bool fits = x.size() <= y.size();
  for (size_t i = 0; fits && i < x.size(); ++i)
    fits = x[i] == 1 || x[i] == y[y.size() - x.size() + i];
  if (!fits)
    return context.InvalidArgument(ir::ToString(x) + " does not broadcast to " + ir::ToString(y));
  return CheckSameType(context);
}
const RegisterReference<ops::Expand> kExpand(&Expand, &CheckExpand);

absl::Status Tile(const AttrsOf<ops::Tile>&, const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  CopyMapped(x, args.outputs[0], nullptr, [&](int axis, int64_t at) { return at % x.dims[axis]; });
  return absl::OkStatus();
}
absl::Status CheckTile(const KernelContext& context) {
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  if (x.size() != y.size()) return context.InvalidArgument("the result has another rank");
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0 ? y[i] != 0 : y[i] % x[i] != 0)
      return context.InvalidArgument("the result is no multiple of the operand");
  }
  return CheckSameType(context);
}
const RegisterReference<ops::Tile> kTile(&Tile, &CheckTile);

// The source of element `at` of an axis padded by `before`; -1 for the constant.
int64_t PadSource(ir::ops::PadMode mode, int64_t at, int64_t before, int64_t dim) {
  const int64_t i = at - before;
  if (i >= 0 && i < dim) return i;
  switch (mode) {
    case ops::PadMode::kConstant:
      return -1;
    case ops::PadMode::kEdge:
      return std::clamp<int64_t>(i, 0, dim - 1);
    case ops::PadMode::kWrap:
      return (i % dim + dim) % dim;
    case ops::PadMode::kReflect:
      break;
  }
  const int64_t period = std::max<int64_t>(2 * (dim - 1), 1);
  const int64_t phase = (i % period + period) % period;
  return phase < dim ? phase : period - phase;
}

absl::Status Pad(const AttrsOf<ops::Pad>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<int64_t> pads = ReadInts(args.inputs[1]);
  std::vector<int64_t> axes, before(x.dims.size(), 0), after(x.dims.size(), 0);
  if (args.HasInput(3)) axes = ReadInts(args.inputs[3]);
  for (size_t i = 0; !args.HasInput(3) && i < x.dims.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (pads.size() != 2 * axes.size())
    return ir::InvalidArgument("pads must be two numbers per padded dimension");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = ir::NormalAxis(axes[i], x.dims.size());
    if (axis < 0 || axis >= static_cast<int64_t>(x.dims.size()))
      return ir::InvalidArgument("axis " + std::to_string(axes[i]) + " is out of range");
    before[axis] = pads[i];
    after[axis] = pads[axes.size() + i];
  }
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (x.dims[i] + before[i] + after[i] != y.dims[i])
      return ir::InvalidArgument("the pads do not lead to the size of the result");
  const std::byte zero[16] = {};
  const std::byte* fill = args.HasInput(2) ? args.inputs[2].data : zero;
  CopyMapped(x, y, fill, [&](int axis, int64_t at) {
    return PadSource(attrs.mode, at, before[axis], x.dims[axis]);
  });
  return absl::OkStatus();
}
absl::Status CheckPad(const KernelContext& context) {
  const size_t rank = context.dims(0).size();
  const bool all = !context.HasInput(3);
  if (context.input_type(1).dtype() != ir::DataType::kI64 ||
      (all && context.input_type(1).NumElements() != static_cast<int64_t>(2 * rank)) ||
      context.result_dims(0).size() != rank)
    return context.InvalidArgument("pads must be two i64 numbers per dimension");
  if (!all && context.input_type(3).dtype() != ir::DataType::kI64 &&
      context.input_type(3).dtype() != ir::DataType::kI32)
    return context.InvalidArgument("axes must be integers");
  if (context.HasInput(2) && (context.input_type(2).NumElements() != 1 ||
                              context.input_type(2).dtype() != context.result_type(0).dtype()))
    return context.InvalidArgument("constant_value must be one element of data's type");
  const bool repeats = context.attrs_of<ops::Pad>().mode != ops::PadMode::kConstant;
  for (size_t i = 0; repeats && i < rank; ++i)
    if (context.dims(0)[i] == 0 && context.result_dims(0)[i] > 0)
      return context.InvalidArgument("nothing to repeat along an axis without elements");
  return CheckSameType(context);
}
const RegisterReference<ops::Pad> kPad(&Pad, &CheckPad);

}  // namespace
}  // namespace weft::kernels::reference
