// Normalisations and softmax.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/activation.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/native/simd/reduction/normalize.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

Made MakeSoftmax(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const AxisView view(context.dims(0), context.attrs_of<ops::Softmax>().axis);
  return MakeNative("softmax", {.may_overwrite = 1}, [view](const KernelArgs& args) {
    simd::Softmax(args.input<float>(0), args.output<float>(0), view.outer, view.extent, view.inner,
                  *args.pool);
  });
}
const RegisterKernel<ops::Softmax> kSoftmax("native", &MakeSoftmax);

Made MakeMaskedSoftmax(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> x = context.dims(0), mask = context.dims(1);
  if (x.size() > kMaxRank) return context.Unsupported("operands of so many dimensions");
  if (mask.empty() || mask.back() != x.back())
    return context.Unsupported("a mask that is the same for all columns");
  const Dims strides = BroadcastStrides(mask, x);
  simd::MaskedSoftmaxArguments shape = {.columns = x.back()};
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    shape.rows.push_back(x[i]);
    shape.mask_strides.push_back(strides[static_cast<int>(i)]);
  }
  return MakeNative("masked softmax", {.may_overwrite = 1}, [shape](const KernelArgs& args) {
    simd::MaskedSoftmaxArguments run = shape;
    run.x = args.input<float>(0);
    run.mask = args.input<float>(1);
    run.y = args.output<float>(0);
    simd::MaskedSoftmax(run, *args.pool);
  });
}
const RegisterKernel<ir::fused::MaskedSoftmax> kMaskedSoftmax("native", &MakeMaskedSoftmax);

Made MakeLogSoftmax(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const AxisView view(context.dims(0), context.attrs_of<ops::LogSoftmax>().axis);
  return MakeNative("log softmax", {}, [view](const KernelArgs& args) {
    simd::LogSoftmax(args.input<float>(0), args.output<float>(0), view.outer, view.extent,
                     view.inner, *args.pool);
  });
}
const RegisterKernel<ops::LogSoftmax> kLogSoftmax("native", &MakeLogSoftmax);

// --- layer norm -----------------------------------------------------------------

// Rows and columns, or Unsupported when scale or bias (operands 1 to `last`) are broadcast.
absl::StatusOr<simd::LayerNormArguments> LayerNormShape(const KernelContext& context, int64_t axis,
                                                        float epsilon, size_t last = 2) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const AxisView view(context.dims(0), axis);
  const int64_t columns = view.extent * view.inner;
  const size_t normalised = context.dims(0).size() - ir::NormalAxis(axis, context.dims(0).size());
  for (size_t i = 1; i <= last; ++i) {
    if (!context.HasInput(i)) continue;
    const std::span<const int64_t> dims = context.dims(i);
    const auto inner = dims.last(std::min(dims.size(), normalised));
    if (context.input_type(i).NumElements() != columns || CountElements(inner) != columns)
      return context.Unsupported("a scale or bias that is broadcast");
  }
  return simd::LayerNormArguments{.rows = view.outer, .columns = columns, .epsilon = epsilon};
}

Made MakeLayerNormalization(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::LayerNormalization>();
  WEFT_ASSIGN_OR_RETURN(const simd::LayerNormArguments shape,
                        LayerNormShape(context, attrs.axis, attrs.epsilon));
  return MakeNative("layer norm", {.may_overwrite = 1}, [shape](const KernelArgs& args) {
    simd::LayerNormArguments run = shape;
    run.x = args.input<float>(0);
    run.scale = args.input<float>(1);
    run.shift = args.input<float>(2);
    run.y = args.output<float>(0);
    if (args.outputs.size() > 1) run.mean = args.output<float>(1);
    if (args.outputs.size() > 2) run.inverse_deviation = args.output<float>(2);
    simd::LayerNorm(run, *args.pool);
  });
}
const RegisterKernel<ops::LayerNormalization> kLayerNormalization("native",
                                                                  &MakeLayerNormalization);

