#include "ir/type.h"

#include <gtest/gtest.h>

#include "ir/context.h"

namespace weft::ir {
namespace {

class SameType : public testing::Test {
 protected:
  Type Tensor(const Shape& dims, DataType dtype = DataType::kF32) {
    return context_.TensorType(dtype, dims);
  }
  // Both ways: the functions are symmetric.
  static bool Types(Type a, Type b) {
    EXPECT_EQ(ProvablySameType(a, b), ProvablySameType(b, a));
    return ProvablySameType(a, b);
  }
  static bool Shapes(Type a, Type b) {
    EXPECT_EQ(ProvablySameShape(a, b), ProvablySameShape(b, a));
    return ProvablySameShape(a, b);
  }
  IrContext context_;
  const int64_t n_ = SymbolicDim("N"), m_ = SymbolicDim("M");
};

TEST_F(SameType, IsProvedByStaticSizes) {
  EXPECT_TRUE(Types(Tensor({2, 8}), Tensor({2, 8})));
  EXPECT_TRUE(Types(Tensor({}), Tensor({})));
  EXPECT_FALSE(Types(Tensor({2, 8}), Tensor({2, 9})));
  EXPECT_FALSE(Types(Tensor({2, 8}), Tensor({2, 8, 1})));
  EXPECT_FALSE(Types(Tensor({1}), Tensor({})));
}

TEST_F(SameType, IsProvedByASymbolThatEqualsItself) {
  EXPECT_TRUE(Types(Tensor({n_, 8}), Tensor({n_, 8})));
  EXPECT_FALSE(Types(Tensor({n_, 8}), Tensor({m_, 8})));
  EXPECT_FALSE(Types(Tensor({n_, 8}), Tensor({8, n_})));
  EXPECT_FALSE(Types(Tensor({n_, 8}), Tensor({2, 8})));
}

TEST_F(SameType, IsNotProvedByTwoUnknownSizes) {
  EXPECT_FALSE(Types(Tensor({kUnknownDim, 8}), Tensor({kUnknownDim, 8})));
  EXPECT_FALSE(Types(Tensor({kUnknownDim, 8}), Tensor({n_, 8})));
  EXPECT_FALSE(Types(Tensor({kUnknownDim, 8}), Tensor({2, 8})));
}

TEST_F(SameType, IsNotProvedWithoutARank) {
  const Type unranked = context_.UnrankedTensorType(DataType::kF32);
  EXPECT_FALSE(Types(unranked, unranked));
  EXPECT_FALSE(Shapes(unranked, unranked));
  EXPECT_FALSE(Shapes(unranked, Tensor({2})));
}

TEST_F(SameType, WantsOneKnownElementType) {
  EXPECT_FALSE(Types(Tensor({2, 8}), Tensor({2, 8}, DataType::kF16)));
  EXPECT_TRUE(Shapes(Tensor({2, 8}), Tensor({2, 8}, DataType::kF16)));
  const Type unknown = Tensor({2, 8}, DataType::kNull);
  EXPECT_FALSE(Types(unknown, unknown));
  EXPECT_TRUE(Shapes(unknown, Tensor({2, 8})));
}

TEST_F(SameType, IsOfTensorsOnly) {
  EXPECT_FALSE(Types(Type(), Type()));
  EXPECT_FALSE(Types(Type(), Tensor({2})));
  EXPECT_FALSE(Shapes(context_.NoneType(), context_.NoneType()));
}

}  // namespace
}  // namespace weft::ir
