// The reference bodies of the litert dialect.
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

namespace litert = ir::litert;
using F = std::vector<float>;
using Bytes = std::vector<int8_t>;

Tensor I8(ir::Shape dims, const Bytes& values) {
  return MakeTensor(DataType::kI8, std::move(dims), values);
}

TEST(ReferenceLitert, MatMulExchangesDimensions) {
  const F x = {1, 2, 3, 4, 5, 6}, y = {1, 0, 2, -1, 3, 1};
  EXPECT_EQ(ValuesOf<float>(RunOp<litert::MatMul>({F32({2, 3}, x), F32({2, 3}, y)}, {.adj_y = true},
                                                  {DataType::kF32, {2, 2}})),
            (F{7, 8, 16, 17}));
  EXPECT_EQ(ValuesOf<float>(RunOp<litert::MatMul>({F32({3, 2}, x), F32({2, 3}, y)},
                                                  {.adj_x = true, .adj_y = true},
                                                  {DataType::kF32, {2, 2}})),
            (F{11, 13, 14, 16}));
}

// (1 * 2 + 3 * 4) * 0.5 * 2 = 14, in steps of 4 from -1.
TEST(ReferenceLitert, MatMulQuantisesItsResult) {
  EXPECT_EQ(ValuesOf<int8_t>(RunOp<litert::MatMul>({I8({1, 2}, {2, 4}), I8({2, 1}, {0, 2})},
                                                   {.out_scale = 4.0f,
                                                    .out_zero_point = -1,
                                                    .x_scale = 0.5f,
                                                    .x_zero_point = 1,
                                                    .y_scale = 2.0f,
                                                    .y_zero_point = -2},
                                                   {DataType::kI8, {1, 1}})),
            (Bytes{3}));
}

TEST(ReferenceLitert, ConvertRoundsHalvesUpAndSaturates) {
  EXPECT_EQ(
      ValuesOf<int8_t>(RunOp<litert::Convert>(
          {F32({7}, {0.24f, 0.25f, 0.75f, -0.25f, -0.26f, 1e9f, -1e9f})},
          {.to = DataType::kI8, .to_scale = 0.5f, .to_zero_point = 10}, {DataType::kI8, {7}})),
      (Bytes{10, 11, 12, 10, 9, 127, -128}));
}

TEST(ReferenceLitert, ConvertDequantisesAndRequantises) {
  EXPECT_EQ(
      ValuesOf<float>(RunOp<litert::Convert>(
          {I8({2}, {-128, 4})}, {.from_scale = 0.5f, .from_zero_point = 2, .to = DataType::kF32},
          {DataType::kF32, {2}})),
      (F{-65, 1}));
  EXPECT_EQ(ValuesOf<int16_t>(RunOp<litert::Convert>({I8({2}, {-128, 4})},
                                                     {.from_scale = 0.5f,
                                                      .from_zero_point = 2,
                                                      .to = DataType::kI16,
                                                      .to_scale = 0.25f,
                                                      .to_zero_point = 1},
                                                     {DataType::kI16, {2}})),
            (std::vector<int16_t>{-259, 5}));
}

TEST(ReferenceLitert, SelectTakesWhatDiffers) {
  const Tensor differs =
      RunOp<litert::NotEqual>({F32({3}, {0, 1, -2}), F32({}, {0})}, {}, {DataType::kBool, {3}});
  EXPECT_EQ(ValuesOf<uint8_t>(differs), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(
      ValuesOf<float>(RunOp<litert::Select>(
          {Bool({3}, {0, 1, 1}), F32({3}, {5, 6, 7}), F32({}, {-9})}, {}, {DataType::kF32, {3}})),
      (F{-9, 6, 7}));
}

TEST(ReferenceLitert, StridedSliceCountsFromTheEnd) {
  EXPECT_EQ(ValuesOf<float>(RunOp<litert::StridedSlice>(
                {F32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                {.begin = {1, -3}, .end = {9, 4}, .strides = {1, 2}}, {DataType::kF32, {1, 2}})),
            (F{6, 8}));
}

TEST(ReferenceLitert, UnpackTakesApartWhatPackStacks) {
  const Tensor packed = RunOp<litert::Pack>({F32({2, 2}, {1, 2, 3, 4}), F32({2, 2}, {5, 6, 7, 8})},
                                            {.axis = 1}, {DataType::kF32, {2, 2, 2}});
  EXPECT_EQ(ValuesOf<float>(packed), (F{1, 2, 5, 6, 3, 4, 7, 8}));
  const auto parts =
      TryRunOp<litert::Unpack>({F32({2, 2, 2}, ValuesOf<float>(packed))}, {.axis = -2},
                               {{DataType::kF32, {2, 2}}, {DataType::kF32, {2, 2}}});
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(ValuesOf<float>((*parts)[0]), (F{1, 2, 3, 4}));
  EXPECT_EQ(ValuesOf<float>((*parts)[1]), (F{5, 6, 7, 8}));
}

}  // namespace
}  // namespace weft::kernels