Made MakeLayerNorm(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::LayerNorm>();
  WEFT_ASSIGN_OR_RETURN(const simd::LayerNormArguments shape,
                        LayerNormShape(context, attrs.axis, attrs.epsilon));
  if (context.HasInput(3) && context.input_type(3) != context.input_type(0))
    return context.Unsupported("a residual that is broadcast");
  if (context.HasInput(4) && context.input_type(4).NumElements() != shape.columns)
    return context.Unsupported("an x_bias that is broadcast");
  return MakeNative("layer norm", {.may_overwrite = 1 | 1 << 3}, [shape](const KernelArgs& args) {
    simd::LayerNormArguments run = shape;
    run.x = args.input<float>(0);
    run.scale = args.input<float>(1);
    run.shift = args.input<float>(2);
    run.residual = args.input<float>(3);
    run.bias = args.input<float>(4);
    run.y = args.output<float>(0);
    if (args.outputs.size() > 1) run.sum = args.output<float>(1);
    simd::LayerNorm(run, *args.pool);
  });
}
const RegisterKernel<ir::fused::LayerNorm> kLayerNorm("native", &MakeLayerNorm);

Made MakeRmsNorm(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(
      simd::LayerNormArguments shape,
      LayerNormShape(context, -1, context.attrs_of<ir::fused::RmsNorm>().epsilon, 1));
  shape.subtract_mean = false;
  if (context.HasInput(2) && context.input_type(2) != context.input_type(0))
    return context.Unsupported("a residual that is broadcast");
  return MakeNative("rms norm", {.may_overwrite = 1 | 1 << 2}, [shape](const KernelArgs& args) {
    simd::LayerNormArguments run = shape;
    run.x = args.input<float>(0);
    run.scale = args.input<float>(1);
    run.residual = args.input<float>(2);
    run.y = args.output<float>(0);
    if (args.outputs.size() > 1) run.sum = args.output<float>(1);
    simd::LayerNorm(run, *args.pool);
  });
}
const RegisterKernel<ir::fused::RmsNorm> kRmsNorm("native", &MakeRmsNorm);

// --- of rows that are looked up -----------------------------------------------------

// An operand with indices of rows of a table, one for each row of the result or for each of the last
// ones of its dimensions, over and over.
struct RowIds {
  size_t operand;
  int64_t count;       // of indices
  int64_t table_rows;  // negative indices count from here
  bool wide;           // i64, or i32
};

// Unsupported when they are broadcast otherwise.
absl::StatusOr<RowIds> RowIdsOf(const KernelContext& context, size_t ids, size_t table) {
  std::span<const int64_t> given = context.dims(ids), all = context.dims(0);
  while (!given.empty() && given.front() == 1) given = given.subspan(1);
  if (given.size() > all.size() || !std::equal(given.rbegin(), given.rend(), all.rbegin()))
    return context.Unsupported("indices that are broadcast along a last dimension");
  return RowIds{.operand = ids,
                .count = CountElements(given),
                .table_rows = context.dims(table).front(),
                .wide = context.input_type(ids).dtype() == ir::DataType::kI64};
}

// The row for each of `rows`, which are not negative then.
absl::Status ReadRowIds(const KernelArgs& args, const RowIds& ids, int64_t rows, int64_t* to) {
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = i % ids.count;
    const int64_t id =
        ids.wide ? args.input<int64_t>(ids.operand)[at] : args.input<int32_t>(ids.operand)[at];
    to[i] = id < 0 ? id + ids.table_rows : id;
    if (to[i] < 0 || to[i] >= ids.table_rows)
      return ir::InvalidArgument("fused.embed_layer_norm: id " + std::to_string(id) +
                                 " is out of range for a table of " +
                                 std::to_string(ids.table_rows) + " rows");
  }
  return absl::OkStatus();
}

