// The largest and smallest elements along an axis: the same as those of the reference kernel.
#include "ir/dialects/ascend.h"
#include "unittests/kernels/native/search/same_results.h"

namespace weft::kernels {
namespace {

void ExpectTopK(const Tensor& x, int64_t axis, int64_t k, bool largest = true, bool sorted = true) {
  SCOPED_TRACE(ir::ToString(x.dims()) + ", axis " + std::to_string(axis) + ", k " +
               std::to_string(k) + (largest ? ", largest" : ", smallest"));
  ir::Shape dims = x.dims();
  dims[ir::NormalAxis(axis, dims.size())] = k;
  Tensor copy = *Tensor::Create(x.dtype(), x.dims());
  CopyElements(x.view(), copy.view());
  ExpectSameAsReference<ops::TopK>({std::move(copy), I64({1}, {k})},
                                   {.axis = axis, .largest = largest, .sorted = sorted},
                                   {{x.dtype(), dims}, {DataType::kI64, dims}});
}

TEST(NativeTopK, IsThatOfTheReference) {
  const Tensor rows = Random({3, 5000}, 1);
  for (const int64_t k : {1, 2, 7, 24, 25, 100, 1000, 1250, 1251, 4999, 5000}) {
    ExpectTopK(rows, -1, k);
    ExpectTopK(rows, -1, k, false);
  }
}

TEST(NativeTopK, OfShortRows) {
  for (const int64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 33, 100}) {
    for (const int64_t k : {int64_t{1}, n / 4, n / 2, n}) {
      if (k < 1) continue;
      ExpectTopK(Random({7, n}, 2), 1, k, true, k % 2 == 0);
      ExpectTopK(WithTies(DataType::kF32, {7, n}, 3), 1, k, false);
    }
  }
}

TEST(NativeTopK, AlongOtherAxes) {
  for (const int64_t k : {1, 5, 30, 75}) {
    ExpectTopK(Random({2, 75, 3}, 4), 1, k);
    ExpectTopK(Random({75, 37}, 5), 0, k, false);
    ExpectTopK(WithTies(DataType::kF32, {2, 75, 2, 17}, 6), -3, k);
    ExpectTopK(WithTies(DataType::kI64, {75, 16}, 7), -2, k);
    ExpectTopK(WithTies(DataType::kI32, {75, 29}, 7), 0, k);
    ExpectTopK(WithTies(DataType::kI32, {2, 75, 16}, 7, INT32_MAX), 1, k, false);
  }
  ExpectTopK(Random({3000, 40}, 8), 0, 2000);
  ExpectTopK(Random({6000, 20}, 8), 0, 1200);
}

TEST(NativeTopK, OfManyEqualElementsTakesTheFirst) {
  for (const DataType dtype : {DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16,
                               DataType::kI8, DataType::kU8, DataType::kI16, DataType::kU16,
                               DataType::kI32, DataType::kU32, DataType::kI64, DataType::kU64}) {
    for (const int64_t k : {3, 200, 700, 1000}) {
      ExpectTopK(WithTies(dtype, {2, 1000}, 9), 1, k);
      ExpectTopK(WithTies(dtype, {2, 1000}, 10), 1, k, false);
    }
  }
}

TEST(NativeTopK, TellsNeighboursOfTheLimitsOfATypeApart) {
  const int64_t low = INT64_MIN, high = INT64_MAX;
  ExpectTopK(I64({6}, {high, low, high - 1, 0, low + 1, -1}), 0, 6);
  ExpectTopK(I32({5}, {INT32_MAX, INT32_MIN, INT32_MIN + 1, 0, INT32_MAX - 1}), 0, 5, false);
  ExpectTopK(MakeTensor<uint64_t>(DataType::kU64, {4}, {UINT64_MAX, 0, 1, UINT64_MAX - 1}), 0, 4);
  ExpectTopK(MakeTensor<uint32_t>(DataType::kU32, {4}, {UINT32_MAX, 0, 1, 1u << 31}), 0, 4, false);
  ExpectTopK(F64({4}, {1, 1 + 0x1p-52, -1, -1 - 0x1p-52}), 0, 4);
  ExpectTopK(F32({6}, {0x1p-149f, -0x1p-149f, 0, -0.0f, 0x1p-126f, -0x1p-126f}), 0, 6);
}

TEST(NativeTopK, OfRisingAndFallingRows) {
  std::vector<float> rising(9000);
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<float>(i / 3);
  for (const int64_t k : {20, 300, 3000}) {
    ExpectTopK(F32({1, 9000}, rising), 1, k);
    ExpectTopK(F32({1, 9000}, rising), 1, k, false);
  }
}

TEST(NativeTopK, OfOneLongRowThatThreadsShare) {
  for (const int64_t k : {1, 24, 50, 5000}) {
    ExpectTopK(WithTies(DataType::kF32, {1, 300001}, 11, 100000), 1, k);
    ExpectTopK(WithTies(DataType::kI64, {300001}, 12), 0, k, false);
  }
  ExpectTopK(Random({270000, 2}, 13), 0, 60);
}

TEST(NativeTopK, OfAscendCountsInI32) {
  ExpectSameAsReference<ir::ascend::TopK>({Random({4, 300}, 14), I32({1}, {9})}, {.axis = 1},
                                          {{DataType::kF32, {4, 9}}, {DataType::kI32, {4, 9}}});
}

TEST(NativeTopK, RefusesACountThatIsNotWhatTheResultHas) {
  for (const int64_t k : {-1, 0, 3}) {
    const auto result =
        TryRunOp<ops::TopK>({F32({3}, {1, 2, 3}), I64({1}, {k})}, {},
                            {{DataType::kF32, {2}}, {DataType::kI64, {2}}}, {.provider = "native"});
    EXPECT_EQ(result.status().message(),
              "onnx.TopK: k is " + std::to_string(k) + ", which is not what the result has");
  }
}

}  // namespace
}  // namespace weft::kernels
