#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdLoss = PdTest;

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

TEST_F(PdLoss, CrossEntropyGradFitsTheLoss) {
  using Op = pd::CrossEntropyWithSoftmaxGrad;
  const Value label = X({n, 1}, DataType::kI64);
  EXPECT_EQ(Run<Op>({label, X({n, 9}), X({n, 1})}), "tensor<Nx9xf32>");
  EXPECT_EQ(Run<Op>({label, X({n, 9}), X({n, 9})}),
            "pd.cross_entropy_with_softmax_grad: loss_grad is [\"N\",9] but must be [\"N\",1]");
}

}  // namespace
}  // namespace weft::ir
