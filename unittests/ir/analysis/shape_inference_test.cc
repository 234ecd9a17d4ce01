#include "ir/analysis/shape_inference.h"

#include "ir/rewriter.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

// y = reshape(relu(x), [shape(x)[0], -1]) with nothing inferred yet but what is stated.
class ShapeInference : public InferTest {
 protected:
  ShapeInference() {
    x = b.AddInput("x", context.TensorType(DataType::kF32, {n, 4, m}));
    relu = Create<ops::Relu>({x}, context.UnrankedTensorType(DataType::kF32));
    const Value shape = Create<ops::Shape>({x}, context.TensorType(DataType::kI64, {3}));
    const Value batch = b.Make<ops::Gather>({shape, I({0})});
    const Value target = b.Make<ops::Concat>({batch, I({-1})}, {.axis = 0});
    y = Create<ops::Reshape>({relu, target}, context.UnrankedTensorType(DataType::kF32));
    b.Return({{"y", y}});
  }

  template <class O>
  Value Create(std::vector<Value> operands, Type type) {
    return b
        .Create(OperationState{.opcode = kOpcodeOf<O>,
                               .operands = std::move(operands),
                               .attrs = MakeAttrs<O>(context, {}),
                               .result_types = {type}})
        .result();
  }
  static std::string Text(Value value) {
    std::string text = value.type().ToString();
    std::erase(text, '"');
    return text;
  }

  Value x, relu, y;
};

TEST_F(ShapeInference, RefinesTypesInProgramOrder) {
  ASSERT_EQ(PropagateTypes(program).message(), "");
  EXPECT_EQ(Text(relu), "tensor<Nx4xMxf32>");
  EXPECT_EQ(Text(y), "tensor<Nx4*Mxf32>");
  EXPECT_EQ(Verify(program).message(), "");
}

TEST_F(ShapeInference, FollowsASymbolThroughComputedShapes) {
  ASSERT_EQ(SetDim(program, "M", 5).message(), "");
  EXPECT_EQ(Text(x), "tensor<Nx4x5xf32>");
  ASSERT_EQ(PropagateTypes(program).message(), "");
  EXPECT_EQ(Text(y), "tensor<Nx20xf32>");
  ASSERT_EQ(SetDim(program, "N", 2).message(), "");
  EXPECT_EQ(Text(y), "tensor<2x20xf32>");
  EXPECT_EQ(Verify(program).message(), "");
}

TEST_F(ShapeInference, KeepsWhatIsStatedAndNotInferred) {
  Rewriter(&program).SetType(y, context.TensorType(DataType::kF32, {n, 12}));
  ASSERT_EQ(PropagateTypes(program).message(), "");
  EXPECT_EQ(Text(y), "tensor<Nx12xf32>");
}

TEST_F(ShapeInference, NamesAStatedTypeThatIsContradicted) {
  Rewriter(&program).SetType(relu, context.TensorType(DataType::kF32, {n, 3, m}));
  EXPECT_EQ(PropagateTypes(program).message(),
            "onnx.Relu: result 0 is tensor<\"N\"x3x\"M\"xf32> but its operands say "
            "tensor<\"N\"x4x\"M\"xf32>");
  program.SetLocation(relu.DefiningOp(), Name("node_1"));
  EXPECT_TRUE(Message(PropagateTypes(program)).starts_with("onnx.Relu (node_1): result 0"));
}

TEST_F(ShapeInference, NamesAnOpWhoseOperandsDoNotFit) {
  const Value sum = Create<ops::Add>({x, X({3, 1})}, context.UnrankedTensorType(DataType::kF32));
  EXPECT_EQ(PropagateTypes(program).message(),
            "onnx.Add: x [\"N\",4,\"M\"] and y [3,1] do not broadcast");
  program.SetLocation(sum.DefiningOp(), Name("node_2"));
  EXPECT_TRUE(Message(PropagateTypes(program)).starts_with("node_2: onnx.Add: "));
}

TEST_F(ShapeInference, SetInputShapeBindsSymbolsEverywhere) {
  ASSERT_EQ(PropagateTypes(program).message(), "");
  ASSERT_EQ(SetInputShape(program, "x", {2, 4, 3}).message(), "");
  EXPECT_EQ(Text(relu), "tensor<2x4x3xf32>");
  ASSERT_EQ(PropagateTypes(program).message(), "");
  EXPECT_EQ(Text(y), "tensor<2x12xf32>");
}

TEST_F(ShapeInference, SetInputShapeGivesAnUnrankedInputItsShape) {
  Rewriter(&program).SetType(x, context.UnrankedTensorType(DataType::kF32));
  ASSERT_EQ(SetInputShape(program, "x", {7}).message(), "");
  EXPECT_EQ(Text(x), "tensor<7xf32>");
}

