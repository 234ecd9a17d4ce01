#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxIndexing = InferTest;

TEST_F(OnnxIndexing, TopKShortensItsAxis) {
  EXPECT_EQ(Run<ops::TopK>({X({n, 5}), I({2})}, {}, 2), "tensor<Nx2xf32>, tensor<Nx2xi64>");
  EXPECT_EQ(Run<ops::TopK>({X({5, n}, DataType::kI8), I({2})}, {.axis = -2}, 2),
            "tensor<2xNxi8>, tensor<2xNxi64>");
  EXPECT_EQ(Run<ops::TopK>({X({5}), X({1}, DataType::kI64)}, {}, 2),
            "tensor<-1xf32>, tensor<-1xi64>");
  EXPECT_EQ(Run<ops::TopK>({Unranked(), I({2})}, {}, 2), "tensor<*xf32>, tensor<*xi64>");
}

TEST_F(OnnxIndexing, TopKTakesNoMoreThanThereIs) {
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({3})}, {}, 2), "tensor<2x3xf32>, tensor<2x3xi64>");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({4})}, {}, 2), "onnx.TopK: k is 4 but x is [2,3]");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({-1})}, {}, 2), "onnx.TopK: k is -1 but x is [2,3]");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({1, 2})}, {}, 2), "onnx.TopK: k is [2], not a scalar");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), X({1})}, {}, 2), "onnx.TopK: k is f32 but must be i64");
  EXPECT_EQ(Run<ops::TopK>({X({2, 3}), I({1})}, {.axis = 2}, 2),
            "onnx.TopK: axis 2 is out of range for rank 2");
}

TEST_F(OnnxIndexing, ScatterNDKeepsTheTypeOfData) {
  EXPECT_EQ(Run<ops::ScatterND>({X({n, 5}), X({4, 1}, DataType::kI64), X({4, 5})}),
            "tensor<Nx5xf32>");
  EXPECT_EQ(Run<ops::ScatterND>({X({3, 5, 2}), X({2, 4, 2}, DataType::kI64), X({2, 4, 2})}),
            "tensor<3x5x2xf32>");
  EXPECT_EQ(Run<ops::ScatterND>({X({5}), Unranked(DataType::kI64), Unranked()}), "tensor<5xf32>");
}

TEST_F(OnnxIndexing, ScatterNDChecksWhatItWrites) {
  EXPECT_EQ(Run<ops::ScatterND>({X({3, 5}), X({4, 1}, DataType::kI64), X({4, 3})}),
            "onnx.ScatterND: updates is [4,3] but must be [4,5]");
  EXPECT_EQ(Run<ops::ScatterND>({X({3, 5}), X({4, 3}, DataType::kI64), X({4})}),
            "onnx.ScatterND: indices [4,3] name 3 dimensions but data has rank 2");
  EXPECT_EQ(Run<ops::ScatterND>({X({3}), X({1, 1}), X({1})}),
            "onnx.ScatterND: indices is f32 but must be i64");
  EXPECT_EQ(Run<ops::ScatterND>({X({3}), I({1}), X({}, DataType::kI64)}),
            "onnx.ScatterND: data is f32 but updates is i64");
}

}  // namespace
}  // namespace weft::ir
