// fused.elementwise: its shape, its text, its body in place of it, and bodies that are refused.
#include <gtest/gtest.h>

#include "ir/analysis/reference_body.h"
#include "ir/analysis/shape_inference.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/fused.h"
#include "ir/rewriter.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace weft::ir {
namespace {

constexpr std::string_view kBody =
    R"(  ^(%3: tensor<2x3xf32>, %4: tensor<3xf32>):
  (%5) = "onnx.Mul" (%3, %4) {} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  (%6) = "onnx.Relu" (%5) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  () = "builtin.return" (%6) {} : (tensor<2x3xf32>) -> 
)";

class ElementwiseText : public testing::Test {
 protected:
  ElementwiseText() { LoadFusedDialect(context); }

  // A module with a fused.elementwise of these two inputs and this region, after `before`.
  static std::string Module(std::string_view body, std::string_view before = "",
                            std::string_view result = "tensor<2x3xf32>") {
    std::string text =
        R"(module {input_names:strings["x","v"],output_names:strings["y"]} (%0: tensor<2x3xf32>, %1: tensor<3xf32>) {
)";
    text += before;
    text += R"( (%2) = "fused.elementwise" (%0, %1) {} : (tensor<2x3xf32>, tensor<3xf32>) -> )";
    text += std::string(result) + " ({\n" + std::string(body) + " })\n";
    text += " () = \"builtin.return\" (%2) {} : (" + std::string(result) + ") -> \n}\n";
    return text;
  }
  // What the parser or the verifier says to it.
  std::string Verdict(const std::string& text) {
    auto program = ParseProgram(context, text);
    if (!program.ok()) return std::string(program.status().message());
    return std::string(Verify(**program).message());
  }
  std::string With(std::string_view from, std::string_view to) {
    std::string body(kBody);
    const size_t at = body.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return Verdict(Module(body.replace(at, from.size(), to)));
  }

  IrContext context;
};

TEST_F(ElementwiseText, IsPrintedAsItIsRead) {
  const std::string text = Module(kBody);
  auto program = ParseProgram(context, text);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(Verify(**program).message(), "");
  EXPECT_EQ(PrintProgram(**program), text);
}

TEST_F(ElementwiseText, TakesItsShapeFromTheOperandsAndItsElementsFromTheBody) {
  const std::string said = "fused.elementwise: result 0 is tensor<2x4xf32> but";
  EXPECT_EQ(Verdict(Module(kBody, "", "tensor<2x4xf32>")).substr(0, said.size()), said);
  EXPECT_EQ(Verdict(Module(kBody, "", "tensor<2x3xbool>")),
            "fused.elementwise: result 0 is tensor<2x3xbool> but its body returns tensor<2x3xf32>");
  EXPECT_EQ(Verdict(Module(kBody, "", "tensor<?x3xf32>")), "");
}

TEST_F(ElementwiseText, RefusesValuesFromOutsideTheBody) {
  EXPECT_EQ(With("(%3, %4) {}", "(%3, %1) {}"),
            "onnx.Mul: operand 1 comes from outside an isolated region");
}

