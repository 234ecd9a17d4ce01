// onnx.Pad.
#include <string>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/strided_copy.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// The source of element `at` of an axis of `dim` elements that begins at 0; -1 for the constant.
int64_t PadSource(ops::PadMode mode, int64_t at, int64_t dim) {
  if (at >= 0 && at < dim) return at;
  switch (mode) {
    case ops::PadMode::kConstant:
      return -1;
    case ops::PadMode::kEdge:
      return at < 0 ? 0 : dim - 1;
    case ops::PadMode::kWrap:
      return (at % dim + dim) % dim;
    case ops::PadMode::kReflect:
      break;
  }
  const int64_t period = std::max<int64_t>(2 * (dim - 1), 1);
  const int64_t phase = (at % period + period) % period;
  return phase < dim ? phase : period - phase;
}

// An axis, or several that are not padded and count as one.
struct PaddedAxis {
  int64_t x, y, before;
};

// Rows along the last padded axis: what lies in x is copied whole, and the elements at both ends from where the mode
// says. An element of a row is a block of what the axes behind have, which are not padded.
struct PaddedRows {
  ops::PadMode mode;
  std::vector<PaddedAxis> outer;
  PaddedAxis row;
  int64_t block;  // bytes

  // Where the row of the result is found in x, in rows; -1 for a row of the constant.
  int64_t RowOf(int64_t row_of_y) const {
    int64_t from = 0, rows = 1;
    for (size_t i = outer.size(); i-- > 0;) {
      const PaddedAxis& axis = outer[i];
      const int64_t source = PadSource(mode, row_of_y % axis.y - axis.before, axis.x);
      if (source < 0) return -1;
      from += source * rows;
      rows *= axis.x;
      row_of_y /= axis.y;
    }
    return from;
  }

  template <class T>
  void CopyEnds(const T* x, int64_t begin, int64_t end, const T* fill, T* y) const {
    const int64_t n = block / static_cast<int64_t>(sizeof(T));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t source = PadSource(mode, i - row.before, row.x);
      if (source < 0) {
        std::fill_n(y + i * n, n, *fill);
      } else if (n == 1) {
        y[i] = x[source];
      } else {
        std::memcpy(y + i * n, x + source * n, static_cast<size_t>(block));
      }
    }
  }

  template <class T>
  void Copy(const T* x, const T* fill, T* y, int64_t begin, int64_t end) const {
    const int64_t n = block / static_cast<int64_t>(sizeof(T));
    const int64_t first = std::clamp<int64_t>(row.before, 0, row.y);
    const int64_t last = std::clamp<int64_t>(row.before + row.x, first, row.y);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = RowOf(i);
      T* const to = y + i * row.y * n;
      if (from < 0) {
        std::fill_n(to, row.y * n, *fill);
        continue;
      }
      const T* const source = x + from * row.x * n;
      CopyEnds(source, 0, first, fill, to);
      if (last > first)
        std::memcpy(to + first * n, source + (first - row.before) * n,
                    static_cast<size_t>((last - first) * block));
      CopyEnds(source, last, row.y, fill, to);
    }
  }
};

// `before` has a number for every axis.
PaddedRows RowsOf(ops::PadMode mode, std::span<const int64_t> x, std::span<const int64_t> y,
                  std::span<const int64_t> before, int64_t element_size) {
  size_t last = x.size();  // one behind the last padded axis
  while (last > 0 && before[last - 1] == 0 && x[last - 1] == y[last - 1]) --last;
  PaddedRows rows = {.mode = mode, .outer = {}, .row = {1, 1, 0}, .block = element_size};
  for (size_t i = last; i < x.size(); ++i) rows.block *= x[i];
  for (size_t i = 0; i < last; ++i) {
    const bool is_whole = before[i] == 0 && x[i] == y[i];
    if (i + 1 == last)
      rows.row = {x[i], y[i], before[i]};
    else if (is_whole && i > 0 && before[i - 1] == 0 && x[i - 1] == y[i - 1])
      rows.outer.back() = {rows.outer.back().x * x[i], rows.outer.back().y * y[i], 0};
    else
      rows.outer.push_back({x[i], y[i], before[i]});
  }
  return rows;
}

template <class T>
void Run(const PaddedRows& rows, const KernelArgs& args) {
  const T zero = 0;
  const T* const fill = args.HasInput(2) ? args.input<T>(2) : &zero;
  int64_t count = 1;
  for (const PaddedAxis& axis : rows.outer) count *= axis.y;
  const int64_t cost = rows.row.y * rows.block / 2 + 16;
  args.pool->ParallelFor(count, TileFor(count, cost), [&](int64_t begin, int64_t end) {
    rows.Copy<T>(args.input<T>(0), fill, args.output<T>(0), begin, end);
  });
}

std::vector<int64_t> IntsOf(const TensorView& view) {
  std::vector<int64_t> values;
  if (view.dtype == ir::DataType::kI32)
    for (const int32_t value : view.values<int32_t>()) values.push_back(value);
  else
    for (const int64_t value : view.values<int64_t>()) values.push_back(value);
  return values;
}

