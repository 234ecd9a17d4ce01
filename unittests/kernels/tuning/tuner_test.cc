// What the tuner chooses among kernels of which one is slow.
#include "kernels/tuning/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "ir/dialects/onnx/elementwise.h"
#include "kernels/available_cpus.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/registry.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using ::testing::HasSubstr;

// Copies, and takes its time.
template <int kMicroseconds>
class Copying final : public Kernel {
 public:
  absl::Status Run(const KernelArgs& args) override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(kMicroseconds);
    while (std::chrono::steady_clock::now() < until) {
    }
    std::memcpy(args.outputs[0].data, args.inputs[0].data, args.inputs[0].NumBytes());
    return absl::OkStatus();
  }
  std::string_view name() const override { return "copying"; }
};
template <int kMicroseconds>
absl::StatusOr<std::unique_ptr<Kernel>> MakeCopying(const KernelContext&) {
  return std::make_unique<Copying<kMicroseconds>>();
}

// Copies, and notes the pool that it has.
std::vector<const ThreadPool*> pools_of_native, pools_of_xnnpack;
template <auto* kPools>
class Noting final : public Kernel {
 public:
  absl::Status Run(const KernelArgs& args) override {
    kPools->push_back(args.pool);
    std::memcpy(args.outputs[0].data, args.inputs[0].data, args.inputs[0].NumBytes());
    return absl::OkStatus();
  }
  std::string_view name() const override { return "noting"; }
};
template <auto* kPools>
absl::StatusOr<std::unique_ptr<Kernel>> MakeNoting(const KernelContext&) {
  return std::make_unique<Noting<kPools>>();
}

struct OnSomePool {
  static constexpr ir::OpInfo kInfo = {.name = "test.OnSomePool", .operands = {"x"}};
};
const RegisterKernel<OnSomePool> kNotes("native", &MakeNoting<&pools_of_native>);
const RegisterKernel<OnSomePool> kNotesToo("xnnpack", &MakeNoting<&pools_of_xnnpack>);

struct SlowElsewhere {
  static constexpr ir::OpInfo kInfo = {.name = "test.SlowElsewhere", .operands = {"x"}};
};
struct SlowHere {
  static constexpr ir::OpInfo kInfo = {.name = "test.SlowHere", .operands = {"x"}};
};
struct Hiding {
  static constexpr ir::OpInfo kInfo = {.name = "test.Hiding", .operands = {"x"}};
};
const RegisterKernel<SlowElsewhere> kFast("native", &MakeCopying<0>);
const RegisterKernel<SlowElsewhere> kSlow("xnnpack", &MakeCopying<2000>);
const RegisterKernel<SlowHere> kSlowNative("native", &MakeCopying<2000>);
const RegisterKernel<SlowHere> kFastOther("xnnpack", &MakeCopying<0>);
const RegisterKernel<Hiding> kSlowOwn("native", &MakeCopying<2000>);
const RegisterKernel<Hiding> kHidesIt("xnnpack", &MakeCopying<0>, kHidesNan);

class Tuned : public SessionFixture {
 protected:
  template <class O>
  ir::Value Make(ir::Value x) {
    return builder
        .Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd(O::kInfo.name),
                                   .operands = {x},
                                   .result_types = {x.type()}})
        .result();
  }
  Tuning TuneFor(ir::Value y, const SessionOptions& options = {}, TuneOptions tune = {}) {
    builder.Return({{"y", y}});
    const std::vector<RuntimeValue> inputs = {
        RuntimeValue::Of(*RandomTensor(ir::DataType::kF32, {64}, 1, 0))};
    tune.rounds = 10;
    tune.seconds = 0;
    auto tuning = Tune(program, options, inputs, tune);
    EXPECT_TRUE(tuning.ok()) << tuning.status();
    return tuning.ok() ? *std::move(tuning) : Tuning{.choices = KernelChoices("")};
  }
};

TEST_F(Tuned, NeverChoosesASlowKernel) {
  const Tuning tuning = TuneFor(Make<SlowElsewhere>(Input(F({64}))));
  EXPECT_EQ(tuning.keys, 1u);
  ASSERT_EQ(tuning.several.size(), 1u);
  EXPECT_EQ(tuning.several[0].usual.kernel.provider, "native");
  ASSERT_FALSE(
      tuning.several[0].others.empty());  // native ones of lower instruction sets among them
  EXPECT_EQ(tuning.several[0].others[0].kernel.provider, "xnnpack");
  EXPECT_GE(tuning.several[0].others[0].microseconds, 2000);
  EXPECT_EQ(tuning.choices.size(), 0u);
}

