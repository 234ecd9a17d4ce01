// A value that takes the place of another keeps what the other's type stated, with the applier of
// plain rules and with the general one.
#include <gtest/gtest.h>

#include "drr/engine/fast_applier.h"
#include "drr/engine/fast_matcher.h"
#include "ir/dialects/onnx.h"
#include "unittests/drr/engine/rewrite_test_util.h"

namespace weft::drr {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Type;
using ir::Value;

// identity(x) => x
struct DropIdentity : DrrPatternBase<DropIdentity> {
  static constexpr std::string_view kName = "drop-identity";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Identity>()(x);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};

// relu(x) => tanh(exp(x))
struct LowerRelu : DrrPatternBase<LowerRelu> {
  static constexpr std::string_view kName = "lower-relu";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Relu>()(x);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Tanh>()(res.Op<ops::Exp>()(x));
  }
};

enum class Applier { kPlain, kGeneral };

class ReplacedTypes : public RewriteTest, public testing::WithParamInterface<Applier> {
 protected:
  ReplacedTypes() { ir::LoadOnnxDialect(context); }

  Value Opaque(Value operand, Type type) {
    return b
        .Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("acme.Op"),
                                   .operands = {operand},
                                   .result_types = {type}})
        .result();
  }
  Value Copy(Value x, Type type) { return Create<ops::Identity>({x}, {}, {type}).result(0); }
  Type Tensor(const ir::Shape& dims) { return context.TensorType(DataType::kF32, dims); }
  Type Unknown() { return context.UnrankedTensorType(DataType::kNull); }

  std::string Drop(Value copy) { return Replace<DropIdentity>(copy); }
  template <class Rule>
  std::string Replace(Value root) {
    if (GetParam() == Applier::kGeneral) return Rewrite<Rule>(root.DefiningOp());
    const BuildResult built = Rule().Build(&context);
    EXPECT_TRUE(PlainApplier::Supports(*built.rule));
    PlainMatch match;
    MatchContext matched(built.rule.get());
    PlainMatcher matcher(*built.rule, &match);
    PlainApplier applier(*built.rule, matcher, &match);
    const ir::GraphView view(&program);
    if (!matcher.Match(view, root.DefiningOp().id(), &matched)) return "does not match";
    ir::Rewriter rewriter(&program);
    std::string reason;
    if (!applier.Apply(view, &matched, rewriter, &reason)) return reason;
    EXPECT_EQ(ir::Verify(program).message(), "");
    return "";
  }
};

TEST_P(ReplacedTypes, AreTakenOverWhereNothingWasKnown) {
  const Value x = Input("x", {2, 3}), opaque = Opaque(x, Unknown());
  const Value y = Copy(opaque, Tensor({2, 4}));
  b.Return({{"y", y}});
  EXPECT_EQ(Drop(y), "");
  EXPECT_EQ(opaque.type(), Tensor({2, 4}));
  EXPECT_EQ(program.body().Terminator().operand(0), opaque);
}

TEST_P(ReplacedTypes, AddWhatTheyKnow) {
  const int64_t n = ir::SymbolicDim("N");
  const Value x = Input("x", {2, 3}), opaque = Opaque(x, Tensor({n, ir::kUnknownDim, 4}));
  const Value y = Copy(opaque, Tensor({ir::kUnknownDim, 3, n}));
  b.Return({{"y", y}});
  EXPECT_EQ(Drop(y), "");
  EXPECT_EQ(opaque.type(), Tensor({n, 3, 4}));
}

// An elementwise op of one operand has its shape.
TEST_P(ReplacedTypes, HoldOfWhatAnElementwiseOpComputesThemFrom) {
  const int64_t n = ir::SymbolicDim("N");
  const Value x = Input("x", {2, 3}), opaque = Opaque(x, Tensor({n, ir::kUnknownDim}));
  const Value half = Create<ops::Cast>({opaque}, {.to = DataType::kF16},
                                       {context.TensorType(DataType::kF16, {n, ir::kUnknownDim})})
                         .result(0);
  const Value y = b.Builder::Create({.opcode = ir::kOpcodeOf<ops::Identity>,
                                     .operands = {half},
                                     .result_types = {context.TensorType(DataType::kF16, {n, 4})}})
                      .result();
  b.Return({{"y", y}});
  EXPECT_EQ(Drop(y), "");
  EXPECT_EQ(half.type(), context.TensorType(DataType::kF16, {n, 4}));
  EXPECT_EQ(opaque.type(), Tensor({n, 4}));
}

