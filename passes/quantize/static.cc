// QuantizeLinear and DequantizeLinear around what kernels compute on 8-bit integers.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "passes/quantize/quantize.h"
#include "passes/quantize/weights.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Operation;
using ir::Value;

// An op that computes on integers, with what follows it up to where its result is rounded.
struct Site {
  Operation op;
  std::vector<uint32_t> inputs;  // operands that are activations
  Value result;                  // after its bias and activation
  std::optional<WeightedOp> weighted;
  Operation bias_op{};  // an op and its operand that is the bias
  uint32_t bias = 0;
  bool keeps_range = false;  // the result has the scale of the input
};

// But for one that is quantised already.
bool IsActivation(Value v) {
  return v && v.type().IsTensor() && v.type().dtype() == DataType::kF32 && !ir::IsConstant(v) &&
         !(v.DefiningOp() && v.DefiningOp().Is<ops::DequantizeLinear>());
}

Operation OnlyUser(Value v) {
  const std::vector<ir::OpOperand> uses = v.uses();
  return uses.size() == 1 ? uses[0].owner() : Operation();
}

// Whether v is a constant with one number per channel of the weights.
bool IsBias(Value v, const WeightedOp& weighted) {
  const ir::Attribute dense = v ? ir::Contents(v) : ir::Attribute();
  return dense && dense.dense_type().dtype() == DataType::kF32 && dense.dense_type().rank() == 1 &&
         dense.dense_type().dims()[0] ==
             ir::Contents(weighted.op.operand(1)).dense_type().dims()[weighted.channel_axis];
}

void FindBias(Site* site) {
  const Operation op = site->op;
  if (!op.Is<ops::MatMul>()) {
    if (op.num_operands() > 2 && IsBias(op.operand(2), *site->weighted))
      site->bias_op = op, site->bias = 2;
    return;
  }
  const Operation add = OnlyUser(site->result);
  if (!add || !add.Is<ops::Add>() || add.block() != op.block()) return;
  const uint32_t other = add.operand(0) == site->result ? 1 : 0;
  if (!IsBias(add.operand(other), *site->weighted)) return;
  site->bias_op = add, site->bias = other;
  site->result = add.result();
}

std::optional<Site> SiteOf(Operation op, const std::unordered_set<uint32_t>& rounded) {
  if (op.num_results() != 1 || op.num_regions() != 0) return std::nullopt;
  Site site{.op = op, .inputs = {0}, .result = op.result()};
  if ((site.weighted = WeightedOpOf(op))) {
    FindBias(&site);
    const bool odd_addend = op.Is<ops::Gemm>() && op.num_operands() > 2 && !site.bias_op;
    if (odd_addend) return std::nullopt;
  } else if (op.Is<ops::Add>() || op.Is<ops::Mul>()) {
    site.inputs = {0, 1};
  } else if (op.Is<ops::Concat>()) {
    site.inputs.clear();
    for (uint32_t i = 0; i < op.num_operands(); ++i) site.inputs.push_back(i);
  } else if (op.Is<ops::MaxPool>() || op.Is<ops::Flatten>() || op.Is<ops::Reshape>() ||
             op.Is<ops::Transpose>()) {
    if (rounded.count(op.operand(0).id()) == 0) return std::nullopt;
    site.keeps_range = true;
  } else if (!op.Is<ops::AveragePool>() && !op.Is<ops::GlobalAveragePool>()) {
    return std::nullopt;
  }
  for (const uint32_t i : site.inputs)
    if (!IsActivation(op.operand(i))) return std::nullopt;
  if (!IsActivation(site.result)) return std::nullopt;
  const Operation next = OnlyUser(site.result);
  if (!site.keeps_range && next && next.block() == op.block() && next.num_results() == 1 &&
      (next.Is<ops::Relu>() || next.Is<ops::Clip>()) && next.operand(0) == site.result)
    site.result = next.result();
  const Operation reader = OnlyUser(site.result);
  if (reader && reader.Is<ops::QuantizeLinear>()) return std::nullopt;  // is quantised already
  return site;
}

