#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class PdLoss : public InferTest {
 protected:
  Value Number(float value) {
    return b.Make<pd::Full>({}, {.dtype = DataType::kI32, .shape = {1}, .value = value});
  }
  Value Classes(const Shape& dims) { return X(dims, DataType::kI64); }
};

TEST_F(PdLoss, MeanReducesSomeAxes) {
  EXPECT_EQ(Run<pd::Mean>({X({n, 3})}), "tensor<f32>");
  EXPECT_EQ(Run<pd::Mean>({X({n, 3, 4})}, {.axis = {0, -1}}), "tensor<3xf32>");
  EXPECT_EQ(Run<pd::Mean>({X({n, 3})}, {.axis = {1}, .keepdim = true}), "tensor<Nx1xf32>");
  EXPECT_EQ(Run<pd::Mean>({Unranked()}), "tensor<f32>");
  EXPECT_EQ(Run<pd::Mean>({Unranked()}, {.axis = {1}}), "tensor<*xf32>");
  EXPECT_EQ(Run<pd::Mean>({X({2, 3})}, {.axis = {2}}),
            "pd.mean: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<pd::Mean>({X({2}, DataType::kI64)}), "pd.mean: x is i64 but must be a float");
}

TEST_F(PdLoss, CrossEntropyHasALossForEachRow) {
  using Op = pd::CrossEntropyWithSoftmax;
  EXPECT_EQ(Run<Op>({X({n, 1000}), Classes({n, 1})}, {}, 2), "tensor<Nx1000xf32>, tensor<Nx1xf32>");
  EXPECT_EQ(Run<Op>({X({2, 5, 7}), Classes({2, 1, 7})}, {.axis = 1}, 2),
            "tensor<2x5x7xf32>, tensor<2x1x7xf32>");
  EXPECT_EQ(Run<Op>({X({2, 5}), X({2, 5})}, {.soft_label = true}, 2),
            "tensor<2x5xf32>, tensor<2x1xf32>");
  EXPECT_EQ(Run<Op>({X({2, 5}), X({2, 1})}, {}, 2),
            "pd.cross_entropy_with_softmax: label is f32 but must be an integer");
  EXPECT_EQ(Run<Op>({X({2, 5}), Classes({2, 5})}, {}, 2),
            "pd.cross_entropy_with_softmax: label is [2,5] but must be [2,1]");
  EXPECT_EQ(Run<Op>({X({2, 5}), X({2, 1})}, {.soft_label = true}, 2),
            "pd.cross_entropy_with_softmax: label is [2,1] but must be [2,5]");
  EXPECT_EQ(Run<Op>({X({2, 5}), Classes({2, 1})}, {.axis = 2}, 2),
            "pd.cross_entropy_with_softmax: axis 2 is out of range for rank 2");
}

TEST_F(PdLoss, TopKReadsKFromAnOperand) {
  EXPECT_EQ(Run<pd::TopK>({X({n, 10}), Number(5)}, {}, 2), "tensor<Nx5xf32>, tensor<Nx5xi64>");
  EXPECT_EQ(Run<pd::TopK>({X({4, 10}), X({1}, DataType::kI32)}, {.axis = 0}, 2),
            "tensor<-1x10xf32>, tensor<-1x10xi64>");
  EXPECT_EQ(Run<pd::TopK>({X({2, 3}), Number(4)}, {}, 2),
            "pd.topk: k is 4 for x of [2,3] along axis 1");
  EXPECT_EQ(Run<pd::TopK>({X({2, 3}), X({2})}, {}, 2), "pd.topk: k is [2], not a scalar");
}

TEST_F(PdLoss, AccuracyIsOneNumber) {
  EXPECT_EQ(Run<pd::Accuracy>({X({n, 5}), Classes({n, 5}), Classes({n, 1})}, {}, 3),
            "tensor<f32>, tensor<i32>, tensor<i32>");
  EXPECT_EQ(Run<pd::Accuracy>({X({2, 5}), Classes({2, 5}), Classes({2, 2})}, {}, 3),
            "pd.accuracy: label is [2,2] but must be [2,1]");
  EXPECT_EQ(Run<pd::Accuracy>({X({2, 4}), Classes({2, 5}), Classes({2, 1})}, {}, 3),
            "pd.accuracy: x is [2,4] but must be [2,5]");
  EXPECT_EQ(Run<pd::Accuracy>({X({2, 5}), X({2, 5}), Classes({2, 1})}, {}, 3),
            "pd.accuracy: indices is f32 but must be an integer");
}

}  // namespace
}  // namespace weft::ir