// Any mode, axes and pads, also below 0 and known only now.
absl::Status RunPad(ops::PadMode mode, int64_t size, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<int64_t> pads = IntsOf(args.inputs[1]);
  std::vector<int64_t> axes;
  if (args.HasInput(3)) axes = IntsOf(args.inputs[3]);
  for (size_t i = 0; !args.HasInput(3) && i < x.dims.size(); ++i)
    axes.push_back(static_cast<int64_t>(i));
  if (pads.size() != 2 * axes.size())
    return ir::InvalidArgument("onnx.Pad: pads must be two numbers per padded dimension");
  Dims before(static_cast<int>(x.dims.size()), 0), after = before;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = ir::NormalAxis(axes[i], x.dims.size());
    if (axis < 0 || axis >= static_cast<int64_t>(x.dims.size()))
      return ir::InvalidArgument("onnx.Pad: axis " + std::to_string(axes[i]) + " is out of range");
    before[static_cast<int>(axis)] = pads[i];
    after[static_cast<int>(axis)] = pads[axes.size() + i];
  }
  for (size_t i = 0; i < x.dims.size(); ++i) {
    int64_t padded;
    if (__builtin_add_overflow(x.dims[i], before[static_cast<int>(i)], &padded) ||
        __builtin_add_overflow(padded, after[static_cast<int>(i)], &padded) || padded != y.dims[i])
      return ir::InvalidArgument("onnx.Pad: the pads do not lead to the size of the result");
  }
  const PaddedRows rows = RowsOf(mode, x.dims, y.dims, before, size);
  if (size == 1) Run<uint8_t>(rows, args);
  if (size == 2) Run<uint16_t>(rows, args);
  if (size == 4) Run<uint32_t>(rows, args);
  if (size == 8) Run<uint64_t>(rows, args);
  return absl::OkStatus();
}

absl::Status CheckPad(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  if (ir::ElementSize(dtype) > 8) return context.Unsupported("elements of more than 8 bytes");
  const size_t rank = context.dims(0).size();
  if (context.input_type(0).dtype() != dtype || context.result_dims(0).size() != rank)
    return context.Unsupported("a result of another element type or rank");
  const ir::Type pads = context.input_type(1), axes = context.input_type(3);
  const auto count = static_cast<int64_t>(2 * rank);
  if (pads.dtype() != ir::DataType::kI64 || (!axes && pads.NumElements() != count) ||
      (axes && axes.dtype() != ir::DataType::kI64 && axes.dtype() != ir::DataType::kI32))
    return context.Unsupported("these pads or axes");
  if (context.HasInput(2) &&
      (context.input_type(2).NumElements() != 1 || context.input_type(2).dtype() != dtype))
    return context.InvalidArgument("constant_value must be one element of data's type");
  for (const int64_t dim : context.dims(0))
    if (dim == 0) return context.Unsupported("an operand without elements");
  return absl::OkStatus();
}

// Where a border of constants is known: fills everything, then copies the middle.
std::unique_ptr<Kernel> MakeFilled(const KernelContext& context, std::span<const int64_t> pads,
                                   int size) {
  const Dims x(context.dims(0)), result(context.result_dims(0));
  const Dims to = RowMajorStrides(result);
  int64_t offset = 0;
  for (int i = 0; i < x.size(); ++i) {
    const int64_t before = pads[static_cast<size_t>(i)];
    if (before < 0 || before > result[i] - x[i]) return nullptr;
    offset += before * to[i] * size;
  }
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("pad", {},
                    [x, from = RowMajorStrides(x), to, offset, n, size](const KernelArgs& args) {
                      const int64_t zero = 0;
                      const void* fill = &zero;
                      if (args.HasInput(2)) fill = args.inputs[2].data;
                      simd::Fill(fill, args.outputs[0].data, n, size, *args.pool);
                      simd::CopyStrided(args.inputs[0].data, from, args.outputs[0].data + offset,
                                        to, x, size, *args.pool);
                    });
}

Made MakePad(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckPad(context));
  const auto size = static_cast<int64_t>(ir::ElementSize(context.result_type(0).dtype()));
  const ops::PadMode mode = context.attrs_of<ops::Pad>().mode;
  const ir::Attribute pads = context.constant(1);
  if (mode == ops::PadMode::kConstant && pads && !context.HasInput(3)) {
    std::vector<int64_t> known(pads.num_bytes() / sizeof(int64_t));
    pads.Read(0, std::as_writable_bytes(std::span(known)));
    if (auto kernel = MakeFilled(context, known, static_cast<int>(size))) return kernel;
  }
  return MakeNative("pad", {},
                    [mode, size](const KernelArgs& args) { return RunPad(mode, size, args); });
}
const RegisterKernel<ops::Pad> kPad("native", &MakePad);

}  // namespace
}  // namespace weft::kernels::native
