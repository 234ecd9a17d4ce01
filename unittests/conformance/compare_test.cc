#include "unittests/conformance/compare.h"

#include <gmock/gmock.h>

#include <complex>
#include <limits>

#include "kernels/float16.h"

namespace weft::conformance {
namespace {

using ir::DataType;
using kernels::Tensor;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor Floats(std::initializer_list<float> values) {
  Tensor tensor(DataType::kF32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.values<float>().begin());
  return tensor;
}

std::string Differs(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance = {}) {
  return Difference(actual.view(), expected.view(), tolerance);
}

TEST(Difference, IsOfTypesBeforeValues) {
  EXPECT_EQ(Differs(Tensor(DataType::kF32, {2}), Tensor(DataType::kF64, {2})),
            "element type f32, expected f64");
  EXPECT_EQ(Differs(Tensor(DataType::kI32, {2}), Tensor(DataType::kU32, {2})),
            "element type i32, expected u32");
}

TEST(Difference, IsOfShapes) {
  EXPECT_EQ(Differs(Tensor(DataType::kF32, {2, 3}), Tensor(DataType::kF32, {3, 2})),
            "shape [2,3], expected [3,2]");
  EXPECT_EQ(Differs(Tensor(DataType::kF32, {}), Tensor(DataType::kF32, {1})),
            "shape [], expected [1]");
}

TEST(Difference, NamesTheFirstValueAndCounts) {
  Tensor actual(DataType::kF32, {2, 3}), expected(DataType::kF32, {2, 3});
  actual.values<float>()[4] = 1.5f;
  actual.values<float>()[5] = 2;
  EXPECT_EQ(Differs(actual, expected), "2 of 6 values differ, first at [1,1]: 1.5, expected 0");
}

TEST(Difference, IsOfStringsByByte) {
  const Tensor a = *Tensor::OfStrings({2}, {"a", "b"}), b = *Tensor::OfStrings({2}, {"a", "B"});
  EXPECT_EQ(Differs(a, a), "");
  EXPECT_EQ(Differs(a, b), "1 of 2 values differ, first at [1]: \"b\", expected \"B\"");
}

TEST(Difference, IsRelativeToWhatIsExpected) {
  EXPECT_EQ(Differs(Floats({1000.9f, -0.50049f}), Floats({1000, -0.5f})), "");
  EXPECT_THAT(Differs(Floats({1001.1f}), Floats({1000})), HasSubstr("1 of 1"));
  EXPECT_THAT(Differs(Floats({-0.5006f}), Floats({-0.5f})), HasSubstr("1 of 1"));
  EXPECT_EQ(Differs(Floats({1009}), Floats({1000}), {.relative = 1e-2}), "");
}

TEST(Difference, AllowsTheAbsoluteToleranceNearZero) {
  EXPECT_EQ(Differs(Floats({9e-8f}), Floats({0})), "");
  EXPECT_THAT(Differs(Floats({2e-7f}), Floats({0})), HasSubstr("1 of 1"));
  EXPECT_EQ(Differs(Floats({9e-4f}), Floats({0}), {.absolute = 1e-3}), "");
}

TEST(Difference, TakesNanForNanAndAnInfinityForItself) {
  EXPECT_EQ(Differs(Floats({kNan, kInfinity, -kInfinity}), Floats({kNan, kInfinity, -kInfinity})),
            "");
  for (const auto& [actual, expected] : std::initializer_list<std::pair<float, float>>{
           {kNan, 1}, {1, kNan}, {1, kInfinity}, {kInfinity, 1}, {-kInfinity, kInfinity}})
    EXPECT_THAT(Differs(Floats({actual}), Floats({expected})), HasSubstr("1 of 1"))
        << actual << " for " << expected;
}

TEST(Difference, ReadsSmallTypes) {
  Tensor half(DataType::kF16, {1}), other(DataType::kF16, {1});
  half.values<uint16_t>()[0] = kernels::FloatToHalf(1.5f);
  other.values<uint16_t>()[0] = kernels::FloatToHalf(2.5f);
  EXPECT_EQ(Differs(half, other), "1 of 1 values differ, first at [0]: 1.5, expected 2.5");
  EXPECT_EQ(Differs(half, half), "");
  Tensor yes(DataType::kBool, {1}), no(DataType::kBool, {1});
  yes.values<uint8_t>()[0] = 1;
  EXPECT_EQ(Differs(yes, no), "1 of 1 values differ, first at [0]: 1, expected 0");
}

Tensor Integers(std::initializer_list<int32_t> values) {
  Tensor tensor(DataType::kI32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.values<int32_t>().begin());
  return tensor;
}

TEST(Difference, HasNoToleranceForIntegers) {
  EXPECT_EQ(Differs(Integers({100000, -7}), Integers({100000, -7})), "");
  EXPECT_THAT(Differs(Integers({100001, -7}), Integers({100000, -7})), HasSubstr("1 of 2"));
}

TEST(Difference, TellsIntegersApartThatAreOneDouble) {
  Tensor actual(DataType::kI64, {1}), expected(DataType::kI64, {1});
  actual.values<int64_t>()[0] = (int64_t{1} << 53) + 1;
  expected.values<int64_t>()[0] = int64_t{1} << 53;
  EXPECT_EQ(Differs(actual, actual), "");
  EXPECT_EQ(Differs(actual, expected),
            "1 of 1 values differ, first at [0]: 9007199254740993, expected 9007199254740992");
  Tensor most(DataType::kU64, {1}), less(DataType::kU64, {1});
  most.values<uint64_t>()[0] = ~uint64_t{0};
  less.values<uint64_t>()[0] = ~uint64_t{0} - 1;
  EXPECT_THAT(Differs(most, less), HasSubstr("18446744073709551615, expected"));
}

TEST(OffByOneStep, CountsWhatWasRoundedTheOtherWay) {
  using kernels::RuntimeValue;
  const auto off = [](Tensor actual, Tensor expected, double step) {
    return OffByOneStep(RuntimeValue::Of(std::move(actual)), RuntimeValue::Of(std::move(expected)),
                        step);
  };
  EXPECT_EQ(off(Integers({1, 2, 4, 4}), Integers({1, 2, 3, 4}), 1),
            "1 step of 1 off in 1 of 4 values (25 %)");
  EXPECT_EQ(off(Integers({1, 2, 5}), Integers({1, 2, 3}), 1), "");
  EXPECT_EQ(off(Floats({0.25f, 0.5f}), Floats({0.5f, 0.25f}), 0.25),
            "1 step of 0.25 off in 2 of 2 values (100 %)");
  EXPECT_EQ(off(Floats({0.373f}), Floats({0.25f}), 0.25), "");
  EXPECT_EQ(off(Floats({0.6f}), Floats({0.25f}), 0.25), "");
  EXPECT_EQ(off(Floats({kNan}), Floats({1}), 1), "");
  EXPECT_EQ(off(Integers({1}), Integers({1, 2}), 1), "");
}

TEST(Difference, ReadsComplexNumbers) {
  Tensor actual(DataType::kC64, {1}), expected(DataType::kC64, {1});
  actual.values<std::complex<float>>()[0] = {1, 2};
  EXPECT_EQ(Differs(actual, actual), "");
  expected.values<std::complex<float>>()[0] = {1, -2};
  EXPECT_EQ(Differs(actual, expected), "1 of 1 values differ, first at [0]: 1+2i, expected 1-2i");
}

TEST(Difference, LooksAtNoValueOfRandomResults) {
  const Tensor actual = Floats({1, 2}), expected = Floats({3, 4});
  EXPECT_EQ(Difference(actual.view(), expected.view(), {}, /*values=*/false), "");
  EXPECT_NE(Difference(actual.view(), Floats({3}).view(), {}, /*values=*/false), "");
}

std::string ValuesDiffer(const kernels::RuntimeValue& actual,
                         const kernels::RuntimeValue& expected) {
  return Difference(actual, expected, Tolerance());
}

TEST(Difference, IsOfTheElementsOfSequences) {
  using kernels::RuntimeValue;
  const auto list = [](std::initializer_list<float> values) {
    kernels::Sequence::Elements elements;
    for (const float value : values) elements.push_back(std::make_shared<Tensor>(Floats({value})));
    return RuntimeValue::Of(kernels::Sequence(std::move(elements)));
  };
  EXPECT_EQ(ValuesDiffer(list({1, 2}), list({1, 2})), "");
  EXPECT_EQ(ValuesDiffer(list({1, 2}), list({1})), "a sequence of 2, expected a sequence of 1");
  EXPECT_THAT(ValuesDiffer(list({1, 2}), list({1, 3})), ::testing::StartsWith("element 1: 1 of 1"));
  EXPECT_EQ(ValuesDiffer(RuntimeValue(), RuntimeValue()), "");
  EXPECT_EQ(ValuesDiffer(RuntimeValue(), list({})), "nothing, expected a sequence of 0");
  EXPECT_EQ(ValuesDiffer(RuntimeValue::Of(Floats({1})), list({1})),
            "f32[1], expected a sequence of 1");
}

}  // namespace
}  // namespace weft::conformance