TEST_F(ShapeInference, SetInputShapeRefusesWhatContradictsTheInput) {
  EXPECT_EQ(SetInputShape(program, "z", {1}).message(), "the program has no input z");
  EXPECT_EQ(SetInputShape(program, "x", {1, 5, 3}).message(),
            "input x is tensor<\"N\"x4x\"M\"xf32>: dimension 1 cannot be 5");
  EXPECT_EQ(SetInputShape(program, "x", {1, 4}).message(),
            "input x is tensor<\"N\"x4x\"M\"xf32>: [1,4] has another rank");
  EXPECT_EQ(SetInputShape(program, "x", {-1, 4, 3}).message(),
            "input x is tensor<\"N\"x4x\"M\"xf32>: -1 is no size");
  EXPECT_EQ(SetInputShape(program, "x", {int64_t{1} << 40, 4, int64_t{1} << 40}).message(),
            "input x is tensor<\"N\"x4x\"M\"xf32>: [1099511627776,4,1099511627776] is too large");
  Rewriter(&program).SetType(x, context.TensorType(DataType::kF32, {n, 4, n}));
  EXPECT_EQ(SetInputShape(program, "x", {2, 4, 3}).message(),
            "input x is tensor<\"N\"x4x\"N\"xf32>: dimensions 0 and 2 are the same");
  Rewriter(&program).SetType(x, context.NoneType());
  EXPECT_EQ(SetInputShape(program, "x", {2}).message(), "input x is none: it has no shape");
}

TEST_F(ShapeInference, SetDimRefusesSizesThatCannotBe) {
  EXPECT_EQ(SetDim(program, "N", -1).message(), "-1 is no size for N");
  EXPECT_EQ(SetDim(program, "N", INT64_MAX).message(),
            "with N = 9223372036854775807 a value of type tensor<\"N\"x4x\"M\"xf32> is too large");
  EXPECT_EQ(Text(x), "tensor<Nx4xMxf32>");
  EXPECT_EQ(SetDim(program, "Q", 3).message(), "no type has a dimension Q");
}

TEST_F(ShapeInference, SetDimReachesVectorsAndRegions) {
  const Value pair = b.Make<CombineOp>({x, x});
  ASSERT_EQ(SetDim(program, "N", 2).message(), "");
  EXPECT_EQ(Text(pair), "vec[tensor<2x4xMxf32>,tensor<2x4xMxf32>]");

  OperationState state{.opcode = Opcode::FindOrAdd("test.loop"), .num_regions = 1};
  const Operation loop = b.Create(std::move(state));
  Rewriter rewriter(&program);
  const Block body = rewriter.AppendBlock(loop.region(0));
  const Value argument = rewriter.AddArgument(body, context.TensorType(DataType::kF32, {m}));
  rewriter.SetInsertionPointToEnd(body);
  const Value inner = rewriter.Make<ops::Relu>({argument});
  ASSERT_EQ(SetDim(program, "M", 6).message(), "");
  EXPECT_EQ(Text(argument), "tensor<6xf32>");
  EXPECT_EQ(Text(inner), "tensor<6xf32>");
}

TEST_F(ShapeInference, SetInputShapeKnowsPaddlesFeeds) {
  OperationState state{.opcode = kOpcodeOf<pd::Feed>,
                       .attrs = MakeAttrs<pd::Feed>(context, {.name = "label"}),
                       .result_types = {context.TensorType(DataType::kI64, {kUnknownDim, 1})}};
  const Value label = b.Create(std::move(state)).result();
  ASSERT_EQ(SetInputShape(program, "label", {8, 1}).message(), "");
  EXPECT_EQ(Text(label), "tensor<8x1xi64>");
}

TEST_F(ShapeInference, RefinesTheElementsOfAVector) {
  Value elements = b.Make<CombineOp>({x, relu});
  Rewriter(&program).SetType(elements, context.VectorType(std::vector<Type>{
                                           x.type(), context.UnrankedTensorType(DataType::kNull)}));
  ASSERT_EQ(SetDim(program, "M", 5).message(), "");
  ASSERT_EQ(PropagateTypes(program).message(), "");
  EXPECT_EQ(Text(elements), "vec[tensor<Nx4x5xf32>,tensor<Nx4x5xf32>]");
}

TEST_F(ShapeInference, NamesAStatedVectorOfAnotherLength) {
  const Value elements = b.Make<CombineOp>({x, relu});
  Rewriter(&program).SetType(elements, context.VectorType(std::vector<Type>{x.type()}));
  EXPECT_TRUE(Message(PropagateTypes(program)).starts_with("builtin.combine: result 0 is "));
}

}  // namespace
}  // namespace weft::ir
