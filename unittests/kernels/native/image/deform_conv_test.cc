// Deformable convolutions: the native kernel against the reference.
#include <cmath>
#include <limits>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Attrs = ops::DeformConv::Attrs<ir::BuilderSlot>;

struct Case {
  ir::Shape x, w, out;  // out: height and width
  Attrs attrs = {};     // but for offset_group
  bool has_bias = false, has_mask = false;
  float reach = 2;  // the largest offset
  int64_t offset_group = 1;

  OpProgram Program(Tensor image) const {
    const int64_t places = offset_group * w[2] * w[3];
    std::vector<Operand> operands = {
        std::move(image), Random(w, 2),
        RandomIn({x[0], 2 * places, out[0], out[1]}, 3, -reach, reach)};
    if (has_bias || has_mask) operands.push_back(has_bias ? Operand(Random({w[0]}, 4)) : Operand());
    if (has_mask) operands.push_back(Random({x[0], places, out[0], out[1]}, 5));
    Attrs all = attrs;
    all.offset_group = offset_group;
    return OpProgram::Make<ops::DeformConv>(std::move(operands), all,
                                            {FloatResult({x[0], w[0], out[0], out[1]})});
  }
};

const std::vector<Case> kCases = {
    {{1, 3, 5, 7}, {4, 3, 3, 3}, {3, 5}},
    {{2, 4, 9, 8}, {6, 4, 3, 3}, {9, 8}, {.pads = ir::Ints{1, 1, 1, 1}}, true, true},
    {{1, 4, 12, 13}, {6, 2, 2, 3}, {12, 12}, {.group = 2, .pads = ir::Ints{1, 1, 0, 0}}, true},
    {{2, 6, 11, 10},
     {9, 2, 3, 2},
     {5, 4},
     {.dilations = ir::Ints{2, 3},
      .group = 3,
      .pads = ir::Ints{1, 0, 2, 1},
      .strides = ir::Ints{2, 2}},
     false,
     true,
     2,
     2},
    {{1, 2, 40, 33}, {17, 2, 1, 1}, {40, 33}, {}, true, true, 50, 2},
    {{1, 8, 20, 31}, {5, 8, 5, 1}, {16, 31}, {}, false, false, 0.5f, 4},
    {{3, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {}, true, true, 0.9f},
    {{1, 70, 4, 9}, {33, 70, 3, 3}, {4, 9}, {.pads = ir::Ints{1, 1, 1, 1}}},
};

TEST(NativeDeformConv, AgreesWithTheReference) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scoped(isa);
    for (const Case& c : kCases) {
      SCOPED_TRACE(std::string(IsaName(isa)) + ", " + ir::ToString(c.x) + ", " + ir::ToString(c.w));
      AgreementOf(c.Program(Random(c.x, 1))).Of("native", 2e-6);
    }
  }
}

// Offsets that end between elements, on them, and outside; what is read with no weight is not read.
TEST(NativeDeformConv, ReadsWhatIsNotFiniteOnlyWhereItHasAWeight) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const ir::Shape dims = {1, 1, 2, 5};
  for (const float special : {kInf, -kInf, kNan}) {
    const auto image = [&] { return F32(dims, {1, 2, special, 3, 4, 5, 6, 7, 8, special}); };
    const auto offsets = [&] {
      return F32({1, 2, 2, 5}, {0, 0.5f,  0, 1e-30f, -1e-9f, 1, -1, 0.25f, 2,     -0.5f,
                                0, -0.5f, 0, kInf,   kNan,   0, 1,  3e38f, -kInf, 0.5f});
    };
    for (const Isa isa : SupportedIsas()) {
      const ScopedIsa scoped(isa);
      Agreement<ops::DeformConv>({image(), F32({1, 1, 1, 1}, {0.7f}), offsets()}, {},
                                 {FloatResult(dims)})
          .Of("native");
    }
  }
}

TEST(NativeDeformConv, LeavesOtherThanImagesToTheReference) {
  const OpProgram row = OpProgram::Make<ops::DeformConv>(
      {Random({1, 2, 9}, 1), Random({3, 2, 3}, 2), Random({1, 3, 7}, 3)}, {},
      {FloatResult({1, 3, 7})});
  EXPECT_EQ(row.ProviderOf({.provider = "auto"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
