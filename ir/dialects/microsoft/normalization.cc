#include "ir/dialects/microsoft/normalization.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/reduce.h"

namespace weft::ir::microsoft {
namespace {

// x divided by its root mean square over `axes` in the type `wide`, and the inverse of that.
struct RootMeanSquare {
  RootMeanSquare(Builder& b, Value x, const Ints& axes, double epsilon, DataType wide) {
    x = ops::CastTo(b, x, wide);
    const Value mean = b.Make<ops::ReduceMean>({b.Make<ops::Mul>({x, x})}, {.axes = axes});
    const Value sum = b.Make<ops::Add>({mean, ops::ScalarLike(b, x, epsilon)});
    inverse = b.Make<ops::Reciprocal>({b.Make<ops::Sqrt>({sum})});
    normal = b.Make<ops::Mul>({x, inverse});
  }
  Value normal, inverse;
};

// The results that are wanted; those that are not known are none.
std::vector<Value> Results(std::vector<Value> all, size_t num_results) {
  all.resize(num_results);
  for (const Value v : all)
    if (!v) return {};
  return all;
}

bool IsFloatNumber(int64_t type) {
  return type >= 0 && type <= 16 && IsFloat(static_cast<DataType>(type));
}

// The sum that is normalised.
Value Sum(Builder& b, std::span<const Value> operands, size_t bias_at) {
  const Value sum = b.Make<ops::Add>({operands[0], operands[1]});
  const Value bias = ops::OperandOrNull(operands, bias_at);
  return bias ? b.Make<ops::Add>({sum, bias}) : sum;
}

}  // namespace

namespace {

// The mean over the last dimension, and the inverse of the deviation, in f32.
void AddStatistics(Builder& b, Value x, float epsilon, std::vector<Value>* results) {
  if (ops::ElementTypeOf(x) != DataType::kF64) x = ops::CastTo(b, x, DataType::kF32);
  const Value mean = b.Make<ops::ReduceMean>({x}, {.axes = Ints{-1}});
  const RootMeanSquare deviation(b, b.Make<ops::Sub>({x, mean}), {-1}, epsilon,
                                 ops::ElementTypeOf(x));
  results->push_back(ops::CastTo(b, mean, DataType::kF32));
  results->push_back(ops::CastTo(b, deviation.inverse, DataType::kF32));
}

}  // namespace

bool SimplifiedLayerNormalization::Infer(InferContext& c) {
  auto attrs = c.attrs_of<SimplifiedLayerNormalization>();
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckFloat(c, 1)) return false;
  if (!IsFloatNumber(attrs.stash_type))
    return c.Fail(fmt::format("stash_type {} is no float type", attrs.stash_type));
  const Dims x = DimsOf(c, 0);
  Dims inverse = x;
  if (x) {
    if (!NormalizeAxis(c, &attrs.axis, x->size())) return false;
    if (!CheckBroadcastsTo(c, 1, *x)) return false;
    std::fill(inverse->begin() + attrs.axis, inverse->end(), 1);
  }
  return SetTensor(c, 0, DtypeOf(c, 1), x) &&
         SetTensor(c, 1, static_cast<DataType>(attrs.stash_type), inverse);
}

std::vector<Value> SimplifiedLayerNormalization::Decompose(Builder& b,
                                                           std::span<const Value> operands,
                                                           const Attrs<Plain>& attrs,
                                                           size_t num_results) {
  const DataType dtype = ops::ElementTypeOf(operands[1]);
  if (!operands[0].type().HasRank() || dtype == DataType::kNull) return {};
  const auto rank = static_cast<int64_t>(operands[0].type().rank());
  Ints axes;
  for (int64_t axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis; axis < rank; ++axis)
    axes.push_back(axis);
  const RootMeanSquare rms(b, operands[0], axes, attrs.epsilon,
                           static_cast<DataType>(attrs.stash_type));
  const Value y = b.Make<ops::Mul>({ops::CastTo(b, rms.normal, dtype), operands[1]});
  return Results({y, rms.inverse}, num_results);
}

bool SkipNormalizationOp::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3, 4}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 2, 3))
    return false;
  for (size_t i : {2, 3, 4})
    if (!CheckRank(c, i, 1)) return false;
  Dims x = DimsOf(c, 0);
  if (!x) return SetTensor(c, 0, dtype, x) && SetTensor(c, 3, dtype, x);
  if (!AgreeOnBroadcast(c, 1, *x)) return false;
  for (size_t i : {2, 3, 4})
    if (!AgreeOnShape(c, i, std::span(*x).last(1))) return false;
  Shape statistics = *x;
  statistics.back() = 1;
  return SetTensor(c, 0, dtype, x) && SetTensor(c, 1, DataType::kF32, statistics) &&
         SetTensor(c, 2, DataType::kF32, statistics) && SetTensor(c, 3, dtype, x);
}

