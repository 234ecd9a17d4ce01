// Ops that put elements in another place by a formula, or leave some of them out: any element type.
#include <algorithm>

#include "ir/dialects/onnx/indexing.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

absl::Status CheckSameDtype(const KernelContext& context) {
  if (context.input_type(0).dtype() != context.result_type(0).dtype())
    return context.InvalidArgument("the result is of another element type");
  return absl::OkStatus();
}
absl::Status CheckSameType(const KernelContext& context) {
  if (context.input_type(0) != context.result_type(0))
    return context.InvalidArgument("the result is of another type than the operand");
  return absl::OkStatus();
}

// --- triangles ----------------------------------------------------------------------------------

absl::Status Trilu(const AttrsOf<ops::Trilu>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const int64_t rows = x.dims[x.dims.size() - 2], columns = x.dims.back();
  const int64_t given = args.HasInput(1) ? ReadInts(args.inputs[1]).front() : 0;
  const int64_t k = std::clamp<int64_t>(given, -rows, columns);  // beyond, all is alike
  const size_t size = ir::ElementSize(y.dtype);
  std::memset(y.data, 0, y.NumBytes());
  for (int64_t i = 0; i < y.NumElements(); ++i) {
    const int64_t diagonal = i % columns - i / columns % rows;
    if (attrs.upper != 0 ? diagonal < k : diagonal > k) continue;
    std::memcpy(y.data + static_cast<size_t>(i) * size, x.data + static_cast<size_t>(i) * size,
                size);
  }
  return absl::OkStatus();
}
absl::Status CheckTrilu(const KernelContext& context) {
  if (context.dims(0).size() < 2) return context.InvalidArgument("needs matrices");
  if (context.HasInput(1) && (context.input_type(1).dtype() != ir::DataType::kI64 ||
                              context.input_type(1).NumElements() != 1))
    return context.InvalidArgument("k must be one i64 number");
  return CheckSameType(context);
}
const RegisterReference<ops::Trilu> kTrilu(&Trilu, &CheckTrilu);

// --- reversed sequences ---------------------------------------------------------------------------

absl::Status ReverseSequence(const AttrsOf<ops::ReverseSequence>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<int64_t> lengths = ReadInts(args.inputs[1]);
  const int64_t steps = x.dims[static_cast<size_t>(attrs.time_axis)];
  for (const int64_t length : lengths) {
    if (length < 0 || length > steps)
      return ir::InvalidArgument("a sequence of length " + std::to_string(length) + " in " +
                                 std::to_string(steps) + " steps");
  }
  const auto batches = static_cast<int64_t>(lengths.size());
  const bool time_first = attrs.time_axis == 0;
  const size_t bytes =
      static_cast<size_t>(CountElements(x.dims.subspan(2))) * ir::ElementSize(x.dtype);
  const auto place = [&](int64_t batch, int64_t step) {
    return static_cast<size_t>(time_first ? step * batches + batch : batch * steps + step) * bytes;
  };
  for (int64_t batch = 0; batch < batches; ++batch) {
    const int64_t length = lengths[static_cast<size_t>(batch)];
    for (int64_t step = 0; step < steps; ++step)
      std::memcpy(y.data + place(batch, step),
                  x.data + place(batch, step < length ? length - 1 - step : step), bytes);
  }
  return absl::OkStatus();
}
absl::Status CheckReverseSequence(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::ReverseSequence>();
  const std::span<const int64_t> x = context.dims(0);
  if (x.size() < 2 || attrs.batch_axis + attrs.time_axis != 1 || attrs.batch_axis < 0 ||
      attrs.time_axis < 0)
    return context.InvalidArgument("needs a batch axis and a time axis, 0 and 1 or 1 and 0");
  if (context.input_type(1).dtype() != ir::DataType::kI64 ||
      context.input_type(1).NumElements() != x[static_cast<size_t>(attrs.batch_axis)])
    return context.InvalidArgument("sequence_lens must be one i64 number per batch");
  return CheckSameType(context);
}
const RegisterReference<ops::ReverseSequence> kReverseSequence(&ReverseSequence,
                                                               &CheckReverseSequence);

// --- blocks ---------------------------------------------------------------------------------------

