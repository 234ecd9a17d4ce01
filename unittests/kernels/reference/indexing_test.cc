// The reference kernels of ops that find elements by value or place them by index.
#include <cmath>

#include "ir/dialects/ascend.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;

struct Found {
  F values;
  I indices;
};
Found TopK(Tensor x, Operand k, ir::Shape dims, const ops::TopK::Attrs<ir::BuilderSlot>& attrs) {
  const auto results = TryRunOp<ops::TopK>({std::move(x), std::move(k)}, attrs,
                                           {{DataType::kF32, dims}, {DataType::kI64, dims}});
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return {};
  return {ValuesOf<float>((*results)[0]), ValuesOf<int64_t>((*results)[1])};
}

TEST(ReferenceTopK, FindsTheLargestAndTheSmallestAlongItsAxis) {
  const F x = {3, 9, 1, 4, -5, 4};
  const Found largest = TopK(F32({2, 3}, x), Constant(I64({1}, {2})), {2, 2}, {});
  EXPECT_EQ(largest.values, (F{9, 3, 4, 4}));
  EXPECT_EQ(largest.indices, (I{1, 0, 0, 2}));
  const Found smallest =
      TopK(F32({2, 3}, x), Constant(I64({1}, {1})), {1, 3}, {.axis = 0, .largest = 0});
  EXPECT_EQ(smallest.values, (F{3, -5, 1}));
  EXPECT_EQ(smallest.indices, (I{0, 1, 0}));
}

TEST(ReferenceTopK, TakesTheFirstOfEqualsAndCountsNanAsLargest) {
  const Found found = TopK(F32({4}, {2, std::nanf(""), 2, 2}), Constant(I64({1}, {3})), {3}, {});
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_EQ(found.indices, (I{1, 0, 2}));
}

TEST(ReferenceTopK, OfIntegersIsExact) {
  const int64_t large = int64_t{1} << 60;
  const auto results =
      TryRunOp<ops::TopK>({I64({3}, {large, large + 1, large - 1}), Constant(I64({1}, {1}))}, {},
                          {{DataType::kI64, {1}}, {DataType::kI64, {1}}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<int64_t>((*results)[0]), I{large + 1});
  EXPECT_EQ(ValuesOf<int64_t>((*results)[1]), I{1});
}

TEST(ReferenceTopK, RefusesACountThatIsNotWhatTheResultHas) {
  const auto result = TryRunOp<ops::TopK>({F32({3}, {1, 2, 3}), I64({1}, {3})}, {},
                                          {{DataType::kF32, {2}}, {DataType::kI64, {2}}});
  EXPECT_EQ(result.status().message(), "onnx.TopK: k is 3, which is not what the result has");
}

I Scatter(Tensor data, Tensor indices, Tensor updates, ops::ScatterReduction reduction) {
  const ir::Shape dims(data.dims().begin(), data.dims().end());
  return ValuesOf<int64_t>(
      RunOp<ops::ScatterND>({std::move(data), std::move(indices), std::move(updates)},
                            {.reduction = reduction}, {DataType::kI64, dims}));
}

TEST(ReferenceTopK, OfAscendCountsInI32) {
  const auto results = TryRunOp<ir::ascend::TopK>({F32({4}, {3, 9, 1, 4}), I32({1}, {2})}, {},
                                                  {{DataType::kF32, {2}}, {DataType::kI32, {2}}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{9, 4}));
  EXPECT_EQ(ValuesOf<int32_t>((*results)[1]), (std::vector<int32_t>{1, 3}));
}

TEST(ReferenceScatterND, WritesElementsAndSlices) {
  EXPECT_EQ(Scatter(I64({2, 2}, {1, 2, 3, 4}), I64({2, 2}, {0, 1, -1, 0}), I64({2}, {7, 8}),
                    ops::ScatterReduction::kNone),
            (I{1, 7, 8, 4}));
  EXPECT_EQ(Scatter(I64({3, 2}, {1, 2, 3, 4, 5, 6}), I64({2, 1}, {2, 0}),
                    I64({2, 2}, {7, 8, 9, 10}), ops::ScatterReduction::kNone),
            (I{9, 10, 3, 4, 7, 8}));
}

TEST(ReferenceScatterND, AppliesSeveralUpdatesOfOneElement) {
  const auto reduce = [](ops::ScatterReduction reduction) {
    return Scatter(I64({3}, {1, 2, 3}), I64({3, 1}, {1, 1, 2}), I64({3}, {10, 20, 30}), reduction);
  };
  EXPECT_EQ(reduce(ops::ScatterReduction::kAdd), (I{1, 32, 33}));
  EXPECT_EQ(reduce(ops::ScatterReduction::kMul), (I{1, 400, 90}));
  EXPECT_EQ(reduce(ops::ScatterReduction::kNone), (I{1, 20, 30}));
}

TEST(ReferenceScatterND, KeepsTheLargerOrTheSmaller) {
  const auto reduce = [](ops::ScatterReduction reduction) {
    return Scatter(I64({3}, {1, 25, 3}), I64({3, 1}, {1, 1, 2}), I64({3}, {10, 40, -30}),
                   reduction);
  };
  EXPECT_EQ(reduce(ops::ScatterReduction::kMax), (I{1, 40, 3}));
  EXPECT_EQ(reduce(ops::ScatterReduction::kMin), (I{1, 10, -30}));
}

TEST(ReferenceScatterND, RefusesAnIndexOutOfRange) {
  for (const int64_t bad : {3, -4}) {
    const auto result = TryRunOp<ops::ScatterND>(
        {I64({3}, {1, 2, 3}), I64({1, 1}, {bad}), I64({1}, {0})}, {}, {{DataType::kI64, {3}}});
    EXPECT_EQ(result.status().message(), "onnx.ScatterND: index " + std::to_string(bad) +
                                             " is out of range for an axis of size 3");
  }
}

}  // namespace
}  // namespace weft::kernels
