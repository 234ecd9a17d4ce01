#include "passes/quantize/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/analysis/constant.h"
#include "ir/context.h"
#include "ir/dialects/onnx.h"

namespace weft::passes {

namespace ops = ir::ops;

std::optional<WeightedOp> WeightedOpOf(ir::Operation op) {
  if (!op.Is<ops::Conv>() && !op.Is<ops::MatMul>() && !op.Is<ops::Gemm>()) return std::nullopt;
  const ir::Attribute w = ir::Contents(op.operand(1));
  if (!w || w.dense_type().dtype() != ir::DataType::kF32 || w.dense_type().NumElements() == 0)
    return std::nullopt;
  const size_t rank = w.dense_type().rank();
  if (op.Is<ops::Conv>()) return rank >= 3 ? std::optional(WeightedOp{op, 0}) : std::nullopt;
  if (rank != 2) return std::nullopt;
  if (op.Is<ops::MatMul>()) return WeightedOp{op, 1};
  const auto attrs = op.attrs_of<ops::Gemm>();
  if (attrs.alpha != 1 || attrs.beta != 1 || attrs.transA != 0) return std::nullopt;
  return WeightedOp{op, attrs.transB != 0 ? 0 : 1};
}

std::vector<float> FloatsOf(ir::Value constant) {
  const ir::Attribute dense = ir::Contents(constant);
  if (!dense || dense.dense_type().dtype() != ir::DataType::kF32) return {};
  std::vector<float> floats(dense.num_bytes() / sizeof(float));
  dense.Read(0, std::as_writable_bytes(std::span(floats)));
  return floats;
}

absl::StatusOr<Int8Weights> QuantizeWeights(ir::IrContext& context, const WeightedOp& weighted) {
  constexpr float kLargest = 127;
  const ir::Value w = weighted.op.operand(1);
  const std::vector<float> floats = FloatsOf(w);
  const ir::Type type = ir::Contents(w).dense_type();
  const std::span<const int64_t> dims = type.dims();
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(weighted.channel_axis) + 1; i < dims.size(); ++i)
    inner *= dims[i];
  const int64_t channels = dims[weighted.channel_axis];
  const auto channel_of = [&](size_t i) {
    return static_cast<size_t>(static_cast<int64_t>(i) / inner % channels);
  };
  Int8Weights result;
  result.scales.resize(static_cast<size_t>(channels));
  for (size_t i = 0; i < floats.size(); ++i) {
    if (!std::isfinite(floats[i]))
      return ir::InvalidArgument(std::string(weighted.op.name()) +
                                 ": cannot quantise weights that are not all finite");
    float& largest = result.scales[channel_of(i)];
    largest = std::max(largest, std::fabs(floats[i]));
  }
  for (float& scale : result.scales) {
    scale /= kLargest;
    result.is_zero.push_back(!std::isnormal(scale));
    if (result.is_zero.back()) scale = 1;
  }
  std::vector<int8_t> integers(floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    const float q = std::nearbyint(floats[i] / result.scales[channel_of(i)]);
    integers[i] = static_cast<int8_t>(std::clamp(q, -kLargest, kLargest));
  }
  result.integers = context.DenseAttrOf(context.TensorType(ir::DataType::kI8, dims),
                                        std::span<const int8_t>(integers));
  return result;
}

}  // namespace weft::passes
