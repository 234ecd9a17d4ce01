#include "passes/greedy_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/drr.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/text/printer.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// tanh(x) => transpose(x, [1, 0]), which then meets the transpose below it
class TanhToTranspose : public DrrPatternBase<TanhToTranspose> {
 public:
  static constexpr std::string_view kName = "tanh-to-transpose";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Tanh>()(src.Op<ops::Relu>()(x));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = {1, 0}})(x);
  }
};

// transpose(transpose(x)) => x
class CancelTransposes : public DrrPatternBase<CancelTransposes> {
 public:
  static constexpr std::string_view kName = "cancel-transposes";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto inner = src.Op<ops::Transpose>({.perm = {1, 0}})(x);
    auto out = src.Op<ops::Transpose>({.perm = {1, 0}})(inner);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};

// relu(x) => tanh(x)
class ReluToTanh : public DrrPatternBase<ReluToTanh> {
 public:
  static constexpr std::string_view kName = "relu-to-tanh";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Relu>()(x);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Tanh>()(x);
  }
};

// tanh(x) => exp(x)
class TanhToExp : public DrrPatternBase<TanhToExp> {
 public:
  static constexpr std::string_view kName = "tanh-to-exp";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Tanh>()(x);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Exp>()(x);
  }
};

// neg(tanh(x)) => sin(x)
class NegTanhToSin : public DrrPatternBase<NegTanhToSin> {
 public:
  static constexpr std::string_view kName = "neg-tanh-to-sin";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Neg>()(src.Op<ops::Tanh>()(x));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Sin>()(x);
  }
};

// relu(relu(x)) => relu(x)
class MergeRelus : public DrrPatternBase<MergeRelus> {
 public:
  static constexpr std::string_view kName = "merge-relus";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Relu>()(src.Op<ops::Relu>()(x));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Relu>()(x);
  }
};

// tanh(x) => tanh(y), of a y that the pattern does not bind
class UseUnbound : public DrrPatternBase<UseUnbound> {
 public:
  static constexpr std::string_view kName = "use-unbound";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto out = src.Op<ops::Tanh>()(src.Tensor("x"));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Tanh>()(src.Tensor("y"));
  }
};

// The rules that do build are not applied in its place.
TEST(GreedyDriver, RefusesASetWithARuleThatDoesNotBuild) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {3, 3}));
  b.Return({{"y", b.Make<ops::Tanh>({b.Make<ops::Relu>({x})})}});
  RewritePatternSet set(&context);
  set.Add<TanhToTranspose>();
  set.Add<UseUnbound>();
  const std::string mistake = set.errors().at(0);
  const FrozenRewritePatternSet frozen(std::move(set));
  const auto result = ApplyPatternsGreedily(program, frozen);
  EXPECT_THAT(std::string(ir::Message(result.status())), testing::HasSubstr(mistake));
  EXPECT_EQ(program.body().num_ops(), 3u);
}

// Ops that a rewrite makes in the slot of an op that was erased while it waited in the worklist are looked
// at too: nothing is left to do when the driver ends, whichever end it starts from.
TEST(GreedyDriver, LeavesNothingToDoWhenSlotsAreReused) {
  for (const bool top_down : {true, false}) {
    ir::IrContext context;
    ir::LoadOnnxDialect(context);
    ir::Program program(&context);
    ir::Builder b(&program);
    ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {3, 3}));
    for (int i = 0; i < 20; ++i) {
      x = b.Make<ops::Transpose>({x}, {.perm = {1, 0}});
      x = b.Make<ops::Tanh>({b.Make<ops::Relu>({x})});
    }
    b.Return({{"y", x}});
    RewritePatternSet set(&context);
    set.Add<TanhToTranspose>();
    set.Add<CancelTransposes>();
    ASSERT_TRUE(set.errors().empty());
    const FrozenRewritePatternSet frozen(std::move(set));
    GreedyRewriteConfig config;
    config.use_top_down_traversal = top_down;
    auto result = ApplyPatternsGreedily(program, frozen, config);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(program.body().num_ops(), 1u) << "top down: " << top_down;
    EXPECT_EQ(ir::Verify(program).message(), "");
    EXPECT_FALSE(ApplyPatternsGreedily(program, frozen, config)->changed);
  }
}

// relu(relu(x)), read `readers` times by neg, after these rules: they want the same operations.
std::string AfterRulesThatMeet(FastPath fast_path, int readers) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {3}));
  const ir::Value y = b.Make<ops::Relu>({b.Make<ops::Relu>({x})});
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (int i = 0; i < readers; ++i)
    outputs.emplace_back("y" + std::to_string(i), b.Make<ops::Neg>({y}));
  b.Return(outputs);
  RewritePatternSet set(&context);
  set.Add<MergeRelus>();
  set.Add<ReluToTanh>();
  set.Add<TanhToExp>();
  set.Add<NegTanhToSin>();
  EXPECT_TRUE(set.errors().empty());
  const FrozenRewritePatternSet frozen(std::move(set));
  EXPECT_TRUE(ApplyPatternsGreedily(program, frozen, {.fast_path = fast_path}).ok());
  EXPECT_EQ(ir::Verify(program).message(), "");
  return ir::PrintProgram(program);
}

// Two rules want the new tanh, one of them from above: the one above is asked first, whichever way
// the tanh was put in place.
TEST(GreedyDriver, LooksAtTheReadersOfANewOperationFirstWhicheverWayItWasMade) {
  for (const FastPath fast_path : {FastPath::kAll, FastPath::kMatcher, FastPath::kNone})
    EXPECT_THAT(AfterRulesThatMeet(fast_path, 1), testing::HasSubstr("onnx.Sin"))
        << static_cast<int>(fast_path);
}

// Of very many readers not all are looked at.
TEST(GreedyDriver, DoesTheSameForManyReadersWhicheverWayOperationsAreMade) {
  const std::string general = AfterRulesThatMeet(FastPath::kNone, 300);
  EXPECT_EQ(AfterRulesThatMeet(FastPath::kMatcher, 300), general);
  EXPECT_EQ(AfterRulesThatMeet(FastPath::kAll, 300), general);
}

}  // namespace
}  // namespace weft::passes