TEST_F(Tuned, ChoosesTheFastOneOfEachOp) {
  const Tuning tuning = TuneFor(Make<SlowElsewhere>(Make<SlowHere>(Input(F({64})))));
  EXPECT_EQ(tuning.keys, 2u);
  ASSERT_EQ(tuning.several.size(), 2u);
  EXPECT_THAT(tuning.several[0].key, HasSubstr("test.SlowHere"));  // the longest first
  EXPECT_EQ(tuning.choices.size(), 1u);
  EXPECT_THAT(tuning.choices.ToText(), HasSubstr("test.SlowHere {} (f32[64]) -> f32[64]: xnnpack"));
  EXPECT_LT(tuning.tuned_ms, tuning.usual_ms);
}

// They offer no choice, and belong to what a run takes.
TEST_F(Tuned, CountsOpsThatSizeTheirResults) {
  const ir::Value slow = Make<SlowHere>(Input(F({64})));
  const Tuning tuning = TuneFor(builder.Make<ir::ops::NonZero>({slow}));
  ASSERT_EQ(tuning.several.size(), 1u);
  EXPECT_GT(tuning.microseconds, tuning.several[0].usual.microseconds);
}

// Where sessions have all CPUs, they usually share them.
TEST_F(Tuned, HasAPoolForEachThatIsTimed) {
  TuneFor(Make<OnSomePool>(Input(F({64}))), {.threads = AvailableCpus()});
  ASSERT_GE(pools_of_native.size(), 5u);
  ASSERT_GE(pools_of_xnnpack.size(), 5u);
  // Of the last rounds: trials that were not kept may have had a pool at the same address before.
  for (size_t i = 1; i <= 5; ++i)
    for (size_t j = 1; j <= 5; ++j)
      EXPECT_NE(pools_of_native[pools_of_native.size() - i],
                pools_of_xnnpack[pools_of_xnnpack.size() - j]);
}

TEST_F(Tuned, KeepsToKernelsOfTheOrder) {
  EXPECT_EQ(TuneFor(Make<Hiding>(Input(F({64})))).choices.size(), 0u);
}

TEST_F(Tuned, KeepsTheOrderOfSumsIfAsked) {
  const ir::Value y = Make<SlowHere>(Input(F({64})));
  EXPECT_EQ(TuneFor(y, {}, {.keeps_order = true}).choices.size(), 0u);
}

TEST_F(Tuned, HasNothingToChooseOnTheReference) {
  const Tuning tuning =
      TuneFor(builder.Make<ir::ops::Tanh>({Input(F({64}))}), {.provider = "reference"});
  EXPECT_EQ(tuning.keys, 1u);
  EXPECT_TRUE(tuning.several.empty());
}

TEST_F(Tuned, EndsWhenItIsStopped) {
  builder.Return({{"y", builder.Make<ir::ops::Tanh>({Input(F({64}))})}});
  const std::vector<RuntimeValue> inputs = {
      RuntimeValue::Of(*RandomTensor(ir::DataType::kF32, {64}, 1, 0))};
  const auto tuning = Tune(program, {}, inputs, {.stop = [] { return true; }});
  EXPECT_EQ(tuning.status().code(), absl::StatusCode::kCancelled);
}

TEST(FasterBeyondNoise, IsWhatWinsOftenAndByMuch) {
  const std::vector<double> usual = {10, 10, 10, 10, 10};
  const auto is_faster = [&](std::vector<double> other) {
    return IsFasterBeyondNoise(usual, other);
  };
  EXPECT_TRUE(is_faster({9, 9, 9, 9, 11}));
  EXPECT_FALSE(is_faster({9, 9, 9, 11, 11}));        // in three turns of five
  EXPECT_FALSE(is_faster({9.8, 9.8, 9.8, 9.8, 9}));  // by 2 %
  EXPECT_FALSE(is_faster({9, 9}));
  EXPECT_FALSE(IsFasterBeyondNoise({}, {}));
}

}  // namespace
}  // namespace weft::kernels
