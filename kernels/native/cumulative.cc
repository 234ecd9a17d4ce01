// onnx.CumSum: running sums, formed in double or wrapping as the reference forms them, in the same order.
#include <string>

#include "ir/dialects/onnx/math.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

struct Direction {
  bool exclusive, reverse;
};

// One column, with its sum in a register.
template <class T>
void SumColumn(const T* x, T* y, const AxisView& view, const Direction& direction) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  Wide sum = 0;
  for (int64_t i = 0; i < view.extent; ++i) {
    const int64_t at = (direction.reverse ? view.extent - 1 - i : i) * view.inner;
    const Wide with_this = sum + static_cast<Wide>(x[at]);
    y[at] = static_cast<T>(direction.exclusive ? sum : with_this);
    sum = with_this;
  }
}

// Columns [begin, end) of rows that are `inner` elements long, one below the other along the axis.
template <class T>
void SumColumns(const T* x, T* y, const AxisView& view, const Direction& direction, int64_t begin,
                int64_t end) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  if (end - begin == 1) return SumColumn(x + begin, y + begin, view, direction);
  constexpr int64_t kColumns = 256;
  Wide sums[kColumns];
  for (int64_t first = begin; first < end; first += kColumns) {
    const int64_t n = std::min(kColumns, end - first);
    std::fill_n(sums, n, Wide(0));
    for (int64_t i = 0; i < view.extent; ++i) {
      const int64_t row = direction.reverse ? view.extent - 1 - i : i;
      const T* const from = x + row * view.inner + first;
      T* const to = y + row * view.inner + first;
      if (direction.exclusive) {
        for (int64_t c = 0; c < n; ++c) {
          to[c] = static_cast<T>(sums[c]);
          sums[c] += static_cast<Wide>(from[c]);
        }
      } else {
        for (int64_t c = 0; c < n; ++c) {
          sums[c] += static_cast<Wide>(from[c]);
          to[c] = static_cast<T>(sums[c]);
        }
      }
    }
  }
}

template <class T>
void Sum(const T* x, T* y, const AxisView& view, const Direction& direction, ThreadPool& pool) {
  // Pieces of columns, for few long parts are shared by threads, too.
  constexpr int64_t kPiece = 64;
  const int64_t pieces = (view.inner + kPiece - 1) / kPiece, count = view.outer * pieces;
  const int64_t cost = 2 * view.extent * std::min(kPiece, view.inner);
  pool.ParallelFor(count, TileFor(count, cost), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t piece = begin % pieces, n = std::min(pieces - piece, end - begin);
      const int64_t start = begin / pieces * view.extent * view.inner;
      SumColumns(x + start, y + start, view, direction, piece * kPiece,
                 std::min((piece + n) * kPiece, view.inner));
      begin += n;
    }
  });
}

template <class T>
std::unique_ptr<Kernel> MakeCumSumOn(const Direction& direction) {
  return MakeNative("cumsum", {}, [direction](const KernelArgs& args) {
    const int64_t axis = args.inputs[1].dtype == ir::DataType::kI32
                             ? int64_t{*args.input<int32_t>(1)}
                             : *args.input<int64_t>(1);
    const auto rank = static_cast<int64_t>(args.inputs[0].dims.size());
    if (axis < -rank || axis >= rank)
      return ir::InvalidArgument("onnx.CumSum: axis " + std::to_string(axis) +
                                 " is out of range for rank " + std::to_string(rank));
    Sum(args.input<T>(0), args.output<T>(0), AxisView(args.inputs[0].dims, axis), direction,
        *args.pool);
    return absl::OkStatus();
  });
}

Made MakeCumSum(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (context.result_type(0).dtype() != dtype)
    return context.Unsupported("a result of another element type");
  const ir::Type axis = context.input_type(1);
  if ((axis.dtype() != ir::DataType::kI32 && axis.dtype() != ir::DataType::kI64) ||
      axis.NumElements() != 1)
    return context.Unsupported("an axis that is not one i32 or i64");
  const auto attrs = context.attrs_of<ops::CumSum>();
  const Direction direction = {attrs.exclusive != 0, attrs.reverse != 0};
  switch (dtype) {
    case ir::DataType::kF32:
      return MakeCumSumOn<float>(direction);
    case ir::DataType::kF64:
      return MakeCumSumOn<double>(direction);
    case ir::DataType::kI32:
      return MakeCumSumOn<int32_t>(direction);
    case ir::DataType::kI64:
      return MakeCumSumOn<int64_t>(direction);
    default:
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  }
}
const RegisterKernel<ops::CumSum> kCumSum("native", &MakeCumSum);

}  // namespace
}  // namespace weft::kernels::native
