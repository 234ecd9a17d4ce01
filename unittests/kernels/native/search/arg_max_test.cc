// Where the largest and smallest elements along an axis are: as the reference kernel says.
#include "unittests/kernels/native/search/same_results.h"

namespace weft::kernels {
namespace {

template <class O>
void ExpectSearch(const Tensor& x, int64_t axis) {
  for (const int64_t select_last_index : {0, 1}) {
    SCOPED_TRACE(ir::ToString(x.dims()) + ", axis " + std::to_string(axis) +
                 ", select_last_index " + std::to_string(select_last_index));
    ir::Shape dims = x.dims();
    dims[ir::NormalAxis(axis, dims.size())] = 1;
    Tensor copy = *Tensor::Create(x.dtype(), x.dims());
    CopyElements(x.view(), copy.view());
    ExpectSameAsReference<O>({std::move(copy)},
                             {.axis = axis, .select_last_index = select_last_index},
                             {{DataType::kI64, dims}});
  }
}
void ExpectSearches(const Tensor& x, int64_t axis) {
  ExpectSearch<ops::ArgMax>(x, axis);
  ExpectSearch<ops::ArgMin>(x, axis);
}

TEST(NativeArgMax, IsThatOfTheReference) {
  for (const int64_t n : {1, 2, 15, 16, 63, 64, 65, 1000, 1024, 1025, 5000})
    ExpectSearches(Random({5, n}, 1), -1);
  ExpectSearches(Random({2, 21, 3000}, 2), 1);
  for (const int64_t inner : {2, 7, 16, 33, 1024, 1025})
    ExpectSearches(Random({3, 20, inner}, 3), 1);
  ExpectSearches(Random({40, 3, 5}, 4), 0);
}

TEST(NativeArgMax, OfEqualElementsTakesTheFirstOrTheLast) {
  for (const DataType dtype : {DataType::kF32, DataType::kF64, DataType::kI8, DataType::kU8,
                               DataType::kI32, DataType::kI64}) {
    ExpectSearches(WithTies(dtype, {4, 2500}, 5), 1);
    ExpectSearches(WithTies(dtype, {40, 2, 70}, 6), 0);
    ExpectSearches(WithTies(dtype, {3, 9, 1100}, 7), -2);
  }
}

TEST(NativeArgMax, FindsNanWhereverItIs) {
  for (const size_t at : {0, 1, 900, 1023, 1024, 2200}) {
    for (const float value : {NAN, -NAN, INFINITY, -INFINITY}) {
      Tensor x = Random({2, 2201}, 8);
      x.values<float>()[at] = value;
      x.values<float>()[at / 2] = value;
      ExpectSearches(x, 1);
      ExpectSearches(x, 0);
    }
  }
}

TEST(NativeArgMax, OfRowsThatAreAllTheSame) {
  for (const float value : {0.0f, -INFINITY, INFINITY, NAN})
    ExpectSearches(F32({2, 1500}, std::vector<float>(3000, value)), 1);
  std::vector<float> zeros(3000, 0.0f);
  for (size_t i = 0; i < zeros.size(); i += 2) zeros[i] = -0.0f;
  ExpectSearches(F32({2, 1500}, zeros), 1);
  ExpectSearches(I64({1, 3}, {INT64_MIN, INT64_MIN, INT64_MIN}), 1);
  ExpectSearches(I32({1, 3}, {INT32_MAX, INT32_MIN, INT32_MAX}), 1);
}

TEST(NativeArgMax, LeavesOtherTypesToTheReference) {
  const OpProgram program = OpProgram::Make<ops::ArgMax>({*Tensor::Create(DataType::kU16, {3, 4})},
                                                         {.axis = 1}, {{DataType::kI64, {3, 1}}});
  EXPECT_EQ(program.ProviderOf({.provider = "native"}), "reference");
}

TEST(NativeHardmax, IsThatOfTheReference) {
  const auto expect = [](Tensor x, int64_t axis) {
    const ir::Shape dims = x.dims();
    ExpectSameAsReference<ops::Hardmax>({std::move(x)}, {.axis = axis}, {{DataType::kF32, dims}});
  };
  expect(Random({7, 1500}, 9), -1);
  expect(WithTies(DataType::kF32, {7, 1500}, 10), 1);
  expect(WithTies(DataType::kF32, {3, 20, 33}, 11), 1);
  expect(WithTies(DataType::kF32, {40, 5}, 12), 0);
}

}  // namespace
}  // namespace weft::kernels
