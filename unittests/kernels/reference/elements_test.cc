// The reference kernels that move single elements: by index along an axis, by a formula, into a cache.
#include <cmath>
#include <numeric>

#include "ir/dialects/onnx/indexing.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;

template <class O>
I Move(std::vector<Operand> operands, ir::Shape dims,
       const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  return ValuesOf<int64_t>(RunOp<O>(std::move(operands), attrs, {DataType::kI64, std::move(dims)}));
}
template <class O>
std::string Error(std::vector<Operand> operands, ResultType result,
                  const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  return std::string(
      TryRunOp<O>(std::move(operands), attrs, {std::move(result)}).status().message());
}
Tensor Iota(ir::Shape dims) {
  Tensor x = *Tensor::Create(DataType::kI64, std::move(dims));
  std::iota(x.values<int64_t>().begin(), x.values<int64_t>().end(), 0);
  return x;
}

TEST(ReferenceGatherElements, TakesOneElementPerIndexAlongItsAxis) {
  EXPECT_EQ(
      Move<ops::GatherElements>({Iota({2, 3}), I64({2, 2}, {2, 0, -1, 1})}, {2, 2}, {.axis = 1}),
      (I{2, 0, 5, 4}));
  EXPECT_EQ(Move<ops::GatherElements>({Iota({3, 2}), I32({1, 2}, {2, -3})}, {1, 2}), (I{4, 1}));
  EXPECT_EQ(Error<ops::GatherElements>({Iota({3}), I64({1}, {3})}, {DataType::kI64, {1}}),
            "onnx.GatherElements: index 3 is out of range for an axis of size 3");
}

TEST(ReferenceGatherND, TakesElementsAndSlicesOfEachBatch) {
  EXPECT_EQ(Move<ops::GatherND>({Iota({2, 3}), I64({2, 2}, {0, -1, 1, 0})}, {2}), (I{2, 3}));
  EXPECT_EQ(Move<ops::GatherND>({Iota({3, 2}), I64({2, 1}, {2, 0})}, {2, 2}), (I{4, 5, 0, 1}));
  EXPECT_EQ(Move<ops::GatherND>({Iota({2, 2, 2}), I64({2, 1}, {1, 0})}, {2, 2}, {.batch_dims = 1}),
            (I{2, 3, 4, 5}));
  EXPECT_EQ(Move<ops::GatherND>({Iota({2, 2, 2}), I64({2, 3, 1}, {1, 0, 1, 0, 0, 1})}, {2, 3, 2},
                                {.batch_dims = 1}),
            (I{2, 3, 0, 1, 2, 3, 4, 5, 4, 5, 6, 7}));
  EXPECT_EQ(Error<ops::GatherND>({Iota({3, 2}), I64({1, 2}, {0, 2})}, {DataType::kI64, {1}}),
            "onnx.GatherND: index 2 is out of range for an axis of size 2");
}

I Scatter(ops::ScatterReduction reduction) {
  return Move<ops::ScatterElements>(
      {I64({2, 3}, {1, 2, 3, 4, 5, 6}), I64({1, 3}, {1, 0, -1}), I64({1, 3}, {-10, 20, 30})},
      {2, 3}, {.reduction = reduction});
}

TEST(ReferenceScatterElements, WritesAndReducesAlongItsAxis) {
  using R = ops::ScatterReduction;
  EXPECT_EQ(Scatter(R::kNone), (I{1, 20, 3, -10, 5, 30}));
  EXPECT_EQ(Scatter(R::kAdd), (I{1, 22, 3, -6, 5, 36}));
  EXPECT_EQ(Scatter(R::kMul), (I{1, 40, 3, -40, 5, 180}));
  EXPECT_EQ(Scatter(R::kMax), (I{1, 20, 3, 4, 5, 30}));
  EXPECT_EQ(Scatter(R::kMin), (I{1, 2, 3, -10, 5, 6}));
}

