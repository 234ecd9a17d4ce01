#include "ir/dialects/fused/elementwise.h"

#include <fmt/format.h>

#include <numeric>

#include "ir/dialects/builtin.h"
#include "ir/dialects/fused/activation.h"
#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/op_base.h"
#include "ir/program.h"

namespace weft::ir::fused {
namespace {

bool Fail(std::string* error, std::string message) {
  *error = std::move(message);
  return false;
}

std::string TypeText(Value value) { return value.type() ? value.type().ToString() : "unknown"; }

bool CheckArguments(Operation op, Block body, std::string* error) {
  if (body.num_arguments() != op.num_operands())
    return Fail(error, fmt::format("has {} operands but its body takes {}", op.num_operands(),
                                   body.num_arguments()));
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    if (!op.operand(i)) return Fail(error, fmt::format("operand {} is not given", i));
    if (!Compatible(body.argument(i).type(), op.operand(i).type()))
      return Fail(error, fmt::format("operand {} is {} but its body takes {}", i,
                                     TypeText(op.operand(i)), TypeText(body.argument(i))));
  }
  return true;
}

bool CheckResult(Operation op, Block body, std::string* error) {
  const Operation end = body.back();
  if (!end || !end.Is<ReturnOp>()) return Fail(error, "its body does not end with builtin.return");
  if (end.num_operands() != 1 || !end.operand(0))
    return Fail(error, "its body must return one value");
  if (!Compatible(op.result().type(), end.operand(0).type()))
    return Fail(error, fmt::format("result 0 is {} but its body returns {}", TypeText(op.result()),
                                   TypeText(end.operand(0))));
  return true;
}

}  // namespace

bool Elementwise::MayHold(Operation op) {
  return op.HasTrait(kElementwise) && !op.HasTrait(kRandom) && op.num_regions() == 0 &&
         op.num_results() == 1 && (op.name().starts_with(ops::kOnnxPrefix) || op.Is<Gelu>());
}

bool Elementwise::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  if (c.num_operands() == 0) return c.Fail("has no operands");
  std::vector<size_t> all(c.num_operands());
  std::iota(all.begin(), all.end(), size_t{0});
  Dims dims;
  if (!Broadcast(c, all, &dims)) return false;
  if (!dims) return c.Unknown();
  // An element type of any size checks the shape.
  return SetTensor(c, 0, DataType::kBool, dims) && c.SetResult(0, DataType::kNull, *dims);
}

bool Elementwise::Verify(Operation op, std::string* error) {
  if (op.region(0).blocks().size() != 1) return Fail(error, "its region must have one block");
  const Block body = op.region(0).front();
  if (!CheckArguments(op, body, error) || !CheckResult(op, body, error)) return false;
  for (const Operation inner : body)
    if (!inner.Is<ReturnOp>() && !MayHold(inner))
      return Fail(error, fmt::format("its body holds {}, which is no elementwise onnx operation",
                                     inner.name()));
  return true;
}

bool Gelu::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckFloat(c, 0)) return false;
  const Dims dims = DimsOf(c, 0);
  if (dims && !CheckBroadcastsTo(c, 1, *dims)) return false;
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Gelu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value x = AddIfGiven(b, operands[0], operands, 1);
  const bool exact = attrs.approximate == GeluApproximate::kNone;
  return {exact ? BuildErfGelu(b, x) : BuildTanhGelu(b, x)};
}

}  // namespace weft::ir::fused
