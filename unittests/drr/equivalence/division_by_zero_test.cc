// What is divided by the constant 0 is no multiple of anything: any number would be as near to infinity.
#include "ir/dialects/onnx.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

namespace ops = ir::ops;
using ir::Value;

constexpr std::string_view kScaledAttention = R"({'patterns': {
  'in': [[(0, 'Transpose'), (1, 'MatMul'), (2, 'Div'), (3, 'Softmax'), (4, 'MatMul')]],
  'out': [[(0, 'MultiHeadAttention')]]}, 'search_mode': 'op_type', 'node_names': {0: 4},
 'input_tensors': {0: [[{1: [0]}, {0: [0]}, {4: [1]}], [[0, 1, 2], 3]]},
 'output_tensors': {0: [[{4: [0]}], [[0], 1]]}, 'returns': []})";

class DivisionByZero : public TextRuleTest {
 protected:
  // The scores of an attention divided by a number.
  size_t Applied(double divisor) {
    program = std::make_unique<ir::Program>(&context);
    ir::Builder b(program.get());
    const ir::Type type = context.TensorType(ir::DataType::kF32, {2, 3, 5, 4});
    const Value q = b.AddInput("q", type), k = b.AddInput("k", type), v = b.AddInput("v", type);
    const Value turned = b.Make<ops::Transpose>({k}, {.perm = {0, 1, 3, 2}});
    const Value scores = b.Make<ops::Div>(
        {b.Make<ops::MatMul>({q, turned}), b.ConstantScalar(ir::DataType::kF32, divisor)});
    b.Return({{"y", b.Make<ops::MatMul>({b.Make<ops::Softmax>({scores}), v})}});
    return ApplyText(kScaledAttention);
  }
};

TEST_F(DivisionByZero, IsNoScale) {
  EXPECT_EQ(Applied(2), 1u) << reason;
  EXPECT_EQ(Applied(0), 0u);
}

}  // namespace
}  // namespace weft::drr::text
