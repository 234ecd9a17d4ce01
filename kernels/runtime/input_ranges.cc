#include "kernels/runtime/input_ranges.h"

#include <algorithm>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/dialects/fused/embedding.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::kernels {
namespace {

namespace ops = ir::ops;
using ir::DimExpr;
using ir::fused::EmbedLayerNorm;
using Range = std::optional<ImpliedRange>;

constexpr int kMaxSteps = 1000;       // uses looked at for one input
constexpr int64_t kMaxTripCount = 4;  // of a loop on random inputs

Range Below(const DimExpr& size) { return ImpliedRange{0, size - 1}; }

DimExpr SizeOf(ir::Operation op, uint32_t operand, int64_t axis) {
  const ir::Type type = op.HasOperand(operand) ? op.operand(operand).type() : ir::Type();
  if (!type.HasRank()) return {};
  const auto rank = static_cast<int64_t>(type.rank());
  return axis >= -rank && axis < rank ? DimExpr::OfDim(type.dim(axis)) : DimExpr();
}

// Indices of several dimensions of data at once: below the least of them.
Range OfTuples(ir::Operation op, int64_t batch_dims) {
  const auto count = SizeOf(op, 1, -1).number();
  if (!count || *count < 0 || *count > static_cast<int64_t>(ir::kMaxRank)) return std::nullopt;
  std::vector<DimExpr> sizes;
  for (int64_t i = 0; i < *count; ++i) sizes.push_back(SizeOf(op, 0, batch_dims + i));
  return sizes.empty() ? std::nullopt : Below(Min(sizes));
}

template <class Attrs>
DimExpr TimeSteps(ir::Operation op, const Attrs& attrs) {
  return SizeOf(op, 0, attrs.layout == 1 ? 1 : 0);
}

DimExpr TimeSteps(ir::Operation op) {
  if (op.Is<ops::LSTM>()) return TimeSteps(op, op.attrs_of<ops::LSTM>());
  if (op.Is<ops::GRU>()) return TimeSteps(op, op.attrs_of<ops::GRU>());
  return TimeSteps(op, op.attrs_of<ops::RNN>());
}

// What an op says of the integers that it takes as an operand.
Range RangeOfUse(ir::Operation op, uint32_t operand) {
  const auto is = [&](auto tag, uint32_t wanted) {
    return operand == wanted && op.Is<typename decltype(tag)::type>();
  };
  if (is(std::type_identity<ops::Gather>(), 1))
    return Below(SizeOf(op, 0, op.attrs_of<ops::Gather>().axis));
  if (is(std::type_identity<ops::GatherElements>(), 1))
    return Below(SizeOf(op, 0, op.attrs_of<ops::GatherElements>().axis));
  if (is(std::type_identity<ops::ScatterElements>(), 1))
    return Below(SizeOf(op, 0, op.attrs_of<ops::ScatterElements>().axis));
  if (is(std::type_identity<ops::GatherND>(), 1))
    return OfTuples(op, op.attrs_of<ops::GatherND>().batch_dims);
  if (is(std::type_identity<ops::ScatterND>(), 1)) return OfTuples(op, 0);
  if (is(std::type_identity<ops::OneHot>(), 0)) {
    const auto depth = ir::EvaluateShapeValue(op.operand(1));
    return depth && depth->size() == 1 ? Below(depth->front().expr()) : std::nullopt;
  }
  if (is(std::type_identity<ops::TensorScatter>(), 2)) {
    const int64_t axis = op.attrs_of<ops::TensorScatter>().axis;
    return ImpliedRange{0, SizeOf(op, 0, axis) - SizeOf(op, 1, axis)};
  }
  if (is(std::type_identity<ops::RotaryEmbedding>(), 3)) return Below(SizeOf(op, 1, 0));
  if (is(std::type_identity<EmbedLayerNorm>(), 0)) return Below(SizeOf(op, 1, 0));
  if (is(std::type_identity<EmbedLayerNorm>(), 5)) return Below(SizeOf(op, 2, 0));
  if (is(std::type_identity<EmbedLayerNorm>(), 7)) return Below(SizeOf(op, 6, 0));
  if (is(std::type_identity<ops::RoiAlign>(), 2)) return Below(SizeOf(op, 0, 0));
  if (is(std::type_identity<ops::TopK>(), 1))
    return ImpliedRange{1, SizeOf(op, 0, op.attrs_of<ops::TopK>().axis)};
  if (is(std::type_identity<ops::ReverseSequence>(), 1))
    return ImpliedRange{1, SizeOf(op, 0, op.attrs_of<ops::ReverseSequence>().time_axis)};
  if (operand == 4 && (op.Is<ops::LSTM>() || op.Is<ops::GRU>() || op.Is<ops::RNN>()))
    return ImpliedRange{1, TimeSteps(op)};
  if (is(std::type_identity<ops::Loop>(), 0)) return ImpliedRange{1, kMaxTripCount};
  return std::nullopt;
}

// Ops whose results have the elements of an operand.
bool MovesElements(ir::Operation op, uint32_t operand) {
  if (op.Is<ops::Cast>()) return ir::IsInteger(op.result().type().dtype());
  if (op.Is<ops::Concat>() || op.Is<ops::Identity>()) return true;
  return operand == 0 &&
         (op.Is<ops::Reshape>() || op.Is<ops::Flatten>() || op.Is<ops::Squeeze>() ||
          op.Is<ops::Unsqueeze>() || op.Is<ops::Transpose>() || op.Is<ops::Expand>() ||
          op.Is<ops::Tile>() || op.Is<ops::Slice>() || op.Is<ops::Gather>() || op.Is<ops::Split>());
}

class RangeFinder {
 public:
  Range Find(ir::Value value, int depth) {
    Range range;
    for (const ir::OpOperand& use : value.uses()) {
      if (++steps_ > kMaxSteps || depth > kMaxDepth) break;
      Intersect(OfUse(use.owner(), use.index(), depth), &range);
    }
    return range;
  }