Made MakeEmbedLayerNorm(const KernelContext& context) {
  for (const size_t i : {1, 2, 3, 4, 6})
    if (context.HasInput(i) && context.input_type(i).dtype() != ir::DataType::kF32)
      return context.Unsupported("only f32");
  WEFT_ASSIGN_OR_RETURN(const RowIds words, RowIdsOf(context, 0, 1));
  RowIds positions{.operand = 0, .count = 0, .table_rows = 0, .wide = false}, segments = positions;
  if (context.HasInput(5)) {
    WEFT_ASSIGN_OR_RETURN(positions, RowIdsOf(context, 5, 2));
  }
  if (context.HasInput(7)) {
    WEFT_ASSIGN_OR_RETURN(segments, RowIdsOf(context, 7, 6));
  }
  const simd::LayerNormArguments shape = {
      .rows = context.input_type(0).NumElements(),
      .columns = context.dims(1).back(),
      .epsilon = context.attrs_of<ir::fused::EmbedLayerNorm>().epsilon};
  const int64_t length = context.dims(0).back();
  if (!context.HasInput(5) && context.dims(2).front() < length)
    return context.InvalidArgument("there are fewer positions than ids");
  const NativeOptions options = {.scratch_bytes = 3 * sizeof(int64_t) * size_t(shape.rows)};
  return MakeNative("embed layer norm", options, [=](const KernelArgs& args) -> absl::Status {
    auto* const word_rows = reinterpret_cast<int64_t*>(args.scratch);
    int64_t *const position_rows = word_rows + shape.rows, *const segment_rows =
                                                               position_rows + shape.rows;
    WEFT_RETURN_IF_ERROR(ReadRowIds(args, words, shape.rows, word_rows));
    if (args.HasInput(5)) {
      WEFT_RETURN_IF_ERROR(ReadRowIds(args, positions, shape.rows, position_rows));
    } else {
      for (int64_t i = 0; i < shape.rows; ++i) position_rows[i] = i % length;
    }
    if (args.HasInput(7))
      WEFT_RETURN_IF_ERROR(ReadRowIds(args, segments, shape.rows, segment_rows));
    simd::LayerNormArguments run = shape;
    run.x = args.input<float>(1);
    run.residual = args.input<float>(2);
    run.scale = args.input<float>(3);
    run.shift = args.input<float>(4);
    run.bias = args.input<float>(6);
    run.x_rows = word_rows;
    run.residual_rows = position_rows;
    run.bias_rows = args.HasInput(7) ? segment_rows : nullptr;
    run.y = args.output<float>(0);
    simd::LayerNorm(run, *args.pool);
    return absl::OkStatus();
  });
}
const RegisterKernel<ir::fused::EmbedLayerNorm> kEmbedLayerNorm("native", &MakeEmbedLayerNorm);

// --- instance and group norm ------------------------------------------------------

Made MakeGroupwiseNorm(const KernelContext& context, simd::GroupNormArguments shape) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> dims = context.dims(0);
  if (dims.size() < 2) return context.Unsupported("x of rank below 2");
  const AxisView view(dims, shape.channels_last ? -1 : 1);
  for (size_t i : {1, 2}) {
    if (context.HasInput(i) && context.input_type(i).NumElements() != view.extent)
      return context.InvalidArgument("scale or bias has not one element per channel");
  }
  shape.batch = dims[0];
  shape.channels = view.extent;
  shape.spatial = 1;
  for (size_t i = 1; i < dims.size(); ++i)
    if (i != (shape.channels_last ? dims.size() - 1 : 1)) shape.spatial *= dims[i];
  if (shape.groups == 0) shape.groups = view.extent;  // each channel is one
  if (shape.groups == 0 || view.extent % shape.groups != 0)
    return context.InvalidArgument("the channels are no whole groups");
  const size_t scratch = static_cast<size_t>(simd::GroupNormScratch(shape)) * sizeof(float);
  return MakeNative("group norm", {.may_overwrite = 1, .scratch_bytes = scratch},
                    [shape](const KernelArgs& args) {
                      simd::GroupNormArguments run = shape;
                      run.scratch = reinterpret_cast<float*>(args.scratch);
                      run.x = args.input<float>(0);
                      run.scale = args.input<float>(1);
                      run.shift = args.input<float>(2);
                      run.y = args.output<float>(0);
                      simd::GroupNorm(run, *args.pool);
                    });
}

