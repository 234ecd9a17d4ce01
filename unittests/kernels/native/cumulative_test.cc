// CumSum against the reference: equal in every element.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

template <class T>
void ExpectSums(DataType dtype) {
  SCOPED_TRACE(ir::DataTypeName(dtype));
  for (const ir::Shape& dims :
       {ir::Shape{7}, ir::Shape{3, 37}, ir::Shape{2, 300, 97}, ir::Shape{2, 9, 1, 600}}) {
    for (int64_t axis = -1; axis < static_cast<int64_t>(dims.size()); ++axis) {
      for (const int64_t mode : {0, 1, 2, 3}) {
        Tensor x = *Tensor::Create(dtype, dims);
        uint64_t state = 1;
        for (T& value : x.values<T>()) {
          state = state * 6364136223846793005u + 1442695040888963407u;
          const auto number = static_cast<int64_t>(state);
          value = std::is_integral_v<T> ? static_cast<T>(number)
                                        : static_cast<T>(static_cast<double>(number) * 0x1p-62);
        }
        Agreement<ops::CumSum>({std::move(x), I64({}, {axis})},
                               {.exclusive = mode & 1, .reverse = mode >> 1}, {{dtype, dims}})
            .Of("native", 0);
      }
    }
  }
}

TEST(NativeCumSum, AgreesWithTheReferenceAlongEveryAxis) {
  ExpectSums<float>(DataType::kF32);
  ExpectSums<double>(DataType::kF64);
  ExpectSums<int32_t>(DataType::kI32);  // which wrap
  ExpectSums<int64_t>(DataType::kI64);
}

TEST(NativeCumSum, RefusesAnAxisOutOfRangeAsTheReferenceDoes) {
  for (const std::string provider : {"native", "reference"}) {
    const auto result = TryRunOp<ops::CumSum>({Random({3, 4}, 1), I64({}, {2})}, {},
                                              {FloatResult({3, 4})}, {.provider = provider});
    EXPECT_EQ(result.status().message(), "onnx.CumSum: axis 2 is out of range for rank 2");
  }
}

}  // namespace
}  // namespace weft::kernels
