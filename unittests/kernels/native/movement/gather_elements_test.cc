// GatherElements against the reference: every axis, element size and index type.
#include <numeric>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

template <class T>
Tensor Iota(DataType dtype, ir::Shape dims) {
  Tensor x = *Tensor::Create(dtype, std::move(dims));
  std::iota(x.values<T>().begin(), x.values<T>().end(), T(0));
  return x;
}

// In [-extent, extent), all of it.
template <class Index>
Tensor Indices(DataType dtype, ir::Shape dims, int64_t extent) {
  Tensor x = *Tensor::Create(dtype, std::move(dims));
  uint64_t state = 1;
  for (Index& index : x.values<Index>()) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    index = static_cast<Index>(static_cast<int64_t>(state >> 33) % (2 * extent) - extent);
  }
  return x;
}

struct Case {
  ir::Shape data, indices;
  int64_t axis;
};

template <class T, class Index>
void ExpectGathers(DataType dtype, DataType index) {
  SCOPED_TRACE(std::string(ir::DataTypeName(dtype)) + " by " +
               std::string(ir::DataTypeName(index)));
  for (const Case& c :
       {Case{{9}, {30}, 0}, Case{{5, 7}, {5, 7}, 1}, Case{{5, 7}, {3, 20}, -1},
        Case{{5, 7}, {20, 7}, 0}, Case{{5, 7}, {20, 3}, 0}, Case{{4, 5, 6}, {4, 11, 6}, 1},
        Case{{4, 5, 6}, {2, 11, 3}, -2}, Case{{4, 1, 6}, {2, 1, 3}, 1}, Case{{1, 1}, {1, 9}, 1},
        Case{{64, 900}, {64, 1100}, 1}, Case{{900, 64}, {1100, 64}, 0}}) {
    SCOPED_TRACE(ir::ToString(c.data) + " by " + ir::ToString(c.indices));
    const auto axis = static_cast<size_t>(ir::NormalAxis(c.axis, c.data.size()));
    Agreement<ops::GatherElements>(
        {Iota<T>(dtype, c.data), Indices<Index>(index, c.indices, c.data[axis])}, {.axis = c.axis},
        {{dtype, c.indices}})
        .Of("native", 0);
  }
}

TEST(NativeGatherElements, AgreesWithTheReferenceAlongEveryAxis) {
  ExpectGathers<uint8_t, int64_t>(DataType::kU8, DataType::kI64);
  ExpectGathers<int16_t, int64_t>(DataType::kI16, DataType::kI64);
  ExpectGathers<float, int64_t>(DataType::kF32, DataType::kI64);
  ExpectGathers<float, int32_t>(DataType::kF32, DataType::kI32);
  ExpectGathers<int64_t, int64_t>(DataType::kI64, DataType::kI64);
}

// Two in parts that several threads have.
TEST(NativeGatherElements, NamesTheFirstIndexOutOfRange) {
  for (const int64_t bad : {int64_t{40}, int64_t{-41}, std::numeric_limits<int64_t>::min(),
                            std::numeric_limits<int64_t>::max()}) {
    for (const std::string provider : {"native", "reference"}) {
      for (const int threads : {1, 2}) {
        Tensor indices = Indices<int64_t>(DataType::kI64, {200, 1000}, 40);
        indices.values<int64_t>()[70001] = bad;
        indices.values<int64_t>()[150000] = 999;
        const auto result = TryRunOp<ops::GatherElements>(
            {Random({200, 40}, 1), std::move(indices)}, {.axis = 1}, {FloatResult({200, 1000})},
            {.provider = provider, .threads = threads});
        EXPECT_EQ(result.status().message(), "onnx.GatherElements: index " + std::to_string(bad) +
                                                 " is out of range for an axis of size 40");
      }
    }
  }
}

}  // namespace
}  // namespace weft::kernels
