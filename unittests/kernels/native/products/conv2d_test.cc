// The convolutions of both providers against the reference.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using fused::Activation;
using Ints = ir::Ints;

struct ConvCase {
  ir::Shape x, w, y;  // NHWC, OIHW, NHWC
  Ints strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t group = 1;
  bool x_channels_first = false;  // x NCHW
};

OpProgram ProgramOf(const ConvCase& c, Activation activation, bool residual) {
  return OpProgram::Make<fused::Conv2d>(
      {Random(c.x, 1), Constant(Random(c.w, 2)), Constant(Random({c.w[0]}, 3)),
       residual ? Operand(Random(c.y, 4)) : Operand()},
      {.strides = c.strides,
       .pads = c.pads,
       .dilations = c.dilations,
       .group = c.group,
       .activation = activation,
       .activation_params =
           activation == Activation::kClip ? ir::Floats{-0.5f, 1.0f} : ir::Floats{},
       .x_channels_first = c.x_channels_first},
      {FloatResult(c.y)});
}

void ExpectConv(const ConvCase& c, const std::string& provider,
                Activation activation = Activation::kNone, bool residual = false) {
  SCOPED_TRACE(provider + ": " + ir::ToString(c.x) + " * " + ir::ToString(c.w) + " " +
               std::string(ir::EnumName(activation)));
  AgreementOf(ProgramOf(c, activation, residual))
      .Of(provider, provider == "winograd" ? 3e-6 : 1e-6);
}

TEST(Conv2d, AgreesWithTheReferenceInBothProviders) {
  for (const char* provider : {"native", "xnnpack"}) {
    ExpectConv({{1, 9, 9, 5}, {7, 5, 1, 1}, {1, 9, 9, 7}}, provider);
    ExpectConv({{2, 9, 7, 5}, {7, 5, 3, 3}, {2, 5, 4, 7}, {2, 2}, {1, 1, 1, 1}}, provider);
    ExpectConv({{2, 9, 7, 35}, {70, 35, 1, 1}, {2, 5, 3, 70}, {2, 3}}, provider);
    ExpectConv({{1, 9, 7, 4}, {6, 4, 3, 2}, {1, 8, 8, 6}, {1, 1}, {0, 1, 1, 1}}, provider);
    ExpectConv({{1, 9, 9, 4}, {6, 4, 3, 3}, {1, 5, 5, 6}, {1, 1}, {0, 0, 0, 0}, {2, 2}}, provider);
    ExpectConv({{1, 16, 16, 3}, {40, 3, 7, 7}, {1, 8, 8, 40}, {2, 2}, {3, 3, 3, 3}}, provider);
  }
}

TEST(Conv2d, RunsGroupsAndDepthwise) {
  for (const char* provider : {"native", "xnnpack"}) {
    ExpectConv({{1, 9, 9, 6}, {8, 3, 3, 3}, {1, 7, 7, 8}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2},
               provider);
    ExpectConv({{2, 9, 9, 24}, {32, 3, 3, 3}, {2, 9, 9, 32}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 8},
               provider);
    ExpectConv({{2, 9, 9, 24}, {12, 6, 1, 1}, {2, 9, 9, 12}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 4},
               provider);
    ExpectConv({{1, 9, 9, 5}, {15, 1, 3, 3}, {1, 7, 7, 15}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 5},
               provider);
    ExpectConv({{1, 9, 9, 35}, {35, 1, 3, 3}, {1, 5, 5, 35}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 35},
               provider);
    ExpectConv({{2, 9, 9, 16}, {16, 1, 5, 5}, {2, 9, 9, 16}, {1, 1}, {2, 2, 2, 2}, {1, 1}, 16},
               provider);
    ExpectConv({{1, 9, 9, 16}, {16, 1, 3, 3}, {1, 5, 5, 16}, {1, 1}, {0, 0, 0, 0}, {2, 2}, 16},
               provider);
  }
}