 private:
  Range OfUse(ir::Operation op, uint32_t operand, int depth) {
    if (Range range = RangeOfUse(op, operand)) return range;
    if (MovesElements(op, operand)) {
      Range range;
      for (const ir::Value result : op.results()) Intersect(Find(result, depth + 1), &range);
      return range;
    }
    const bool adds = op.Is<ops::Add>(), multiplies = op.Is<ops::Mul>();
    const bool subtracts = op.Is<ops::Sub>() && operand == 0;
    if ((!adds && !multiplies && !subtracts) || op.num_operands() != 2) return std::nullopt;
    const auto splat = ir::ConstantSplat(op.operand(1 - operand));
    if (!splat || !(*splat > -0x1p53 && *splat < 0x1p53)) return std::nullopt;
    const auto c = static_cast<int64_t>(*splat);
    const Range range = Find(op.result(), depth + 1);
    if (!range || (multiplies && c < 1)) return std::nullopt;
    if (multiplies) return ImpliedRange{CeilDiv(range->low, c), FloorDiv(range->high, c)};
    return ImpliedRange{range->low - (adds ? c : -c), range->high - (adds ? c : -c)};
  }

  // An end that is not known says nothing.
  static void Intersect(const Range& other, Range* range) {
    if (!other) return;
    if (!*range) {
      *range = other;
      return;
    }
    DimExpr &low = (*range)->low, &high = (*range)->high;
    if (other->low.known()) low = low.known() ? Max(low, other->low) : other->low;
    if (other->high.known()) high = high.known() ? Min(high, other->high) : other->high;
  }

  static constexpr int kMaxDepth = 32;
  int steps_ = 0;
};

}  // namespace

std::optional<ValueRange> ImpliedRange::For(std::span<const ir::DimBinding> sizes) const {
  const auto first = low.Substitute(sizes).number(), last = high.Substitute(sizes).number();
  if (!first || !last || *first > *last) return std::nullopt;
  return ValueRange{*first, *last};
}

std::optional<ImpliedRange> RangeOfInput(ir::Value input) {
  if (!input.type().IsTensor() || !ir::IsInteger(input.type().dtype())) return std::nullopt;
  return RangeFinder().Find(input, 0);
}

}  // namespace weft::kernels
