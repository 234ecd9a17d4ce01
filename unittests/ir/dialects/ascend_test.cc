#include "ir/dialects/ascend.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using Ascend = InferTest;

TEST_F(Ascend, TopKCountsInI32) {
  const Value k = X({1}, DataType::kI32);
  EXPECT_EQ(Run<ascend::TopK>({X({n, 5}), k}, {}, 2), "tensor<Nx-1xf32>, tensor<Nx-1xi32>");
  EXPECT_EQ(Run<ascend::TopK>({X({n, 5}), I({2})}, {}, 2), "ascend.TopK: k is i64 but must be i32");
}

TEST_F(Ascend, TopKHasABodyOfTheSameTypes) {
  const Value k = b.Make<ops::Cast>({I({2})}, {.to = DataType::kI32});
  const Operation op = b.Create<ascend::TopK>({X({4, 5}), k}, {.axis = 0, .largest = 0});
  const std::vector<Value> body =
      op.def()->decompose(b, op.operands().vec(), op.attrs(), op.num_results());
  ASSERT_EQ(body.size(), 2u);
  EXPECT_EQ(body[0].type(), op.result(0).type());
  EXPECT_EQ(body[1].type(), op.result(1).type());
}

}  // namespace
}  // namespace weft::ir
