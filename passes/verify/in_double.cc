#include "passes/verify/in_double.h"

#include <cmath>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/convert_floats.h"
#include "ir/analysis/reference_body.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

using ir::DataType;

bool IsNarrow(DataType type) {
  return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16;
}

// One level of bodies; false when there was none left.
bool Lower(ir::Program& program) {
  std::vector<ir::Operation> found;
  ir::Walk(program, [&](ir::Operation op) {
    if (!op.name().starts_with("onnx.") && ir::HasReferenceBody(op)) found.push_back(op);
  });
  ir::Rewriter rewriter(&program);
  bool lowered = false;
  for (const ir::Operation op : found) lowered |= ir::ReplaceByReferenceBody(rewriter, op);
  return lowered;
}

}  // namespace

std::unique_ptr<ir::Program> InDouble(const ir::Program& program) {
  std::unique_ptr<ir::Program> copy = program.Clone();
  constexpr int kMaxNesting = 8;  // of bodies in bodies
  for (int i = 0; i < kMaxNesting && Lower(*copy); ++i) {
  }
  ir::ConvertFloats(
      *copy,
      {.target = [](DataType type) { return IsNarrow(type) ? DataType::kF64 : type; },
       .choose = [](ir::Operation) { return ir::FloatChoice::kConvert; },
       .inputs_and_outputs = true,
       .constant = [](ir::Attribute dense,
                      ir::Type) { return dense.IsElided() ? ir::Attribute() : AsDoubles(dense); }});
  return copy;
}

ir::Attribute AsDoubles(ir::Attribute dense) {
  const ir::Type type = dense.dense_type();
  if (!IsNarrow(type.dtype())) return dense;
  std::vector<double> numbers;
  for (int64_t i = 0, n = type.NumElements(); i < n; ++i)
    numbers.push_back(ir::DenseElement(dense, i));
  return type.context()->DenseAttrOf(type.context()->TensorType(DataType::kF64, type.dims()),
                                     std::span<const double>(numbers));
}

bool MakesIntegersOfNoNumber(ir::Program& program) {
  bool makes = false;
  ir::Walk(program, [&](ir::Operation op) {
    const ir::Type type = op.num_results() == 0 ? ir::Type() : op.result(0).type();
    if (!type || !type.IsTensor() || !ir::IsInteger(type.dtype())) return;
    for (size_t i = 0; i < op.num_operands() && !makes; ++i) {
      const ir::Attribute constant =
          op.operand(i) ? ir::ConstantValue(op.operand(i)) : ir::Attribute();
      if (!constant || constant.IsElided()) continue;
      for (int64_t k = 0, n = constant.dense_type().NumElements(); k < n && !makes; ++k)
        makes = !std::isfinite(ir::DenseElement(constant, k));
    }
  });
  return makes;
}

}  // namespace weft::passes