TEST_P(ReplacedTypes, HoldOfAllNewOpsThatAreElementwise) {
  const Value x = Input("x", {2, 3});
  const Value opaque = Opaque(x, context.UnrankedTensorType(DataType::kF32));
  const Value y = Create<ops::Relu>({opaque}, {}, {Tensor({2, 4})}).result(0);
  b.Return({{"y", y}});
  EXPECT_EQ(Replace<LowerRelu>(y), "");
  const Value exp = Output(0).operand(0);
  EXPECT_TRUE(exp.DefiningOp().Is<ops::Exp>());
  for (const Value& value : {Output(0).result(), exp, opaque})
    EXPECT_EQ(value.type(), Tensor({2, 4})) << value.type().ToString();
}

TEST_P(ReplacedTypes, DoNotBindTheCallerBelowAnElementwiseOp) {
  const int64_t n = ir::SymbolicDim("N");
  const Value x = Input("x", {n, 3});
  const Value y = Create<ops::Relu>({x}, {}, {Tensor({2, 3})}).result(0);
  b.Return({{"y", y}});
  EXPECT_EQ(Replace<LowerRelu>(y), "");
  EXPECT_EQ(Output(0).operand(0).type(), Tensor({2, 3}));
  EXPECT_EQ(x.type(), Tensor({n, 3}));
}

TEST_P(ReplacedTypes, KeepTheRuleAwayWhereTheyContradict) {
  const Value x = Input("x", {2, 3}), opaque = Opaque(x, Tensor({2, ir::kUnknownDim}));
  const Value y = b.Builder::Create({.opcode = ir::Opcode::FindOrAdd("onnx.Identity"),
                                     .operands = {opaque},
                                     .result_types = {Tensor({3, 4})}})
                      .result();
  b.Return({{"y", y}});
  EXPECT_EQ(Drop(y), "the result would be tensor<2x-1xf32> in place of tensor<3x4xf32>");
  EXPECT_EQ(opaque.type(), Tensor({2, ir::kUnknownDim}));
}

TEST_P(ReplacedTypes, DoNotBindTheCallerOfTheProgram) {
  const int64_t n = ir::SymbolicDim("N");
  const Value x = Input("x", {n, 3});
  const Value y = Copy(x, Tensor({2, 3})), z = Copy(x, Tensor({n, 3}));
  b.Return({{"y", y}, {"z", z}});
  EXPECT_EQ(Drop(y), "the result would be tensor<\"N\"x3xf32> in place of tensor<2x3xf32>");
  EXPECT_EQ(Drop(z), "");
  EXPECT_EQ(x.type(), Tensor({n, 3}));
}

// In a branch that runs where N is 2, x has two rows; elsewhere it need not.
TEST_P(ReplacedTypes, OfARegionHoldInTheRegion) {
  const Value x = Input("x", {2, 3}), c = Input("c", {}, DataType::kBool);
  const Value opaque = Opaque(x, Unknown());
  const ir::Operation branch =
      b.Builder::Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.If"),
                                           .operands = {c},
                                           .result_types = {Unknown()},
                                           .num_regions = 1});
  ir::Rewriter inside(&program);
  inside.SetInsertionPointToEnd(inside.AppendBlock(branch.region(0)));
  const Value y = inside
                      .Builder::Create({.opcode = ir::kOpcodeOf<ops::Identity>,
                                        .operands = {opaque},
                                        .result_types = {Tensor({2, 4})}})
                      .result();
  inside.Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = {y}});
  b.Return({{"y", branch.result()}});
  EXPECT_EQ(Drop(y), "");
  EXPECT_EQ(opaque.type(), context.UnrankedTensorType(DataType::kF32));
}

TEST_P(ReplacedTypes, DoNotBindAnArgumentOfABlock) {
  const ir::Operation loop =
      b.Builder::Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.Loop"),
                                           .result_types = {Unknown()},
                                           .num_regions = 1});
  ir::Rewriter inside(&program);
  const ir::Block body = inside.AppendBlock(loop.region(0));
  const Value carried = inside.AddArgument(body, context.UnrankedTensorType(DataType::kF32));
  inside.SetInsertionPointToEnd(body);
  const Value y = inside
                      .Builder::Create({.opcode = ir::kOpcodeOf<ops::Relu>,
                                        .operands = {carried},
                                        .result_types = {Tensor({2, 4})}})
                      .result();
  inside.Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = {y}});
  b.Return({{"y", loop.result()}});
  EXPECT_EQ(Replace<LowerRelu>(y), "");
  EXPECT_EQ(carried.type(), context.UnrankedTensorType(DataType::kF32));
}

INSTANTIATE_TEST_SUITE_P(Both, ReplacedTypes, testing::Values(Applier::kPlain, Applier::kGeneral),
                         [](const auto& info) {
                           return info.param == Applier::kPlain ? "plain" : "general";
                         });

}  // namespace
}  // namespace weft::drr