TEST_F(ElementwiseText, RefusesArgumentsThatAreNotItsOperands) {
  EXPECT_EQ(Verdict(Module(R"(  ^(%3: tensor<2x3xf32>):
  (%6) = "onnx.Relu" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  () = "builtin.return" (%6) {} : (tensor<2x3xf32>) -> 
)")),
            "fused.elementwise: has 2 operands but its body takes 1");
  EXPECT_EQ(Verdict(Module(R"(  ^(%3: tensor<2x3xf32>, %4: tensor<4xf32>):
  (%6) = "onnx.Relu" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  () = "builtin.return" (%6) {} : (tensor<2x3xf32>) -> 
)")),
            "fused.elementwise: operand 1 is tensor<3xf32> but its body takes tensor<4xf32>");
  EXPECT_EQ(Verdict(Module(R"(  ^(%3: tensor<2x3xf32>, %4: tensor<3xi64>):
  (%6) = "onnx.Relu" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  () = "builtin.return" (%6) {} : (tensor<2x3xf32>) -> 
)")),
            "fused.elementwise: operand 1 is tensor<3xf32> but its body takes tensor<3xi64>");
}

TEST_F(ElementwiseText, RefusesOtherOpsInTheBody) {
  const auto verdict = [&](const std::string& name) {
    return With("\"onnx.Relu\" (%5) {}", "\"" + name + "\" (%5) {}");
  };
  const std::string message = ", which is no elementwise onnx operation";
  EXPECT_EQ(With("\"onnx.Relu\" (%5) {}", "\"onnx.Softmax\" (%5) {axis:-1}"),
            "fused.elementwise: its body holds onnx.Softmax" + message);
  EXPECT_EQ(verdict("test.unknown"), "fused.elementwise: its body holds test.unknown" + message);
  EXPECT_EQ(verdict("pd.relu"), "fused.elementwise: its body holds pd.relu" + message);
  EXPECT_EQ(With("(%6) = \"onnx.Relu\" (%5) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
                 "(%6) = \"onnx.Relu\" (%5) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> ({\n })"),
            "fused.elementwise: its body holds onnx.Relu" + message);
}

TEST_F(ElementwiseText, RefusesGroupsInGroups) {
  EXPECT_EQ(With("  (%6) = \"onnx.Relu\" (%5) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n",
                 R"(  (%6) = "fused.elementwise" (%5) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> ({
   ^(%7: tensor<2x3xf32>):
   (%8) = "onnx.Relu" (%7) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
   () = "builtin.return" (%8) {} : (tensor<2x3xf32>) -> 
  })
)"),
            "fused.elementwise: its body holds fused.elementwise, which is no elementwise onnx "
            "operation");
}

TEST_F(ElementwiseText, RefusesBodiesThatDoNotReturnOneValue) {
  const std::string end = "  () = \"builtin.return\" (%6) {} : (tensor<2x3xf32>) -> \n";
  EXPECT_EQ(With(end, ""), "fused.elementwise: its body does not end with builtin.return");
  EXPECT_EQ(With(end, "  () = \"builtin.return\" () {} : () -> \n"),
            "fused.elementwise: its body must return one value");
  EXPECT_EQ(With(end,
                 "  () = \"builtin.return\" (%6, %5) {} : (tensor<2x3xf32>, tensor<2x3xf32>) "
                 "-> \n"),
            "fused.elementwise: its body must return one value");
  EXPECT_EQ(With("(%6) {} : (tensor<2x3xf32>)", "(%4) {} : (tensor<3xf32>)"),
            "fused.elementwise: result 0 is tensor<2x3xf32> but its body returns tensor<3xf32>");
  EXPECT_EQ(With(end, end + end),
            "builtin.return: ends its block but is not the last operation in it");
  EXPECT_EQ(Verdict(Module("")), "fused.elementwise: its region must have one block");
}

TEST_F(ElementwiseText, RefusesRegionsOfOtherNumbersOrBlocks) {
  const std::string two = std::string(kBody) + " }, {\n  ^():\n";
  EXPECT_EQ(Verdict(Module(two)), "fused.elementwise: has 2 regions but needs 1");
  const std::string blocks =
      std::string(kBody) + "  ^():\n  () = \"builtin.return\" () {} : () -> \n";
  EXPECT_EQ(Verdict(Module(blocks)), "fused.elementwise: its region must have one block");
  EXPECT_EQ(
      Verdict(R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "fused.elementwise" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%1) {} : (tensor<2xf32>) -> 
}
)"),
      "fused.elementwise: has 0 regions but needs 1");
}

TEST_F(ElementwiseText, KnowsSizesThatAreSetLater) {
  std::string text = Module(kBody);
  for (size_t at; (at = text.find("2x3")) != std::string::npos;) text.replace(at, 3, "\"N\"x3");
  auto program = ParseProgram(context, text);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(SetDim(**program, "N", 5).message(), "");
  ASSERT_EQ(PropagateTypes(**program).message(), "");
  EXPECT_EQ(Verify(**program).message(), "");
  EXPECT_EQ((*program)->body().front().result().type().ToString(), "tensor<5x3xf32>");
}

TEST_F(ElementwiseText, HasItsBodyAsReference) {
  auto program = ParseProgram(context, Module(kBody));
  ASSERT_TRUE(program.ok()) << program.status();
  const Operation op = (*program)->body().front();
  ASSERT_TRUE(HasReferenceBody(op));
  Rewriter rewriter(program->get());
  rewriter.SetInsertionPoint(op);
  const std::vector<Value> body = BuildReferenceBody(rewriter, op, op.operands().vec());
  ASSERT_EQ(body.size(), 1u);
  rewriter.Replace(op, body);
  EXPECT_EQ(Verify(**program).message(), "");
  EXPECT_EQ(
      PrintProgram(**program),
      R"(module {input_names:strings["x","v"],output_names:strings["y"]} (%0: tensor<2x3xf32>, %1: tensor<3xf32>) {
 (%2) = "onnx.Mul" (%0, %1) {} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%3) {} : (tensor<2x3xf32>) -> 
}
)");
}

}  // namespace
}  // namespace weft::ir
