#include "ir/dialects/onnx/nn/normalization.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/reduce.h"
#include "ir/dialects/onnx/shape.h"

namespace weft::ir::ops {
namespace {

bool CheckStashType(InferContext& c, int64_t stash_type) {
  if (stash_type >= 0 && stash_type <= 16 && IsFloat(static_cast<DataType>(stash_type)))
    return true;
  return c.Fail(fmt::format("stash_type {} is no float type", stash_type));
}

// Floats, and an axis of theirs.
bool InferAlong(InferContext& c, int64_t axis) {
  if (!CheckTensors(c) || !CheckFloat(c, 0)) return false;
  if (c.Ranked(0) && !NormalizeAxis(c, &axis, c.operand_type(0).rank())) return false;
  return SetSameAs(c, 0, 0);
}

}  // namespace

bool BatchNormalization::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 2, SIZE_MAX)) return false;
  int64_t channels = c.Ranked(0) ? c.operand_type(0).dim(1) : kUnknownDim;
  for (size_t i = 0; i < 5; ++i)
    if (!CheckFloat(c, i)) return false;
  for (size_t i = 1; i < 5; ++i) {
    if (!CheckShape(c, i, {&channels, 1})) return false;
    channels = MergeDim(channels, VectorLength(c, i)).value_or(channels);
  }
  return SetSameAs(c, 0, 0) && SetTensor(c, 1, DtypeOf(c, 3), ir::Shape{channels}) &&
         SetTensor(c, 2, DtypeOf(c, 4), ir::Shape{channels});
}

bool InstanceNormalization::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3, SIZE_MAX))
    return false;
  int64_t channels = c.Ranked(0) ? c.operand_type(0).dim(1) : kUnknownDim;
  for (size_t i = 1; i < 3; ++i) {
    if (!CheckShape(c, i, {&channels, 1})) return false;
    channels = MergeDim(channels, VectorLength(c, i)).value_or(channels);
  }
  return SetSameAs(c, 0, 0);
}

std::vector<Value> InstanceNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                    const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!x.type().HasRank()) return {};
  Ints axes, per_channel = {-1};  // [C, 1, ...]
  for (size_t i = 2; i < x.type().rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
    per_channel.push_back(1);
  }
  const Value shape = b.ConstantInts(per_channel);
  const Value centred = b.Make<Sub>({x, b.Make<ReduceMean>({x}, {.axes = axes})});
  const Value variance = b.Make<ReduceMean>({b.Make<Mul>({centred, centred})}, {.axes = axes});
  const Value epsilon = b.ConstantScalar(x.type().dtype(), attrs.epsilon);
  const Value deviation = b.Make<Sqrt>({b.Make<Add>({variance, epsilon})});
  const Value scaled =
      b.Make<Mul>({b.Make<Div>({centred, deviation}), b.Make<Reshape>({operands[1], shape})});
  return {b.Make<Add>({scaled, b.Make<Reshape>({operands[2], shape})})};
}

bool LayerNormalization::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  for (size_t i = 0; i < 3; ++i)
    if (!CheckFloat(c, i)) return false;
  auto attrs = c.attrs_of<LayerNormalization>();
  if (!CheckStashType(c, attrs.stash_type)) return false;
  const auto stash = static_cast<DataType>(attrs.stash_type);
  const Dims x = DimsOf(c, 0);
  Dims statistics = x;
  if (x) {
    if (!NormalizeAxis(c, &attrs.axis, x->size())) return false;
    const auto last = std::span(*x).subspan(static_cast<size_t>(attrs.axis));
    if (!CheckBroadcastsTo(c, 1, last) || !CheckBroadcastsTo(c, 2, last)) return false;
    std::fill(statistics->begin() + attrs.axis, statistics->end(), 1);
  }
  return SetSameAs(c, 0, 0) && SetTensor(c, 1, stash, statistics) &&
         SetTensor(c, 2, stash, statistics);
}

