#include "passes/fusion/quantized.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ir/dialects/onnx/infer/auto_pad.h"

namespace weft::passes {
namespace {

// The elements of a constant, or of one that is dequantised per tensor or per entry of axis 0.
std::optional<std::vector<double>> RealConstant(ir::Value v) {
  const ir::Operation op = v.DefiningOp();
  if (!op || !op.Is<ops::DequantizeLinear>()) {
    return v.type().dtype() == kF32 ? ir::ConstantDoubles(v) : std::nullopt;
  }
  const auto q = ir::ConstantDoubles(op.operand(0)), scale = ir::ConstantDoubles(op.operand(1));
  std::optional<std::vector<double>> zero = std::vector<double>{0};
  if (op.num_operands() > 2 && op.operand(2)) zero = ir::ConstantDoubles(op.operand(2));
  if (!q || !scale || !zero || op.operand(0).type().rank() != 1) return std::nullopt;
  std::vector<double> real(q->size());
  const auto fits = [&](size_t n) { return n == 1 || n == q->size(); };
  if (!fits(scale->size()) || !fits(zero->size())) return std::nullopt;
  for (size_t i = 0; i < real.size(); ++i)
    real[i] = ((*q)[i] - (*zero)[zero->size() == 1 ? 0 : i]) * (*scale)[scale->size() == 1 ? 0 : i];
  return real;
}

constexpr std::string_view kWeights =
    "the weights have 8 bits and positive scales, one or one per output channel, and the bias, if "
    "given, is a constant that 32 bits hold";

struct ProductOperands {
  ir::Value w, w_scale, w_zero_point;
};

bool IsByte(ir::DataType dtype) { return dtype == kI8 || dtype == kU8; }

// One scale per channel, or one for all.
std::optional<std::vector<double>> ScalesOf(const ProductOperands& weights, int64_t channels) {
  if (!IsByte(weights.w.type().dtype())) return std::nullopt;
  auto scales = ir::ConstantDoubles(weights.w_scale);
  const auto zeros = ir::ConstantDoubles(weights.w_zero_point);
  if (!scales || !zeros) return std::nullopt;
  const auto is_one_or_all = [&](size_t n) { return n == 1 || n == static_cast<size_t>(channels); };
  if (!is_one_or_all(scales->size()) || !is_one_or_all(zeros->size())) return std::nullopt;
  for (const double scale : *scales)
    if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
  return scales;
}

// The largest |q - zero point| of 8-bit numbers q with these zero points.
double Reach(ir::Value zero_points) {
  const double low = zero_points.type().dtype() == kI8 ? INT8_MIN : 0;
  const double high = low + UINT8_MAX;
  const std::vector<double> zeros = *ir::ConstantDoubles(zero_points);
  const auto [least, most] = std::minmax_element(zeros.begin(), zeros.end());
  return std::max(high - *least, *most - low);
}

// Whether 32 bits hold each sum of so many products of 8-bit numbers, and of a number of the size of `bias`.
bool HoldsEverySum(int64_t terms, ir::Value x_zero_point, ir::Value w_zero_point, double bias) {
  return static_cast<double>(terms) * Reach(x_zero_point) * Reach(w_zero_point) + bias <= INT32_MAX;
}

std::optional<ir::Attribute> BiasOfProduct(const MatchContext& m, const ProductOperands& weights,
                                           double x_scale, double y_scale, ir::Value bias,
                                           int64_t channel_axis) {
  constexpr double kUnitsPerStep = 256;
  constexpr double kLargest = 1 << 30;
  const int64_t channels = weights.w.type().dims()[channel_axis];
  const auto scales = ScalesOf(weights, channels);
  if (!scales || channels < 1) return std::nullopt;
  std::vector<int32_t> integers(static_cast<size_t>(channels));
  if (bias) {
    const auto real = RealConstant(bias);
    if (!real || real->size() != integers.size()) return std::nullopt;
    // As many numbers along another axis are one for each row.
    if (bias.type().rank() > 0 && bias.type().dims().back() != channels) return std::nullopt;
    for (size_t i = 0; i < integers.size(); ++i) {
      const double unit = x_scale * (*scales)[scales->size() == 1 ? 0 : i];
      const double exact = (*real)[i] / unit, rounded = std::nearbyint(exact);
      if (!(std::abs(rounded) < kLargest)) return std::nullopt;
      const double error = std::abs(exact - rounded) * unit / y_scale;
      if (error * 2 * kUnitsPerStep > 1) return std::nullopt;
      integers[i] = static_cast<int32_t>(rounded);
    }
  }
  ir::IrContext* context = m.context();
  return context->DenseAttrOf(context->TensorType(kI32, ir::Shape{channels}),
                              std::span<const int32_t>(integers));
}

}  // namespace

QuantizedWeights::QuantizedWeights(SourcePattern& src)
    : w(src.Tensor("w")),
      scale(src.Tensor("w_scale")),
      zero_point(src.Tensor("w_zero_point")),
      op(src.Op<ops::DequantizeLinear>(AnyAttrs(), {.output_dtype = 0})),
      real(src.Keep(op(w, scale, zero_point))) {}

Let<ir::Attribute> QuantizedWeights::Bias(
    SourcePattern& src, const Dequantized& x, const Quantized& y, const Tensor& bias, int64_t rank,
    const std::function<int64_t(const MatchContext&)>& channel_axis) const {
  src.Require(Rank(w, rank), IsConstant(w), IsConstant(scale), DType(scale, kF32),
              IsConstant(zero_point));
  auto integers =
      src.Let(kWeights, [=, this_ = *this](const MatchContext& m) -> std::optional<ir::Attribute> {
        const int64_t axis = channel_axis(m);
        const ir::Value scales = m[this_.scale].value(), zeros = m[this_.zero_point].value();
        // One number for all is that for any axis.
        if (scales.type().NumElements() != 1 &&
            ir::NormalAxis(m[this_.op].axis, static_cast<size_t>(rank)) != axis)
          return std::nullopt;
        return BiasOfProduct(m, {m[this_.w].value(), scales, zeros}, *m[x.scale].splat(),
                             *m[y.scale].splat(), m.Has(bias) ? m[bias].value() : ir::Value(),
                             axis);
      });
  src.Require("32 bits hold every sum", [=, this_ = *this](const MatchContext& m) {
    double largest = 0;
    for (const int32_t b : m[integers].elements<int32_t>())
      largest = std::max(largest, std::abs(static_cast<double>(b)));
    const BoundTensor of = m[this_.w];
    return HoldsEverySum(of.type().NumElements() / of.dim(channel_axis(m)), m[x.zero_point].value(),
                         m[this_.zero_point].value(), largest);
  });
  return integers;
}

QuantizedConv::QuantizedConv(SourcePattern& src)
    : x(src, "x", "x_scale", "x_zero_point"),
      w(src),
      b(src.Tensor("b")),
      conv(src.Op<ops::Conv>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet})),
      y(src, conv(x.real, w.real, src.Optional(b))),
      bias(w.Bias(src, x, y, b, 4, [](const MatchContext&) { return 0; })) {}

}  // namespace weft::passes
