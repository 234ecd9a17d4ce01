// The product of the weights and an image has a row for each element of the kernel of each channel, with an entry for each
// block; the rows are added up where the blocks lie (col2im). It is made a few megabytes at a time.
#include "kernels/native/image/conv_transpose_blocks.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ir/dialects/onnx/nn/conv.h"
#include "kernels/native/simd/gemm.h"
#include "kernels/native/simd/products/col2im.h"
#include "kernels/native/simd/strided_copy.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kMostFloats = 1 << 20;  // of rows that are made at once, unless one has more

int64_t ToLines(int64_t floats) { return (floats + 15) / 16 * 16; }

struct Transposed {
  simd::BlocksOnImage on;
  int64_t batch, groups;
  int64_t inputs, outputs;                      // channels of a group
  std::shared_ptr<std::vector<float>> weights;  // [groups, Rows(), inputs]; null: in scratch memory

  int64_t Rows() const { return outputs * on.KernelSize(); }  // of a group
  int64_t RowsAtOnce() const {
    const int64_t fit = std::clamp<int64_t>(kMostFloats / on.NumBlocks(), 1, Rows());
    // Whole channels where possible: threads add up channels of their own.
    return fit > on.KernelSize() ? fit / on.KernelSize() * on.KernelSize() : fit;
  }

  // Of scratch memory, in floats, one after the other.
  int64_t FloatsOfX() const { return simd::PackedMatrix::BytesOf(inputs, on.NumBlocks()) / kFloat; }
  int64_t FloatsOfRows() const { return ToLines(RowsAtOnce() * on.NumBlocks()); }
  int64_t FloatsOfWeights() const {
    return weights == nullptr ? ToLines(groups * Rows() * inputs) : 0;
  }
};

// [groups, inputs, rows] to [groups, rows, inputs].
void TransposeWeights(const Transposed& t, const float* from, float* to, ThreadPool& pool) {
  simd::Transpose(from, Dims{t.groups, t.inputs, t.Rows()}, Dims{0, 2, 1}, to, kFloat, pool);
}

void FillWithBias(const Transposed& t, const float* bias, float* y, ThreadPool& pool) {
  const int64_t channels = t.groups * t.outputs, size = t.on.ImageSize(), rows = t.batch * channels;
  pool.ParallelFor(rows, TileFor(rows, size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::fill_n(y + i * size, size, bias == nullptr ? 0.0f : bias[i % channels]);
  });
}

void Run(const Transposed& t, const KernelArgs& args) {
  auto* const packed = reinterpret_cast<float*>(args.scratch);
  float* const rows = packed + t.FloatsOfX();
  const float* weights = rows + t.FloatsOfRows();
  if (t.weights != nullptr) {
    weights = t.weights->data();
  } else {
    TransposeWeights(t, args.input<float>(1), rows + t.FloatsOfRows(), *args.pool);
  }
  auto* const y = args.output<float>(0);
  FillWithBias(t, args.input<float>(2), y, *args.pool);
  const int64_t blocks = t.on.NumBlocks(), step = t.RowsAtOnce();
  for (int64_t i = 0; i < t.batch * t.groups; ++i) {  // an image's channels of a group
    const simd::PackedMatrix x =
        simd::PackedMatrix::Pack(args.input<float>(0) + i * t.inputs * blocks, blocks, 1, t.inputs,
                                 blocks, *args.pool, packed);
    const float* const a = weights + i % t.groups * t.Rows() * t.inputs;
    for (int64_t first = 0; first < t.Rows(); first += step) {
      const int64_t count = std::min(step, t.Rows() - first);
      simd::Gemm({.m = count,
                  .a = a + first * t.inputs,
                  .a_stride = t.inputs,
                  .b = &x,
                  .c = rows,
                  .c_stride = blocks},
                 *args.pool);
      simd::AddBlocks(t.on, rows, first, count, y + i * t.outputs * t.on.ImageSize(), *args.pool);
    }
  }
}

absl::StatusOr<Transposed> Read(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::ConvTranspose>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  for (uint32_t i = 0; i < context.num_inputs(); ++i)  // inference has then seen that lists fit
    if (context.HasInput(i) && context.op().operand(i).type() != context.input_type(i))
      return context.Unsupported("an operand whose type came too late");
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || y.size() != x.size())
    return context.Unsupported("other than one to three spatial dimensions");
  Transposed t = {.batch = x[0],
                  .groups = attrs.group,
                  .inputs = attrs.group < 1 ? 0 : x[1] / attrs.group,
                  .outputs = w[1],
                  .weights = nullptr};
  if (attrs.group < 1 || x[1] % attrs.group != 0 || w[0] != x[1] || y[1] != w[1] * attrs.group ||
      y[0] != x[0])
    return context.Unsupported("channels that do not fit together");
  if (context.HasInput(2) && context.input_type(2).NumElements() != y[1])
    return context.Unsupported("a bias that has not one element per channel");
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const size_t axis = i + 5 - x.size();
    t.on.blocks[axis] = x[i + 2];
    t.on.kernel[axis] = w[i + 2];
    t.on.image[axis] = y[i + 2];
    t.on.stride[axis] = attrs.strides ? (*attrs.strides)[i] : 1;
    t.on.dilation[axis] = attrs.dilations ? (*attrs.dilations)[i] : 1;
    t.on.begin[axis] = ops::ConvTranspose::ExtentAlong(attrs, i, x[i + 2], w[i + 2]).begin;
    if (t.on.stride[axis] < 1 || t.on.dilation[axis] < 1)
      return context.Unsupported("a stride or dilation below 1");
  }
  return t;
}

}  // namespace

Made MakeConvTransposeOfBlocks(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  WEFT_ASSIGN_OR_RETURN(Transposed t, Read(context));
  NativeOptions options;
  if (const ir::Attribute weights = context.constant(1)) {
    options.packed = 1u << 1;
    using Floats = std::vector<float>;
    const auto transpose = [&]() -> absl::StatusOr<std::shared_ptr<Floats>> {
      const Floats floats = ConstantFloats(weights);
      auto transposed = std::make_shared<Floats>(floats.size());
      TransposeWeights(t, floats.data(), transposed->data(), context.pool());
      return transposed;
    };
    const std::string key = "native conv transpose group=" + std::to_string(t.groups);
    WEFT_ASSIGN_OR_RETURN(t.weights, context.packed().Get<Floats>(key, {weights}, transpose));
  }
  options.scratch_bytes =
      static_cast<size_t>((t.FloatsOfX() + t.FloatsOfRows() + t.FloatsOfWeights()) * kFloat);
  return MakeNative("transposed convolution by blocks", options,
                    [t](const KernelArgs& args) { Run(t, args); });
}

}  // namespace weft::kernels::native
