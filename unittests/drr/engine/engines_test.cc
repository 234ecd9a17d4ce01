// What the fast path of the rule engine must not do otherwise than the general one, where the rule
// library has no example.
#include "drr/engine/rule_engine.h"
#include "ir/dialects/attr_defaults.h"
#include "ir/dialects/onnx.h"
#include "ir/graph_view.h"
#include "ir/infer.h"
#include "unittests/drr/engine/use_lists.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr {
namespace {

using testing::HasSubstr;

// Has a region with anything in it.
struct Held {
  static constexpr ir::OpInfo kInfo = {
      .name = "toy.held", .operands = {"x"}, .traits = ir::kPure, .num_regions = 1};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};

class Engines : public text::TextRuleTest {
 protected:
  Engines() { ir::AddOps<Held>(context); }

  // The program after the rule was tried once at every op, in text, by the engine as it is chosen,
  // and who reads what, in order.
  std::string After(std::string_view module, const std::string& rule, FastPath fast_path) {
    Parse(module);
    const text::RuleFile file = Read(rule);
    EXPECT_EQ(file.rules.size(), 1u) << testing::PrintToString(file.errors);
    if (file.rules.empty()) return "";
    PlainMatch shared;
    RuleEngine engine(*file.rules[0], &shared, fast_path);
    const ir::GraphView view(program.get());
    std::vector<ir::Operation> ops;
    ir::Walk(*program, [&](ir::Operation op) { ops.push_back(op); });
    std::string reasons;
    for (const ir::Operation op : ops) {
      if (!op.IsAlive() || !engine.Match(view, op.id())) continue;
      ir::Rewriter rewriter(program.get());
      std::string why;
      if (!engine.Apply(view, rewriter, &why)) reasons += why + "\n";
    }
    EXPECT_TRUE(ir::Verify(*program).ok()) << ir::Verify(*program).message();
    return reasons + Print() + UseLists(*program);
  }
  // Of all engines, which must agree.
  std::string After(std::string_view module, const std::string& rule) {
    const std::string general = After(module, rule, FastPath::kNone);
    EXPECT_EQ(After(module, rule, FastPath::kMatcher), general);
    EXPECT_EQ(After(module, rule, FastPath::kAll), general);
    return general;
  }
};

TEST_F(Engines, ARootStaysForTheReadersOfAnotherResultThatIsKept) {
  const std::string after = After(
      R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2x4xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<1xi64>, [3]>} : () -> tensor<1xi64>
 (%2, %3) = "onnx.TopK" (%0, %1) {} : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>, tensor<2x3xi64>
 (%4) = "onnx.Relu" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%4, %3) {} : (tensor<2x3xf32>, tensor<2x3xi64>) ->
}
)",
      "rule r { source { %v, %i = onnx.TopK{...}(%x, %k) keep %i }\n"
      "result { !0 = onnx.Tanh(%x) !1, !2 = onnx.TopK(!0, %k) } replace %v with !1 }");
  EXPECT_THAT(after, HasSubstr("onnx.Tanh"));
  const std::string by_operand = After(
      R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2x4xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<1xi64>, [4]>} : () -> tensor<1xi64>
 (%2, %3) = "onnx.TopK" (%0, %1) {} : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>, tensor<2x4xi64>
 (%4) = "onnx.Relu" (%2) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 () = "builtin.return" (%4, %3) {} : (tensor<2x4xf32>, tensor<2x4xi64>) ->
}
)",
      "rule r { source { %v, %i = onnx.TopK{...}(%x, %k) keep %i }\n"
      "result { } replace %v with %x }");
  EXPECT_THAT(by_operand, HasSubstr("onnx.TopK"));
}

// Who reads a value is asked in order where rules are joined on it.
TEST_F(Engines, ReadersStandInTheSameOrder) {
  const std::string after = After(
      R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<4xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<4xf32>) -> tensor<4xf32>
 (%2) = "onnx.Add" (%1, %0) {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
 (%3) = "onnx.Exp" (%0) {} : (tensor<4xf32>) -> tensor<4xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<4xf32>, tensor<4xf32>) ->
}
)",
      "rule r { source { %r = onnx.Relu(%x) %y = onnx.Add(%r, %x) }\n"
      "result { !0 = onnx.Mul(%x, %x) } replace %y with !0 }");
  EXPECT_THAT(after, HasSubstr("argument 0: 0.1 0.0 1.0\n"));
}

TEST_F(Engines, WhatHasAnEffectInARegionIsLeftAlone) {
  const std::string before =
      R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<4xf32>) {
 (%1) = "toy.held" (%0) {} : (tensor<4xf32>) -> tensor<4xf32> ({
  ^(%2: tensor<4xf32>):
  (%3) = "custom.print" (%2) {} : (tensor<4xf32>) -> tensor<4xf32>
  () = "builtin.return" (%3) {} : (tensor<4xf32>) ->
 })
 () = "builtin.return" (%1) {} : (tensor<4xf32>) ->
}
)";
  const std::string after =
      After(before, "rule r { source { %y = toy.held(%x) } replace %y with %x }");
  EXPECT_THAT(after, HasSubstr("toy.held"));
}

}  // namespace
}  // namespace weft::drr
