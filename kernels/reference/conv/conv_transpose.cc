// Transposed convolution and Col2Im: sums of blocks where they lie on the result.
#include <algorithm>

#include "ir/dialects/onnx/nn/conv.h"
#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

int64_t Entry(const std::optional<ir::Ints>& list, size_t i, int64_t fallback) {
  return list ? (*list)[i] : fallback;
}

// Any number of spatial dimensions: kernel element k of block b lies at b * stride + k * dilation -
// begin.
struct Blocks {
  Dims blocks, kernel, image;  // extents
  Dims stride, dilation, begin;

  // Where in the image, or -1 for outside.
  int64_t At(int64_t block, int64_t element) const {
    int64_t at = 0, step = 1;
    for (int i = image.size() - 1; i >= 0; --i) {
      const int64_t position =
          block % blocks[i] * stride[i] + element % kernel[i] * dilation[i] - begin[i];
      if (position < 0 || position >= image[i]) return -1;
      at += position * step;
      step *= image[i];
      block /= blocks[i];
      element /= kernel[i];
    }
    return at;
  }
};

absl::Status ConvTranspose(const AttrsOf<ops::ConvTranspose>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &w = args.inputs[1], &y = args.outputs[0];
  Blocks blocks;
  for (size_t i = 2; i < x.dims.size(); ++i) {
    const auto extent = ops::ConvTranspose::ExtentAlong(attrs, i - 2, x.dims[i], w.dims[i]);
    blocks.blocks.push_back(x.dims[i]);
    blocks.kernel.push_back(w.dims[i]);
    blocks.image.push_back(y.dims[i]);
    blocks.stride.push_back(Entry(attrs.strides, i - 2, 1));
    blocks.dilation.push_back(Entry(attrs.dilations, i - 2, 1));
    blocks.begin.push_back(extent.begin);
  }
  const std::vector<double> in = ReadDoubles(x), weights = ReadDoubles(w);
  const int64_t in_size = NumElements(blocks.blocks), out_size = NumElements(blocks.image);
  const int64_t elements = NumElements(blocks.kernel);
  const int64_t inputs = x.dims[1] / attrs.group, outputs = w.dims[1];  // channels of one group
  const std::vector<double> bias =
      args.HasInput(2) ? ReadDoubles(args.inputs[2]) : std::vector<double>(y.dims[1], 0.0);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  args.pool->ParallelFor(y.dims[0] * y.dims[1], 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t image = row / y.dims[1], channel = row % y.dims[1], group = channel / outputs;
      double* sums = out.data() + row * out_size;
      std::fill_n(sums, out_size, bias[channel]);
      for (int64_t c = group * inputs; c < (group + 1) * inputs; ++c) {
        const double* from = in.data() + (image * x.dims[1] + c) * in_size;
        const double* kernel = weights.data() + (c * outputs + channel % outputs) * elements;
        for (int64_t b = 0; b < in_size; ++b)
          for (int64_t k = 0; k < elements; ++k)
            if (const int64_t at = blocks.At(b, k); at >= 0) sums[at] += from[b] * kernel[k];
      }
    }
  });
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckConvTranspose(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckInferred(context));
  return SameFloats(context);
}
const RegisterReference<ops::ConvTranspose> kConvTranspose(&ConvTranspose, &CheckConvTranspose);

// Sums in `Wide`: double, or unsigned for integers, which wrap around.
template <class T, class Wide>
void AddBlocks(const Blocks& blocks, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const int64_t elements = NumElements(blocks.kernel), count = x.dims[2];
  const int64_t size = NumElements(blocks.image);
  for (int64_t row = 0; row < y.dims[0] * y.dims[1]; ++row) {
    const T* from = args.input<T>(0) + row * elements * count;
    std::vector<Wide> sums(static_cast<size_t>(size));
    for (int64_t k = 0; k < elements; ++k)
      for (int64_t b = 0; b < count; ++b)
        if (const int64_t at = blocks.At(b, k); at >= 0)
          sums[at] += static_cast<Wide>(from[k * count + b]);
    for (int64_t i = 0; i < size; ++i) args.output<T>(0)[row * size + i] = T(sums[i]);
  }
}

absl::Status Col2Im(const AttrsOf<ops::Col2Im>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<int64_t> block = ReadInts(args.inputs[2]);
  const size_t n = y.dims.size() - 2;
  if (block.size() != n) return ir::InvalidArgument("block_shape has another rank than the image");
  Blocks blocks;
  int64_t count = 1, elements = 1;
  for (size_t i = 0; i < n; ++i) {
    const int64_t stride = Entry(attrs.strides, i, 1), dilation = Entry(attrs.dilations, i, 1);
    if (block[i] < 1 || block[i] > INT32_MAX)
      return ir::InvalidArgument("block_shape has the entry " + std::to_string(block[i]));
    const int64_t begin = Entry(attrs.pads, i, 0), end = Entry(attrs.pads, n + i, 0);
    const int64_t room = y.dims[i + 2] + begin + end - (block[i] - 1) * dilation - 1;
    const int64_t along = room < 0 ? 0 : room / stride + 1;
    if (__builtin_mul_overflow(count, along, &count) ||
        __builtin_mul_overflow(elements, block[i], &elements))
      return ir::InvalidArgument("image_shape or block_shape is too large");
    blocks.blocks.push_back(along);
    blocks.kernel.push_back(block[i]);
    blocks.image.push_back(y.dims[i + 2]);
    blocks.stride.push_back(stride);
    blocks.dilation.push_back(dilation);
    blocks.begin.push_back(begin);
  }
  if (count != x.dims[2] || elements > x.dims[1] || x.dims[1] % elements != 0 ||
      x.dims[1] / elements != y.dims[1])
    return ir::InvalidArgument("x does not have the blocks of the image");
  VisitNumber(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    AddBlocks<T, std::conditional_t<kIsFloat<T>, double, uint64_t>>(blocks, args);
  });
  return absl::OkStatus();
}
absl::Status CheckCol2Im(const KernelContext& context) {
  if (!VisitNumber(context.input_type(0).dtype(), [](auto) {}))
    return context.Unsupported("these element types");
  return CheckInferred(context);
}
const RegisterReference<ops::Col2Im> kCol2Im(&Col2Im, &CheckCol2Im);

}  // namespace
}  // namespace weft::kernels::reference
