// The arithmetic rules on the values that random inputs do not hit: NaN, infinities, both zeros,
// denormal and huge numbers. What a rule says of itself by its numeric class is seen here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Value;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
const std::vector<float> kSpecial = {0.0f, -0.0f, 1.0f,  -3.0f,  kInf,      -kInf,
                                     kNan, kMax,  -kMax, 1e-38f, kDenormal, -kDenormal};

// y = f(x) for one f32 vector x, before and after one rule.
class ArithmeticRules : public testing::TestWithParam<const char*> {
 protected:
  using Floats = std::vector<float>;
  struct Results {
    Floats before, after;
  };

  static Results Rewrite(const std::string& rule, const Floats& x,
                         const std::function<Value(ir::Builder&, Value)>& make_y) {
    ir::IrContext context;
    ir::LoadOnnxDialect(context);
    ir::Program program(&context);
    ir::Builder b(&program);
    const auto size = static_cast<int64_t>(x.size());
    const Value input = b.AddInput("x", context.TensorType(ir::DataType::kF32, {size}));
    b.Return({{"y", make_y(b, input)}});

    Results results;
    results.before = Run(program, x);
    drr::RewritePatternSet set(&context);
    set.Add(FindRule(rule)->build(&context));
    PassManager pm(&context);
    pm.pass_context().numerics = drr::NumericClass::kApproximate;
    pm.AddPass(
        std::make_unique<PatternRewritePass>("rule", drr::FrozenRewritePatternSet(std::move(set))));
    EXPECT_TRUE(pm.Run(program).ok());
    EXPECT_TRUE(pm.reports()[0].changed) << rule << " does not fire";
    results.after = Run(program, x);
    return results;
  }

  static Floats Run(ir::Program& program, const Floats& x) {
    auto session = kernels::Session::Create(program, {.provider = GetParam()});
    if (!session.ok()) {
      ADD_FAILURE() << session.status().ToString();
      return {};
    }
    kernels::Tensor input(ir::DataType::kF32, {static_cast<int64_t>(x.size())});
    std::copy(x.begin(), x.end(), input.values<float>().begin());
    const auto outputs = (*session)->Run({input.view()});
    if (!outputs.ok()) {
      ADD_FAILURE() << outputs.status().ToString();
      return {};
    }
    const auto y = (*outputs)[0].values<float>();
    return Floats(y.begin(), y.end());
  }

  static std::vector<uint32_t> Bits(const Floats& values) {
    std::vector<uint32_t> bits;
    for (float v : values) bits.push_back(std::bit_cast<uint32_t>(v));
    return bits;
  }
  static Value Scalar(ir::Builder& b, double value) {
    return b.ConstantScalar(ir::DataType::kF32, value);
  }
  // The rule leaves a constant divisor alone.
  static Value LogOfExpQuotient(ir::Builder& b, Value x, double y) {
    const Value divisor = b.Make<ops::Neg>({Scalar(b, -y)});
    return b.Make<ops::Log>({b.Make<ops::Div>({b.Make<ops::Exp>({x}), divisor})});
  }
};

TEST_P(ArithmeticRules, ExactOnesKeepEveryBitOfSpecialValues) {
  const struct {
    const char* rule;
    std::function<Value(ir::Builder&, Value)> make_y;
  } kCases[] = {
      {"drop-unit-factor",
       [](ir::Builder& b, Value x) {
         return b.Make<ops::Mul>({x, Scalar(b, 1)});
       }},
      {"drop-unit-factor",
       [](ir::Builder& b, Value x) {
         return b.Make<ops::Div>({x, Scalar(b, 1)});
       }},
      {"drop-neutral-zero",
       [](ir::Builder& b, Value x) {
         return b.Make<ops::Add>({Scalar(b, -0.0), x});
       }},
      {"drop-neutral-zero",
       [](ir::Builder& b, Value x) {
         return b.Make<ops::Sub>({x, Scalar(b, 0)});
       }},
      {"drop-unit-exponent",
       [](ir::Builder& b, Value x) {
         return b.Make<ops::Pow>({x, Scalar(b, 1)});
       }},
  };
  for (const auto& c : kCases) {
    const Results y = Rewrite(c.rule, kSpecial, c.make_y);
    EXPECT_EQ(Bits(y.before), Bits(kSpecial)) << c.rule;
    EXPECT_EQ(Bits(y.after), Bits(kSpecial)) << c.rule;
  }
}

TEST_P(ArithmeticRules, RemovingAZeroTermChangesTheSignOfAZeroAtMost) {
  const Results y = Rewrite("drop-zero-term", kSpecial, [](ir::Builder& b, Value x) {
    return b.Make<ops::Add>({x, Scalar(b, 0)});
  });
  EXPECT_EQ(Bits(y.after), Bits(kSpecial));
  std::vector<float> expected = kSpecial;
  expected[1] = 0;  // -0 + 0 is +0: why the rule is not exact
  EXPECT_EQ(Bits(y.before), Bits(expected));
}

TEST_P(ArithmeticRules, FoldingAZeroProductLosesNanInfinityAndSign) {
  const std::vector<float> x = {2.0f, -3.0f, kNan, kInf};
  const Results y = Rewrite("fold-zero-product", x, [](ir::Builder& b, Value v) {
    return b.Make<ops::Mul>({v, Scalar(b, 0)});
  });
  EXPECT_THAT(y.before, testing::ElementsAre(0, -0.0f, testing::IsNan(), testing::IsNan()));
  EXPECT_TRUE(std::signbit(y.before[1]));
  EXPECT_EQ(Bits(y.after), std::vector<uint32_t>(x.size(), 0));
}

TEST_P(ArithmeticRules, LogOfExpQuotientIsFiniteWhereExpOverflowsOrUnderflows) {
  const Results y = Rewrite("fold-log-of-exp-quotient", {100.0f, -200.0f, 1.0f},
                            [](ir::Builder& b, Value x) { return LogOfExpQuotient(b, x, 2); });
  EXPECT_EQ(y.before[0], kInf);
  EXPECT_EQ(y.before[1], -kInf);
  const double log2 = std::log(2.0);
  EXPECT_NEAR(y.after[0], 100 - log2, 1e-5);
  EXPECT_NEAR(y.after[1], -200 - log2, 2e-5);
  EXPECT_NEAR(y.after[2], y.before[2], 1e-6);
}

TEST_P(ArithmeticRules, LogOfExpQuotientAgreesElsewhere) {
  std::vector<float> x;
  for (int i = -80; i <= 80; ++i) x.push_back(static_cast<float>(i) + 0.25f * (i % 3));
  for (double divisor : {1e-3, 0.7, 3.0, 1e3}) {
    const Results y = Rewrite("fold-log-of-exp-quotient", x, [&](ir::Builder& b, Value v) {
      return LogOfExpQuotient(b, v, divisor);
    });
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(y.after[i], y.before[i], 1e-5 + 1e-5 * std::abs(y.before[i]))
          << x[i] << " over " << divisor;
  }
}

TEST_P(ArithmeticRules, LogOfExpQuotientIsNanForNegativeDivisorsBeforeAndAfter) {
  const Results y = Rewrite("fold-log-of-exp-quotient", {-1.0f, 0.0f, 2.0f},
                            [](ir::Builder& b, Value x) { return LogOfExpQuotient(b, x, -2); });
  EXPECT_THAT(y.before, testing::Each(testing::IsNan()));
  EXPECT_THAT(y.after, testing::Each(testing::IsNan()));
}

INSTANTIATE_TEST_SUITE_P(Kernels, ArithmeticRules, testing::Values("reference", "auto"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::passes
