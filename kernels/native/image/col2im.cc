// onnx.Col2Im of rows and images: each row of the result is the sum of the rows of blocks that lie on it.
#include <algorithm>
#include <optional>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "kernels/native/native.h"

#define WEFT_ISA_BODY "kernels/native/image/col2im_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {
auto AddRowFor() { return WEFT_DISPATCH(AddRow); }
}  // namespace
}  // namespace weft::kernels::simd

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using Attrs = ops::Col2Im::Attrs<ir::Plain>;

// Along one spatial dimension, element k of block b lies at b * stride + k * dilation - begin.
struct Axis {
  static constexpr int64_t kMost = 1 << 28;  // of every number here

  int64_t size = 1, kernel = 1, blocks = 1;
  int64_t stride = 1, dilation = 1, begin = 0;

  // For dimension i of n; nothing where numbers are too large.
  static std::optional<Axis> Make(const Attrs& attrs, size_t i, size_t n, int64_t size,
                                  int64_t kernel) {
    const auto entry = [](const std::optional<ir::Ints>& list, size_t at, int64_t fallback) {
      return list ? (*list)[at] : fallback;
    };
    Axis axis = {.size = size,
                 .kernel = kernel,
                 .blocks = 0,
                 .stride = entry(attrs.strides, i, 1),
                 .dilation = entry(attrs.dilations, i, 1),
                 .begin = entry(attrs.pads, i, 0)};
    const int64_t end = entry(attrs.pads, n + i, 0);
    for (const int64_t number : {size, kernel, axis.stride, axis.dilation})
      if (number < 1 || number > kMost) return std::nullopt;
    for (const int64_t number : {axis.begin, end})
      if (number < 0 || number > kMost) return std::nullopt;
    const int64_t room = size + axis.begin + end - (kernel - 1) * axis.dilation - 1;
    axis.blocks = room < 0 ? 0 : room / axis.stride + 1;
    return axis;
  }

  // The blocks [first, last) whose element k lies in the image.
  struct Range {
    int64_t first, last;
  };
  Range Inside(int64_t k) const {
    const int64_t start = k * dilation - begin;
    const int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
    const int64_t last = start >= size ? 0 : (size - 1 - start) / stride + 1;
    return {first, std::min(last, blocks)};
  }
};

struct Images {
  Axis rows, columns;
  int64_t planes;
  int64_t blocks() const { return rows.blocks * columns.blocks; }
};

// Row `row` of the result, where x has the blocks of its plane.
void SumRow(const Images& images, const float* x, int64_t row, float* y) {
  const auto add = simd::AddRowFor();
  const Axis &rows = images.rows, &columns = images.columns;
  std::fill_n(y, columns.size, 0.0f);
  for (int64_t i = 0; i < rows.kernel; ++i) {
    const int64_t from = row + rows.begin - i * rows.dilation;
    if (from < 0 || from % rows.stride != 0 || from / rows.stride >= rows.blocks) continue;
    for (int64_t j = 0; j < columns.kernel; ++j) {
      const Axis::Range inside = columns.Inside(j);
      if (inside.first >= inside.last) continue;
      const float* const blocks =
          x + (i * columns.kernel + j) * images.blocks() + from / rows.stride * columns.blocks;
      add(blocks + inside.first, inside.last - inside.first,
          y + inside.first * columns.stride + j * columns.dilation - columns.begin, columns.stride);
    }
  }
}

Made MakeCol2Im(const KernelContext& context) {
  if (context.input_type(0).dtype() != ir::DataType::kF32 ||
      context.result_type(0).dtype() != ir::DataType::kF32)
    return context.Unsupported("only f32");
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  const ir::Attribute block = context.constant(2);
  const size_t n = y.size() - 2;
  if (x.size() != 3 || y.size() < 3 || n > 2)
    return context.Unsupported("other than one or two spatial dimensions");
  if (!block || block.dense_type().NumElements() != static_cast<int64_t>(n))
    return context.Unsupported("a block_shape that is not known");
  Images images = {.rows = {}, .columns = {}, .planes = y[0] * y[1]};
  const auto attrs = context.attrs_of<ops::Col2Im>();
  for (size_t i = 0; i < n; ++i) {
    const auto axis =
        Axis::Make(attrs, i, n, y[i + 2],
                   static_cast<int64_t>(ir::DenseElement(block, static_cast<int64_t>(i))));
    if (!axis) return context.Unsupported("so large an image or block");
    (i + 1 == n ? images.columns : images.rows) = *axis;
  }
  const int64_t elements = images.rows.kernel * images.columns.kernel;
  if (x[0] != y[0] || images.blocks() != x[2] || x[1] % elements != 0 || x[1] / elements != y[1])
    return context.Unsupported("an x that does not have the blocks of the image");
  return MakeNative("sum of blocks", {}, [images, elements](const KernelArgs& args) {
    const int64_t height = images.rows.size, width = images.columns.size;
    const int64_t count = images.planes * height;
    const int64_t cost = width + elements * images.blocks() / height;
    args.pool->ParallelFor(count, TileFor(count, cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        SumRow(images, args.input<float>(0) + i / height * elements * images.blocks(), i % height,
               args.output<float>(0) + i * width);
    });
  });
}
const RegisterKernel<ops::Col2Im> kCol2Im("native", &MakeCol2Im);

}  // namespace
}  // namespace weft::kernels::native
