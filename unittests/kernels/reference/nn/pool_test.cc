// The reference kernels of pools against numbers worked out by hand.
#include "ir/dialects/onnx/nn/pool.h"

#include <cmath>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;

TEST(ReferenceMaxPool, SaysWhereTheLargestNumbersAre) {
  const auto pool = [](int64_t storage_order) {
    const auto results =
        TryRunOp<ops::MaxPool>({F32({1, 2, 2, 3}, {1, 9, 2, 3, 4, 8, 5, 5, 5, 7, 6, 5})},
                               {.kernel_shape = {2, 2}, .storage_order = storage_order},
                               {{DataType::kF32, {1, 2, 1, 2}}, {DataType::kI64, {1, 2, 1, 2}}});
    EXPECT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{9, 9, 7, 6}));
    return ValuesOf<int64_t>((*results)[1]);
  };
  EXPECT_EQ(pool(0), (std::vector<int64_t>{1, 1, 9, 10}));
  EXPECT_EQ(pool(1), (std::vector<int64_t>{2, 2, 7, 9}));
}

TEST(ReferenceAveragePool, DilationsSkipElements) {
  const auto pool = [](int64_t count_include_pad) {
    return ValuesOf<float>(RunOp<ops::AveragePool>({F32({1, 1, 4}, {1, 2, 4, 8})},
                                                   {.count_include_pad = count_include_pad,
                                                    .dilations = {2},
                                                    .kernel_shape = {2},
                                                    .pads = {1, 1}},
                                                   {DataType::kF32, {1, 1, 4}}));
  };
  EXPECT_EQ(pool(0), (F{2, 2.5, 5, 4}));
  EXPECT_EQ(pool(1), (F{1, 2.5, 5, 2}));
}

TEST(ReferenceLpPool, TakesNormsOfWindows) {
  const auto pool = [](int64_t p) {
    return ValuesOf<float>(RunOp<ops::LpPool>(
        {F32({1, 1, 3}, {3, -4, 0})}, {.kernel_shape = {2}, .p = p}, {DataType::kF32, {1, 1, 2}}));
  };
  EXPECT_EQ(pool(1), (F{7, 4}));
  EXPECT_EQ(pool(2), (F{5, 4}));
}

TEST(ReferenceGlobalPools, FoldWholeChannels) {
  const Operand x = F32({1, 2, 2}, {3, -4, NAN, -1});
  const Operand numbers = F32({1, 2, 2}, {3, -4, 6, 8});
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::GlobalMaxPool>({x}, {}, {DataType::kF32, {1, 2, 1}})),
            (F{3, -1}));
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::GlobalLpPool>({numbers}, {}, {DataType::kF32, {1, 2, 1}})),
            (F{5, 10}));
}

TEST(ReferenceMaxUnpool, PutsNumbersBack) {
  const auto unpool = [](std::vector<int64_t> at, Operand shape, int64_t size) {
    return TryRunOp<ops::MaxUnpool>({F32({1, 1, 2}, {5, 7}), I64({1, 1, 2}, at), shape},
                                    {.kernel_shape = {2}, .strides = {2}},
                                    {{DataType::kF32, {1, 1, size}}});
  };
  EXPECT_EQ(ValuesOf<float>((*unpool({1, 2}, {}, 4))[0]), (F{0, 5, 7, 0}));
  EXPECT_EQ(ValuesOf<float>((*unpool({1, 2}, Constant(I64({3}, {1, 1, 5})), 5))[0]),
            (F{0, 5, 7, 0, 0}));
  EXPECT_EQ(unpool({1, 4}, {}, 4).status().message(), "onnx.MaxUnpool: index 4 of 4 elements");
}

}  // namespace
}  // namespace weft::kernels
