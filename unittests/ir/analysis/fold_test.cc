#include "ir/analysis/fold.h"

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/sequence.h"
#include "ir/rewriter.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

// "Computes" every op: zeros of the result types, or nothing of the op that it is told to refuse.
class Zeros final : public Evaluator {
 public:
  absl::StatusOr<std::vector<Attribute>> Evaluate(Operation op,
                                                  std::span<const Attribute> operands) override {
    if (op.Is<ops::Div>()) return InvalidArgument("a division by zero");
    last_operands.assign(operands.begin(), operands.end());
    std::vector<Attribute> results;
    for (Value v : op.results()) {
      const std::vector<std::byte> bytes(static_cast<size_t>(v.type().NumBytes()));
      results.push_back(op.context()->DenseAttr(v.type(), bytes));
    }
    return results;
  }
  std::vector<Attribute> last_operands;
};

class Fold : public InferTest {
 protected:
  bool Folds(Value y, const FoldOptions& options) {
    b.Return({{"y", y}});
    Rewriter rewriter(&program);
    ConstantFolder folder(&evaluator, options);
    const bool folded = folder.Fold(y.DefiningOp(), rewriter);
    EXPECT_EQ(Verify(program).message(), "");
    EXPECT_EQ(IsConstant(program.body().Terminator().operand(0)), folded);
    return folded;
  }
  Value Elided(const Shape& dims) {
    return b.Constant(context.ElidedDenseAttr(context.TensorType(DataType::kF32, dims), ""));
  }

  Zeros evaluator;
};

TEST_F(Fold, PutsAConstantInThePlaceOfAnOpOnConstants) {
  EXPECT_TRUE(Folds(b.Make<ops::Add>({Scalar(1), Scalar(2)}), kFoldInProgram));
  EXPECT_EQ(program.num_operations(), 3u) << "the module, the constant and the return";
}

TEST_F(Fold, LeavesWhatReadsMoreThanConstants) {
  EXPECT_FALSE(Folds(b.Make<ops::Add>({X({2}), Scalar(2)}), kFoldForPlan));
}

TEST_F(Fold, LeavesWhatReadsAnElidedConstant) {
  EXPECT_FALSE(Folds(b.Make<ops::Relu>({Elided({2})}), kFoldForPlan));
}

TEST_F(Fold, LeavesAnOpThatFails) {
  EXPECT_FALSE(Folds(b.Make<ops::Div>({Scalar(1), Scalar(0)}), kFoldInProgram));
}

TEST_F(Fold, LeavesARandomOp) {
  EXPECT_FALSE(Folds(b.Make<ops::Dropout>({Scalar(1), Value(), Value()}), kFoldForPlan));
}

TEST_F(Fold, KeepsAQuantisedWeightInAProgramThatLivesOn) {
  const auto dequantized = [&] {
    return b.Make<ops::DequantizeLinear>({Scalar(1, DataType::kI8), Scalar(2), Value()});
  };
  EXPECT_FALSE(IsFoldable(dequantized().DefiningOp(), kFoldInProgram));
  EXPECT_TRUE(Folds(dequantized(), kFoldForPlan));
}

TEST_F(Fold, ReadsTheShapeOfWhatIsNotConstantForAPlanOnly) {
  EXPECT_FALSE(Folds(b.Make<ops::Shape>({X({2, 3})}), kFoldInProgram));
}

TEST_F(Fold, ReadsAStaticShapeForAPlan) {
  EXPECT_TRUE(Folds(b.Make<ops::Shape>({X({2, 3})}), kFoldForPlan));
  ASSERT_EQ(evaluator.last_operands.size(), 1u);
  EXPECT_TRUE(evaluator.last_operands[0].IsElided());
  EXPECT_EQ(evaluator.last_operands[0].dense_type().shape(), (Shape{2, 3}));
}

TEST_F(Fold, LeavesAShapeThatIsNotKnownYet) {
  EXPECT_FALSE(Folds(b.Make<ops::Shape>({X({2, kUnknownDim})}), kFoldForPlan));
}

TEST_F(Fold, LetsThePlanGrow) {
  const auto expanded = [&] { return b.Make<ops::Expand>({Scalar(1), I({1 << 20})}); };
  EXPECT_TRUE(Folds(expanded(), kFoldForPlan));
}

TEST_F(Fold, HoldsBackWhatGrowsAProgram) {
  EXPECT_FALSE(Folds(b.Make<ops::Expand>({Scalar(1), I({1 << 20})}), kFoldInProgram));
}

TEST(Contents, AreThoseOfAConstantUnlessTheyAreElided) {
  IrContext context;
  Program program(&context);
  Builder b(&program);
  const Type type = context.TensorType(DataType::kF32, {2});
  const Value stated = b.ConstantFloats(std::vector<float>{1, 2}, std::vector<int64_t>{2});
  const Value elided = b.Constant(context.ElidedDenseAttr(type, ""));
  EXPECT_EQ(Contents(stated).bytes().size(), 8u);
  EXPECT_TRUE(IsConstant(elided));
  EXPECT_FALSE(Contents(elided));
  EXPECT_FALSE(Contents(b.AddInput("x", type)));
  EXPECT_FALSE(Contents(Value()));
}

TEST_F(Fold, ConstantsAreTensors) {
  for (const FoldOptions& options : {kFoldInProgram, kFoldForPlan}) {
    EXPECT_FALSE(IsFoldable(b.Make<ops::SequenceEmpty>({}).DefiningOp(), options));
    const Value sequence = b.Make<ops::SequenceConstruct>({Scalar(1), Scalar(2)});
    EXPECT_FALSE(IsFoldable(sequence.DefiningOp(), options));
    EXPECT_FALSE(IsFoldable(b.Make<ops::SequenceLength>({sequence}).DefiningOp(), options));
  }
}

}  // namespace
}  // namespace weft::ir
