#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdReduce = PdTest;

TEST_F(PdReduce, MeanReducesSomeAxes) {
  EXPECT_EQ(Run<pd::Mean>({X({n, 3})}), "tensor<f32>");
  EXPECT_EQ(Run<pd::Mean>({X({n, 3, 4})}, {.axis = {0, -1}}), "tensor<3xf32>");
  EXPECT_EQ(Run<pd::Mean>({X({n, 3})}, {.axis = {1}, .keepdim = true}), "tensor<Nx1xf32>");
  EXPECT_EQ(Run<pd::Mean>({Unranked()}), "tensor<f32>");
  EXPECT_EQ(Run<pd::Mean>({Unranked()}, {.axis = {1}}), "tensor<*xf32>");
  EXPECT_EQ(Run<pd::Mean>({X({2, 3})}, {.axis = {2}}),
            "pd.mean: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<pd::Mean>({X({2}, DataType::kI64)}), "pd.mean: x is i64 but must be a float");
}

TEST_F(PdReduce, TopKReadsKFromAnOperand) {
  EXPECT_EQ(Run<pd::TopK>({X({n, 10}), Number(5)}, {}, 2), "tensor<Nx5xf32>, tensor<Nx5xi64>");
  EXPECT_EQ(Run<pd::TopK>({X({4, 10}), X({1}, DataType::kI32)}, {.axis = 0}, 2),
            "tensor<-1x10xf32>, tensor<-1x10xi64>");
  EXPECT_EQ(Run<pd::TopK>({X({2, 3}), Number(4)}, {}, 2),
            "pd.topk: k is 4 for x of [2,3] along axis 1");
  EXPECT_EQ(Run<pd::TopK>({X({2, 3}), X({2})}, {}, 2), "pd.topk: k is [2], not a scalar");
}

TEST_F(PdReduce, MeanGradHasTheShapeOfX) {
  EXPECT_EQ(Run<pd::MeanGrad>({X({n, 3}), X({n})}, {.axis = {1}}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<pd::MeanGrad>({X({2, 3}), X({2})}), "pd.mean_grad: out_grad is [2] but must be []");
}

}  // namespace
}  // namespace weft::ir
