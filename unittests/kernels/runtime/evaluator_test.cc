#include "kernels/runtime/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "kernels/float16.h"
#include "kernels/reference/compare.h"
#include "kernels/runtime/registry.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

class EvaluatorTest : public testing::Test {
 protected:
  EvaluatorTest() { ir::LoadFusedDialect(context); }
  ir::Attribute Floats(ir::Shape dims, const std::vector<float>& values) {
    return context.DenseAttrOf(context.TensorType(DataType::kF32, dims),
                               std::span<const float>(values));
  }
  std::unique_ptr<KernelEvaluator> Make(std::string_view provider) {
    auto made = KernelEvaluator::Create(provider);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder builder{&program};
};

TEST_F(EvaluatorTest, ComputesAnOpOnTheGivenContents) {
  const ir::Value x = builder.AddInput("x", context.TensorType(DataType::kF32, {2, 2}));
  const ir::Value w = builder.AddInput("w", context.TensorType(DataType::kF32, {2, 1}));
  const ir::Operation op = builder.Create<ops::MatMul>({x, w});
  for (const char* provider : {"auto", "xnnpack", "reference"}) {
    const auto results = Make(provider)->Evaluate(
        op, std::vector{Floats({2, 2}, {1, 2, 3, 4}), Floats({2, 1}, {10, 100})});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0], Floats({2, 1}, {210, 430})) << provider;
  }
}

TEST_F(EvaluatorTest, GivesOneAttributePerResultAndTakesOperandsThatAreNotGiven) {
  const ir::Value x = builder.AddInput("x", context.TensorType(DataType::kF32, {3}));
  const ir::Operation split =
      builder.Create<ops::Split>({x, builder.ConstantInts({1, 2})}, {.axis = 0}, 2);
  const std::vector<int64_t> sizes = {1, 2};
  const ir::Attribute parts =
      context.DenseAttrOf(context.TensorType(DataType::kI64, {2}), std::span<const int64_t>(sizes));
  auto results = Make("auto")->Evaluate(split, std::vector{Floats({3}, {1, 2, 3}), parts});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0], Floats({1}, {1}));
  EXPECT_EQ((*results)[1], Floats({2}, {2, 3}));

  const ir::Operation clip =
      builder.Create<ops::Clip>({x, ir::Value(), builder.ConstantScalar(DataType::kF32, 2)});
  results = Make("auto")->Evaluate(
      clip, std::vector{Floats({3}, {1, 2, 3}), ir::Attribute(), Floats({}, {2})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0], Floats({3}, {1, 2, 2}));
}

TEST_F(EvaluatorTest, LeavesLargeResultsWhereTheyWereComputed) {
  const ir::Value x = builder.AddInput("x", context.TensorType(DataType::kF32, {4096}));
  const auto results =
      Make("auto")->Evaluate(builder.Create<ops::Neg>({x}),
                             std::vector{Floats({4096}, ValuesOf<float>(Random({4096}, 1)))});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].elements<float>()[77], -Random({4096}, 1).values<float>()[77]);
}

TEST_F(EvaluatorTest, DeclinesWhatItCannotCompute) {
  const ir::Value x = builder.AddInput("x", context.TensorType(DataType::kF32, {2}));
  const ir::Operation unknown = builder.Create(ir::OperationState{
      .opcode = ir::Opcode::FindOrAdd("my.Thing"), .operands = {x}, .result_types = {x.type()}});
  EXPECT_EQ(Make("auto")->Evaluate(unknown, std::vector{Floats({2}, {1, 2})}).status().code(),
            absl::StatusCode::kUnimplemented);
  const ir::Operation neg = builder.Create<ops::Neg>({x});
  EXPECT_EQ(Make("auto")
                ->Evaluate(neg, std::vector{context.ElidedDenseAttr(x.type(), "w")})
                .status()
                .message(),
            "onnx.Neg: operand 0 has no contents");
  const ir::Value big = builder.AddInput("n", context.TensorType(DataType::kI64, {1}));
  const std::vector<int64_t> dims = {int64_t{1} << 31};
  const ir::Operation fill = builder.Create(
      ir::OperationState{.opcode = ir::kOpcodeOf<ops::ConstantOfShape>,
                         .operands = {big},
                         .result_types = {context.TensorType(DataType::kF32, dims)}});
  EXPECT_EQ(Make("auto")
                ->Evaluate(fill, std::vector{context.DenseAttrOf(big.type(),
                                                                 std::span<const int64_t>(dims))})
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

// --- registry -----------------------------------------------------------------------

TEST(Registry, EveryOpOfTheOnnxAndFusedDialectsHasAReferenceKernelOrABody) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  for (const ir::OpDef* def : context.Ops()) {
    if (def->name().substr(0, 5) != "onnx." && def->name().substr(0, 6) != "fused.") continue;
    const auto providers = ProvidersOf(def->opcode);
    const bool has = std::any_of(providers.begin(), providers.end(), [](const std::string& name) {
      return name == "reference" || name == kStringsProvider;
    });
    EXPECT_TRUE(has || def->decompose != nullptr || def->Has(ir::kBodyInRegion)) << def->name();
  }
}

struct Declined {
  static constexpr ir::OpInfo kInfo = {.name = "test.Declined", .operands = {"x"}};
};
const RegisterKernel<Declined> kDeclinedNative(
    "native", [](const KernelContext& context) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return context.Unsupported("only f64");
    });