struct Sites {
  std::vector<Site> sites;
  std::vector<Value> values;  // inputs and results
};

Sites FindSites(ir::Program& program) {
  Sites found;
  std::unordered_set<uint32_t> rounded;
  const auto add = [&](Value v) {
    if (rounded.insert(v.id()).second) found.values.push_back(v);
  };
  for (const Operation op : program.body()) {
    const auto site = SiteOf(op, rounded);
    if (!site) continue;
    for (const uint32_t i : site->inputs) add(op.operand(i));
    add(site->result);
    found.sites.push_back(*site);
  }
  return found;
}

// A range as u8: what stands for 0 is exact.
struct Scale {
  float scale = 1;
  uint8_t zero_point = 0;
};

Scale ScaleOf(const Range& range) {
  const double low = std::min(0.0, double{range.low}), high = std::max(0.0, double{range.high});
  const auto scale = static_cast<float>((high - low) / 255);
  if (!std::isnormal(scale)) return Scale();  // of zeros, or of what is as good as 0
  const double zero = std::nearbyint(-low / double{scale});
  return Scale{scale, static_cast<uint8_t>(std::clamp(zero, 0.0, 255.0))};
}

class StaticQuantizer {
 public:
  StaticQuantizer(ir::Program& program, Sites sites)
      : rewriter_(&program),
        body_(program.body()),
        context_(*program.context()),
        found_(std::move(sites)) {}

