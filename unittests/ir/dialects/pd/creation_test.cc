#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdCreation = PdTest;

TEST_F(PdCreation, FullHasTheGivenShape) {
  EXPECT_EQ(Run<pd::Full>({}, {.shape = {4, 3, 16}, .value = 1.5f}), "tensor<4x3x16xf32>");
  EXPECT_EQ(Run<pd::Full>({}, {.dtype = DataType::kI32, .shape = Ints{}, .value = 0.0f}),
            "tensor<i32>");
  EXPECT_EQ(Run<pd::Full>({}, {.shape = {-1}, .value = 1.5f}), "pd.full: shape has the entry -1");
  EXPECT_EQ(Run<pd::FullIntArray>({}, {.value = {4, 3}}), "tensor<2xi64>");
  EXPECT_EQ(Run<pd::FullIntArray>({}, {.dtype = DataType::kF32, .value = {4, 3}}), "tensor<2xf32>");
}

TEST_F(PdCreation, IntegersAreReadFromEveryKindOfConstant) {
  EXPECT_EQ(pd::IntsOf(Array({3, -1})), (Ints{3, -1}));
  EXPECT_EQ(pd::IntsOf(Number(2, DataType::kI32)), (Ints{2}));
  EXPECT_EQ(pd::IntsOf(I({5})), (Ints{5}));
  EXPECT_EQ(pd::IntsOf(b.Make<ConstantOp>({}, {.value = context.IntsAttr(Ints{3, 3})})),
            (Ints{3, 3}));
  EXPECT_EQ(pd::IntsOf(b.Make<pd::Full>({}, {.shape = {2}, .value = 1.0f})), std::nullopt);
  EXPECT_EQ(pd::IntsOf(Number(INFINITY)), std::nullopt);
  EXPECT_EQ(pd::IntsOf(X({1}, DataType::kI64)), std::nullopt);
}

TEST_F(PdCreation, FetchGivesItsOperandOrNothing) {
  EXPECT_EQ(Run<pd::Fetch>({X({n})}, {.name = "out"}), "tensor<Nxf32>");
  EXPECT_EQ(Run<pd::Fetch>({X({n})}, {.name = "out"}, 0), "");
}

}  // namespace
}  // namespace weft::ir
