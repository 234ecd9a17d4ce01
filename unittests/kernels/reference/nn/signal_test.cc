// The reference kernels of Fourier transforms and windows.
#include "ir/dialects/onnx/nn/signal.h"

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;

TEST(ReferenceDft, TransformsBothWays) {
  const Operand x = F32({1, 4, 1}, {1, 2, 3, 4});
  ExpectNear(RunOp<ops::DFT>({x}, {}, {DataType::kF32, {1, 4, 2}}),
             F32({1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2}));
  ExpectNear(RunOp<ops::DFT>({x}, {.onesided = 1}, {DataType::kF32, {1, 3, 2}}),
             F32({1, 3, 2}, {10, 0, -2, 2, -2, 0}));
  ExpectNear(RunOp<ops::DFT>({F32({1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2})}, {.inverse = 1},
                             {DataType::kF32, {1, 4, 2}}),
             F32({1, 4, 2}, {1, 0, 2, 0, 3, 0, 4, 0}));
  ExpectNear(RunOp<ops::DFT>({F32({1, 3, 2}, {10, 0, -2, 2, -2, 0})}, {.inverse = 1, .onesided = 1},
                             {DataType::kF32, {1, 4, 1}}),
             F32({1, 4, 1}, {1, 2, 3, 4}));
}

TEST(ReferenceDft, CutsOrExtendsAlongItsAxis) {
  const Operand x = F32({2, 2, 1}, {1, 2, 3, 4});
  ExpectNear(RunOp<ops::DFT>({x, Constant(I64({}, {1})), Constant(I64({}, {0}))}, {},
                             {DataType::kF32, {1, 2, 2}}),
             F32({1, 2, 2}, {1, 0, 2, 0}));
  ExpectNear(RunOp<ops::DFT>({x, Constant(I64({}, {4})), Constant(I64({}, {-2}))}, {},
                             {DataType::kF32, {2, 4, 2}}),
             F32({2, 4, 2}, {3, 0, 1, -2, -1, 0, 1, 2, 7, 0, 3, -4, -1, 0, 3, 4}));
}

TEST(ReferenceStft, TransformsWindowedPieces) {
  const Tensor y =
      RunOp<ops::STFT>({F32({1, 4, 1}, {1, 2, 3, 4}), Constant(I64({}, {2})), F32({2}, {1, 10})},
                       {}, {DataType::kF32, {1, 2, 2, 2}});
  ExpectNear(y, F32({1, 2, 2, 2}, {21, 0, -19, 0, 43, 0, -37, 0}));
}

TEST(ReferenceMelWeightMatrix, MakesTriangles) {
  const auto matrix = [](float upper) {
    return TryRunOp<ops::MelWeightMatrix>(
        {Constant(I64({}, {2})), Constant(I64({}, {16})), Constant(I64({}, {1600})),
         Constant(F32({}, {0})), Constant(F32({}, {upper}))},
        {}, {{DataType::kF32, {9, 2}}});
  };
  const auto y = matrix(800);
  ASSERT_TRUE(y.ok()) << y.status();
  // Quarters of the mel scale begin at 0, 1.6, 3.5 and 5.7 of the bins.
  ExpectNear((*y)[0], F32({9, 2}, {0, 0, 1, 0, 0.5, 0.5, 0, 1, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matrix(1e6).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ReferenceWindows, AreSumsOfCosines) {
  const Operand four = Constant(I64({}, {4})), five = Constant(I64({}, {5}));
  ExpectNear(RunOp<ops::HannWindow>({four}, {}, {DataType::kF32, {4}}), F32({4}, {0, 0.5, 1, 0.5}));
  ExpectNear(RunOp<ops::HannWindow>({five}, {.periodic = 0}, {DataType::kF32, {5}}),
             F32({5}, {0, 0.5, 1, 0.5, 0}));
  ExpectNear(RunOp<ops::HammingWindow>({four}, {}, {DataType::kF32, {4}}),
             F32({4}, {4.0f / 46, 25.0f / 46, 1, 25.0f / 46}));
  ExpectNear(RunOp<ops::BlackmanWindow>({four}, {}, {DataType::kF32, {4}}),
             F32({4}, {0, 0.34f, 1, 0.34f}));
}

}  // namespace
}  // namespace weft::kernels
