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

// Gaps between the blocks.
TEST(NativeConvTranspose2d, MakesAProductOfWhatItCannotCut) {
  AgreementOf(OverNhwc({1, 3, 4, 5}, {5, 2, 2, 1}, {1, 9, 10, 2},
                       {.strides = {3, 3},
                        .pads = {0, 0, 1, 0},
                        .output_padding = {2, 0},
                        .activation = fused::Activation::kTanh}))
      .Of("native", 2e-6);
}

struct BlocksCase {
  ir::Shape x, w, y;
  ops::ConvTranspose::Attrs<ir::BuilderSlot> attrs = {};
};

// A dilation or a third dimension, and computed weights of all.
TEST(NativeConvTranspose, AddsBlocksAsTheReferenceDoes) {
  using ir::Ints;
  const std::vector<BlocksCase> cases = {
      {{2, 3, 3, 4},
       {3, 4, 2, 3},
       {2, 4, 5, 8},
       {.dilations = Ints{3, 2}, .pads = Ints{0, 0, 1, 0}}},
      {{1, 2, 3, 3}, {2, 2, 1, 1}, {1, 2, 5, 5}, {.strides = Ints{2, 2}}},
      {{1, 6, 5}, {6, 2, 4}, {1, 6, 13}, {.group = 3, .pads = Ints{3, 0}, .strides = Ints{3}}},
      {{2, 4, 3, 4, 5},
       {4, 3, 2, 3, 2},
       {2, 3, 6, 5, 10},
       {.pads = Ints{0, 0, 0, 0, 1, 0}, .strides = Ints{2, 1, 2}}},
      {{1, 4, 2, 3, 3},
       {4, 1, 3, 3, 3},
       {1, 4, 3, 5, 7},
       {.group = 4,
        .output_padding = Ints{0, 0, 1},
        .pads = Ints{1, 1, 0, 1, 1, 1},
        .strides = Ints{2, 2, 2}}},
      {{1, 3, 4, 4},
       {3, 2, 3, 3},
       {1, 2, 8, 8},
       {.auto_pad = ops::AutoPad::kSameUpper, .dilations = Ints{2, 1}, .strides = Ints{2, 2}}},
      {{1, 3, 4, 4},
       {3, 2, 3, 3},
       {1, 2, 12, 11},
       {.dilations = Ints{1, 2}, .output_shape = Ints{12, 11}, .strides = Ints{2, 2}}},
      {{1, 2, 4, 4},
       {2, 2, 2, 2},
       {1, 2, 1, 2},
       {.dilations = Ints{2, 2}, .pads = Ints{4, 1, 1, 3}}},
  };
  for (const BlocksCase& c : cases) {
    SCOPED_TRACE(ir::ToString(c.x) + ", " + ir::ToString(c.w));
    for (const bool constant : {true, false}) {
      Agreement<ops::ConvTranspose>(
          {Random(c.x, 1), {Random(c.w, 2), constant}, Random({c.y[1]}, 3)}, c.attrs,
          {FloatResult(c.y)})
          .Of("native", 2e-6);
      Agreement<ops::ConvTranspose>({Random(c.x, 1), {Random(c.w, 2), constant}}, c.attrs,
                                    {FloatResult(c.y)})
          .Of("native", 2e-6);
    }
  }
}

// So many blocks that not all rows of a kernel, of 7 megabytes, are made at once.
TEST(NativeConvTranspose, MakesRowsAPartAtATime) {
  Agreement<ops::ConvTranspose>({Random({1, 2, 200, 230}, 1), Random({2, 3, 7, 5}, 2)}, {},
                                {FloatResult({1, 3, 206, 234})})
      .Of("native", 2e-6);
}

TEST(NativeConvTranspose, LeavesOtherTypesToTheReference) {
  Agreement<ops::ConvTranspose>({F64({1, 1, 2}, {1, 2}), F64({1, 1, 2}, {3, 4})}, {},
                                {{DataType::kF64, {1, 1, 3}}})
      .Of("reference");
}

}  // namespace
}  // namespace weft::kernels