// An image [N, C * b * b, H, W] and one [N, C, H * b, W * b]: copy(deep, wide) for each element.
template <class Copy>
void ForEachInBlocks(std::span<const int64_t> deep, int64_t block, bool block_outermost,
                     const Copy& copy) {
  const int64_t channels = deep[1] / (block * block), height = deep[2], width = deep[3];
  const int64_t plane = height * width;
  const int64_t channel = block_outermost ? plane : plane * block * block;
  const int64_t in_block = block_outermost ? channels * plane : plane;
  const Dims shape = {deep[0], channels, height, block, width, block};
  const Dims strides = {deep[1] * plane, channel, width, in_block * block, 1, in_block};
  size_t wide = 0;
  for (Odometer<1> at(shape, {strides}); !at.done(); at.Next()) copy(at.offset[0], wide++);
}

absl::Status DepthToSpace(const AttrsOf<ops::DepthToSpace>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const size_t size = ir::ElementSize(x.dtype);
  ForEachInBlocks(
      x.dims, attrs.blocksize, attrs.mode == ops::DepthOrder::kDcr, [&](int64_t deep, size_t wide) {
        std::memcpy(y.data + wide * size, x.data + static_cast<size_t>(deep) * size, size);
      });
  return absl::OkStatus();
}
absl::Status SpaceToDepth(const AttrsOf<ops::SpaceToDepth>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const size_t size = ir::ElementSize(x.dtype);
  ForEachInBlocks(y.dims, attrs.blocksize, true, [&](int64_t deep, size_t wide) {
    std::memcpy(y.data + static_cast<size_t>(deep) * size, x.data + wide * size, size);
  });
  return absl::OkStatus();
}
// Types of what has the depth and of what has the space.
absl::Status CheckBlocks(const KernelContext& context, ir::Type deep, ir::Type wide,
                         int64_t block) {
  bool fits = deep.rank() == 4 && wide.rank() == 4 && block > 0;
  if (fits) {
    const std::span<const int64_t> d = deep.dims(), w = wide.dims();
    fits = d[0] == w[0] && w[2] % block == 0 && w[3] % block == 0 && d[2] == w[2] / block &&
           d[3] == w[3] / block && d[1] % block == 0 && d[1] / block % block == 0 &&
           w[1] == d[1] / block / block;
  }
  if (!fits) return context.InvalidArgument("the result has another shape than the blocks give it");
  return CheckSameDtype(context);
}
absl::Status CheckDepthToSpace(const KernelContext& context) {
  return CheckBlocks(context, context.input_type(0), context.result_type(0),
                     context.attrs_of<ops::DepthToSpace>().blocksize);
}
absl::Status CheckSpaceToDepth(const KernelContext& context) {
  return CheckBlocks(context, context.result_type(0), context.input_type(0),
                     context.attrs_of<ops::SpaceToDepth>().blocksize);
}
const RegisterReference<ops::DepthToSpace> kDepthToSpace(&DepthToSpace, &CheckDepthToSpace);
const RegisterReference<ops::SpaceToDepth> kSpaceToDepth(&SpaceToDepth, &CheckSpaceToDepth);

// --- the middle -----------------------------------------------------------------------------------

// The result's sizes say what is cut off and what is added.
absl::Status CenterCropPad(const AttrsOf<ops::CenterCropPad>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::byte zero[16] = {};
  CopyMapped(x, y, zero, [&](int axis, int64_t at) -> int64_t {
    const int64_t from = x.dims[static_cast<size_t>(axis)], to = y.dims[static_cast<size_t>(axis)];
    const int64_t i = to <= from ? at + (from - to) / 2 : at - (to - from) / 2;
    return i < from ? i : -1;
  });
  return absl::OkStatus();
}
absl::Status CheckCenterCropPad(const KernelContext& context) {
  if (context.dims(0).size() != context.result_dims(0).size())
    return context.InvalidArgument("the result has another rank than the operand");
  return CheckSameDtype(context);
}
const RegisterReference<ops::CenterCropPad> kCenterCropPad(&CenterCropPad, &CheckCenterCropPad);

// --- one-hot --------------------------------------------------------------------------------------

