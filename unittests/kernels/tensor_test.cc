// What a tensor is refused for.
#include "kernels/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace weft::kernels {
namespace {

using ir::DataType;
using ir::SymbolicDim;
using testing::AllOf;
using testing::HasSubstr;

std::string Refusal(DataType dtype, ir::Shape dims) {
  const auto tensor = Tensor::Create(dtype, std::move(dims));
  return tensor.ok() ? "" : std::string(ir::Message(tensor.status()));
}

TEST(Tensor, OfTheSizesOfATypeStartsAsZeros) {
  const auto tensor = Tensor::Create(DataType::kF32, ir::Shape{2, 3});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->NumElements(), 6);
  EXPECT_THAT(tensor->values<float>(), testing::Each(0.0f));
}

TEST(Tensor, OfASymbolicDimensionIsRefusedWithWhatToDo) {
  EXPECT_THAT(Refusal(DataType::kF32, {4, SymbolicDim("batch")}),
              AllOf(HasSubstr("dimension 1 is the symbol batch"), HasSubstr("ir::SetDim")));
  EXPECT_THAT(Refusal(DataType::kF32, {ir::kUnknownDim, 4}), HasSubstr("dimension 0 is unknown"));
}

TEST(Tensor, LargerThanMemoryCanBeIsRefused) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_THAT(Refusal(DataType::kF32, {large, large}), HasSubstr("more than memory can be"));
  EXPECT_THAT(Refusal(DataType::kI8, {INT64_MAX}), HasSubstr("more than memory can be"));
}

TEST(Tensor, OfStringsIsRefused) {
  EXPECT_THAT(Refusal(DataType::kString, {2}), HasSubstr("no fixed size"));
}

// Sizes that come from a type may be symbols: only Create takes them.
static_assert(!std::is_constructible_v<Tensor, DataType, ir::Shape>);

TEST(TensorDeathTest, OfASymbolWrittenDownSaysWhatToDo) {
  EXPECT_DEATH(Tensor(DataType::kF32, {SymbolicDim("batch"), 2}), "is the symbol batch.*SetDim");
}

}  // namespace
}  // namespace weft::kernels
