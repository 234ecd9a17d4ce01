// onnx.DepthToSpace and SpaceToDepth: the native kernels against the reference.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

TEST(NativeDepthToSpace, AgreesWithTheReference) {
  for (const ops::DepthOrder mode : {ops::DepthOrder::kDcr, ops::DepthOrder::kCrd})
    for (const DataType dtype : {DataType::kF32, DataType::kU8, DataType::kF16})
      Agreement<ops::DepthToSpace>({*RandomTensor(dtype, {2, 18, 5, 7}, 1, 100)},
                                   {.blocksize = 3, .mode = mode}, {{dtype, {2, 2, 15, 21}}})
          .Of("native", 0);
}

TEST(NativeSpaceToDepth, AgreesWithTheReference) {
  for (const DataType dtype : {DataType::kF32, DataType::kI64})
    Agreement<ops::SpaceToDepth>({*RandomTensor(dtype, {2, 3, 8, 12}, 1, 100)}, {.blocksize = 4},
                                 {{dtype, {2, 48, 2, 3}}})
        .Of("native", 0);
}

}  // namespace
}  // namespace weft::kernels
