// A session that meets new shapes again and again keeps nothing of the plans that it drops.
#include <gtest/gtest.h>
#include <malloc.h>

#include <numeric>

#include "ir/dialects/onnx/control.h"
#include "ir/dialects/onnx/creation.h"
#include "ir/dialects/onnx/indexing.h"
#include "unittests/ir/region_builder.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"
#include "unittests/sanitizers.h"

namespace weft::kernels {
namespace {

using ir::Value;

class ReplanningTest : public SessionFixture {
 protected:
  // More than kSmallDense bytes of ir/context.cc, above which equal contents are not one attribute.
  Value Weights(const ir::Shape& dims) {
    return builder.ConstantFloats(ValuesOf<float>(Random(dims, 1)), dims);
  }
  // x [n, 64], and n in all elements of a constant of those dims, once n is known.
  Value Lines() { return Input(F({ir::SymbolicDim("n"), 64})); }
  Value Filled(Value x, const ir::Shape& dims) {
    const Value n = builder.Make<ir::ops::Shape>({x}, {.end = 1});
    const Value number = builder.Make<ir::ops::Cast>({n}, {.to = DataType::kF32});
    return builder.Make<ir::ops::Expand>({number, builder.ConstantInts(dims)});
  }
  // The sum of the first output for x of n lines of ones.
  double RunOnOnes(int64_t n) {
    const Tensor x = F32({n, 64}, std::vector<float>(static_cast<size_t>(n * 64), 1));
    const auto y = session->Run({x.view()});
    EXPECT_TRUE(y.ok()) << y.status();
    if (!y.ok()) return 0;
    const std::vector<float> numbers = ValuesOf<float>((*y)[0]);
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  }
  // `expected(n)` of more n than there are plans, round after round, the last of which leave no memory behind.
  template <class Expected>
  void ExpectNothingStays(const Expected& expected) {
    const auto round = [&] {
      for (int64_t n = 1; n <= static_cast<int64_t>(Session::kMaxPlans) + 1; ++n)
        EXPECT_EQ(RunOnOnes(n), expected(n)) << n;
    };
    for (int i = 0; i < 2; ++i) round();
    const size_t before = Allocated();
    for (int i = 0; i < 8; ++i) round();
    if (!kSanitized) {
      EXPECT_LE(Allocated(), before + (size_t{256} << 10));
    }
  }
  static size_t Allocated() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  // Numbers of attributes are given in order: how many there are.
  uint32_t NumAttributes() { return context.IntAttr(probe_++).id(); }

  // Plans for more lengths of x [1, channels, length] than are kept, twice: the plans of the first round have been
  // dropped when their shapes come again.
  void ExpectNothingIsKept(int64_t channels, Value y) {
    ASSERT_EQ(MakeSession({y}), "");
    constexpr int64_t kLengths = Session::kMaxPlans + 1;
    PlanOf(*session, {{1, channels, 1}});
    const size_t packed = session->num_packed_weights();
    uint32_t attributes = 0;
    for (int round = 0; round < 2; ++round) {
      attributes = NumAttributes();
      for (int64_t length = 1; length <= kLengths; ++length)
        PlanOf(*session, {{1, channels, length}});
    }
    EXPECT_EQ(session->num_packed_weights(), packed);
    EXPECT_EQ(NumAttributes(), attributes + 1);
    const auto fork = session->Fork();
    PlanOf(**fork, {{1, channels, 3}});
    EXPECT_EQ((*fork)->num_packed_weights(), packed);
  }

