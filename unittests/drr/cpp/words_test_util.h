// What tests of the vocabulary share: whether a constraint of two operands holds, what an expression
// computes of them, and how a rule reads.
#pragma once

#include <string>
#include <vector>

#include "drr/cpp/constraints.h"
#include "drr/text/rule_text.h"
#include "ir/dialects/onnx.h"
#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {

class Words : public Language {
 protected:
  ir::Value Constant(std::vector<float> values, const ir::Shape& shape) {
    return b
        .Create<ir::ConstantOp>(
            {}, {.value = context.DenseAttrOf(context.TensorType(ir::DataType::kF32, shape),
                                              std::span<const float>(values))})
        .result(0);
  }
  // The rule that `body` writes, as it reads.
  std::string Text(const Body& body) {
    const BuildResult built = Rule(body).Build(&context);
    for (const std::string& e : built.errors) ADD_FAILURE() << e;
    return built.rule ? text::PrintRule(*built.rule) : "";
  }
  // The reason why `condition` of two operands of a Norm and its result, a 2x3 tensor, does not
  // hold, or "".
  template <class C>
  std::string Of(ir::Value first, ir::Value second, C condition) {
    const ir::Value out = b.Make<toy::Norm>({z, first, second}, {.axis = 1});
    b.Make<toy::Relu>({out});
    return Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto base = src.Tensor("base"), p = src.Tensor("p"), q = src.Tensor("q");
      auto norm = src.Op<toy::Norm>(AnyAttrs())(base, p, q);
      src.Require(condition(p, q, norm));
      res.Tensor(norm) = res.Op<toy::Tanh>()(base);
    });
  }
  // The constant that the expression computes of such operands; null where it does not.
  template <class E>
  ir::Attribute Computed(ir::Value first, ir::Value second, E expression) {
    const ir::Value out = b.Make<toy::Norm>({z, first, second}, {.axis = 1});
    const ir::Value user = b.Make<toy::Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto base = src.Tensor("base"), p = src.Tensor("p"), q = src.Tensor("q");
      auto norm = src.Op<toy::Norm>(AnyAttrs())(base, p, q);
      auto constant = src.Let("it can be computed", expression(p, q));
      res.Tensor(norm) = res.Op<toy::Norm>({.axis = 1})(base, res.Constant(constant));
    });
    if (refused.empty())
      return ir::ConstantValue(user.DefiningOp().operand(0).DefiningOp().operand(1));
    EXPECT_EQ(refused, "does not hold: it can be computed");
    return {};
  }
  static std::vector<float> Floats(ir::Attribute dense) {
    const auto elements = dense.elements<float>();
    return {elements.begin(), elements.end()};
  }
};

}  // namespace weft::drr