TEST(ReferenceScatterElements, AppliesSeveralUpdatesOfOneElementInOrder) {
  const auto reduce = [](ops::ScatterReduction reduction) {
    return Move<ops::ScatterElements>({I64({2}, {3, 5}), I64({2}, {1, 1}), I64({2}, {7, 11})}, {2},
                                      {.reduction = reduction});
  };
  EXPECT_EQ(reduce(ops::ScatterReduction::kNone), (I{3, 11}));
  EXPECT_EQ(reduce(ops::ScatterReduction::kAdd), (I{3, 23}));
}

TEST(ReferenceScatterElements, ANanIsNeitherLargerNorSmaller) {
  for (const auto reduction : {ops::ScatterReduction::kMax, ops::ScatterReduction::kMin}) {
    const F y = ValuesOf<float>(
        RunOp<ops::ScatterElements>({F32({2}, {NAN, 1}), I64({2}, {0, 1}), F32({2}, {2, NAN})},
                                    {.reduction = reduction}, {DataType::kF32, {2}}));
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << ir::EnumName(reduction);
  }
}

TEST(ReferenceScatterElements, ComparesUnsignedNumbersOfAllBits) {
  const uint64_t large = uint64_t{1} << 63;
  const auto max = RunOp<ops::ScatterElements>(
      {MakeTensor<uint64_t>(DataType::kU64, {1}, {5}), I64({1}, {0}),
       MakeTensor<uint64_t>(DataType::kU64, {1}, {large})},
      {.reduction = ops::ScatterReduction::kMax}, {DataType::kU64, {1}});
  EXPECT_EQ(ValuesOf<uint64_t>(max), std::vector<uint64_t>{large});
}

TEST(ReferenceScatterElements, RefusesAnIndexOutOfRange) {
  EXPECT_EQ(Error<ops::ScatterElements>({I64({2}, {3, 5}), I64({1}, {-3}), I64({1}, {7})},
                                        {DataType::kI64, {2}}),
            "onnx.ScatterElements: index -3 is out of range for an axis of size 2");
}

TEST(ReferenceTensorScatter, WritesEachBatchWhereItsIndexSays) {
  const auto scatter = [](Operand indices, ops::CacheMode mode) {
    return Move<ops::TensorScatter>(
        {I64({2, 3, 1}, {1, 2, 3, 4, 5, 6}), I64({2, 2, 1}, {70, 80, 90, 100}), std::move(indices)},
        {2, 3, 1}, {.mode = mode});
  };
  EXPECT_EQ(scatter({}, ops::CacheMode::kLinear), (I{70, 80, 3, 90, 100, 6}));
  EXPECT_EQ(scatter(I64({2}, {1, 0}), ops::CacheMode::kLinear), (I{1, 70, 80, 90, 100, 6}));
  EXPECT_EQ(scatter(I64({2}, {5, 1}), ops::CacheMode::kCircular), (I{80, 2, 70, 4, 90, 100}));
}

TEST(ReferenceTensorScatter, RefusesToWriteBehindTheEnd) {
  EXPECT_EQ(Error<ops::TensorScatter>({Iota({1, 3, 1}), Iota({1, 2, 1}), I64({1}, {2})},
                                      {DataType::kI64, {1, 3, 1}}),
            "onnx.TensorScatter: write index 2 is out of range for 2 rows in a cache of 3");
  EXPECT_EQ(Error<ops::TensorScatter>({Iota({1, 3, 1}), Iota({1, 2, 1}), I64({1}, {-1})},
                                      {DataType::kI64, {1, 3, 1}}),
            "onnx.TensorScatter: write index -1 is out of range for 2 rows in a cache of 3");
}