TEST(Conv2d, ReadsImagesInNchw) {
  const auto expect = [](ConvCase c, const std::string& provider) {
    c.x_channels_first = true;
    for (const bool residual : {false, true})
      ExpectConv(c, provider, Activation::kHardSwish, residual);
  };
  expect({{1, 3, 16, 16}, {40, 3, 7, 7}, {1, 8, 8, 40}, {2, 2}, {3, 3, 3, 3}}, "native");
  expect({{2, 3, 9, 7}, {33, 3, 3, 3}, {2, 5, 4, 33}, {2, 2}, {1, 1, 1, 1}}, "native");
  expect({{2, 4, 9, 7}, {7, 4, 3, 2}, {2, 5, 7, 7}, {1, 1}, {0, 1, 0, 1}, {2, 2}}, "native");
  expect({{1, 25, 5, 6}, {5, 25, 3, 3}, {1, 5, 6, 5}, {1, 1}, {1, 1, 1, 1}}, "native");
  expect({{1, 3, 5, 6}, {5, 3, 1, 1}, {1, 5, 6, 5}}, "native");
  expect({{1, 3, 5, 6}, {5, 3, 1, 1}, {1, 3, 2, 5}, {2, 3}}, "native");
  expect({{1, 1, 5, 6}, {1, 1, 2, 2}, {1, 4, 5, 1}}, "native");
  expect({{1, 4, 5, 6}, {4, 2, 2, 2}, {1, 4, 5, 4}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2}, "reference");
}

TEST(Conv2d, AddsTheResidualBeforeTheActivation) {
  const ConvCase dense = {{1, 6, 6, 5}, {8, 5, 3, 3}, {1, 6, 6, 8}, {1, 1}, {1, 1, 1, 1}};
  const ConvCase grouped = {
      {1, 6, 6, 6}, {8, 3, 3, 3}, {1, 6, 6, 8}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2};
  const ConvCase depthwise = {
      {1, 6, 6, 21}, {21, 1, 3, 3}, {1, 6, 6, 21}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 21};
  for (const ConvCase& c : {dense, grouped, depthwise})
    for (const char* provider : {"native", "xnnpack"})
      for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kClip,
                                          Activation::kHardSwish, Activation::kSigmoid})
        for (const bool residual : {false, true}) ExpectConv(c, provider, activation, residual);
}

// And leaves others, and other instruction sets, to the definition.
TEST(Conv2d, TakesWinogradsProductsWhereTheyAreFaster) {
  const ConvCase c = {{1, 28, 28, 33}, {40, 33, 3, 3}, {1, 27, 28, 40}, {1, 1}, {0, 1, 1, 1}};
  const ConvCase grouped = {
      {1, 28, 28, 66}, {66, 33, 3, 3}, {1, 28, 28, 66}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2};
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scope(isa);
    const bool is_faster = isa == Isa::kAvx2 || isa == Isa::kAvx512;
    for (const Activation activation : {Activation::kNone, Activation::kHardSwish}) {
      if (is_faster) ExpectConv(c, "winograd", activation, true);
      ExpectConv(c, "native", activation, true);
    }
    EXPECT_EQ(ProgramOf(c, Activation::kNone, false).ProviderOf({.provider = "native"}), "native");
    EXPECT_EQ(ProgramOf(grouped, Activation::kNone, false).ProviderOf({.provider = "auto"}),
              "native");
  }
}

TEST(Conv2d, PacksComputedWeightsInEveryRun) {
  ConvCase nchw = {{1, 3, 16, 16}, {40, 3, 7, 7}, {1, 8, 8, 40}, {2, 2}, {3, 3, 3, 3}};
  nchw.x_channels_first = true;
  for (const ConvCase& c :
       {ConvCase{{2, 9, 7, 35}, {70, 35, 3, 2}, {2, 9, 8, 70}, {1, 1}, {1, 1, 1, 1}},
        ConvCase{{1, 9, 9, 5}, {7, 5, 1, 1}, {1, 9, 9, 7}},
        ConvCase{{2, 9, 7, 5}, {33, 5, 1, 1}, {2, 5, 3, 33}, {2, 3}},  // gathers pixels
        ConvCase{{2, 9, 9, 24}, {32, 3, 3, 3}, {2, 9, 9, 32}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 8},
        ConvCase{{1, 9, 9, 21}, {21, 1, 3, 5}, {1, 5, 4, 21}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 21},
        nchw}) {
    SCOPED_TRACE(ir::ToString(c.x) + " * " + ir::ToString(c.w));
    const fused::Conv2d::Attrs<ir::BuilderSlot> attrs = {.strides = c.strides,
                                                         .pads = c.pads,
                                                         .dilations = c.dilations,
                                                         .group = c.group,
                                                         .activation = Activation::kHardSwish,
                                                         .x_channels_first = c.x_channels_first};
    Agreement<fused::Conv2d>({Random(c.x, 1), Random(c.w, 2), Random({c.w[0]}, 3), Random(c.y, 4)},
                             attrs, {FloatResult(c.y)})
        .Of("native");
    Agreement<fused::Conv2d>({Random(c.x, 1), Random(c.w, 2), {}, {}}, attrs, {FloatResult(c.y)})
        .Of("native");
  }
}

}  // namespace
}  // namespace weft::kernels
