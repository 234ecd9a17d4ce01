#include "kernels/reference/control/control.h"

#include <gtest/gtest.h>

namespace weft::kernels::reference {
namespace {

Tensor Pair(float a, float b) {
  Tensor tensor(ir::DataType::kF32, {2});
  tensor.values<float>()[0] = a;
  tensor.values<float>()[1] = b;
  return tensor;
}

std::string Joined(int64_t axis, bool prepend) {
  ScanOutput output(axis, prepend);
  size_t total = 0;
  for (const float x : {1.0f, 3.0f, 5.0f})
    EXPECT_TRUE(output.Add(Pair(x, x + 1).view(), &total).ok());
  EXPECT_EQ(total, 24u);
  const auto tensor = output.Finish({});
  if (!tensor.ok()) return std::string(tensor.status().message());
  std::string text = ir::ToString(tensor->dims());
  for (const float x : tensor->values<float>()) text += " " + std::to_string(int(x));
  return text;
}

TEST(ScanOutput, JoinsAlongAnyAxisInEitherOrder) {
  EXPECT_EQ(Joined(0, false), "[3,2] 1 2 3 4 5 6");
  EXPECT_EQ(Joined(-2, true), "[3,2] 5 6 3 4 1 2");
  EXPECT_EQ(Joined(1, false), "[2,3] 1 3 5 2 4 6");
  EXPECT_EQ(Joined(-1, true), "[2,3] 5 3 1 6 4 2");
  EXPECT_EQ(Joined(2, false), "axis 2 is outside of a scan output of rank 2");
}

TEST(ScanOutput, IsBoundedTogetherWithOthersOfItsLoop) {
  ScanOutput output(0, false);
  size_t total = kMaxDynamicBytes - 15;
  EXPECT_EQ(output.Add(Pair(1, 2).view(), &total).message(), "");
  EXPECT_EQ(output.Add(Pair(1, 2).view(), &total).message(),
            "the scan outputs of 1 iterations and one more would take more than 4 GiB");
}

TEST(ScanOutput, OfNoIterationsHasTheTypeThatIsKnown) {
  ir::IrContext context;
  const ScanOutput output(0, false);
  const auto tensor = output.Finish(context.TensorType(ir::DataType::kI64, {2, ir::kUnknownDim}));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->dtype(), ir::DataType::kI64);
  EXPECT_EQ(tensor->dims(), (ir::Shape{0, 2, 0}));
  EXPECT_EQ(output.Finish({}).status().message(),
            "a loop that does not run once has a scan output of unknown type");
}

TEST(ReadCondition, IsOneBool) {
  EXPECT_EQ(ReadCondition(Pair(1, 2).view()).status().message(),
            "the condition is f32[2], expected one bool");
  Tensor flag(ir::DataType::kBool, {1});
  EXPECT_FALSE(*ReadCondition(flag.view()));
  flag.view().data[0] = std::byte{1};
  EXPECT_TRUE(*ReadCondition(flag.view()));
}

}  // namespace
}  // namespace weft::kernels::reference