const RegisterKernel<Declined> kDeclined(
    "reference", [](const KernelContext& context) -> absl::StatusOr<std::unique_ptr<Kernel>> {
      return context.Unsupported("odd sizes");
    });

// A context of an op that has one operand and one result, of type f32[2].
template <class O, class Use>
void WithContext(const Use& use) {
  ir::IrContext ir_context;
  ir::Program program(&ir_context);
  ir::Builder builder(&program);
  const ir::Type type = ir_context.TensorType(DataType::kF32, {2});
  const ir::Operation op =
      builder.Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd(O::kInfo.name),
                                        .operands = {builder.AddInput("x", type)},
                                        .result_types = {type}});
  use(KernelContext(op, {type}, {type}, {}, nullptr, nullptr));
}

TEST(Registry, SaysWhyEveryProviderDeclined) {
  WithContext<Declined>([](const KernelContext& context) {
    const absl::Status status = MakeKernel(context, *ProviderOrder("auto")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(status.message(),
              "native: test.Declined: only f64; reference: test.Declined: odd sizes");
  });
}

struct Flaky {
  static constexpr ir::OpInfo kInfo = {.name = "test.Flaky", .operands = {"x"}};
};
class FlakyKernel final : public Kernel {
 public:
  absl::Status Run(const KernelArgs&) override { return absl::OkStatus(); }
  std::string_view name() const override { return "flaky"; }
};
absl::StatusOr<std::unique_ptr<Kernel>> MakeFlaky(const KernelContext&) {
  return std::make_unique<FlakyKernel>();
}
const RegisterKernel<Flaky> kFlaky("xnnpack", &MakeFlaky, kHidesNan);
const RegisterKernel<Flaky> kPlain("reference", &MakeFlaky);

TEST(Registry, AsksAKernelThatHidesNanOnlyByName) {
  WithContext<Flaky>([](const KernelContext& context) {
    const auto provider_of = [&](const char* choice) {
      const auto chosen = MakeKernel(context, *ProviderOrder(choice));
      return chosen.ok() ? chosen->provider : std::string(chosen.status().message());
    };
    EXPECT_EQ(provider_of("auto"), "reference");
    EXPECT_EQ(provider_of("xnnpack"), "xnnpack");
  });
}

// --- random inputs and comparison -----------------------------------------------------

TEST(RandomTensor, DependsOnSeedAndStreamAlone) {
  const auto values = [](uint64_t seed, uint64_t stream) {
    return ValuesOf<float>(*RandomTensor(DataType::kF32, {1000}, seed, stream));
  };
  EXPECT_EQ(values(1, 0), values(1, 0));
  EXPECT_NE(values(1, 0), values(2, 0));
  EXPECT_NE(values(1, 0), values(1, 1));
  const std::vector<float> v = values(1, 0);
  EXPECT_GE(*std::min_element(v.begin(), v.end()), -1);
  EXPECT_LT(*std::max_element(v.begin(), v.end()), 1);
  double sum = 0;
  for (const float x : v) sum += x;
  EXPECT_NEAR(sum / 1000, 0, 0.08);  // four standard deviations of the mean
  EXPECT_GT(std::set<float>(v.begin(), v.end()).size(), 990u);
}

TEST(RandomTensor, MakesBytesOfAllValues) {
  const Tensor tensor = *RandomTensor(DataType::kI8, {4096}, 1, 0);
  const std::span<int8_t> v = tensor.values<int8_t>();
  EXPECT_EQ(std::set<int>(v.begin(), v.end()).size(), 256u);
}

TEST(RandomTensor, MakesIntegersAndBoolsZeroOrOne) {
  for (const DataType dtype : {DataType::kI64, DataType::kI32, DataType::kU16, DataType::kBool}) {
    const Tensor tensor = *RandomTensor(dtype, {64}, 1, 0);
    int64_t ones = 0;
    for (size_t i = 0; i < 64; ++i) {
      const std::byte* element = tensor.view().data + i * ir::ElementSize(dtype);
      EXPECT_LE(static_cast<int>(element[0]), 1);
      ones += static_cast<int>(element[0]);
    }
    EXPECT_GT(ones, 10);
    EXPECT_LT(ones, 54);
  }
}

TEST(RandomInputs, NeedsEveryDimension) {
  ir::IrContext context;
  const std::vector<TensorInfo> inputs = {
      {"x", context.TensorType(DataType::kF32, {ir::SymbolicDim("n"), 2})}};
  EXPECT_EQ(RandomInputs(inputs, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RelativeDifference, IsScaledByTheLargestExpectedValue) {
  const auto difference = [](const Tensor& a, const Tensor& b) {
    return RelativeDifference(a.view(), b.view());
  };
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_DOUBLE_EQ(difference(F32({2}, {1, 4.5f}), F32({2}, {1, 4})), 0.125);
  EXPECT_DOUBLE_EQ(difference(F32({1}, {0.5f}), F32({1}, {0})), 0.5);
  EXPECT_EQ(difference(F32({2}, {inf, nan}), F32({2}, {inf, nan})), 0);
  EXPECT_EQ(difference(F32({1}, {nan}), F32({1}, {1})), inf);
  EXPECT_EQ(difference(F32({1}, {1}), F32({1}, {inf})), inf);
  EXPECT_EQ(difference(F32({1}, {1}), F32({1, 1}, {1})), inf);
  EXPECT_EQ(difference(F32({1}, {1}), I64({1}, {1})), inf);
}

TEST(RelativeDifference, TellsIntegersApartThatAreOneDouble) {
  constexpr int64_t kBig = int64_t{1} << 53;
  EXPECT_GT(RelativeDifference(I64({1}, {kBig + 1}).view(), I64({1}, {kBig}).view()), 0);
  EXPECT_GT(RelativeDifference(I64({2}, {7, -kBig}).view(), I64({2}, {7, -kBig - 1}).view()), 0);
  EXPECT_EQ(RelativeDifference(I64({1}, {kBig + 1}).view(), I64({1}, {kBig + 1}).view()), 0);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(RelativeDifference(I64({1}, {kMax}).view(), I64({1}, {kMin}).view()), 2);
}

// What QuantizeLinear and DequantizeLinear by 0.01 give.
Tensor Dequantised() {
  Tensor d(DataType::kF32, {40});
  for (int i = 0; i < 40; ++i) d.values<float>()[i] = static_cast<float>(i * 5 - 90) * 0.01f;
  return d;
}
template <class F>
Tensor Mapped(Tensor x, const F& f) {
  for (float& value : x.values<float>()) value = static_cast<float>(f(value));
  return x;
}

TEST(CountSteps, CountsWholeSteps) {
  const Tensor d = Dequantised();
  Tensor off = Dequantised();
  EXPECT_EQ(CountSteps(off.view(), d.view(), 0.01f).largest, 0);
  off.values<float>()[3] += 0.01f;
  off.values<float>()[9] -= 0.03f;
  const StepDifference steps = CountSteps(off.view(), d.view(), 0.01f);
  EXPECT_EQ(steps.largest, 3);
  EXPECT_EQ(steps.differing, 2);
  EXPECT_EQ(steps.elements, 40);
}

TEST(CountSteps, IsInfiniteWhereValuesLieBetweenSteps) {
  const Tensor d = Dequantised();
  const auto largest = [&](const Tensor& actual) {
    return CountSteps(actual.view(), d.view(), 0.01f).largest;
  };
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(largest(Mapped(Dequantised(), [](double x) { return x * 1.0115; })), inf);
  EXPECT_EQ(largest(Mapped(Dequantised(), [](double x) { return x + 0.0149; })), inf);
  EXPECT_EQ(largest(Mapped(Dequantised(), [](double x) { return x + 0.0049; })), inf);
  EXPECT_EQ(largest(Mapped(Dequantised(), [&](double) { return inf; })), inf);
  // Sums of floats are not exact.
  EXPECT_EQ(largest(Mapped(Dequantised(), [](double x) { return x * (1 + 1e-7) + 1e-6; })), 0);
}

TEST(CountSteps, LeavesHalvesTheirPrecision) {
  Tensor d(DataType::kF16, {2}), off(DataType::kF16, {2});
  const auto set = [](Tensor& t, float a, float b) {
    t.values<uint16_t>()[0] = FloatToHalf(a);
    t.values<uint16_t>()[1] = FloatToHalf(b);
  };
  set(d, 0.1f, 12.3f);
  set(off, 0.1f, 12.4f);
  EXPECT_EQ(CountSteps(off.view(), d.view(), 0.1f).largest, 1);
  set(off, 0.1f, 12.35f);
  EXPECT_TRUE(std::isinf(CountSteps(off.view(), d.view(), 0.1f).largest));
}

}  // namespace
}  // namespace weft::kernels
