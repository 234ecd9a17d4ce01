// Sum, Mean, Max and Min of any number of operands, against the reference: equal in every element.
#include <cmath>
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

template <class O>
void ExpectEqual(const std::vector<ir::Shape>& shapes, const ir::Shape& result) {
  SCOPED_TRACE(O::kInfo.name);
  std::vector<Operand> operands;
  for (const ir::Shape& shape : shapes) operands.push_back(Random(shape, operands.size() + 1));
  Agreement<O>(std::move(operands), {}, {FloatResult(result)}).Of("native", 0);
}

TEST(NativeVariadic, AgreesWithTheReferenceUnderBroadcasting) {
  const ir::Shape row = {33}, matrix = {7, 33}, large = {3, 50, 701};
  const auto expect = [&]<class O>(O) {
    ExpectEqual<O>({matrix}, matrix);
    ExpectEqual<O>({matrix, matrix, matrix}, matrix);
    ExpectEqual<O>({row, matrix, {7, 1}}, matrix);
    ExpectEqual<O>({{}, {1}, row, {7, 1}}, matrix);
    ExpectEqual<O>({large, {701}, {50, 1}, {3, 1, 1}, large}, large);
  };
  expect(ops::Sum());
  expect(ops::Mean());
  expect(ops::Max());
  expect(ops::Min());
  ExpectEqual<ops::Mean>({matrix, row}, matrix);
}

// Bits: NaN is found, sums do not overflow on the way, zeros have the reference's sign.
TEST(NativeVariadic, TreatsSpecialValuesAsTheReference) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf(""),
              most = std::numeric_limits<float>::max();
  const std::vector<float> a = {nan, 1, 2, inf, inf, -0.0f, -0.0f, 0, most, -most, 1e-40f},
                           b = {1, nan, 2, -inf, 1, -0.0f, 0, -0.0f, most, -most, 1e-45f},
                           c = {1, 2, nan, 1, inf, -0.0f, -0.0f, 0, -most, -most, 3e-45f};
  const auto expect = [&]<class O>(O) {
    SCOPED_TRACE(O::kInfo.name);
    const auto run = [&](const std::string& provider) {
      return ValuesOf<float>(RunOp<O>({F32({11}, a), F32({11}, b), F32({11}, c)}, {},
                                      FloatResult({11}), {.provider = provider}));
    };
    const std::vector<float> actual = run("auto"), expected = run("reference");
    for (size_t i = 0; i < expected.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(actual[i])) << i;
        continue;
      }
      EXPECT_EQ(actual[i], expected[i]) << i;
      EXPECT_EQ(std::signbit(actual[i]), std::signbit(expected[i])) << i;
    }
  };
  expect(ops::Sum());
  expect(ops::Mean());
  expect(ops::Max());
  expect(ops::Min());
}

TEST(NativeVariadic, LeavesOtherTypesToTheReference) {
  Agreement<ops::Max>({I64({2}, {1, 5}), I64({2}, {3, 4}), I64({2}, {2, 9})}, {},
                      {{DataType::kI64, {2}}})
      .Of("reference", 0);
}

}  // namespace
}  // namespace weft::kernels
