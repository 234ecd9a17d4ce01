#include "kernels/packed_weights.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/context.h"

namespace weft::kernels {
namespace {

class PackedWeightsTest : public testing::Test {
 protected:
  static constexpr int64_t kSize = PackedWeights::kSmall / sizeof(float) + 1;

  ir::Type Type() { return context.TensorType(ir::DataType::kF32, {kSize}); }
  // Counts in `released`.
  ir::WeightBuffer Buffer(float value) {
    std::byte* data = nullptr;
    ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(kSize * sizeof(float), &data);
    std::fill_n(reinterpret_cast<float*>(data), kSize, value);
    buffer.release = [this, free = buffer.release] { free(), ++released; };
    return buffer;
  }
  // A packing that says when it was made.
  static int Packed(PackedWeights& weights, const std::vector<ir::Attribute>& of, int now) {
    const auto packed = weights.Get<int>(
        "numbered", of,
        [&]() -> absl::StatusOr<std::shared_ptr<int>> { return std::make_shared<int>(now); });
    return **packed;
  }

  ir::IrContext context;
  int released = 0;
  PackedWeights session;
};

TEST_F(PackedWeightsTest, KeepOutsideWhatIsMadeOfOtherConstants) {
  const ir::Attribute w = session.Adopt(Type(), Buffer(1));
  PackedWeights first(&session), second(&session);
  EXPECT_EQ(Packed(first, {w}, 1), 1);
  EXPECT_EQ(Packed(second, {w, {}}, 2), 2);
  EXPECT_EQ(Packed(second, {w}, 3), 1);
  EXPECT_EQ(session.size(), 2u);
}

TEST_F(PackedWeightsTest, LetTheirOwnConstantsGoAndWhatIsMadeOfThem) {
  const ir::Attribute w = session.Adopt(Type(), Buffer(1));
  for (int now = 1; now < 3; ++now) {
    PackedWeights plan(&session);
    const ir::Attribute own = plan.Adopt(Type(), Buffer(2));
    EXPECT_EQ(Packed(plan, {w, own}, now), now);
    const ir::Attribute row = plan.WithDims(own, ir::Shape{1, kSize});
    EXPECT_EQ(row, plan.WithDims(own, ir::Shape{1, kSize}));
    EXPECT_EQ(row.bytes().data(), own.bytes().data());
    PackedWeights inner(&plan);
    EXPECT_EQ(Packed(inner, {row}, now), now) << "may be the attribute of the round before";
    EXPECT_EQ(plan.size(), 3u);
    EXPECT_EQ(released, now - 1);
  }
  EXPECT_EQ(released, 2);
  EXPECT_EQ(session.size(), 0u);
}

TEST_F(PackedWeightsTest, DoNotTakeEqualContentsForOneConstant) {
  PackedWeights plan(&session);
  const ir::Attribute one = plan.Adopt(Type(), Buffer(1)), other = plan.Adopt(Type(), Buffer(1));
  EXPECT_FALSE(one == other);
  EXPECT_EQ(plan.bytes_adopted(), 2 * kSize * sizeof(float));
}

TEST_F(PackedWeightsTest, ReleaseWhatAProgramDoesNotHave) {
  PackedWeights plan(&session);
  const ir::Attribute used = plan.Adopt(Type(), Buffer(1));
  plan.Adopt(Type(), Buffer(2));
  ir::Program program(&context);
  ir::Builder builder(&program);
  builder.Return({{"y", builder.Constant(used)}});
  plan.KeepConstantsOf(program);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(plan.bytes_adopted(), kSize * sizeof(float));
}

}  // namespace
}  // namespace weft::kernels
