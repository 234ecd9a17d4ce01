#include "ir/dialects/onnx/search.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxSearch = InferTest;

TEST_F(OnnxSearch, ArgMaxAndArgMinReduceOneAxis) {
  const auto run = [&](auto op) {
    using O = decltype(op);
    const std::string name(O::kInfo.name);
    EXPECT_EQ(Run<O>({X({n, 3})}), "tensor<1x3xi64>");
    EXPECT_EQ(Run<O>({X({n, 3}, DataType::kU8)}, {.axis = -1, .keepdims = 0}), "tensor<Nxi64>");
    EXPECT_EQ(Run<O>({Unranked()}), "tensor<*xi64>");
    EXPECT_EQ(Run<O>({X({2, 3})}, {.axis = 2}), name + ": axis 2 is out of range for rank 2");
    EXPECT_EQ(Run<O>({X({})}), name + ": x is a scalar, which has no axis");
    EXPECT_EQ(Run<O>({X({2}, DataType::kBool)}), name + ": x is bool but must be a number");
  };
  run(ops::ArgMax());
  run(ops::ArgMin());
}

}  // namespace
}  // namespace weft::ir
