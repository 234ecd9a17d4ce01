// OneHot against the reference: places of the axis, indices of each type, some of which are nowhere.
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

template <class T>
Tensor Indices(DataType dtype, ir::Shape dims, int64_t depth) {
  Tensor x = *Tensor::Create(dtype, std::move(dims));
  int64_t next = -depth - 2;
  for (T& index : x.values<T>()) {
    index = static_cast<T>(next);
    if (++next > depth + 1) next = -depth - 2;
  }
  return x;
}

template <class T>
Tensor OffAndOn(DataType dtype) {
  Tensor values = *Tensor::Create(dtype, {2});
  values.values<T>()[0] = T(3);
  values.values<T>()[1] = T(7);
  return values;
}

template <class T, class Index>
void Expect(DataType dtype, DataType index_dtype) {
  SCOPED_TRACE(std::string(ir::DataTypeName(dtype)) + " by " +
               std::string(ir::DataTypeName(index_dtype)));
  struct Case {
    ir::Shape indices;
    int64_t axis, depth;
  };
  for (const Case& c : {Case{{5}, -1, 4}, Case{{3, 7}, 1, 5}, Case{{3, 7}, 0, 1},
                        Case{{2, 40, 50}, 1, 21}, Case{{2, 40, 50}, -1, 9}}) {
    const int64_t axis = ir::NormalAxis(c.axis, c.indices.size() + 1);
    ir::Shape y = c.indices;
    y.insert(y.begin() + axis, c.depth);
    SCOPED_TRACE(ir::ToString(y));
    Agreement<ops::OneHot>({Indices<Index>(index_dtype, c.indices, c.depth),
                            Constant(I64({}, {c.depth})), OffAndOn<T>(dtype)},
                           {.axis = c.axis}, {{dtype, y}})
        .Of("native", 0);
  }
}

TEST(NativeOneHot, AgreesWithTheReference) {
  Expect<float, int64_t>(DataType::kF32, DataType::kI64);
  Expect<float, int32_t>(DataType::kF32, DataType::kI32);
  Expect<float, float>(DataType::kF32, DataType::kF32);
  Expect<uint8_t, int64_t>(DataType::kU8, DataType::kI64);
  Expect<int16_t, int64_t>(DataType::kI16, DataType::kI64);
  Expect<double, int64_t>(DataType::kF64, DataType::kI64);
}

TEST(NativeOneHot, DropsFractionsAndLeavesOutWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  Agreement<ops::OneHot>(
      {MakeTensor<float>(DataType::kF32, {7}, {0.9f, -0.9f, 1.5f, -1.5f, nan, infinity, -4}),
       Constant(I64({}, {4})), OffAndOn<float>(DataType::kF32)},
      {}, {FloatResult({7, 4})})
      .Of("native", 0);
}

TEST(NativeOneHot, RefusesAnotherDepthThanThatOfTheResult) {
  const auto result =
      TryRunOp<ops::OneHot>({I64({2}, {0, 1}), I64({}, {5}), OffAndOn<float>(DataType::kF32)}, {},
                            {FloatResult({2, 4})}, {.provider = "native"});
  EXPECT_FALSE(result.ok());
}

}  // namespace
}  // namespace weft::kernels
