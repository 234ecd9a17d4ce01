#include "ir/dialects/onnx/sequence.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class Sequences : public InferTest {
 protected:
  Type F(const Shape& dims) { return context.TensorType(DataType::kF32, dims); }
  Type Any(DataType dtype = DataType::kF32) { return context.UnrankedTensorType(dtype); }
  Value Seq(Type element) { return OfType(context.SequenceType(element)); }
  Value Opt(Type element) { return OfType(context.OptionalType(element)); }
  Value Index() { return X({}, DataType::kI64); }
};

TEST_F(Sequences, AnEmptyOneIsOfFloatsUnlessItSaysMore) {
  EXPECT_EQ(Run<ops::SequenceEmpty>({}), "seq<tensor<*xf32>>");
  EXPECT_EQ(Run<ops::SequenceEmpty>({}, {.dtype = DataType::kI64}), "seq<tensor<*xi64>>");
  EXPECT_EQ(Run<ops::SequenceEmpty>({}, {.dtype = DataType::kNull}),
            "onnx.SequenceEmpty: dtype is no element type");
}

TEST_F(Sequences, AreConstructedOfWhatAllOperandsAre) {
  using Construct = ops::SequenceConstruct;
  EXPECT_EQ(Run<Construct>({X({2, n})}), "seq<tensor<2xNxf32>>");
  EXPECT_EQ(Run<Construct>({X({2, 3}), X({2, 4})}), "seq<tensor<2x-1xf32>>");
  EXPECT_EQ(Run<Construct>({X({2, 3}), X({2})}), "seq<tensor<*xf32>>");
  EXPECT_EQ(Run<Construct>({X({2}), X({2}, DataType::kI64)}),
            "onnx.SequenceConstruct: inputs[0] is f32 but inputs[1] is i64");
  EXPECT_EQ(Run<Construct>({}), "onnx.SequenceConstruct: has no operands");
  EXPECT_EQ(Run<Construct>({X({2}), Value()}), "onnx.SequenceConstruct: inputs[1] is not given");
  EXPECT_EQ(Run<Construct>({Seq(F({2}))}),
            "onnx.SequenceConstruct: inputs[0] is seq<tensor<2xf32>>, not a tensor");
}

TEST_F(Sequences, GetAndLoseElements) {
  using Insert = ops::SequenceInsert;
  EXPECT_EQ(Run<Insert>({Seq(F({2, 3})), X({2, 5})}), "seq<tensor<2x-1xf32>>");
  EXPECT_EQ(Run<Insert>({Seq(F({2})), X({2}), X({1}, DataType::kI32)}), "seq<tensor<2xf32>>");
  EXPECT_EQ(Run<Insert>({Seq(F({2})), X({2}, DataType::kI64)}),
            "onnx.SequenceInsert: tensor is i64 but input_sequence has elements of f32");
  EXPECT_EQ(Run<Insert>({X({2}), X({2})}),
            "onnx.SequenceInsert: input_sequence is tensor<2xf32>, not a sequence");
  EXPECT_EQ(Run<Insert>({Seq(context.SequenceType(F({2}))), X({2})}),
            "onnx.SequenceInsert: input_sequence is seq<seq<tensor<2xf32>>>, not a sequence of "
            "tensors");
  EXPECT_EQ(Run<Insert>({Seq(F({2})), X({2}), X({})}),
            "onnx.SequenceInsert: position is f32 but must be i32 or i64");
  using Erase = ops::SequenceErase;
  EXPECT_EQ(Run<Erase>({Seq(F({n}))}), "seq<tensor<Nxf32>>");
  EXPECT_EQ(Run<Erase>({Seq(F({n})), Index()}), "seq<tensor<Nxf32>>");
  EXPECT_EQ(Run<Erase>({Opt(F({n}))}),
            "onnx.SequenceErase: input_sequence is optional<tensor<\"N\"xf32>>, not a sequence");
}

TEST_F(Sequences, AreReadByPosition) {
  EXPECT_EQ(Run<ops::SequenceAt>({Seq(F({n, 2})), Index()}), "tensor<Nx2xf32>");
  EXPECT_EQ(Run<ops::SequenceAt>({Seq(F({n, 2})), X({2}, DataType::kI64)}),
            "onnx.SequenceAt: position is [2], not a scalar");
  EXPECT_EQ(Run<ops::SequenceAt>({Seq(F({n, 2})), Seq(F({}))}),
            "onnx.SequenceAt: position is seq<tensor<f32>>, not a tensor");
  EXPECT_EQ(Run<ops::SequenceLength>({Seq(F({n, 2}))}), "tensor<i64>");
  EXPECT_EQ(Run<ops::SequenceLength>({X({2})}),
            "onnx.SequenceLength: input_sequence is tensor<2xf32>, not a sequence");
}