 private:
  int64_t probe_ = 1'000'000'000;
};

TEST_F(ReplanningTest, AConvOfOneDimensionPacksItsWeightsOnce) {
  const Value x = Input(F({1, 32, ir::SymbolicDim("n")}));
  ExpectNothingIsKept(
      32, builder.Make<ir::ops::Conv>({x, Weights({40, 32, 3})}, {.pads = ir::Ints{1, 1}}));
}

TEST_F(ReplanningTest, AConvOfGroupsAlongOneDimensionPacksItsWeightsOnce) {
  const Value x = Input(F({1, 64, ir::SymbolicDim("n")}));
  ExpectNothingIsKept(64, builder.Make<ir::ops::Conv>({x, Weights({64, 32, 3})},
                                                      {.group = 2, .pads = ir::Ints{1, 1}}));
}

TEST_F(ReplanningTest, ATransposedConvCutsItsWeightsIntoPhasesOnce) {
  const Value x = Input(F({1, 16, ir::SymbolicDim("n")}));
  ExpectNothingIsKept(
      16, builder.Make<ir::ops::ConvTranspose>({x, Weights({16, 300, 8}), Weights({300})},
                                               {.strides = ir::Ints{4}}));
}

TEST_F(ReplanningTest, ATransposedConvOfUnequalPhasesPacksEachOnce) {
  const Value x = Input(F({1, 16, ir::SymbolicDim("n")}));
  ExpectNothingIsKept(16, builder.Make<ir::ops::ConvTranspose>({x, Weights({16, 80, 7})},
                                                               {.strides = ir::Ints{4}}));
}

TEST_F(ReplanningTest, ConstantsThatFollowFromAShapeGoWithItsPlan) {
  const Value x = Lines();
  const Value added = builder.Make<ir::ops::ReduceMax>(
      {Filled(x, {300, 64}), builder.ConstantInts({0})}, {.keepdims = 1});
  const Value rows = builder.Make<ir::ops::Add>({Filled(x, {400, 64}), added});
  const Value sum = builder.Make<ir::ops::ReduceSum>({x, builder.ConstantInts({0, 1})});
  ASSERT_EQ(MakeSession({builder.Make<ir::ops::Mul>({rows, sum})}), "");
  ExpectNothingStays([](int64_t n) { return 400.0 * 64 * 2 * n * 64 * n; });
}

// The next plan's constant lies where the last one's lay.
TEST_F(ReplanningTest, WhatIsPackedOfConstantsThatFollowFromAShapeGoesWithItsPlan) {
  const Value x = Lines();
  ASSERT_EQ(MakeSession({builder.Make<ir::ops::MatMul>({x, Filled(x, {64, 64})})}), "");
  ExpectNothingStays([](int64_t n) { return 64.0 * 64 * n * n; });
  EXPECT_EQ(session->num_packed_weights(), 0u);
}

TEST_F(ReplanningTest, AWeightIsPackedOnceBesideAConstantThatFollowsFromAShape) {
  const Value x = Lines(), w = Weights({64, 2000});
  const Value bias =
      builder.Make<ir::ops::Reshape>({Filled(x, {2000}), builder.ConstantInts({2000})});
  ASSERT_EQ(MakeSession({builder.Make<ir::fused::Linear>({x, w, bias})}), "");
  for (int64_t n = 1; n < 4; ++n) RunOnOnes(n);
  EXPECT_EQ(session->num_packed_weights(), 1u);
}

TEST_F(ReplanningTest, ConstantsThatFollowFromValuesGoWithTheirSegment) {
  const Value x = Lines();
  const Value places = builder.Make<ir::ops::NonZero>({x});  // [2, 64 n]
  const Value dims = builder.Make<ir::ops::Shape>({places});
  const Value zeros = builder.Make<ir::ops::ConstantOfShape>({dims});
  ASSERT_EQ(MakeSession({builder.Make<ir::ops::Exp>({zeros})}), "");
  ExpectNothingStays([](int64_t n) { return 128.0 * n; });
}

TEST_F(ReplanningTest, ConstantsThatFollowFromAShapeInABranchGoWithItsPlan) {
  const Value x = Lines();
  const Value is_large =
      builder.Make<ir::ops::Greater>({builder.Make<ir::ops::ReduceSum>({x}, {.keepdims = 0}),
                                      builder.ConstantScalar(DataType::kF32, 0)});
  const ir::Operation op = ir::MakeWithRegions<ir::ops::If>(program, {is_large}, 1);
  for (uint32_t i = 0; i < 2; ++i) {
    const ir::Block branch = ir::AddBlock(op, i, {});
    ir::Builder b = ir::AtEndOf(branch);
    const Value n = b.Make<ir::ops::Shape>({x}, {.end = 1});
    const Value wide = b.Make<ir::ops::Mul>({n, b.ConstantInts({100})});
    const Value dims = b.Make<ir::ops::Concat>({b.ConstantInts({64}), wide}, {.axis = 0});
    const Value ones = b.Make<ir::ops::Exp>({b.Make<ir::ops::ConstantOfShape>({dims})});
    ir::ReturnFrom(branch, {b.Make<ir::ops::MatMul>({x, ones})});
  }
  ASSERT_EQ(MakeSession({op.result()}), "");
  ExpectNothingStays([](int64_t n) { return 64.0 * 100 * n * n; });
}

}  // namespace
}  // namespace weft::kernels