Made MakeInstanceNormalization(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::InstanceNormalization>();
  return MakeGroupwiseNorm(context, {.groups = 0, .epsilon = attrs.epsilon});
}
const RegisterKernel<ops::InstanceNormalization> kInstanceNormalization("native",
                                                                        &MakeInstanceNormalization);

Made MakeGroupNormalization(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::GroupNormalization>();
  if (attrs.num_groups < 1) return context.InvalidArgument("num_groups is not positive");
  return MakeGroupwiseNorm(context, {.groups = attrs.num_groups, .epsilon = attrs.epsilon});
}
const RegisterKernel<ops::GroupNormalization> kGroupNormalization("native",
                                                                  &MakeGroupNormalization);

Made MakeGroupNorm(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::GroupNorm>();
  return MakeGroupwiseNorm(context, {.groups = attrs.groups,
                                     .channels_last = attrs.channels_last,
                                     .epsilon = attrs.epsilon,
                                     .activation = MakeActivation(attrs.activation, {})});
}
const RegisterKernel<ir::fused::GroupNorm> kGroupNorm("native", &MakeGroupNorm);

// --- batch normalization ----------------------------------------------------------

// x * factor[c] + addend[c], which are known: one constant multiplication and addition per channel.
// None where one is not finite: the sum would be NaN where (x - mean) * factor is infinite.
struct ChannelLine {
  std::vector<float> factors, addends;
};

std::optional<ChannelLine> MakeLine(const KernelContext& context, double epsilon) {
  for (size_t i = 1; i < 5; ++i)
    if (!context.constant(i)) return std::nullopt;
  const auto value = [&](size_t operand, size_t c) {
    float element;
    std::memcpy(&element, context.constant(operand).bytes().data() + c * sizeof(float),
                sizeof(float));
    return static_cast<double>(element);
  };
  ChannelLine line;
  for (size_t c = 0; c < static_cast<size_t>(context.dims(0)[1]); ++c) {
    const double factor = value(1, c) / std::sqrt(value(4, c) + epsilon);
    line.factors.push_back(static_cast<float>(factor));
    line.addends.push_back(static_cast<float>(value(2, c) - value(3, c) * factor));
    if (!std::isfinite(line.factors.back()) || !std::isfinite(line.addends.back()))
      return std::nullopt;
  }
  return line;
}

Made MakeBatchNormalization(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::BatchNormalization>();
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (attrs.training_mode != 0 || context.num_results() > 1)
    return context.Unsupported("training_mode 1");
  if (context.dims(0).size() < 2) return context.Unsupported("x of rank below 2");
  const AxisView view(context.dims(0), 1);
  for (size_t i = 1; i < 5; ++i) {
    if (context.input_type(i).NumElements() != view.extent)
      return context.InvalidArgument("operand " + std::to_string(i) +
                                     " has not one element per channel");
  }
  auto line = MakeLine(context, attrs.epsilon);
  if (!line) return context.Unsupported("statistics that are not constant, or not finite");
  const Dims shape = {view.outer, view.extent, view.inner}, per_channel = {0, 1, 0};
  return MakeNative("batch norm", {.may_overwrite = 1},
                    [line = *std::move(line), shape, per_channel](const KernelArgs& args) {
                      const Dims strides = RowMajorStrides(shape);
                      float* y = args.output<float>(0);
                      simd::Binary<float>(simd::BinaryOp::kMul, args.input<float>(0), strides,
                                          line.factors.data(), per_channel, y, shape, *args.pool);
                      simd::Binary<float>(simd::BinaryOp::kAdd, y, strides, line.addends.data(),
                                          per_channel, y, shape, *args.pool);
                    });
}
const RegisterKernel<ops::BatchNormalization> kBatchNormalization("native",
                                                                  &MakeBatchNormalization);

}  // namespace
}  // namespace weft::kernels::native
