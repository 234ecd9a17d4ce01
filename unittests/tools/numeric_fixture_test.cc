#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/drr.h"
#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "unittests/fixtures/numeric.h"

namespace weft::fixtures {
namespace {

using ::testing::HasSubstr;
namespace ops = ir::ops;

// relu(relu(x)) => relu(x), or something wrong
template <class Replacement, drr::NumericClass kClass = drr::NumericClass::kExact>
class ReplaceTwoRelus : public drr::DrrPatternBase<ReplaceTwoRelus<Replacement, kClass>> {
 public:
  static constexpr std::string_view kName = "replace-two-relus";
  static constexpr drr::NumericClass kNumerics = kClass;
  void operator()(drr::DrrPatternContext* ctx) const override {
    drr::SourcePattern src = ctx->SourcePattern();
    const drr::Tensor x = src.Tensor("x");
    const drr::Tensor outer = src.Op<ops::Relu>()(src.Op<ops::Relu>()(x));
    drr::ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<Replacement>()(x);
  }
};

// x / 3 => x * (1 / 3): the last bit of some elements changes
template <drr::NumericClass kClass>
class MultiplyByInverse : public drr::DrrPatternBase<MultiplyByInverse<kClass>> {
 public:
  static constexpr std::string_view kName = "multiply-by-inverse";
  static constexpr drr::NumericClass kNumerics = kClass;
  void operator()(drr::DrrPatternContext* ctx) const override {
    drr::SourcePattern src = ctx->SourcePattern();
    const drr::Tensor x = src.Tensor("x"), c = src.Tensor("c");
    const drr::Tensor y = src.Op<ops::Div>()(x, c);
    src.RequireNativeCall("c is 3", [=](const drr::MatchContext& m) { return m[c].IsSplat(3); });
    drr::ResultPattern res = src.ResultPattern();
    res.Tensor(y) = res.Op<ops::Mul>()(x, res.Constant([](const drr::MatchContext& m) {
      const float third = 1.0f / 3.0f;
      return m.context()->DenseAttrOf<float>(m.context()->TensorType(ir::DataType::kF32, {}),
                                             {&third, 1});
    }));
  }
};

class Numeric : public ::testing::Test {
 protected:
  Numeric() { ir::LoadOnnxDialect(context_); }

  // y = f(x) for x of shape [n, 8].
  template <class F>
  void Make(const F& f) {
    program_ = std::make_unique<ir::Program>(&context_);
    ir::Builder b(program_.get());
    const ir::Value x =
        b.AddInput("x", context_.TensorType(ir::DataType::kF32, {ir::SymbolicDim("n"), 8}));
    b.Return({{"y", f(b, x)}});
  }
  void MakeTwoRelus() {
    Make([](ir::Builder& b, ir::Value x) { return b.Make<ops::Relu>({b.Make<ops::Relu>({x})}); });
  }
  void MakeDivision() {
    Make([](ir::Builder& b, ir::Value x) {
      return b.Make<ops::Div>({x, b.ConstantScalar(ir::DataType::kF32, 3)});
    });
  }
  template <class Rule>
  ::testing::AssertionResult Keeps() {
    return RuleKeepsNumbers(*program_, Rule().Build(&context_));
  }

  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_;
};

TEST_F(Numeric, AcceptsARuleThatKeepsEveryBit) {
  MakeTwoRelus();
  EXPECT_TRUE(Keeps<ReplaceTwoRelus<ops::Relu>>());
}

TEST_F(Numeric, RejectsARuleThatComputesSomethingElse) {
  MakeTwoRelus();
  using Wrong = ReplaceTwoRelus<ops::Tanh, drr::NumericClass::kReassociates>;
  const auto result = Keeps<Wrong>();
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("output 0 differs"));
}

TEST_F(Numeric, AllowsRoundingOnlyToRulesThatSaySo) {
  MakeDivision();
  EXPECT_TRUE(Keeps<MultiplyByInverse<drr::NumericClass::kReassociates>>());
  EXPECT_FALSE(Keeps<MultiplyByInverse<drr::NumericClass::kExact>>());
}

TEST_F(Numeric, RejectsARuleThatDoesNotFire) {
  MakeDivision();
  const auto result = Keeps<ReplaceTwoRelus<ops::Relu>>();
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("rule replace-two-relus did not fire"));
}

TEST_F(Numeric, RejectsAProgramWhoseOutputIsAlwaysZero) {
  Make([](ir::Builder& b, ir::Value x) {
    return b.Make<ops::Relu>({b.Make<ops::Relu>({b.Make<ops::Sub>({x, x})})});
  });
  const auto result = Keeps<ReplaceTwoRelus<ops::Relu>>();
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("test nothing"));
}

TEST_F(Numeric, EveryPipelineKeepsTheNumbersOfASmallNetwork) {
  Make([](ir::Builder& b, ir::Value x) {
    std::vector<float> w(64);
    for (size_t i = 0; i < w.size(); ++i) w[i] = 0.01f * static_cast<float>((i * 37) % 64) - 0.3f;
    const ir::Value weights = b.ConstantFloats(w, std::vector<int64_t>{8, 8});
    const ir::Value y = b.Make<ops::MatMul>({x, weights});
    return b.Make<ops::Relu>({b.Make<ops::Add>({y, b.ConstantScalar(ir::DataType::kF32, 0.1)})});
  });
  for (const char* pipeline : {"simplify", "layout"})
    EXPECT_TRUE(PipelineKeepsNumbers(*program_, pipeline)) << pipeline;
}

TEST_F(Numeric, ToleranceGrowsWithTheReductionAndIsZeroForIntegers) {
  MakeDivision();
  const double elementwise = RoundingTolerance(*program_);
  EXPECT_GT(elementwise, 0);
  EXPECT_LT(elementwise, 2e-6);
  Make([](ir::Builder& b, ir::Value x) {
    const std::vector<float> w(8 * 512, 1.0f);
    return b.Make<ops::MatMul>(
        {b.Make<ops::MatMul>({x, b.ConstantFloats(w, std::vector<int64_t>{8, 512})}),
         b.ConstantFloats(w, std::vector<int64_t>{512, 8})});
  });
  EXPECT_GT(RoundingTolerance(*program_), 2 * elementwise);
  ir::Program integers(&context_);
  ir::Builder b(&integers);
  const ir::Value x = b.AddInput("x", context_.TensorType(ir::DataType::kI64, {4}));
  b.Return({{"y", b.Make<ops::Add>({x, x})}});
  EXPECT_EQ(RoundingTolerance(integers), 0);
}

TEST_F(Numeric, FillsElidedConstants) {
  const ir::Type type = context_.TensorType(ir::DataType::kF32, {4});
  Make([&](ir::Builder& b, ir::Value x) {
    const ir::Value w = b.Constant(context_.ElidedDenseAttr(type, "positive"));
    return b.Make<ops::MatMul>({b.Make<ops::Relu>({x}), b.Make<ops::Concat>({w, w}, {.axis = 0})});
  });
  ASSERT_TRUE(FillElidedConstants(*program_, 1).ok());
  const ir::Operation constant = program_->body().front();
  const auto values = ir::ConstantDoubles(constant.result());
  ASSERT_TRUE(values.has_value());
  for (const double v : *values) EXPECT_TRUE(v >= 0.5 && v < 1.5) << v;
  EXPECT_NE((*values)[0], (*values)[1]);
}

}  // namespace
}  // namespace weft::fixtures