std::vector<Value> SkipLayerNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                     const Attrs<Plain>& attrs,
                                                     size_t num_results) {
  if (ops::ElementTypeOf(operands[0]) == DataType::kNull) return {};
  const Value sum = Sum(b, operands, 4);
  std::vector<Value> inputs = {sum, operands[2]};
  if (const Value beta = ops::OperandOrNull(operands, 3)) inputs.push_back(beta);
  // Statistics apart: who asks for the sum alone has no use for them.
  std::vector<Value> results = {
      b.Make<ops::LayerNormalization>(inputs, {.axis = int64_t{-1}, .epsilon = attrs.epsilon})};
  if (num_results > 1) AddStatistics(b, sum, attrs.epsilon, &results);
  results.resize(3);
  results.push_back(sum);
  return Results(results, num_results);
}

std::vector<Value> SkipSimplifiedLayerNormalization::Decompose(Builder& b,
                                                               std::span<const Value> operands,
                                                               const Attrs<Plain>& attrs,
                                                               size_t num_results) {
  const DataType dtype = ops::ElementTypeOf(operands[0]);
  if (dtype == DataType::kNull) return {};
  const Value sum = Sum(b, operands, 3);
  const RootMeanSquare rms(b, sum, {-1}, attrs.epsilon, DataType::kF32);
  const Value y = b.Make<ops::Mul>({ops::CastTo(b, rms.normal, dtype), operands[2]});
  // There is no mean; who asks for what follows it gets zeros.
  const Value mean = num_results > 1 ? b.Make<ops::Sub>({rms.inverse, rms.inverse}) : Value();
  return Results({y, mean, rms.inverse, sum}, num_results);
}

namespace {

bool CheckIds(InferContext& c) {
  for (size_t i : {0, 1, 7, 8})
    if (!CheckDtype(c, i, DataType::kI32) || !CheckRank(c, i, 2)) return false;
  return true;
}

// [B, S], or [1, S] for all: ONNX Runtime takes nothing else that broadcasts.
bool AgreeOnPositions(InferContext& c, std::span<int64_t> ids) {
  constexpr size_t kAt = 8;
  if (!CheckRank(c, kAt, 2)) return false;
  const Dims dims = DimsOf(c, kAt);
  if (!dims) return true;
  Shape shape = {dims->front() == 1 ? 1 : ids[0], ids[1]};
  if (!AgreeOnShape(c, kAt, shape)) return false;
  ids[1] = shape[1];
  if (IsStaticDim(dims->front()) && dims->front() != 1) ids[0] = dims->front();
  return true;
}

}  // namespace

bool EmbedLayerNormalization::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {2, 3, 4, 5, 6}, &dtype) || !CheckFloat(c, 2) ||
      !CheckIds(c))
    return false;
  if (c.HasOperand(1) != c.HasOperand(4))
    return c.Fail("has only one of segment_ids and segment_embedding");
  AgreedDim columns("columns");
  for (size_t i : {2, 3, 4, 5, 6}) {
    if (!CheckRank(c, i, i < 5 ? 2 : 1)) return false;
    if (const Dims dims = DimsOf(c, i))
      if (!columns.Add(c, i, dims->back())) return false;
  }
  Shape ids = DimsOf(c, 0).value_or(Shape(2, kUnknownDim));
  if (!AgreeOnShape(c, 1, ids) || !AgreeOnShape(c, 7, ids) || !AgreeOnPositions(c, ids))
    return false;
  const Shape dims = {ids[0], ids[1], columns.dim()};
  return SetTensor(c, 0, dtype, dims) && SetTensor(c, 1, DataType::kI32, Shape{ids[0]}) &&
         SetTensor(c, 2, dtype, dims);
}

std::vector<Value> EmbedLayerNormalization::Decompose(Builder& b, std::span<const Value> operands,
                                                      const Attrs<Plain>& attrs,
                                                      size_t num_results) {
  const Value ids = operands[0], mask = ops::OperandOrNull(operands, 7);
  if (!ids.type().HasRank() || !operands[3].type().HasRank() ||
      ops::ElementTypeOf(operands[2]) == DataType::kNull)
    return {};
  const auto look_up = [&](Value table, Value at) {
    return b.Make<ops::Gather>({table, at}, {.axis = 0});
  };
  Value positions = ops::OperandOrNull(operands, 8);
  if (!positions) positions = ops::CountTo(b, ops::DimOf(b, ids, 1));
  Value sum = b.Make<ops::Add>({look_up(operands[2], ids), look_up(operands[3], positions)});
  if (const Value segments = ops::OperandOrNull(operands, 1))
    sum = b.Make<ops::Add>({sum, look_up(operands[4], segments)});
  const Value y = b.Make<ops::LayerNormalization>({sum, operands[5], operands[6]},
                                                  {.axis = int64_t{-1}, .epsilon = attrs.epsilon});
  Value count;
  if (num_results > 1 && mask) {
    count = b.Make<ops::ReduceSum>({mask}, {.axes = Ints{1}, .keepdims = int64_t{0}});
  } else if (num_results > 1) {
    const Value batch = ops::DimOf(b, ids, 0);
    count = b.Make<ops::Expand>({b.ConstantScalar(DataType::kI32, 0), batch});
  }
  return Results({y, count, sum}, num_results);
}

void LoadNormalizationOps(IrContext& context) {
  AddOps<SimplifiedLayerNormalization, SkipLayerNormalization, SkipSimplifiedLayerNormalization,
         EmbedLayerNormalization>(context);
}

}  // namespace weft::ir::microsoft
