// Convolutions in three spatial dimensions against the reference.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using ir::Ints;

struct Case {
  ir::Shape x, w, y;
  ops::Conv::Attrs<ir::BuilderSlot> attrs = {};
};

void ExpectConv(const Case& c) {
  SCOPED_TRACE(ir::ToString(c.x) + " * " + ir::ToString(c.w));
  for (const bool constant : {true, false}) {
    Agreement<ops::Conv>({Random(c.x, 1), {Random(c.w, 2), constant}, Random({c.w[0]}, 3)}, c.attrs,
                         {FloatResult(c.y)})
        .Of("native");
    Agreement<ops::Conv>({Random(c.x, 1), {Random(c.w, 2), constant}}, c.attrs, {FloatResult(c.y)})
        .Of("native");
  }
}

TEST(NativeConv3d, AgreesWithTheReference) {
  ExpectConv({{2, 5, 4, 6, 7}, {9, 5, 3, 3, 3}, {2, 9, 2, 4, 5}});
  ExpectConv({{1, 3, 5, 11, 10},
              {17, 3, 3, 7, 7},
              {1, 17, 5, 6, 5},
              {.pads = Ints{1, 3, 3, 1, 3, 3}, .strides = Ints{1, 2, 2}}});
  ExpectConv(
      {{1, 4, 7, 5, 6},
       {33, 4, 2, 1, 3},
       {1, 33, 3, 5, 2},
       {.dilations = Ints{3, 1, 2}, .pads = Ints{1, 0, 1, 0, 0, 0}, .strides = Ints{2, 1, 2}}});
  ExpectConv({{2, 16, 3, 5, 5}, {8, 16, 1, 1, 1}, {2, 8, 3, 5, 5}});
  ExpectConv(
      {{1, 70, 3, 5, 5}, {40, 70, 3, 1, 1}, {1, 40, 3, 5, 5}, {.pads = Ints{1, 0, 0, 1, 0, 0}}});
}

TEST(NativeConv3d, PadsByItself) {
  for (const ops::AutoPad pad : {ops::AutoPad::kSameUpper, ops::AutoPad::kSameLower})
    ExpectConv({{1, 3, 5, 6, 7},
                {4, 3, 2, 3, 4},
                {1, 4, 3, 6, 4},
                {.auto_pad = pad, .strides = Ints{2, 1, 2}}});
  ExpectConv(
      {{1, 3, 5, 6, 7}, {4, 3, 2, 3, 4}, {1, 4, 4, 4, 4}, {.auto_pad = ops::AutoPad::kValid}});
}

// Frames of the result that see padding only are the bias.
TEST(NativeConv3d, TakesPadsThatAreWiderThanTheKernel) {
  for (const int64_t group : {1, 2})
    ExpectConv({{1, 2, 2, 3, 3},
                {2, 2 / group, 2, 2, 2},
                {1, 2, 7, 4, 4},
                {.group = group, .pads = Ints{3, 1, 1, 3, 1, 1}}});
}

TEST(NativeConv3d, RunsGroupsAndDepthwise) {
  ExpectConv({{2, 6, 3, 5, 6}, {8, 3, 2, 3, 3}, {2, 8, 2, 3, 4}, {.group = 2}});
  ExpectConv({{1, 5, 3, 5, 6},
              {15, 1, 3, 3, 3},
              {1, 15, 3, 5, 6},
              {.group = 5, .pads = Ints{1, 1, 1, 1, 1, 1}}});
  ExpectConv({{2, 21, 4, 7, 9},
              {21, 1, 3, 3, 3},
              {2, 21, 4, 4, 5},
              {.group = 21, .pads = Ints{1, 1, 1, 1, 1, 1}, .strides = Ints{1, 2, 2}}});
  ExpectConv({{1, 4, 4, 5, 5},
              {4, 1, 2, 2, 2},
              {1, 4, 2, 4, 3},
              {.dilations = Ints{2, 1, 2}, .group = 4}});
}

TEST(NativeConv3d, RunsOnEveryInstructionSet) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scope(isa);
    ExpectConv(
        {{1, 5, 4, 6, 19}, {41, 5, 3, 3, 3}, {1, 41, 4, 6, 19}, {.pads = Ints{1, 1, 1, 1, 1, 1}}});
  }
}

}  // namespace
}  // namespace weft::kernels
