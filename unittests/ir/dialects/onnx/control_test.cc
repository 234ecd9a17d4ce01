#include "ir/dialects/onnx/control.h"

#include "ir/analysis/shape_inference.h"
#include "unittests/ir/dialects/infer_fixture.h"
#include "unittests/ir/region_builder.h"

namespace weft::ir {
namespace {

class ControlTest : public InferTest {
 protected:
  Type F(const Shape& dims) { return context.TensorType(DataType::kF32, dims); }
  Type Long(const Shape& dims = {}) { return context.TensorType(DataType::kI64, dims); }
  Type Flag(const Shape& dims = {}) { return context.TensorType(DataType::kBool, dims); }

  // A value of this type, made in the block.
  Value In(Block block, Type type) {
    return AtEndOf(block)
        .Builder::Create(
            OperationState{.opcode = Opcode::FindOrAdd("custom.Make"), .result_types = {type}})
        .result();
  }
  // The result types that the op gets, or the mistake that is found.
  std::string Infer(Operation op) {
    std::string text;
    if (!op.def()->verify(op, &text)) return text;
    Rewriter rewriter(&program);
    if (absl::Status status = RefineResultTypes(op, rewriter); !status.ok())
      return std::string(status.message());
    EXPECT_EQ(Verify(program).message(), "");
    for (Value result : op.results()) text += (text.empty() ? "" : ", ") + result.type().ToString();
    std::erase(text, '"');
    return text;
  }
  std::string If(Type a, Type b, size_t returned = 1) {
    const Operation op = MakeWithRegions<ops::If>(program, {OfType(Flag())}, 1);
    for (const Type type : {a, b}) {
      const Block block = AddBlock(op, type == a && op.region(0).empty() ? 0 : 1, {});
      ReturnFrom(block, std::vector<Value>(returned, In(block, type)));
    }
    return Infer(op);
  }
  // A body of one carried value and one scan output.
  std::string Loop(Type initial, Type argument, Type returned, Type scanned) {
    const Operation op =
        MakeWithRegions<ops::Loop>(program, {OfType(Long()), OfType(Flag()), OfType(initial)}, 2);
    const Block body = AddBlock(op, 0, {Long(), Flag(), argument});
    ReturnFrom(body, {body.argument(1), In(body, returned), In(body, scanned)});
    return Infer(op);
  }
  using ScanAttrs = ops::Scan::Attrs<BuilderSlot>;
  // A body of one state and one scan output.
  std::string Scan(const std::vector<Type>& operands, const std::vector<Type>& arguments,
                   Type state, Type scanned, const ScanAttrs& attrs) {
    std::vector<Value> values;
    for (const Type type : operands) values.push_back(OfType(type));
    const Operation op = MakeWithRegions<ops::Scan>(program, values, 2, attrs);
    const Block body = AddBlock(op, 0, arguments);
    ReturnFrom(body, {In(body, state), In(body, scanned)});
    return Infer(op);
  }
};

TEST_F(ControlTest, ABranchGivesWhatBothBranchesSay) {
  EXPECT_EQ(If(F({2, 3}), F({2, 3})), "tensor<2x3xf32>");
  EXPECT_EQ(If(F({2, n}), F({2, n})), "tensor<2xNxf32>");
  EXPECT_EQ(If(F({2, 3}), F({2, 4})), "tensor<2x-1xf32>");
  EXPECT_EQ(If(F({2, 3}), F({2})), "tensor<*xf32>");
}

TEST_F(ControlTest, BranchesFitEachOther) {
  EXPECT_EQ(If(F({2}), Long({2})),
            "value 0 of then_branch is tensor<2xf32> but must be tensor<2xi64>");
  EXPECT_EQ(If(F({2}), F({2}), 0), "then_branch returns 0 values but 1 are needed");
}

TEST_F(ControlTest, ABranchIsOneBlockWithoutArguments) {
  const Operation none = MakeWithRegions<ops::If>(program, {OfType(Flag())}, 1);
  EXPECT_EQ(Infer(none), "then_branch is not one block that ends in builtin.return");
  AddBlock(none, 0, {});
  EXPECT_EQ(Infer(none), "then_branch is not one block that ends in builtin.return");
  const Operation two = MakeWithRegions<ops::If>(program, {OfType(Flag())}, 0);
  ReturnFrom(AddBlock(two, 0, {F({2})}), {});
  EXPECT_EQ(Infer(two), "then_branch has 1 arguments but needs 0");
}

TEST_F(ControlTest, AConditionIsOneBool) {
  EXPECT_EQ(Run<ops::If>({X({})}), "onnx.If: cond is f32 but must be bool");
  EXPECT_NE(Run<ops::If>({X({2}, DataType::kBool)}), "");
  EXPECT_NE(Run<ops::Loop>({X({}), Value()}), "");
}

TEST_F(ControlTest, ALoopGivesItsCarriedValuesAndJoinsTheOthers) {
  EXPECT_EQ(Loop(F({2}), F({2}), F({2}), F({4, n})), "tensor<2xf32>, tensor<-1x4xNxf32>");
  const Type any = context.UnrankedTensorType(DataType::kF32);
  EXPECT_EQ(Loop(F({0, 3}), any, F({kUnknownDim, 3}), any), "tensor<-1x3xf32>, tensor<*xf32>");
}

TEST_F(ControlTest, WhatALoopCarriesKeepsItsElementType) {
  EXPECT_EQ(Loop(F({2}), Long({2}), F({2}), F({})),
            "argument 2 of body is tensor<2xi64> but must be tensor<2xf32>");
  EXPECT_EQ(Loop(F({2}), F({2}), Long({2}), F({})),
            "value 1 that body returns is tensor<2xi64> but must be tensor<2xf32>");
}

TEST_F(ControlTest, ABodyTakesAnIterationAndACondition) {
  const Operation op = MakeWithRegions<ops::Loop>(program, {OfType(Long())}, 0);
  const Block body = AddBlock(op, 0, {F({}), Flag()});
  ReturnFrom(body, {body.argument(1)});
  EXPECT_EQ(Infer(op), "argument 0 of body is tensor<f32> but must be of i64");
  const Operation less = MakeWithRegions<ops::Loop>(program, {OfType(Long())}, 0);
  ReturnFrom(AddBlock(less, 0, {Long()}), {});
  EXPECT_EQ(Infer(less), "body has 1 arguments but needs 2");
}

TEST_F(ControlTest, AScanGivesStatesAndJoinsAlongAnAxis) {
  EXPECT_EQ(Scan({F({2}), F({5, 2})}, {F({2}), F({2})}, F({2}), F({3}), {.num_scan_inputs = 1}),
            "tensor<2xf32>, tensor<5x3xf32>");
  EXPECT_EQ(Scan({F({2}), F({2, n})}, {F({2}), F({2})}, F({2}), F({3}),
                 {.num_scan_inputs = 1, .scan_input_axes = Ints{-1}, .scan_output_axes = Ints{-1}}),
            "tensor<2xf32>, tensor<3xNxf32>");
}

TEST_F(ControlTest, AScanSaysWhatDoesNotFit) {
  const std::vector<Type> operands = {F({2}), F({5, 2})}, arguments = {F({2}), F({2})};
  const auto mistake = [&](const ScanAttrs& attrs) {
    return Scan(operands, arguments, F({2}), F({3}), attrs);
  };
  EXPECT_EQ(mistake({.num_scan_inputs = 0}), "num_scan_inputs is 0, expected 1 to 2, the operands");
  EXPECT_EQ(mistake({.num_scan_inputs = INT64_MIN}),
            "num_scan_inputs is -9223372036854775808, expected 1 to 2, the operands");
  EXPECT_EQ(mistake({.num_scan_inputs = 1, .scan_output_axes = Ints{2}}),
            "axis 2 is outside of a tensor of rank 2");
  EXPECT_EQ(mistake({.num_scan_inputs = 1, .scan_output_directions = Ints{2}}),
            "scan_output_directions has the entry 2, expected 0 or 1");
  EXPECT_EQ(mistake({.num_scan_inputs = 1, .scan_output_axes = Ints{0, 0}}),
            "scan_output_axes has 2 entries, expected 1");
  EXPECT_EQ(Scan(operands, arguments, F({3}), F({3}), {.num_scan_inputs = 1}),
            "state 0 is tensor<2xf32> and becomes tensor<3xf32>");
  EXPECT_EQ(Scan({F({4, 2}), F({5, 2})}, arguments, F({2}), F({3}), {.num_scan_inputs = 2}),
            "scan input 1 has 5 slices but another has 4");
}

TEST_F(ControlTest, SequencesAreCarried) {
  const Type fixed = context.SequenceType(F({2})), any = context.SequenceType(F({-1}));
  const Type ints = context.SequenceType(Long({2})), maybe = context.OptionalType(fixed);
  EXPECT_EQ(If(fixed, any), "seq<tensor<-1xf32>>");
  EXPECT_EQ(If(maybe, maybe), "optional<seq<tensor<2xf32>>>");
  EXPECT_EQ(If(maybe, fixed), "tensor<*x?>");
  EXPECT_EQ(Loop(fixed, any, any, F({3})), "seq<tensor<-1xf32>>, tensor<-1x3xf32>");
  EXPECT_EQ(Loop(maybe, maybe, any, F({3})), "tensor<*x?>, tensor<-1x3xf32>");
  EXPECT_EQ(If(fixed, ints), "value 0 of then_branch is tensor<2xf32> but must be tensor<2xi64>");
  EXPECT_EQ(If(fixed, F({2})),
            "value 0 of then_branch is seq<tensor<2xf32>> but must be tensor<2xf32>");
  EXPECT_EQ(Loop(fixed, ints, fixed, F({3})),
            "argument 2 of body is tensor<2xi64> but must be tensor<2xf32>");
  EXPECT_EQ(Loop(fixed, fixed, fixed, any), "scan output 0 is seq<tensor<-1xf32>>, not a tensor");
  EXPECT_EQ(Scan({fixed, F({4})}, {fixed, F({})}, fixed, F({3}), {.num_scan_inputs = 1}),
            "onnx.Scan: initial_state_and_scan_inputs[0] is seq<tensor<2xf32>>, not a tensor");
}

TEST_F(ControlTest, ASequenceIsNoCondition) {
  const Value sequence = OfType(context.SequenceType(Flag()));
  EXPECT_EQ(Run<ops::If>({sequence}), "onnx.If: cond is seq<tensor<bool>>, not a tensor");
  EXPECT_EQ(Run<ops::Loop>({sequence}), "onnx.Loop: M is seq<tensor<bool>>, not a tensor");
}

TEST_F(ControlTest, AMapGivesSequencesOfWhatItsBodyReturns) {
  const auto map = [&](const std::vector<Type>& operands, const std::vector<Type>& arguments,
                       Type returned) {
    std::vector<Value> values;
    for (const Type type : operands) values.push_back(OfType(type));
    const Operation op = MakeWithRegions<ops::SequenceMap>(program, values, 1);
    const Block body = AddBlock(op, 0, arguments);
    ReturnFrom(body, {In(body, returned)});
    return Infer(op);
  };
  const Type floats = context.SequenceType(F({n}));
  EXPECT_EQ(map({floats}, {F({n})}, Long({3})), "seq<tensor<3xi64>>");
  EXPECT_EQ(map({floats, floats, F({2})}, {F({n}), F({n}), F({2})}, F({-1})),
            "seq<tensor<-1xf32>>");
  EXPECT_EQ(map({floats}, {}, F({1})), "body has 0 arguments but needs 1");
  EXPECT_EQ(map({floats}, {Long({1})}, F({1})),
            "argument 0 of body is tensor<1xi64> but must be tensor<\"N\"xf32>");
  EXPECT_EQ(map({floats}, {F({n})}, floats),
            "value 0 that body returns is seq<tensor<\"N\"xf32>>, not a tensor");
  EXPECT_EQ(map({F({n})}, {F({n})}, F({1})),
            "onnx.SequenceMap: input_sequence is tensor<\"N\"xf32>, not a sequence of tensors");
}

}  // namespace
}  // namespace weft::ir