  absl::StatusOr<int64_t> Run(std::span<const Range> ranges) {
    if (ranges.size() != found_.values.size())
      return ir::InvalidArgument("a range for each value to calibrate is needed");
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Value v = found_.values[i];
      if (std::isnan(ranges[i].low) || std::isnan(ranges[i].high))
        return ir::InvalidArgument("calibration met NaN in " + ir::ValueName(v));
      if (!IsTooWide(ranges[i])) scales_[v.id()] = ScaleOf(ranges[i]);
    }
    KeepSitesWithScales();
    for (const Site& site : sites_)
      if (site.keeps_range) scales_[site.result.id()] = scales_[site.op.operand(0).id()];
    for (const Site& site : sites_)
      if (site.weighted) WEFT_RETURN_IF_ERROR(QuantizeWeightsOf(site));
    for (const Value v : found_.values)
      if (readers_.count(v.id()) > 0 || results_.count(v.id()) > 0) Round(v);
    return static_cast<int64_t>(sites_.size());
  }

 private:
  void KeepSitesWithScales() {
    for (const Site& site : found_.sites) {
      bool known = scales_.count(site.result.id()) > 0;
      for (const uint32_t i : site.inputs) known &= scales_.count(site.op.operand(i).id()) > 0;
      if (!known) continue;
      for (const uint32_t i : site.inputs) readers_[site.op.operand(i).id()].insert(site.op.id());
      results_.insert(site.result.id());
      sites_.push_back(site);
    }
  }

  Value Scalar(uint8_t zero_point) {
    const auto byte = static_cast<std::byte>(zero_point);
    return rewriter_.Constant(
        context_.DenseAttr(context_.TensorType(DataType::kU8, ir::Shape()), {&byte, 1}));
  }

  absl::Status QuantizeWeightsOf(const Site& site) {
    WEFT_ASSIGN_OR_RETURN(Int8Weights w, QuantizeWeights(context_, *site.weighted));
    if (site.bias_op) ScaleZeroChannels(site, &w);
    const auto channels = static_cast<int64_t>(w.scales.size());
    rewriter_.SetInsertionPoint(site.op);
    const std::vector<int8_t> zeros(w.scales.size());
    const Value real = rewriter_.Make<ops::DequantizeLinear>(
        {rewriter_.Constant(w.integers), rewriter_.ConstantFloats(w.scales, ir::Shape{channels}),
         rewriter_.Constant(
             context_.DenseAttrOf(context_.TensorType(DataType::kI8, ir::Shape{channels}),
                                  std::span<const int8_t>(zeros)))},
        {.axis = site.weighted->channel_axis});
    rewriter_.SetOperand(site.op, 1, real);
    if (site.bias_op) QuantizeBias(site, w);
    return absl::OkStatus();
  }

  // The result of a channel whose weights are all 0 is its bias: its scale is the one by which that is 2^20 units.
  void ScaleZeroChannels(const Site& site, Int8Weights* w) {
    constexpr double kUnits = 1 << 20;
    const std::vector<float> bias = FloatsOf(site.bias_op.operand(site.bias));
    const double x_scale = scales_[site.op.operand(0).id()].scale;
    for (size_t i = 0; i < bias.size(); ++i) {
      const auto scale = static_cast<float>(std::fabs(bias[i]) / (x_scale * kUnits));
      if (w->is_zero[i] && std::isnormal(scale)) w->scales[i] = scale;
    }
  }

  // In units of the sums, where 32 bits hold it; else it stays f32.
  void QuantizeBias(const Site& site, const Int8Weights& w) {
    constexpr double kLargest = 1 << 30;
    const std::vector<float> bias = FloatsOf(site.bias_op.operand(site.bias));
    const double x_scale = scales_[site.op.operand(0).id()].scale;
    std::vector<float> units(bias.size());
    std::vector<int32_t> integers(bias.size());
    for (size_t i = 0; i < bias.size(); ++i) {
      units[i] = static_cast<float>(x_scale * w.scales[i]);
      const double q = std::nearbyint(bias[i] / double{units[i]});
      if (!(std::fabs(q) <= kLargest)) return;
      integers[i] = static_cast<int32_t>(q);
    }
    const ir::Shape dims = {static_cast<int64_t>(bias.size())};
    const std::vector<int32_t> zeros(bias.size());
    const auto constant = [&](const std::vector<int32_t>& values) {
      return rewriter_.Constant(context_.DenseAttrOf(context_.TensorType(DataType::kI32, dims),
                                                     std::span<const int32_t>(values)));
    };
    const Value real = rewriter_.Make<ops::DequantizeLinear>(
        {constant(integers), rewriter_.ConstantFloats(units, dims), constant(zeros)}, {.axis = 0});
    rewriter_.SetOperand(site.bias_op, site.bias, real);
  }

  // Whoever reads v now reads it rounded; of what no site computes, the sites alone.
  void Round(Value v) {
    if (const Operation def = v.DefiningOp()) {
      rewriter_.SetInsertionPointAfter(def);
    } else {
      rewriter_.SetInsertionPointToStart(body_);
    }
    const Scale scale = scales_[v.id()];
    const float one[] = {scale.scale};
    const Value s = rewriter_.ConstantFloats(one, ir::Shape()), zero = Scalar(scale.zero_point);
    const Value q = rewriter_.Make<ops::QuantizeLinear>({v, s, zero});
    const Value rounded = rewriter_.Make<ops::DequantizeLinear>({q, s, zero});
    const bool is_result = results_.count(v.id()) > 0;
    const std::unordered_set<uint32_t>& readers = readers_[v.id()];
    rewriter_.ReplaceUsesIf(v, rounded, [&](ir::OpOperand use) {
      const Operation user = use.owner();
      return user != q.DefiningOp() && (is_result || readers.count(user.id()) > 0);
    });
  }

  ir::Rewriter rewriter_;
  const ir::Block body_;
  ir::IrContext& context_;
  const Sites found_;
  std::vector<Site> sites_;                     // those whose values all have a scale
  std::unordered_map<uint32_t, Scale> scales_;  // by value
  std::unordered_map<uint32_t, std::unordered_set<uint32_t>> readers_;  // sites' ops by value
  std::unordered_set<uint32_t> results_;                                // values
};

}  // namespace

bool IsTooWide(const Range& range) { return (double{range.high} - double{range.low}) / 255 > 1e30; }

std::vector<Value> ValuesToCalibrate(ir::Program& program) { return FindSites(program).values; }

absl::StatusOr<int64_t> QuantizeStatic(ir::Program& program, std::span<const Range> ranges) {
  return StaticQuantizer(program, FindSites(program)).Run(ranges);
}

}  // namespace weft::passes
