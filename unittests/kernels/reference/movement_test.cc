// The reference kernels that move elements, on elements of several sizes.
#include <numeric>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using Ints = ir::Ints;
using I = std::vector<int64_t>;

// 0, 1, 2, ...
Tensor Iota(ir::Shape dims) {
  Tensor x = *Tensor::Create(DataType::kI64, std::move(dims));
  std::iota(x.values<int64_t>().begin(), x.values<int64_t>().end(), 0);
  return x;
}
template <class O>
I Move(std::vector<Operand> operands, ir::Shape dims,
       const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  return ValuesOf<int64_t>(RunOp<O>(std::move(operands), attrs, {DataType::kI64, std::move(dims)}));
}

TEST(ReferenceTranspose, PermutesAndReversesByDefault) {
  EXPECT_EQ(Move<ops::Transpose>({Iota({2, 1, 3})}, {3, 2, 1}, {.perm = Ints{2, 0, 1}}),
            (I{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Move<ops::Transpose>({Iota({2, 3})}, {3, 2}), (I{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(ValuesOf<uint8_t>(
                RunOp<ops::Transpose>({Bool({2, 2}, {1, 1, 0, 0})}, {}, {DataType::kBool, {2, 2}})),
            (std::vector<uint8_t>{1, 0, 1, 0}));
}

TEST(ReferenceConcat, JoinsAlongAnyAxis) {
  EXPECT_EQ(
      Move<ops::Concat>({I64({2, 1}, {1, 2}), I64({2, 2}, {3, 4, 5, 6})}, {2, 3}, {.axis = 1}),
      (I{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(Move<ops::Concat>({I64({1, 2}, {1, 2}), I64({0, 2}, {}), I64({1, 2}, {3, 4})}, {2, 2},
                              {.axis = -2}),
            (I{1, 2, 3, 4}));
}

TEST(ReferenceSplit, CutsIntoUnequalParts) {
  const auto parts = TryRunOp<ops::Split>({Iota({2, 3}), Constant(I64({2}, {1, 2}))}, {.axis = 1},
                                          {{DataType::kI64, {2, 1}}, {DataType::kI64, {2, 2}}});
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(ValuesOf<int64_t>((*parts)[0]), (I{0, 3}));
  EXPECT_EQ(ValuesOf<int64_t>((*parts)[1]), (I{1, 2, 4, 5}));
}

TEST(ReferenceSlice, StepsForwardsBackwardsAndClampsItsBounds) {
  const auto slice = [](Tensor x, I starts, I ends, I axes, I steps, ir::Shape dims) {
    const auto n = static_cast<int64_t>(starts.size());
    return Move<ops::Slice>({std::move(x), Constant(I64({n}, starts)), Constant(I64({n}, ends)),
                             Constant(I64({n}, axes)), Constant(I64({n}, steps))},
                            std::move(dims));
  };
  EXPECT_EQ(slice(Iota({2, 4}), {1}, {4}, {1}, {2}, {2, 2}), (I{1, 3, 5, 7}));
  EXPECT_EQ(slice(Iota({5}), {-1}, {-1000}, {0}, {-2}, {3}), (I{4, 2, 0}));
  EXPECT_EQ(slice(Iota({5}), {-7}, {-1000}, {0}, {-1}, {1}), (I{0}));
  EXPECT_EQ(slice(Iota({3, 3}), {-2, 0}, {1000, 1}, {-2, 1}, {1, 1}, {2, 1}), (I{3, 6}));
}

TEST(ReferenceSlice, RefusesToReadOutsideTheOperand) {
  // The stated result needs elements 3 and 4 of 4: only known when it runs.
  const auto result =
      TryRunOp<ops::Slice>({Iota({4}), I64({1}, {3}), I64({1}, {4})}, {}, {{DataType::kI64, {2}}});
  EXPECT_FALSE(result.ok());
}

TEST(ReferenceGather, TakesNegativeIndicesAndRefusesThoseOutOfRange) {
  EXPECT_EQ(Move<ops::Gather>({Iota({2, 3}), I64({2, 2}, {2, 0, -1, -3})}, {2, 2, 2}, {.axis = 1}),
            (I{2, 0, 2, 0, 5, 3, 5, 3}));
  EXPECT_EQ(Move<ops::Gather>({Iota({3}), I32({}, {1})}, {}), (I{1}));
  for (const int64_t bad : {3, -4}) {
    const auto result =
        TryRunOp<ops::Gather>({Iota({3}), I64({1}, {bad})}, {}, {{DataType::kI64, {1}}});
    EXPECT_EQ(result.status().message(), "onnx.Gather: index " + std::to_string(bad) +
                                             " is out of range for an axis of size 3");
  }
}

TEST(ReferenceExpand, RepeatsAlongAxesOfSizeOne) {
  EXPECT_EQ(Move<ops::Expand>({I64({2, 1}, {7, 8}), Constant(I64({3}, {2, 1, 3}))}, {2, 2, 3}),
            (I{7, 7, 7, 8, 8, 8, 7, 7, 7, 8, 8, 8}));
}

TEST(ReferenceTile, RepeatsTheWhole) {
  EXPECT_EQ(Move<ops::Tile>({I64({1, 2}, {7, 8}), Constant(I64({2}, {2, 2}))}, {2, 4}),
            (I{7, 8, 7, 8, 7, 8, 7, 8}));
}

TEST(ReferencePad, FillsReflectsRepeatsAndCrops) {
  const auto pad = [](I pads, ops::PadMode mode, ir::Shape dims, Operand fill) {
    return Move<ops::Pad>({I64({3}, {1, 2, 3}), Constant(I64({2}, pads)), std::move(fill)},
                          std::move(dims), {.mode = mode});
  };
  EXPECT_EQ(pad({1, 2}, ops::PadMode::kConstant, {6}, I64({}, {9})), (I{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(pad({1, 0}, ops::PadMode::kConstant, {4}, {}), (I{0, 1, 2, 3}));
  EXPECT_EQ(pad({2, 1}, ops::PadMode::kReflect, {6}, {}), (I{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad({2, 1}, ops::PadMode::kEdge, {6}, {}), (I{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad({-1, 1}, ops::PadMode::kConstant, {3}, {}), (I{2, 3, 0}));
  EXPECT_EQ(pad({4, 2}, ops::PadMode::kWrap, {9}, {}), (I{3, 1, 2, 3, 1, 2, 3, 1, 2}));
}

TEST(ReferencePad, RepeatsNothingOnlyAlongAnAxisThatIsNotPadded) {
  const auto pad = [](const I& pads, const ir::Shape& dims) {
    return TryRunOp<ops::Pad>({I64({2, 0}, {}), Constant(I64({4}, pads))},
                              {.mode = ops::PadMode::kEdge}, {{DataType::kI64, dims}});
  };
  EXPECT_EQ(pad({1, 0, 1, 0}, {4, 0}).status().message(), "");
  EXPECT_EQ(pad({1, 1, 1, 0}, {4, 1}).status().message(),
            "onnx.Pad: nothing to repeat along an axis without elements");
}

TEST(ReferencePad, TakesAxesAtRunTime) {
  const auto pad = [](int64_t axis) {
    return TryRunOp<ops::Pad>({I64({1, 2}, {1, 2}), I64({2}, {1, 0}), {}, I64({1}, {axis})}, {},
                              {{DataType::kI64, {1, 3}}});
  };
  const auto padded = pad(-1);
  ASSERT_TRUE(padded.ok()) << padded.status();
  EXPECT_EQ(ValuesOf<int64_t>((*padded)[0]), (I{0, 1, 2}));
  EXPECT_EQ(pad(0).status().message(), "onnx.Pad: the pads do not lead to the size of the result");
  EXPECT_EQ(pad(2).status().message(), "onnx.Pad: axis 2 is out of range");
}

TEST(ReferenceViews, KeepTheElements) {
  const I elements = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(Move<ops::Reshape>({Iota({2, 3}), Constant(I64({2}, {3, -1}))}, {3, 2}), elements);
  EXPECT_EQ(Move<ops::Flatten>({Iota({1, 2, 3})}, {2, 3}, {.axis = 2}), elements);
  EXPECT_EQ(Move<ops::Squeeze>({Iota({2, 1, 3}), Constant(I64({1}, {1}))}, {2, 3}), elements);
  EXPECT_EQ(Move<ops::Unsqueeze>({Iota({2, 3}), Constant(I64({1}, {0}))}, {1, 2, 3}), elements);
  EXPECT_EQ(Move<ops::Identity>({Iota({2, 3})}, {2, 3}), elements);
  EXPECT_EQ(Move<ops::Dropout>({Iota({2, 3})}, {2, 3}), elements);
}

TEST(ReferenceDropout, OutsideTrainingGivesAMaskOfTrue) {
  const auto results = TryRunOp<ops::Dropout>({F32({2}, {1, 2})}, {},
                                              {{DataType::kF32, {2}}, {DataType::kBool, {2}}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{1, 2}));
  EXPECT_EQ(ValuesOf<uint8_t>((*results)[1]), (std::vector<uint8_t>{1, 1}));
}

TEST(ReferenceDropout, InTrainingDropsAShareAndScalesTheRest) {
  const auto train = [](float ratio, int64_t seed, bool training = true) {
    Tensor x(DataType::kF32, {1000});
    for (float& value : x.values<float>()) value = 3;
    return TryRunOp<ops::Dropout>({std::move(x), F32({}, {ratio}), Bool({}, {training})},
                                  {.seed = seed},
                                  {{DataType::kF32, {1000}}, {DataType::kBool, {1000}}});
  };
  const auto results = train(0.25f, 7);
  ASSERT_TRUE(results.ok()) << results.status();
  const F values = ValuesOf<float>((*results)[0]);
  const std::vector<uint8_t> mask = ValuesOf<uint8_t>((*results)[1]);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], mask[i] != 0 ? 4 : 0);
  EXPECT_NEAR(std::count(mask.begin(), mask.end(), 1), 750, 60);
  EXPECT_EQ(ValuesOf<float>((*train(0.25f, 7))[0]), values);
  EXPECT_NE(ValuesOf<float>((*train(0.25f, 8))[0]), values);
  EXPECT_EQ(ValuesOf<float>((*train(0, 7))[0]), F(1000, 3));
  EXPECT_EQ(ValuesOf<float>((*train(0.25f, 7, false))[0]), F(1000, 3));
  EXPECT_EQ(train(1, 7).status().message(),
            "onnx.Dropout: ratio is 1.000000 but must be from 0 to below 1");
}

TEST(ReferenceShape, IsKnownWithoutRunningAnything) {
  const OpProgram program =
      OpProgram::Make<ops::Shape>({Random({2, 3, 5}, 1)}, {.start = 1}, {{DataType::kI64, {2}}});
  const auto results = program.Run({});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<int64_t>((*results)[0]), (I{3, 5}));
  EXPECT_EQ(program.ProviderOf({}), "none");
}

TEST(ReferenceConstantOfShape, RepeatsItsValue) {
  const OpProgram program =
      OpProgram::Make<ops::ConstantOfShape>({I64({2}, {1, 2})}, {}, {{DataType::kF32, {1, 2}}});
  const auto zeros = program.Run({});
  ASSERT_TRUE(zeros.ok()) << zeros.status();
  EXPECT_EQ(ValuesOf<float>((*zeros)[0]), (F{0, 0}));
}

}  // namespace
}  // namespace weft::kernels