std::vector<Value> LayerNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                 const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  const DataType dtype = x.type().IsTensor() ? x.type().dtype() : DataType::kNull;
  if (static_cast<int64_t>(dtype) != attrs.stash_type) return {};
  if (attrs.axis >= 0 && !x.type().HasRank()) return {};
  Ints axes;
  const int64_t end = attrs.axis < 0 ? 0 : static_cast<int64_t>(x.type().rank());
  for (int64_t axis = attrs.axis; axis < end; ++axis) axes.push_back(axis);
  const Value centred = b.Make<Sub>({x, b.Make<ReduceMean>({x}, {.axes = axes})});
  const Value variance = b.Make<ReduceMean>({b.Make<Mul>({centred, centred})}, {.axes = axes});
  const Value epsilon = b.ConstantScalar(dtype, attrs.epsilon);
  const Value deviation = b.Make<Sqrt>({b.Make<Add>({variance, epsilon})});
  Value y = b.Make<Mul>({b.Make<Div>({centred, deviation}), operands[1]});
  if (operands.size() > 2 && operands[2]) y = b.Make<Add>({y, operands[2]});
  return {y};
}

bool Softmax::Infer(InferContext& c) { return InferAlong(c, c.attrs_of<Softmax>().axis); }
bool LogSoftmax::Infer(InferContext& c) { return InferAlong(c, c.attrs_of<LogSoftmax>().axis); }
bool Hardmax::Infer(InferContext& c) { return InferAlong(c, c.attrs_of<Hardmax>().axis); }

bool LRN::Infer(InferContext& c) {
  const int64_t size = c.attrs_of<LRN>().size;
  if (c.attrs().Get("size") && size < 1)
    return c.Fail(fmt::format("size is {} but must be 1 or more", size));
  return CheckTensors(c) && CheckFloat(c, 0) && CheckRank(c, 0, 2, SIZE_MAX) && SetSameAs(c, 0, 0);
}

bool LpNormalization::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<LpNormalization>();
  if (attrs.p != 1 && attrs.p != 2)
    return c.Fail(fmt::format("p is {} but must be 1 or 2", attrs.p));
  return InferAlong(c, attrs.axis);
}

bool MeanVarianceNormalization::Infer(InferContext& c) {
  Ints axes = c.attrs_of<MeanVarianceNormalization>().axes;
  if (!CheckTensors(c) || !CheckFloat(c, 0)) return false;
  if (c.Ranked(0) && !NormalizeAxes(c, &axes, c.operand_type(0).rank())) return false;
  return SetSameAs(c, 0, 0);
}

bool GroupNormalization::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<GroupNormalization>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 2, SIZE_MAX) || !CheckStashType(c, attrs.stash_type))
    return false;
  int64_t channels = c.Ranked(0) ? c.operand_type(0).dim(1) : kUnknownDim;
  for (size_t i = 1; i < 3; ++i) {
    if (!CheckShape(c, i, {&channels, 1})) return false;
    channels = MergeDim(channels, VectorLength(c, i)).value_or(channels);
  }
  if (c.attrs().Get("num_groups")) {
    if (attrs.num_groups < 1)
      return c.Fail(fmt::format("num_groups is {} but must be 1 or more", attrs.num_groups));
    if (IsStaticDim(channels) && channels % attrs.num_groups != 0)
      return c.Fail(
          fmt::format("x has {} channels, which are no {} groups", channels, attrs.num_groups));
  }
  return SetSameAs(c, 0, 0);
}

bool RMSNormalization::Infer(InferContext& c) {
  auto attrs = c.attrs_of<RMSNormalization>();
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckFloat(c, 1) ||
      !CheckStashType(c, attrs.stash_type))
    return false;
  const Dims x = DimsOf(c, 0);
  if (x && (!NormalizeAxis(c, &attrs.axis, x->size()) || !CheckBroadcastsTo(c, 1, *x)))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 1), x);
}

void LoadNormalizationOps(IrContext& context) {
  AddOps<BatchNormalization, InstanceNormalization, LayerNormalization, Softmax, LogSoftmax,
         Hardmax, LRN, LpNormalization, MeanVarianceNormalization, GroupNormalization,
         RMSNormalization>(context);
}

}  // namespace weft::ir::ops