TEST(ReferenceOneHot, IsOnWhereAnIndexSays) {
  EXPECT_EQ(Move<ops::OneHot>({I64({3}, {0, -1, 3}), I64({}, {3}), I64({2}, {5, 9})}, {3, 3}),
            (I{9, 5, 5, 5, 5, 9, 5, 5, 5}));
  EXPECT_EQ(
      Move<ops::OneHot>({F32({2}, {1, 0}), F32({1}, {3}), I64({2}, {0, 1})}, {3, 2}, {.axis = 0}),
      (I{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(
      Error<ops::OneHot>({I64({1}, {0}), I64({}, {4}), I64({2}, {0, 1})}, {DataType::kI64, {1, 3}}),
      "onnx.OneHot: depth is 4.000000, which is not what the result has");
}

TEST(ReferenceTrilu, KeepsATriangleOfEachMatrix) {
  const auto triangle = [](int64_t upper, Operand k) {
    return Move<ops::Trilu>({I64({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), std::move(k)},
                            {2, 2, 3}, {.upper = upper});
  };
  EXPECT_EQ(triangle(1, {}), (I{1, 2, 3, 0, 5, 6, 7, 8, 9, 0, 11, 12}));
  EXPECT_EQ(triangle(0, {}), (I{1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0}));
  EXPECT_EQ(triangle(1, I64({}, {2})), (I{0, 0, 3, 0, 0, 0, 0, 0, 9, 0, 0, 0}));
  EXPECT_EQ(triangle(0, I64({1}, {-1})), (I{0, 0, 0, 4, 0, 0, 0, 0, 0, 10, 0, 0}));
  EXPECT_EQ(triangle(1, I64({}, {INT64_MAX})), I(12, 0));
  EXPECT_EQ(triangle(0, I64({}, {INT64_MIN})), I(12, 0));
}

TEST(ReferenceReverseSequence, ReversesTheBeginningOfEachBatch) {
  EXPECT_EQ(Move<ops::ReverseSequence>({Iota({2, 3}), I64({2}, {3, 2})}, {2, 3},
                                       {.batch_axis = 0, .time_axis = 1}),
            (I{2, 1, 0, 4, 3, 5}));
  EXPECT_EQ(Move<ops::ReverseSequence>({Iota({3, 2, 2}), I64({2}, {1, 3})}, {3, 2, 2}),
            (I{0, 1, 10, 11, 4, 5, 6, 7, 8, 9, 2, 3}));
  EXPECT_EQ(Error<ops::ReverseSequence>({Iota({3, 1}), I64({1}, {4})}, {DataType::kI64, {3, 1}}),
            "onnx.ReverseSequence: a sequence of length 4 in 3 steps");
}

TEST(ReferenceDepthToSpace, OrdersChannelsInBothWays) {
  EXPECT_EQ(Move<ops::DepthToSpace>({Iota({1, 8, 1, 2})}, {1, 2, 2, 4}, {.blocksize = 2}),
            (I{0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15}));
  EXPECT_EQ(Move<ops::DepthToSpace>({Iota({1, 8, 1, 2})}, {1, 2, 2, 4},
                                    {.blocksize = 2, .mode = ops::DepthOrder::kCrd}),
            (I{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}));
}

TEST(ReferenceSpaceToDepth, IsTheInverseOfDepthToSpace) {
  const Tensor wide = RunOp<ops::DepthToSpace>({Iota({2, 18, 2, 3})}, {.blocksize = 3},
                                               {DataType::kI64, {2, 2, 6, 9}});
  Tensor copy(DataType::kI64, {2, 2, 6, 9});
  std::copy_n(wide.values<int64_t>().data(), copy.NumElements(), copy.values<int64_t>().data());
  EXPECT_EQ(Move<ops::SpaceToDepth>({std::move(copy)}, {2, 18, 2, 3}, {.blocksize = 3}),
            ValuesOf<int64_t>(Iota({2, 18, 2, 3})));
}

TEST(ReferenceCenterCropPad, CutsAndPadsAroundTheMiddle) {
  EXPECT_EQ(Move<ops::CenterCropPad>({I64({5}, {1, 2, 3, 4, 5}), Constant(I64({1}, {2}))}, {2}),
            (I{2, 3}));
  EXPECT_EQ(Move<ops::CenterCropPad>({I64({2}, {1, 2}), Constant(I64({1}, {5}))}, {5}),
            (I{0, 1, 2, 0, 0}));
  EXPECT_EQ(Move<ops::CenterCropPad>({Iota({2, 3}), Constant(I64({1}, {1}))}, {2, 1},
                                     {.axes = ir::Ints{-1}}),
            (I{1, 4}));
}

}  // namespace
}  // namespace weft::kernels