absl::Status OneHot(const AttrsOf<ops::OneHot>& attrs, const KernelArgs& args) {
  const TensorView &values = args.inputs[2], &y = args.outputs[0];
  const AxisView view(y.dims, attrs.axis);
  const auto depth = static_cast<double>(view.extent);
  if (std::trunc(ReadScalar(args.inputs[1])) != depth)
    return ir::InvalidArgument("depth is " + std::to_string(ReadScalar(args.inputs[1])) +
                               ", which is not what the result has");
  const std::vector<double> indices = ReadDoubles(args.inputs[0]);
  const size_t size = ir::ElementSize(y.dtype);
  std::byte* to = y.data;
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (int64_t at = 0; at < view.extent; ++at) {
      for (int64_t inner = 0; inner < view.inner; ++inner, to += size) {
        const double index = std::trunc(indices[static_cast<size_t>(outer * view.inner + inner)]);
        const bool on = (index < 0 ? index + depth : index) == static_cast<double>(at);
        std::memcpy(to, values.data + (on ? size : 0), size);
      }
    }
  }
  return absl::OkStatus();
}
absl::Status CheckOneHot(const KernelContext& context) {
  const int64_t axis =
      ir::NormalAxis(context.attrs_of<ops::OneHot>().axis, context.result_dims(0).size());
  ir::Shape rest = context.result_type(0).shape();
  if (axis < 0 || axis >= static_cast<int64_t>(rest.size()))
    return context.InvalidArgument("axis is out of range");
  rest.erase(rest.begin() + axis);
  if (rest != context.input_type(0).shape() || context.input_type(1).NumElements() != 1 ||
      context.input_type(2).NumElements() != 2 ||
      context.input_type(2).dtype() != context.result_type(0).dtype())
    return context.InvalidArgument("needs indices, one depth, and off and on of the result's type");
  for (const size_t i : {0, 1}) {
    const ir::DataType dtype = context.input_type(i).dtype();
    if (!VisitNumber(dtype, [](auto) {}))
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  }
  return absl::OkStatus();
}
const RegisterReference<ops::OneHot> kOneHot(&OneHot, &CheckOneHot);

// --- slices by index --------------------------------------------------------------------------------

absl::Status GatherND(const AttrsOf<ops::GatherND>& attrs, const KernelArgs& args) {
  const TensorView &data = args.inputs[0], &indices = args.inputs[1], &y = args.outputs[0];
  const auto batch_dims = static_cast<size_t>(attrs.batch_dims);
  const auto named = static_cast<size_t>(indices.dims.back());
  const std::vector<int64_t> entries = ReadInts(indices);
  const Dims strides = RowMajorStrides(data.dims);
  const int64_t batches = CountElements(data.dims.first(batch_dims));
  const int64_t batch_size = CountElements(data.dims.subspan(batch_dims));
  const int64_t slice = CountElements(data.dims.subspan(batch_dims + named));
  const auto count = static_cast<int64_t>(entries.size() / std::max<size_t>(named, 1));
  const size_t size = ir::ElementSize(y.dtype);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = i / (count / batches) * batch_size;
    for (size_t axis = 0; axis < named; ++axis) {
      const int64_t dim = data.dims[batch_dims + axis];
      const int64_t index = entries[static_cast<size_t>(i) * named + axis];
      if (index < -dim || index >= dim)
        return ir::InvalidArgument("index " + std::to_string(index) +
                                   " is out of range for an axis of size " + std::to_string(dim));
      from += (index < 0 ? index + dim : index) * strides[static_cast<int>(batch_dims + axis)];
    }
    std::memcpy(y.data + static_cast<size_t>(i * slice) * size,
                data.data + static_cast<size_t>(from) * size, static_cast<size_t>(slice) * size);
  }
  return absl::OkStatus();
}
absl::Status CheckGatherND(const KernelContext& context) {
  const std::span<const int64_t> data = context.dims(0), indices = context.dims(1);
  const int64_t batch = context.attrs_of<ops::GatherND>().batch_dims;
  if (context.input_type(1).dtype() != ir::DataType::kI64)
    return context.Unsupported("indices that are not i64");
  if (indices.empty() || batch < 0 || batch >= static_cast<int64_t>(indices.size()) ||
      indices.back() < 1 || indices.back() > static_cast<int64_t>(data.size()) - batch)
    return context.InvalidArgument("indices name more dimensions than data has");
  ir::Shape expected(indices.begin(), indices.end() - 1);
  std::copy(data.begin(), data.begin() + batch, expected.begin());
  expected.insert(expected.end(), data.begin() + batch + indices.back(), data.end());
  if (!std::equal(data.begin(), data.begin() + batch, indices.begin()) ||
      context.result_type(0).shape() != expected)
    return context.InvalidArgument("indices " + ir::ToString(indices) + " do not fit data " +
                                   ir::ToString(data));
  return CheckSameDtype(context);
}
const RegisterReference<ops::GatherND> kGatherND(&GatherND, &CheckGatherND);

}  // namespace
}  // namespace weft::kernels::reference
