// What moves elements, against the reference.
#include <numeric>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

Tensor Iota(ir::Shape dims) {
  Tensor x = *Tensor::Create(DataType::kI64, std::move(dims));
  std::iota(x.values<int64_t>().begin(), x.values<int64_t>().end(), 0);
  return x;
}
ResultType IntResult(ir::Shape dims) { return {DataType::kI64, std::move(dims)}; }

TEST(NativeMovement, AgreesWithTheReference) {
  Agreement<ops::Transpose>({Random({3, 17, 5, 20}, 1)}, {.perm = Ints{0, 2, 1, 3}},
                            {FloatResult({3, 5, 17, 20})})
      .Of("native", 0);
  Agreement<ops::Transpose>({Iota({33, 70})}, {}, {IntResult({70, 33})}).Of("native", 0);
  Agreement<ops::Concat>({Iota({2, 3, 5}), Iota({2, 1, 5}), Iota({2, 40, 5})}, {.axis = 1},
                         {IntResult({2, 44, 5})})
      .Of("native", 0);
  Agreement<ops::Split>({Iota({4, 9}), Constant(I64({2}, {2, 7}))}, {.axis = -1},
                        {IntResult({4, 2}), IntResult({4, 7})})
      .Of("native", 0);
  Agreement<ops::Slice>({Iota({9, 20}), Constant(I64({2}, {-1, 3})), Constant(I64({2}, {0, 18})),
                         Constant(I64({2}, {0, 1})), Constant(I64({2}, {-3, 5}))},
                        {}, {IntResult({3, 3})})
      .Of("native", 0);
  Agreement<ops::Gather>({Random({5, 30, 7}, 1), I64({2, 2}, {29, -1, 0, 3})}, {.axis = 1},
                         {FloatResult({5, 2, 2, 7})})
      .Of("native", 0);
  Agreement<ops::Expand>({Iota({3, 1}), Constant(I64({3}, {2, 3, 40}))}, {},
                         {IntResult({2, 3, 40})})
      .Of("native", 0);
}

TEST(NativeGather, RefusesAnIndexOutOfRange) {
  const auto result = TryRunOp<ops::Gather>({Random({3}, 1), I64({2}, {0, 3})}, {},
                                            {FloatResult({2})}, {.provider = "auto"});
  EXPECT_EQ(result.status().message(),
            "onnx.Gather: index 3 is out of range for an axis of size 3");
}

}  // namespace
}  // namespace weft::kernels
