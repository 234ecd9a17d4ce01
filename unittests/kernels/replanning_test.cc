// A session that meets new shapes again and again keeps nothing of the plans that it drops.
#include <gtest/gtest.h>

#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using ir::Value;

class ReplanningTest : public SessionFixture {
 protected:
  // More than kSmallDense bytes of ir/context.cc, above which equal contents are not one attribute.
  Value Weights(const ir::Shape& dims) {
    return builder.ConstantFloats(ValuesOf<float>(Random(dims, 1)), dims);
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

}  // namespace
}  // namespace weft::kernels