TEST_F(Sequences, ComeFromTensors) {
  using Split = ops::SplitToSequence;
  EXPECT_EQ(Run<Split>({X({n, 6})}, {.axis = -1}), "seq<tensor<Nx1xf32>>");
  EXPECT_EQ(Run<Split>({X({n, 6})}, {.axis = 1, .keepdims = 0}), "seq<tensor<Nxf32>>");
  EXPECT_EQ(Run<Split>({X({n, 6}), I({2, 4})}, {.axis = 1, .keepdims = 0}),
            "seq<tensor<Nx-1xf32>>");
  EXPECT_EQ(Run<Split>({Unranked()}), "seq<tensor<*xf32>>");
  EXPECT_EQ(Run<Split>({X({6}), I({2, -4})}), "onnx.SplitToSequence: split has the entry -4");
  EXPECT_EQ(Run<Split>({X({6})}, {.axis = 1}),
            "onnx.SplitToSequence: axis 1 is out of range for rank 1");
  EXPECT_EQ(Run<Split>({X({6})}, {.keepdims = 2}),
            "onnx.SplitToSequence: keepdims is 2, expected 0 or 1");
  EXPECT_EQ(Run<Split>({X({6}), X({1, 1}, DataType::kI64)}),
            "onnx.SplitToSequence: split has rank 2 but must have 0 to 1");
}

TEST_F(Sequences, BecomeTensors) {
  using Concat = ops::ConcatFromSequence;
  EXPECT_EQ(Run<Concat>({Seq(F({2, n}))}, {.axis = 0}), "tensor<-1xNxf32>");
  EXPECT_EQ(Run<Concat>({Seq(F({2, n}))}, {.axis = -1, .new_axis = 1}), "tensor<2xNx-1xf32>");
  EXPECT_EQ(Run<Concat>({Seq(Any())}, {.axis = 7}), "tensor<*xf32>");
  EXPECT_EQ(Run<Concat>({Seq(F({2, n}))}, {.axis = 2}),
            "onnx.ConcatFromSequence: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<Concat>({Seq(F({2, n}))}, {.axis = 0, .new_axis = 3}),
            "onnx.ConcatFromSequence: new_axis is 3, expected 0 or 1");
}

TEST_F(Sequences, StandInOptionals) {
  using Make = ops::OptionalOp;
  const Type sequence = context.SequenceType(F({2}));
  EXPECT_EQ(Run<Make>({X({2})}), "optional<tensor<2xf32>>");
  EXPECT_EQ(Run<Make>({OfType(sequence)}), "optional<seq<tensor<2xf32>>>");
  EXPECT_EQ(Run<Make>({}, {.type = sequence}), "optional<seq<tensor<2xf32>>>");
  EXPECT_EQ(Run<Make>({}), "onnx.Optional: has neither an operand nor a type");
  EXPECT_EQ(Run<Make>({X({2})}, {.type = sequence}),
            "onnx.Optional: input is tensor<2xf32> but type says seq<tensor<2xf32>>");
  EXPECT_EQ(
      Run<Make>({Opt(F({2}))}),
      "onnx.Optional: an optional of optional<tensor<2xf32>>, expected a tensor or a sequence "
      "of tensors");
  using Get = ops::OptionalGetElement;
  EXPECT_EQ(Run<Get>({Opt(sequence)}), "seq<tensor<2xf32>>");
  EXPECT_EQ(Run<Get>({X({2, n})}), "tensor<2xNxf32>");
  EXPECT_EQ(Run<Get>({OfType(context.NoneType())}),
            "onnx.OptionalGetElement: input is none, not an optional, sequence or tensor");
  EXPECT_EQ(Run<ops::OptionalHasElement>({Opt(sequence)}), "tensor<bool>");
  EXPECT_EQ(Run<ops::OptionalHasElement>({}), "tensor<bool>");
  EXPECT_EQ(Run<ops::Identity>({Opt(sequence)}), "optional<seq<tensor<2xf32>>>");
}

TEST_F(Sequences, OfUnknownElementsGiveUnknownResults) {
  const Value unknown = Unranked(DataType::kNull);
  EXPECT_EQ(Run<ops::SequenceAt>({unknown, Index()}), "tensor<*x?>");
  EXPECT_EQ(Run<ops::SequenceInsert>({unknown, X({2})}), "tensor<*x?>");
  EXPECT_EQ(Run<ops::SequenceInsert>({Seq(F({2})), unknown}), "tensor<*x?>");
  EXPECT_EQ(Run<ops::ConcatFromSequence>({unknown}, {.axis = 0}), "tensor<*x?>");
  EXPECT_EQ(Run<ops::OptionalGetElement>({unknown}), "tensor<*x?>");
  EXPECT_EQ(Run<ops::SequenceAt>({Seq(Any(DataType::kNull)), Index()}), "tensor<*x?>");
}

}  // namespace
}  // namespace weft::ir
