#include "ir/dialects/onnx/infer/op_base.h"

#include <numeric>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

// Which element types the operands may have.
using Check = bool (*)(InferContext&, size_t);

bool InferUnary(InferContext& c, Check check) {
  return CheckTensors(c) && (!check || check(c, 0)) && SetSameAs(c, 0, 0);
}

// result: kNull for the operands' element type.
bool InferBroadcast(InferContext& c, Check check, DataType result) {
  if (!CheckTensors(c)) return false;
  if (c.num_operands() == 0) return c.Fail("has no operands");
  std::vector<size_t> all(c.num_operands());
  std::iota(all.begin(), all.end(), size_t{0});
  if (check)
    for (size_t i : all)
      if (!check(c, i)) return false;
  DataType dtype;
  Dims dims;
  if (!SameDtype(c, all, &dtype) || !Broadcast(c, all, &dims)) return false;
  return SetTensor(c, 0, result == DataType::kNull ? dtype : result, dims);
}

bool CheckBool(InferContext& c, size_t i) { return CheckDtype(c, i, DataType::kBool); }

}  // namespace

bool UnaryOp::Infer(InferContext& c) {
  const Type x = c.operand_type(0);
  return x && x.HasElement() ? c.SetResult(0, x) : InferUnary(c, nullptr);
}
bool UnaryNumberOp::Infer(InferContext& c) { return InferUnary(c, CheckNumber); }
bool UnaryFloatOp::Infer(InferContext& c) { return InferUnary(c, CheckFloat); }
bool BinaryNumberOp::Infer(InferContext& c) {
  return InferBroadcast(c, CheckNumber, DataType::kNull);
}
bool LogicalOp::Infer(InferContext& c) { return InferBroadcast(c, CheckBool, DataType::kBool); }
bool EqualityOp::Infer(InferContext& c) { return InferBroadcast(c, nullptr, DataType::kBool); }
bool ComparisonOp::Infer(InferContext& c) {
  return InferBroadcast(c, CheckNumber, DataType::kBool);
}

}  // namespace weft::ir::ops
