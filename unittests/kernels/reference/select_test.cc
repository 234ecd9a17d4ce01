// The reference kernels whose results are as long as values say; here those sizes are stated.
#include <cmath>

#include "ir/dialects/onnx/indexing.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(ReferenceCompress, KeepsWhatTheConditionSelects) {
  const auto compress = [](ir::Shape x, std::vector<uint8_t> condition, ir::Shape y,
                           std::optional<int64_t> axis) {
    F values(static_cast<size_t>(CountElements(x)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const auto length = static_cast<int64_t>(condition.size());
    return ValuesOf<float>(RunOp<ops::Compress>({F32(x, values), Bool({length}, condition)},
                                                {.axis = axis}, {DataType::kF32, y}));
  };
  EXPECT_EQ(compress({3, 2}, {0, 1, 1}, {2, 2}, 0), (F{2, 3, 4, 5}));
  EXPECT_EQ(compress({3, 2}, {0, 1}, {3, 1}, -1), (F{1, 3, 5}));
  EXPECT_EQ(compress({3, 2}, {0, 1, 0, 0, 1}, {2}, {}), (F{1, 4}));
  EXPECT_EQ(compress({3, 2}, {1}, {1, 2}, 0), (F{0, 1}));
}

TEST(ReferenceCompress, RefusesASliceThatIsNotThereAndASizeThatIsWrong) {
  const auto error = [](std::vector<uint8_t> condition) {
    return std::string(TryRunOp<ops::Compress>({F32({2}, {1, 2}), Bool({3}, condition)}, {},
                                               {{DataType::kF32, {1}}})
                           .status()
                           .message());
  };
  EXPECT_EQ(error({1, 0, 1}), "onnx.Compress: the condition selects slice 2 of 2");
  EXPECT_EQ(error({1, 1, 0}), "onnx.Compress: result 0 has shape [2], expected [1]");
}

TEST(ReferenceNonZero, ListsIndicesOfEachDimension) {
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::NonZero>({F32({2, 3}, {0, 1, 0, NAN, -0.0f, 2})}, {},
                                                  {DataType::kI64, {2, 3}})),
            (I{0, 1, 1, 1, 0, 2}));
  EXPECT_EQ(
      ValuesOf<int64_t>(RunOp<ops::NonZero>({Bool({3}, {1, 0, 1})}, {}, {DataType::kI64, {1, 2}})),
      (I{0, 2}));
}

struct Groups {
  F values;
  I first, inverse, counts;
};
Groups Unique(Tensor x, const ops::Unique::Attrs<ir::BuilderSlot>& attrs, ir::Shape dims,
              int64_t slices, int64_t groups) {
  const auto results = TryRunOp<ops::Unique>({std::move(x)}, attrs,
                                             {{DataType::kF32, dims},
                                              {DataType::kI64, {groups}},
                                              {DataType::kI64, {slices}},
                                              {DataType::kI64, {groups}}});
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return {};
  return {ValuesOf<float>((*results)[0]), ValuesOf<int64_t>((*results)[1]),
          ValuesOf<int64_t>((*results)[2]), ValuesOf<int64_t>((*results)[3])};
}

TEST(ReferenceUnique, SortsOrKeepsTheOrderOfOccurrence) {
  const F x = {2, 1, 1, 3, 4, 3};
  const Groups sorted = Unique(F32({6}, x), {}, {4}, 6, 4);
  EXPECT_EQ(sorted.values, (F{1, 2, 3, 4}));
  EXPECT_EQ(sorted.first, (I{1, 0, 3, 4}));
  EXPECT_EQ(sorted.inverse, (I{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(sorted.counts, (I{2, 1, 2, 1}));
  const Groups kept = Unique(F32({6}, x), {.sorted = 0}, {4}, 6, 4);
  EXPECT_EQ(kept.values, (F{2, 1, 3, 4}));
  EXPECT_EQ(kept.first, (I{0, 1, 3, 4}));
  EXPECT_EQ(kept.inverse, (I{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(kept.counts, (I{1, 2, 2, 1}));
}

TEST(ReferenceUnique, FindsSlicesAlongAnAxis) {
  const Groups rows = Unique(F32({3, 2}, {3, 1, 2, 5, 3, 1}), {.axis = 0}, {2, 2}, 3, 2);
  EXPECT_EQ(rows.values, (F{2, 5, 3, 1}));
  EXPECT_EQ(rows.first, (I{1, 0}));
  EXPECT_EQ(rows.inverse, (I{1, 0, 1}));
  EXPECT_EQ(rows.counts, (I{1, 2}));
  const Groups columns =
      Unique(F32({2, 3}, {1, 0, 1, 4, 2, 4}), {.axis = -1, .sorted = 0}, {2, 2}, 3, 2);
  EXPECT_EQ(columns.values, (F{1, 0, 4, 2}));
  EXPECT_EQ(columns.inverse, (I{0, 1, 0}));
}

TEST(ReferenceUnique, TakesNansForOneValueAboveAllOthers) {
  const Groups groups = Unique(F32({5}, {NAN, 1, -INFINITY, NAN, INFINITY}), {}, {4}, 5, 4);
  EXPECT_TRUE(std::isnan(groups.values[3]));
  EXPECT_EQ(groups.inverse, (I{3, 1, 0, 3, 2}));
}

// Three boxes: 1 overlaps 0 by a half of their union, 2 lies apart.
Tensor Boxes() { return F32({1, 3, 4}, {0, 0, 2, 3, 0, 1, 2, 4, 2, 8, 0, 6}); }

I Suppress(Tensor boxes, F scores, float overlap, Operand least, int64_t max, int64_t count,
           int64_t center = 0) {
  const auto classes = static_cast<int64_t>(scores.size() / 3);
  return ValuesOf<int64_t>(
      RunOp<ops::NonMaxSuppression>({std::move(boxes), F32({1, classes, 3}, scores),
                                     I64({1}, {max}), F32({}, {overlap}), std::move(least)},
                                    {.center_point_box = center}, {DataType::kI64, {count, 3}}));
}

TEST(ReferenceNonMaxSuppression, DropsBoxesThatOverlapABetterOne) {
  EXPECT_EQ(Suppress(Boxes(), {0.5f, 0.9f, 0.7f}, 0.4f, {}, 9, 2), (I{0, 0, 1, 0, 0, 2}));
  // As large as the threshold is not above it.
  EXPECT_EQ(Suppress(Boxes(), {0.5f, 0.9f, 0.7f}, 0.5f, {}, 9, 3), (I{0, 0, 1, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(Suppress(Boxes(), {0.5f, 0.9f, 0.7f}, 0.4f, F32({}, {0.7f}), 9, 1), (I{0, 0, 1}));
  EXPECT_EQ(Suppress(Boxes(), {0.5f, 0.9f, 0.7f, 0.8f, 0.8f, 0.1f}, 0.4f, {}, 1, 2),
            (I{0, 0, 1, 0, 1, 0}));
}

TEST(ReferenceNonMaxSuppression, ReadsCentresAndSizes) {
  const Tensor boxes = F32({1, 3, 4}, {1, 1.5f, 2, 3, 1, 2.5f, 2, 3, 1, 7, 2, 2});
  Tensor copy(DataType::kF32, {1, 3, 4});
  std::copy_n(boxes.values<float>().data(), 12, copy.values<float>().data());
  EXPECT_EQ(Suppress(std::move(copy), {0.5f, 0.9f, 0.7f}, 0.4f, {}, 9, 2, 1),
            (I{0, 0, 1, 0, 0, 2}));
}

}  // namespace
}  // namespace weft::kernels
