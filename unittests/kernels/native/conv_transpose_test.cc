// Transposed convolutions over NCHW and NHWC: the native kernels against the reference.
#include <optional>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using OptionalInts = std::optional<ir::Ints>;

struct Case {
  ir::Shape x, w;
  ir::Ints strides;
  OptionalInts pads{}, output_padding{};
  int64_t group = 1;
  bool has_bias = true;

  ir::Shape Result() const {
    ir::Shape y = {x[0], w[1] * group};
    for (size_t i = 0; i < strides.size(); ++i)
      y.push_back(strides[i] * (x[i + 2] - 1) + w[i + 2] -
                  (pads ? (*pads)[i] + (*pads)[i + strides.size()] : 0) +
                  (output_padding ? (*output_padding)[i] : 0));
    return y;
  }
  OpProgram Program() const {
    std::vector<Operand> operands = {Random(x, 1), Constant(Random(w, 2))};
    if (has_bias) operands.push_back(Constant(Random({w[1] * group}, 3)));
    return OpProgram::Make<ops::ConvTranspose>(
        std::move(operands),
        {.group = group, .output_padding = output_padding, .pads = pads, .strides = strides},
        {FloatResult(Result())});
  }
};

TEST(NativeConvTranspose, AgreesWithTheReference) {
  const std::vector<Case> cases = {
      {{2, 3, 5, 7}, {3, 4, 2, 2}, {2, 2}},                        // as U-Nets have it
      {{1, 8, 6, 4}, {8, 5, 4, 4}, {2, 2}, ir::Ints{1, 1, 1, 1}},  // as generators have it
      {{1, 4, 6, 5}, {4, 6, 3, 3}, {2, 2}, ir::Ints{1, 1, 1, 1}, ir::Ints{1, 1}},
      {{1, 4, 3, 8}, {4, 6, 3, 5}, {1, 3}, ir::Ints{0, 2, 2, 1}},
      {{1, 6, 4, 4}, {6, 2, 3, 2}, {3, 2}, ir::Ints{2, 0, 0, 0}, {}, 3, false},
      {{1, 4, 5, 5}, {4, 3, 5, 3}, {3, 2}, ir::Ints{1, 0, 2, 1}, {}, 2},
      {{2, 16, 20}, {16, 8, 16}, {8}, ir::Ints{4, 4}},  // as vocoders have it
      {{1, 2, 9}, {2, 3, 3}, {2}, ir::Ints{2, 3}, ir::Ints{1}},
      {{1, 3, 2, 2}, {3, 2, 5, 5}, {1, 1}, ir::Ints{4, 4, 0, 1}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(ir::ToString(c.x) + ", " + ir::ToString(c.w));
    AgreementOf(c.Program()).Of("native", 2e-6);
  }
}

// Over NHWC; `y` too.
OpProgram OverNhwc(const ir::Shape& x, const ir::Shape& w, const ir::Shape& y,
                   const fused::ConvTranspose2d::Attrs<ir::BuilderSlot>& attrs) {
  return OpProgram::Make<fused::ConvTranspose2d>(
      {Random(x, 1), Constant(Random(w, 2)), Constant(Random({y[3]}, 3))}, attrs, {FloatResult(y)});
}

TEST(NativeConvTranspose2d, AgreesWithTheReference) {
  AgreementOf(OverNhwc({2, 5, 7, 3}, {3, 4, 2, 2}, {2, 10, 14, 4},
                       {.strides = {2, 2}, .activation = fused::Activation::kRelu}))
      .Of("native", 2e-6);
  AgreementOf(OverNhwc({1, 6, 4, 8}, {8, 5, 4, 4}, {1, 12, 8, 5},
                       {.strides = {2, 2},
                        .pads = {1, 1, 1, 1},
                        .activation = fused::Activation::kClip,
                        .activation_params = {-0.5f, 1.0f}}))
      .Of("native", 2e-6);
  AgreementOf(OverNhwc({1, 4, 3, 4}, {4, 3, 3, 5}, {1, 9, 8, 6},
                       {.strides = {2, 2},
                        .pads = {0, 1, 1, 1},
                        .output_padding = {1, 1},
                        .group = 2,
                        .activation = fused::Activation::kTanh}))
      .Of("native", 2e-6);
}

TEST(NativeConvTranspose, LeavesWhatItCannotCutToTheReference) {
  const OpProgram given = OpProgram::Make<ops::ConvTranspose>(
      {Random({1, 2, 3, 3}, 1), Random({2, 2, 2, 2}, 2)}, {}, {FloatResult({1, 2, 4, 4})});
  EXPECT_EQ(given.ProviderOf({.provider = "auto"}), "reference");
  const OpProgram dilated = OpProgram::Make<ops::ConvTranspose>(
      {Random({1, 2, 3, 3}, 1), Constant(Random({2, 2, 2, 2}, 2))}, {.dilations = ir::Ints{2, 1}},
      {FloatResult({1, 2, 5, 4})});
  EXPECT_EQ(dilated.ProviderOf({.provider = "auto"}), "reference");
  const OpProgram gaps = OpProgram::Make<ops::ConvTranspose>(
      {Random({1, 2, 3, 3}, 1), Constant(Random({2, 2, 1, 1}, 2))}, {.strides = ir::Ints{2, 2}},
      {FloatResult({1, 2, 5, 5})});
  EXPECT_EQ(gaps.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
