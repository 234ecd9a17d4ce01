#include "ir/dialects/onnx/nn/normalization.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/agreed.h"
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

// Mean, centred x, and 1 / sqrt(variance + epsilon) over some axes.
struct Moments {
  Moments(Builder& b, Value x, const Ints& axes, double epsilon)
      : mean(b.Make<ReduceMean>({x}, {.axes = axes})), centred(b.Make<Sub>({x, mean})) {
    const Value variance = b.Make<ReduceMean>({b.Make<Mul>({centred, centred})}, {.axes = axes});
    deviation = b.Make<Sqrt>({b.Make<Add>({variance, ScalarLike(b, x, epsilon)})});
  }
  Value mean, centred, deviation;
};

// The dimensions from `axis` on; nullopt where x has no rank to count from the front.
std::optional<Ints> AxesFrom(Value x, int64_t axis) {
  const bool counts = axis < 0 && axis >= -static_cast<int64_t>(kMaxRank);
  if (!counts && !x.type().HasRank()) return std::nullopt;
  const int64_t end = axis < 0 ? 0 : static_cast<int64_t>(x.type().rank());
  Ints axes;
  for (; axis < end; ++axis) axes.push_back(axis);
  return axes;
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
  return AgreeOnShape(c, 1, {&channels, 1}) && AgreeOnShape(c, 2, {&channels, 1}) &&
         SetSameAs(c, 0, 0);
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
  const Moments m(b, x, axes, attrs.epsilon);
  const Value scaled =
      b.Make<Mul>({b.Make<Div>({m.centred, m.deviation}), b.Make<Reshape>({operands[1], shape})});
  return {b.Make<Add>({scaled, b.Make<Reshape>({operands[2], shape})})};
}

bool LayerNormalization::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  for (size_t i = 0; i < 3; ++i)
    if (!CheckFloat(c, i)) return false;
  auto attrs = c.attrs_of<LayerNormalization>();
  if (!CheckStashType(c, attrs.stash_type)) return false;
  const auto stash = static_cast<DataType>(attrs.stash_type);
  Dims x = DimsOf(c, 0), statistics;
  if (x) {
    if (!NormalizeAxis(c, &attrs.axis, x->size())) return false;
    if (!AgreeOnBroadcast(c, 1, *x) || !AgreeOnBroadcast(c, 2, *x)) return false;
    statistics = *x;
    std::fill(statistics->begin() + attrs.axis, statistics->end(), 1);
  }
  return SetTensor(c, 0, DtypeOf(c, 0), x) && SetTensor(c, 1, stash, statistics) &&
         SetTensor(c, 2, stash, statistics);
}

std::vector<Value> LayerNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                 const Attrs<Plain>& attrs, size_t num_results) {
  const DataType dtype = ElementTypeOf(operands[0]);
  const auto axes = AxesFrom(operands[0], attrs.axis);
  if (!axes || dtype == DataType::kNull) return {};
  const auto stash = static_cast<DataType>(attrs.stash_type);
  const Moments m(b, CastTo(b, operands[0], stash), *axes, attrs.epsilon);
  Value y = CastTo(b, b.Make<Div>({m.centred, m.deviation}), dtype);
  y = b.Make<Mul>({y, CastTo(b, operands[1], dtype)});
  if (const Value bias = OperandOrNull(operands, 2)) y = b.Make<Add>({y, CastTo(b, bias, dtype)});
  std::vector<Value> results = {y};
  if (num_results > 1) results.push_back(m.mean);
  if (num_results > 2) results.push_back(b.Make<Reciprocal>({m.deviation}));
  return results;
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
  if (!AgreeOnShape(c, 1, {&channels, 1}) || !AgreeOnShape(c, 2, {&channels, 1})) return false;
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

// --- reference bodies -------------------------------------------------------------

std::vector<Value> Softmax::Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs) {
  const Ints axes = {attrs.axis};
  const Value largest = b.Make<ReduceMax>({operands[0]}, {.axes = axes});
  const Value e = b.Make<Exp>({b.Make<Sub>({operands[0], largest})});
  return {b.Make<Div>({e, b.Make<ReduceSum>({e}, {.axes = axes})})};
}

std::vector<Value> LogSoftmax::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>& attrs) {
  const Ints axes = {attrs.axis};
  const Value largest = b.Make<ReduceMax>({operands[0]}, {.axes = axes});
  const Value x = b.Make<Sub>({operands[0], largest});
  const Value sum = b.Make<ReduceSum>({b.Make<Exp>({x})}, {.axes = axes});
  return {b.Make<Sub>({x, b.Make<Log>({sum})})};
}

std::vector<Value> MeanVarianceNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                        const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (ElementTypeOf(x) == DataType::kNull) return {};
  const Value centred = b.Make<Sub>({x, b.Make<ReduceMean>({x}, {.axes = attrs.axes})});
  const Value squares = b.Make<Mul>({centred, centred});
  const Value deviation = b.Make<Sqrt>({b.Make<ReduceMean>({squares}, {.axes = attrs.axes})});
  return {b.Make<Div>({centred, b.Make<Add>({deviation, ScalarLike(b, x, 1e-9)})})};
}

// In the shapes [N, groups, the rest] and [N, C, the rest].
std::vector<Value> GroupNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                 const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  const DataType dtype = ElementTypeOf(x);
  if (dtype == DataType::kNull || !x.type().HasRank()) return {};
  const Value batch = DimOf(b, x, 0), rest = b.ConstantInts({-1});
  if (x.type().IsStatic() && x.type().NumElements() == 0) return {b.Make<Identity>({x})};
  const Value wide = CastTo(b, x, static_cast<DataType>(attrs.stash_type));
  const Value groups = ReshapeTo(b, wide, {batch, b.ConstantInts({attrs.num_groups}), rest});
  const Moments m(b, groups, {-1}, attrs.epsilon);
  Value y = CastTo(b, b.Make<Div>({m.centred, m.deviation}), dtype);
  y = ReshapeTo(b, y, {batch, DimOf(b, x, 1), rest});
  y = b.Make<Mul>({y, UnsqueezeAt(b, operands[1], {1})});
  y = b.Make<Add>({y, UnsqueezeAt(b, operands[2], {1})});
  return {ReshapeLike(b, y, x)};
}

std::vector<Value> RMSNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                               const Attrs<Plain>& attrs) {
  const auto axes = AxesFrom(operands[0], attrs.axis);
  const DataType dtype = ElementTypeOf(operands[1]);
  if (!axes || dtype == DataType::kNull) return {};
  const Value x = CastTo(b, operands[0], static_cast<DataType>(attrs.stash_type));
  const Value mean = b.Make<ReduceMean>({b.Make<Mul>({x, x})}, {.axes = *axes});
  const Value root = b.Make<Sqrt>({b.Make<Add>({mean, ScalarLike(b, x, attrs.epsilon)})});
  return {b.Make<Mul>({CastTo(b, b.Make<Div>({x, root}), dtype), operands[1]})};
}

void LoadNormalizationOps(IrContext& context) {
  AddOps<BatchNormalization, InstanceNormalization, LayerNormalization, Softmax, LogSoftmax,
         Hardmax, LRN, LpNormalization, MeanVarianceNormalization, GroupNormalization,
         RMSNormalization>(context);
}

}  // namespace weft::ir::ops
