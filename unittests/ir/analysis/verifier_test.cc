// What the verifier refuses, in programs whose other operations are right and of the same kind:
// what it remembers of those must not hide a mistake.
#include "ir/analysis/verifier.h"

#include <gtest/gtest.h>

#include "ir/dialects/builtin.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"

namespace weft::ir {
namespace {

class VerifierTest : public testing::Test {
 protected:
  VerifierTest() : program(&context), b(&program) {
    LoadOnnxDialect(context);
    type = context.TensorType(DataType::kF32, {2, 3});
    x = b.AddInput("x", type);
  }
  std::string Verdict() { return std::string(Verify(program).message()); }
  Operation Holder() {
    return b.Builder::Create({.opcode = Opcode::FindOrAdd("test.holder"), .num_regions = 1});
  }

  IrContext context;
  Program program;
  Rewriter b;
  Type type;
  Value x;
};

TEST_F(VerifierTest, FindsAWrongTypeAmongRightOperationsOfTheSameKind) {
  Value v = x;
  for (int i = 0; i < 10; ++i) v = b.Make<ops::Relu>({v});
  b.Builder::Create({.opcode = kOpcodeOf<ops::Relu>,
                     .operands = {v},
                     .result_types = {context.TensorType(DataType::kF32, {3, 2})}});
  EXPECT_EQ(Verdict(),
            "onnx.Relu: result 0 is tensor<3x2xf32> but its operands say tensor<2x3xf32>");
}

TEST_F(VerifierTest, FindsAUseBeforeItsDefinition) {
  const Operation first = b.Create<ops::Relu>({x});
  const Operation second = b.Create<ops::Relu>({first.result()});
  EXPECT_EQ(Verdict(), "");
  b.MoveBefore(second, first);
  EXPECT_EQ(Verdict(), "onnx.Relu: operand 0 is used before it is defined");
}

TEST_F(VerifierTest, FindsAnOperationThatReadsItself) {
  const Operation op = b.Create<ops::Relu>({x});
  b.SetOperand(op, 0, op.result());
  EXPECT_EQ(Verdict(), "onnx.Relu: operand 0 is used before it is defined");
}

TEST_F(VerifierTest, FindsATerminatorThatIsNotLast) {
  b.Builder::Create({.opcode = kOpcodeOf<ReturnOp>, .operands = {x}});
  EXPECT_EQ(Verdict(), "");
  b.SetInsertionPointToEnd(program.body());
  b.Make<ops::Relu>({x});
  EXPECT_EQ(Verdict(), "builtin.return: ends its block but is not the last operation in it");
}

TEST_F(VerifierTest, LetsARegionReadWhatIsBeforeItAndNothingElse) {
  const Operation holder = Holder();
  const Block inner = b.AppendBlock(holder.region(0));
  b.SetInsertionPointToEnd(inner);
  const Operation reader = b.Create<ops::Relu>({x});
  const Operation local = b.Create<ops::Relu>({reader.result()});
  EXPECT_EQ(Verdict(), "");
  b.SetInsertionPointAfter(holder);
  const Operation after = b.Create<ops::Relu>({x});
  b.SetOperand(reader, 0, after.result());
  EXPECT_EQ(Verdict(), "onnx.Relu: operand 0 is used before it is defined");
  b.SetOperand(reader, 0, x);
  b.SetOperand(after, 0, local.result());
  EXPECT_EQ(Verdict(), "onnx.Relu: operand 0 is not defined in an enclosing block");
}

TEST_F(VerifierTest, NamesTheOperandThatIsMissing) {
  b.Make<ops::Add>({x, x});
  EXPECT_EQ(Verdict(), "");
  const Operation add = b.Create<ops::Add>({x, x});
  b.SetOperand(add, 1, Value());
  EXPECT_EQ(Verdict(), "onnx.Add: operand y is required but not given");
}

TEST_F(VerifierTest, CountsOperandsToTheLastThatIsRequired) {
  LoadMicrosoftDialect(context);
  const Value bytes = b.AddInput("bytes", context.TensorType(DataType::kU8, {1, 2, 3}));
  const Value scale = b.AddInput("scale", context.TensorType(DataType::kF32, {1}));
  b.Builder::Create({.opcode = kOpcodeOf<microsoft::QLinearGlobalAveragePool>,
                     .operands = {bytes, scale, Value()},
                     .attrs = MakeAttrs<microsoft::QLinearGlobalAveragePool>(context, {}),
                     .result_types = {context.TensorType(DataType::kU8, {1, 2, 1})}});
  EXPECT_EQ(Verdict(), "com.microsoft.QLinearGlobalAveragePool: has 3 operands but needs 4 to 5");
}

TEST_F(VerifierTest, FindsTwoInputsOrOutputsOfOneName) {
  b.AddInput("y", type);
  b.Return({{"x", x}, {"z", b.Make<ops::Add>({x, x})}});  // an input and an output may share theirs
  EXPECT_EQ(Verdict(), "");
  const auto set = [&](const char* names, const std::string& second) {
    b.SetAttr(program.module(), names, context.StringsAttr(std::vector<std::string>{"x", second}));
  };
  set("input_names", "x");
  EXPECT_EQ(Verdict(), "builtin.module: has two inputs called 'x'");
  set("input_names", "y");
  EXPECT_EQ(Verdict(), "");
  set("output_names", "x");
  EXPECT_EQ(Verdict(), "builtin.module: has two outputs called 'x'");
}

TEST_F(VerifierTest, FindsAParameterOfAnotherType) {
  const float numbers[] = {1, 2};
  program.SetParameter("w", context.DenseAttrOf(context.TensorType(DataType::kF32, {2}),
                                                std::span<const float>(numbers)));
  const auto read = [&](Type stated) {
    return b.Builder::Create(
        {.opcode = kOpcodeOf<GetParameterOp>,
         .attrs = context.Dict({{Name("parameter_name"), context.StringAttr("w")}}),
         .result_types = {stated}});
  };
  read(context.TensorType(DataType::kF32, {2}));
  read(context.TensorType(DataType::kF32, {kUnknownDim}));
  EXPECT_EQ(Verdict(), "");
  read(context.TensorType(DataType::kF32, {3}));
  EXPECT_EQ(Verdict(),
            "builtin.get_parameter: result 0 is tensor<3xf32> but parameter w is tensor<2xf32>");
}

}  // namespace
}  // namespace weft::ir
