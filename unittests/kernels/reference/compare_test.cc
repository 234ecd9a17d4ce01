#include "kernels/reference/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
