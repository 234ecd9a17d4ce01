// Attention, against the reference.
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

TEST(NativeAttention, WorksInBothLayoutsWithAndWithoutMasks) {
  for (const auto layout : {fused::AttentionLayout::kBhsd, fused::AttentionLayout::kBshd}) {
    const bool bshd = layout == fused::AttentionLayout::kBshd;
    const auto shape = [&](int64_t rows, int64_t columns) {
      return bshd ? ir::Shape{2, rows, 3, columns} : ir::Shape{2, 3, rows, columns};
    };
    std::vector<Operand> masks = {{},
                                  RandomIn({2, 1, 1, 37}, 4, -3, 3),
                                  RandomIn({19, 37}, 4, -3, 3),
                                  RandomIn({2, 3, 19, 37}, 4, -3, 3)};
    for (Operand& mask : masks) {
      Agreement<fused::Attention>(
          {Random(shape(19, 24), 1), Random(shape(37, 24), 2), Random(shape(37, 40), 3), mask},
          {.scale = 0.2f, .layout = layout}, {FloatResult(shape(19, 40))})
          .Of("native");
    }
  }
}

TEST(NativeAttention, KeepsSomeScoresAndAddsAMaskToAll) {
  const auto keep = [](ir::Shape dims) {
    return *RandomTensor(DataType::kBool, std::move(dims), 5, 0);
  };
  for (const ir::Shape& dims :
       {ir::Shape{19, 37}, ir::Shape{2, 3, 19, 37}, ir::Shape{2, 1, 1, 37}, ir::Shape{3, 19, 1}}) {
    std::vector<Operand> masks = {{}, RandomIn({2, 1, 1, 37}, 4, -3, 3)};
    for (Operand& mask : masks) {
      Agreement<fused::Attention>({Random({2, 3, 19, 24}, 1), Random({2, 3, 37, 24}, 2),
                                   Random({2, 3, 37, 40}, 3), mask, keep(dims)},
                                  {.scale = 0.2f, .fill = -1.5f}, {FloatResult({2, 3, 19, 40})})
          .Of("native");
    }
  }
}

TEST(NativeAttention, GivesZerosForQueriesWithoutWeightsIfAsked) {
  Tensor keep = *RandomTensor(DataType::kBool, {19, 37}, 5, 0);
  for (int64_t i = 4 * 37; i < 6 * 37; ++i) keep.values<uint8_t>()[i] = 0;
  Tensor q = Random({2, 3, 19, 24}, 1);
  q.values<float>()[7 * 24] = std::numeric_limits<float>::quiet_NaN();
  Agreement<fused::Attention>(
      {std::move(q), Random({2, 3, 37, 24}, 2), Random({2, 3, 37, 40}, 3), {}, std::move(keep)},
      {.scale = 0.2f, .fill = -std::numeric_limits<float>::infinity(), .zero_nan = true},
      {FloatResult({2, 3, 19, 40})})
      .Of("native");
}

TEST(NativeAttention, SharesHeadsOfKeysAndValues) {
  for (const bool bshd : {false, true}) {
    const auto shape = [&](int64_t heads, int64_t rows) {
      return bshd ? ir::Shape{2, rows, heads, 16} : ir::Shape{2, heads, rows, 16};
    };
    Agreement<fused::Attention>(
        {Random(shape(6, 5), 1), Random(shape(2, 9), 2), Random(shape(2, 9), 3),
         RandomIn({6, 5, 9}, 4, -3, 3)},
        {.scale = 0.2f,
         .layout = bshd ? fused::AttentionLayout::kBshd : fused::AttentionLayout::kBhsd},
        {FloatResult(shape(6, 5))})
        .Of("native");
  }
}

}  // namespace
}  // namespace weft::kernels
