#include "ir/dialects/builtin.h"

#include "ir/program.h"

namespace weft::ir {

bool ConstantOp::Infer(InferContext& c) {
  const Attribute value = c.attrs().Get("value");
  if (!value.Is(AttrKind::kDense)) return c.Unknown();
  return c.SetResult(0, value.dense_type());
}

bool CombineOp::Infer(InferContext& c) {
  std::vector<Type> types;
  for (size_t i = 0; i < c.num_operands(); ++i) types.push_back(c.operand_type(i));
  return c.SetResult(0, c.context()->VectorType(types));
}

bool SplitOp::Infer(InferContext& c) {
  if (!c.operand_type(0).IsVector()) return c.Fail("operand is not a vector");
  const auto elements = c.operand_type(0).elements();
  if (elements.size() != c.num_results())
    return c.Fail("operand has " + std::to_string(elements.size()) + " elements but there are " +
                  std::to_string(c.num_results()) + " results");
  for (size_t i = 0; i < elements.size(); ++i) c.SetResult(i, elements[i]);
  return true;
}

void LoadBuiltinDialect(IrContext& context) {
  AddOps<ModuleOp, ReturnOp, ConstantOp, GetParameterOp, CombineOp, SplitOp>(context);
}

}  // namespace weft::ir
