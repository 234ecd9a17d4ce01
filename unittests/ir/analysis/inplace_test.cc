// What the analysis of in-place execution answers, and which marks the verifier refuses. Programs
// for each condition are golden files of the pass `inplace`.
#include "ir/analysis/inplace.h"

#include <gtest/gtest.h>

#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "ir/traits.h"

namespace weft::ir {
namespace {

class InplaceTest : public testing::Test {
 protected:
  InplaceTest() : program(&context), b(&program) {
    LoadFusedDialect(context);
    x = b.AddInput("x", context.TensorType(DataType::kF32, {2, 3}));
  }
  // "" when it may.
  std::string WhyNot(Value result, uint32_t operand) {
    const char* why = InplaceAnalysis(program).WhyNot(result.DefiningOp(), operand);
    return why == nullptr ? "" : why;
  }
  std::string Verdict() { return std::string(Verify(program).message()); }
  void Mark(Value result, std::vector<int64_t> operands) {
    b.SetAttr(result.DefiningOp(), kInplaceAttr, context.IntsAttr(operands));
  }

  IrContext context;
  Program program;
  Rewriter b;
  Value x;
};

TEST_F(InplaceTest, TraitsImplyOthers) {
  EXPECT_EQ(TraitNames(OpDefOf<ops::MatMul>().traits), "pure read_only value_semantics");
  EXPECT_EQ(TraitNames(OpDefOf<ops::Relu>().traits),
            "pure elementwise inplace read_only value_semantics type_generic rank_generic atomic");
  EXPECT_EQ(TraitNames(OpDefOf<ops::Reshape>().traits), "pure read_only view type_generic");
  EXPECT_EQ(TraitNames(OpDefOf<ops::Identity>().traits), "pure elementwise read_only view");
  EXPECT_EQ(TraitNames(OpDefOf<fused::Linear>().traits), "pure inplace read_only value_semantics");
  EXPECT_EQ(InplaceOperands(fused::LayerNorm::kInfo), 0b1001u);
  EXPECT_EQ(InplaceOperands(ops::Add::kInfo), kEveryOperand);
}

TEST_F(InplaceTest, SaysWhyNot) {
  const Value relu = b.Make<ops::Relu>({x});
  const Value sum = b.Make<ops::Add>({relu, x});
  const Value twice = b.Make<ops::Mul>({sum, sum});
  const Value product = b.Make<ops::Transpose>({twice}, {.perm = Ints{1, 0}});
  const Value clipped = b.Make<ops::Clip>({product});
  const Value tanh = b.Make<ops::Tanh>({clipped});
  const Value late = b.Make<ops::Neg>({clipped});
  b.Return({{"tanh", tanh}, {"late", late}});
  EXPECT_EQ(WhyNot(relu, 0), "its memory is an input's");
  EXPECT_EQ(WhyNot(sum, 0), "");
  EXPECT_EQ(WhyNot(sum, 1), "its memory is an input's");
  EXPECT_EQ(WhyNot(twice, 0), "the op reads its memory twice");
  EXPECT_EQ(WhyNot(product, 0), "the op does not have the trait inplace");
  EXPECT_EQ(WhyNot(clipped, 0), "");
  EXPECT_EQ(WhyNot(clipped, 1), "it is not given");
  EXPECT_EQ(WhyNot(tanh, 0), "its memory is read later");
  EXPECT_EQ(WhyNot(late, 0), "");
}

TEST_F(InplaceTest, FollowsViewsOfViewsAndVectors) {
  const Value relu = b.Make<ops::Relu>({x});
  const Value flat = b.Make<ops::Flatten>({relu}, {.axis = 0});
  const Value back = b.Make<ops::Reshape>({flat, b.ConstantInts({3, 2})});
  const Value tanh = b.Make<ops::Tanh>({relu});
  const Value both = b.Create<CombineOp>({back, tanh}).result();
  const Value neg = b.Make<ops::Neg>({tanh});
  const Value last = b.Builder::Create({.opcode = kOpcodeOf<SplitOp>,
                                        .operands = {both},
                                        .result_types = {back.type(), tanh.type()}})
                         .result();
  EXPECT_EQ(WhyNot(tanh, 0), "its memory is read later");
  EXPECT_EQ(WhyNot(neg, 0), "its memory is read later");
  b.Return({{"neg", neg}, {"last", last}});
  EXPECT_EQ(WhyNot(neg, 0), "its memory is returned");
}

TEST_F(InplaceTest, TakesAMarkThatHolds) {
  const Value relu = b.Make<ops::Relu>({x});
  const Value sum = b.Make<ops::Add>({x, relu});
  b.Return({{"sum", sum}});
  Mark(sum, {1});
  EXPECT_EQ(Verdict(), "");
  EXPECT_EQ(MarkedOperand(sum.DefiningOp()), 1u);
  EXPECT_TRUE(HasInplaceMarks(program));
  EXPECT_TRUE(DropInplaceMarks(program));
  EXPECT_FALSE(HasInplaceMarks(program) || DropInplaceMarks(program));
  Mark(sum, {-1});
  EXPECT_EQ(Verdict(), "");
  EXPECT_EQ(MarkedOperand(sum.DefiningOp()), std::nullopt);
}

TEST_F(InplaceTest, RefusesMarksThatDoNotHold) {
  const Value relu = b.Make<ops::Relu>({x});
  const Value sum = b.Make<ops::Add>({x, relu});
  const Value product = b.Make<ops::Transpose>({sum}, {.perm = Ints{1, 0}});
  b.Return({{"product", product}});
  const auto refused = [&](Value value, std::vector<int64_t> mark) {
    Mark(value, std::move(mark));
    std::string verdict = Verdict();
    DropInplaceMarks(program);
    return verdict;
  };
  EXPECT_EQ(refused(sum, {0}),
            "onnx.Add: result 0 cannot be inplace over operand 0: its memory is an input's");
  EXPECT_EQ(refused(sum, {2}),
            "onnx.Add: result 0 cannot be inplace over operand 2: it is not given");
  EXPECT_EQ(refused(sum, {-7}),
            "onnx.Add: result 0 cannot be inplace over operand -7: it is not given");
  EXPECT_EQ(refused(sum, {1, 1}),
            "onnx.Add: its inplace mark is not a list of one operand number per result");
  EXPECT_EQ(refused(sum, {}),
            "onnx.Add: its inplace mark is not a list of one operand number per result");
  EXPECT_EQ(refused(product, {0}),
            "onnx.Transpose: result 0 cannot be inplace over operand 0: "
            "the op does not have the trait inplace");
  b.SetAttr(sum.DefiningOp(), kInplaceAttr, context.StringAttr("yes"));
  EXPECT_EQ(Verdict(), "onnx.Add: its inplace mark is not a list of one operand number per result");
}

TEST_F(InplaceTest, RefusesAMarkOnAFurtherResult) {
  const Value relu = b.Make<ops::Relu>({x});
  const Value scale = b.ConstantFloats(std::vector<float>{1, 2, 3}, Shape{3});
  const Operation norm =
      b.Builder::Create({.opcode = kOpcodeOf<ops::LayerNormalization>,
                         .operands = {relu, scale},
                         .attrs = MakeAttrs<ops::LayerNormalization>(context, {}),
                         .result_types = {x.type(), context.TensorType(DataType::kF32, {2, 1})}});
  b.Return({{"y", norm.result(0)}, {"mean", norm.result(1)}});
  Mark(norm.result(), {-1, 0});
  EXPECT_EQ(Verdict(),
            "onnx.LayerNormalization: result 1 cannot be inplace over operand 0: only result 0 can "
            "be written in place");
  Mark(norm.result(), {0, -1});
  EXPECT_EQ(Verdict(), "");
}

// A reader that a rewrite adds makes a mark wrong: Verify says so rather than let it stand.
TEST_F(InplaceTest, RefusesAMarkThatARewriteMadeWrong) {
  const Value relu = b.Make<ops::Relu>({x});
  const Value tanh = b.Make<ops::Tanh>({relu});
  const Value late = b.Make<ops::Neg>({x});
  b.Return({{"tanh", tanh}, {"late", late}});
  Mark(tanh, {0});
  EXPECT_EQ(Verdict(), "");
  b.SetOperand(late.DefiningOp(), 0, relu);
  EXPECT_EQ(Verdict(),
            "onnx.Tanh: result 0 cannot be inplace over operand 0: its memory is read later");
}

// Ops that nobody defines may have an attribute of the name, with a meaning of its own.
TEST_F(InplaceTest, LeavesForeignAttributesAlone) {
  b.Builder::Create({.opcode = Opcode::FindOrAdd("my.Norm"),
                     .operands = {x},
                     .attrs = context.Dict({{Name(kInplaceAttr), context.IntAttr(1)}}),
                     .result_types = {x.type()}});
  EXPECT_EQ(Verdict(), "");
  EXPECT_FALSE(HasInplaceMarks(program));
}

}  // namespace
}  // namespace weft::ir
