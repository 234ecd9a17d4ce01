// onnx.Col2Im: the native kernel against the reference.
#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using OptionalInts = std::optional<ir::Ints>;

struct Case {
  ir::Shape image;  // with batch and channels
  ir::Ints block;
  OptionalInts strides = {}, dilations = {}, pads = {};

  static int64_t Entry(const OptionalInts& list, size_t i, int64_t fallback) {
    return list ? (*list)[i] : fallback;
  }
  OpProgram Program() const {
    ir::Shape x = {image[0], image[1], 1};
    const size_t n = block.size();
    for (size_t i = 0; i < n; ++i) {
      const int64_t room = image[i + 2] + Entry(pads, i, 0) + Entry(pads, n + i, 0) -
                           (block[i] - 1) * Entry(dilations, i, 1) - 1;
      x[1] *= block[i];
      x[2] *= room / Entry(strides, i, 1) + 1;
    }
    const auto axes = static_cast<int64_t>(n);
    return OpProgram::Make<ops::Col2Im>(
        {Random(x, 1), Constant(I64({axes}, {image.begin() + 2, image.end()})),
         Constant(I64({axes}, {block.begin(), block.end()}))},
        {.dilations = dilations, .pads = pads, .strides = strides}, {FloatResult(image)});
  }
};

TEST(NativeCol2Im, AgreesWithTheReference) {
  const std::vector<Case> cases = {
      {{2, 3, 7, 9}, {3, 3}, {}, {}, ir::Ints{1, 1, 1, 1}},
      {{1, 2, 20, 37}, {5, 2}, {}, ir::Ints{2, 3}, ir::Ints{0, 4, 3, 1}},
      {{1, 4, 12, 12}, {4, 4}, ir::Ints{4, 4}},  // side by side
      {{3, 1, 11, 14}, {2, 1}, ir::Ints{3, 2}},  // with gaps
      {{1, 2, 9, 33}, {3, 4}, ir::Ints{2, 3}, ir::Ints{1, 2}, ir::Ints{2, 0, 1, 5}},
      {{2, 5, 31}, {4}, ir::Ints{2}, {}, ir::Ints{1, 2}},
      {{1, 1, 2, 3}, {5, 4}, {}, {}, ir::Ints{4, 3, 4, 5}},  // blocks larger than the image
      {{1, 3, 1, 1}, {1, 1}},
  };
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const Case& c : cases) {
      SCOPED_TRACE(ir::ToString(c.image));
      AgreementOf(c.Program()).Of("native");
    }
  }
}

TEST(NativeCol2Im, LeavesVolumesAndOtherElementsToTheReference) {
  EXPECT_EQ(Case({.image = {1, 2, 4, 5, 6}, .block = {2, 2, 2}})
                .Program()
                .ProviderOf({.provider = "auto"}),
            "reference");
  const OpProgram integers = OpProgram::Make<ops::Col2Im>(
      {I32({1, 2, 2}, {1, 2, 3, 4}), Constant(I64({2}, {1, 3})), Constant(I64({2}, {1, 2}))}, {},
      {{DataType::kI32, {1, 1, 1, 3}}});
  EXPECT_EQ(integers.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
