#include "unittests/fuzz/graphs/perturb_program.h"

#include <cstring>
#include <vector>

#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/lower_to_bodies.h"

namespace weft::fuzz {
namespace {

class LowerAll : public passes::LowerToBodies {
 public:
  LowerAll() : LowerToBodies("lower-all", "all that is defined by simpler ops becomes them") {}

 private:
  bool Lowers(ir::Operation) const override { return true; }
};

}  // namespace

std::unique_ptr<ir::Program> WithPerturbedConstants(ir::Program& program, Random& random) {
  std::unique_ptr<ir::Program> copy = program.Clone();
  ir::Rewriter rewriter(copy.get());
  ir::Walk(*copy, [&](ir::Operation op) {
    if (!op.Is<ir::ConstantOp>()) return;
    const ir::Attribute dense = op.attr("value");
    const ir::Type type = dense.dense_type();
    if (!ir::IsFloat(type.dtype()) || type.NumElements() < 2 || dense.IsElided()) return;
    kernels::Tensor tensor = *kernels::Tensor::Create(type.dtype(), type.shape());
    std::memcpy(tensor.view().data, dense.bytes().data(), dense.bytes().size());
    const kernels::Tensor other = Perturbed(tensor, random);
    rewriter.SetAttr(op, "value",
                     op.context()->DenseAttr(type, {other.view().data, other.view().NumBytes()}));
  });
  return copy;
}

std::unique_ptr<ir::Program> WithPerturbedResults(ir::Program& program, Random& random) {
  std::unique_ptr<ir::Program> copy = program.Clone();
  (void)LowerAll().Run(*copy);
  std::vector<ir::Value> results;
  ir::Walk(*copy, [&](ir::Operation op) {
    if (op.Is<ir::ConstantOp>()) return;
    for (const ir::Value result : op.results()) {
      const ir::Type type = result.type();
      if (type.IsTensor() &&
          (type.dtype() == ir::DataType::kF32 || type.dtype() == ir::DataType::kF64))
        results.push_back(result);
    }
  });
  ir::Rewriter rewriter(copy.get());
  for (const ir::Value result : results) {
    const double unit = result.type().dtype() == ir::DataType::kF32 ? 0x1p-23 : 0x1p-52;
    rewriter.SetInsertionPointAfter(result.DefiningOp());
    const ir::Value factor =
        rewriter.ConstantScalar(result.type().dtype(), random.Chance(50) ? 1 + unit : 1 - unit);
    const ir::Value moved = rewriter.Make<ir::ops::Mul>({result, factor});
    rewriter.ReplaceUsesIf(result, moved,
                           [&](ir::OpOperand use) { return use.owner() != moved.DefiningOp(); });
  }
  return copy;
}

}  // namespace weft::fuzz
