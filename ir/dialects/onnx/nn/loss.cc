#include "ir/dialects/onnx/nn/loss.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/indexing.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/reduce.h"
#include "ir/dialects/onnx/shape.h"

namespace weft::ir::ops {
namespace {

// Whether the classes that are known are some of `count`, but for those that are ignored.
bool CheckKnownClasses(InferContext& c, int64_t count, std::optional<int64_t> ignored) {
  const std::optional<Ints> known = KnownInts(c, 1);
  if (!known || !IsStaticDim(count)) return true;
  for (const int64_t i : *known)
    if ((i < 0 || i >= count) && i != ignored)
      return c.Fail(
          fmt::format("{} {} is out of range for {} classes", OperandName(c, 1), i, count));
  return true;
}

bool InferLoss(InferContext& c, const LossOp::Attrs<Plain>& attrs) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckFloat(c, 0) || !CheckIndex(c, 1) ||
      !CheckRank(c, 0, 2, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX) || !CheckRank(c, 2, 1))
    return false;
  Dims samples = DimsOf(c, 1);
  if (const Dims weights = DimsOf(c, 2);
      weights && !CheckKnownClasses(c, (*weights)[0], attrs.ignore_index))
    return false;
  if (Dims x = DimsOf(c, 0)) {
    const int64_t classes = (*x)[1];
    x->erase(x->begin() + 1);
    if (!CheckShape(c, 1, *x) || !CheckShape(c, 2, {&classes, 1}) ||
        !CheckKnownClasses(c, classes, attrs.ignore_index))
      return false;
    if (samples)
      for (size_t d = 0; d < x->size(); ++d) (*x)[d] = *MergeDim((*x)[d], (*samples)[d]);
    samples = x;
  }
  if (attrs.reduction != LossReduction::kNone) samples = ir::Shape();
  return SetTensor(c, 0, dtype, samples) && SetTensor(c, 1, dtype, DimsOf(c, 0));
}

}  // namespace

bool NegativeLogLikelihoodLoss::Infer(InferContext& c) {
  return InferLoss(c, c.attrs_of<NegativeLogLikelihoodLoss>());
}
bool SoftmaxCrossEntropyLoss::Infer(InferContext& c) {
  return InferLoss(c, c.attrs_of<SoftmaxCrossEntropyLoss>());
}

// --- reference bodies -------------------------------------------------------------

namespace {

Value Total(Builder& b, Value x) { return b.Make<ReduceSum>({x}, {.keepdims = int64_t{0}}); }

// Of the logarithms of probabilities.
Value LossBody(Builder& b, Value log_probs, Value classes, Value weights,
               const LossOp::Attrs<Plain>& attrs) {
  Value ignored;
  if (attrs.ignore_index) {
    const Value index = b.ConstantInts({*attrs.ignore_index});
    ignored = b.Make<Equal>({CastTo(b, classes, DataType::kI64), index});
    classes = b.Make<Where>({ignored, ScalarLike(b, classes, 0), classes});
  }
  const Value chosen =
      b.Make<GatherElements>({log_probs, UnsqueezeAt(b, classes, {1})}, {.axis = 1});
  Value loss = b.Make<Neg>({b.Make<Squeeze>({chosen, b.ConstantInts({1})})});
  Value weight;  // of each sample
  if (weights) weight = b.Make<Gather>({weights, classes}, {.axis = 0});
  if (ignored) {
    const Value one = weight ? weight : ScalarLike(b, log_probs, 1);
    weight = b.Make<Where>({ignored, ScalarLike(b, log_probs, 0), one});
  }
  if (weight) loss = b.Make<Mul>({loss, weight});
  if (attrs.reduction == LossReduction::kNone) return loss;
  if (attrs.reduction == LossReduction::kSum) return Total(b, loss);
  if (!weight) return b.Make<ReduceMean>({loss}, {.keepdims = int64_t{0}});
  return b.Make<Div>({Total(b, loss), Total(b, weight)});
}

bool HasTypes(std::span<const Value> operands) {
  return ElementTypeOf(operands[0]) != DataType::kNull &&
         ElementTypeOf(operands[1]) != DataType::kNull;
}

}  // namespace

std::vector<Value> NegativeLogLikelihoodLoss::Decompose(Builder& b, std::span<const Value> operands,
                                                        const Attrs<Plain>& attrs) {
  if (!HasTypes(operands)) return {};
  return {LossBody(b, operands[0], operands[1], OperandOrNull(operands, 2), attrs)};
}

std::vector<Value> SoftmaxCrossEntropyLoss::Decompose(Builder& b, std::span<const Value> operands,
                                                      const Attrs<Plain>& attrs,
                                                      size_t num_results) {
  if (!HasTypes(operands)) return {};
  const Value log_probs = b.Make<LogSoftmax>({operands[0]}, {.axis = 1});
  const Value loss = LossBody(b, log_probs, operands[1], OperandOrNull(operands, 2), attrs);
  return num_results > 1 ? std::vector<Value>{loss, log_probs} : std::vector<Value>{loss};
}

void LoadLossOps(IrContext& context) {
  AddOps<NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss>(context);
}

}  // namespace weft::ir::ops
