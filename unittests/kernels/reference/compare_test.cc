#include "kernels/reference/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace weft::kernels {
namespace {

template <class T>
Tensor Of(ir::DataType dtype, const std::vector<T>& values) {
  Tensor tensor = *Tensor::Create(dtype, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(tensor.view().data));
  return tensor;
}

int64_t Different(const std::vector<float>& actual, const std::vector<float>& expected) {
  return CountDifferent(Of(ir::DataType::kF32, actual).view(),
                        Of(ir::DataType::kF32, expected).view());
}

// By real and imaginary parts.
TEST(RelativeDifference, IsOfComplexNumbersToo) {
  const auto of = [](std::vector<std::complex<double>> values) {
    return Of(ir::DataType::kC128, values);
  };
  const Tensor a = of({{1, 2}, {3, -4}}), b = of({{1, 2}, {3, -3}});
  EXPECT_EQ(RelativeDifference(a.view(), a.view()), 0);
  EXPECT_EQ(RelativeDifference(b.view(), a.view()), 0.25);
  EXPECT_EQ(CountDifferent(b.view(), a.view()), 1);
  const Tensor c = Of(ir::DataType::kC64, std::vector<std::complex<float>>{{0, 2}});
  const Tensor d = Of(ir::DataType::kC64, std::vector<std::complex<float>>{{0, 1}});
  EXPECT_EQ(RelativeDifference(d.view(), c.view()), 0.5);
}

TEST(CountDifferent, ComparesBitsOfFloats) {
  EXPECT_EQ(Different({1, 2, INFINITY}, {1, 2, INFINITY}), 0);
  EXPECT_EQ(Different({1, std::nextafter(2.0f, 3.0f), 3}, {1, 2, 3}), 1);
  EXPECT_EQ(Different({-0.0f, 0.0f}, {0.0f, 0.0f}), 1);
  EXPECT_EQ(Different({INFINITY, -INFINITY}, {-INFINITY, -INFINITY}), 1);
}

TEST(CountDifferent, TakesAnyNanForAnyOther) {
  EXPECT_EQ(Different({NAN, -NAN, NAN}, {NAN, NAN, 1}), 1);
}

TEST(CountDifferent, TellsIntegersApartThatAreOneDouble) {
  const int64_t large = int64_t{1} << 53;
  EXPECT_EQ(CountDifferent(Of<int64_t>(ir::DataType::kI64, {large + 1, large}).view(),
                           Of<int64_t>(ir::DataType::kI64, {large, large}).view()),
            1);
}

TEST(CountDifferent, CountsEverythingOfAnotherShape) {
  EXPECT_EQ(Different({1, 2}, {1, 2, 3}), 3);
  EXPECT_EQ(Different({1}, {}), 1);
}

}  // namespace
}  // namespace weft::kernels
