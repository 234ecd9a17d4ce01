#include "ir/dialects/onnx/op_base.h"

#include <numeric>

#include "ir/dialects/onnx/infer_util.h"

namespace weft::ir::ops {
namespace {

bool InferBroadcast(InferContext& c, DataType result) {
  if (!CheckTensors(c)) return false;
  std::vector<size_t> all(c.num_operands());
  std::iota(all.begin(), all.end(), size_t{0});
  DataType dtype;
  Dims dims;
  if (!SameDtype(c, all, &dtype) || !Broadcast(c, all, &dims)) return false;
  return SetTensor(c, 0, result == DataType::kNull ? dtype : result, dims);
}

}  // namespace

bool UnaryOp::Infer(InferContext& c) { return CheckTensors(c) && SetSameAs(c, 0, 0); }
bool BinaryOp::Infer(InferContext& c) { return InferBroadcast(c, DataType::kNull); }
bool PredicateOp::Infer(InferContext& c) { return InferBroadcast(c, DataType::kBool); }

}  // namespace weft::ir::ops
