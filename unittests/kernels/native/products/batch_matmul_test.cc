// fused.batch_matmul: the reference against its definition, the native kernel against the
// reference for operands that it reads where they lie and for those that it has to move.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

// a [2, 3, 2, 4] and b [2, 5, 2, 4], heads third: y[n][h][s][t] = 0.5 a[n][s][h] . b[n][t][h] + c[t].
TEST(ReferenceBatchMatMul, PermutesScalesAndAdds) {
  const Tensor ta = Random({2, 3, 2, 4}, 1), tb = Random({2, 5, 2, 4}, 2), tc = Random({5}, 3);
  const auto a = ta.values<float>(), b = tb.values<float>(), c = tc.values<float>();
  const Tensor y = RunOp<fused::BatchMatMul>(
      {Random({2, 3, 2, 4}, 1), Random({2, 5, 2, 4}, 2), Random({5}, 3)},
      {.perm_a = Ints{0, 2, 1, 3}, .perm_b = Ints{0, 2, 3, 1}, .scale = 0.5f},
      FloatResult({2, 2, 3, 5}));
  size_t at = 0;
  for (size_t n = 0; n < 2; ++n)
    for (size_t h = 0; h < 2; ++h)
      for (size_t s = 0; s < 3; ++s)
        for (size_t t = 0; t < 5; ++t) {
          double sum = 0;
          for (size_t k = 0; k < 4; ++k)
            sum += double{a[((n * 3 + s) * 2 + h) * 4 + k]} * b[((n * 5 + t) * 2 + h) * 4 + k];
          EXPECT_NEAR(y.values<float>()[at++], 0.5 * sum + c[t], 1e-6);
        }
}

struct Case {
  ir::Shape a, b, y;
  Ints perm_a, perm_b;
};

TEST(NativeBatchMatMul, AgreesWithTheReference) {
  for (const Case& c :
       {Case{{2, 3, 4, 50}, {2, 3, 50, 60}, {2, 3, 4, 60}, {}, {}},
        Case{{2, 30, 4, 50}, {2, 60, 4, 50}, {2, 4, 30, 60}, {0, 2, 1, 3}, {0, 2, 3, 1}},
        Case{{2, 30, 4, 50}, {2, 50, 4, 60}, {2, 4, 30, 60}, {0, 2, 1, 3}, {0, 2, 1, 3}},
        Case{{9, 7}, {5, 6, 7}, {5, 9, 6}, {}, {0, 2, 1}},  // broadcasts
        Case{{7, 9}, {7, 6}, {9, 6}, {1, 0}, {}},           // columns of a
        Case{{1, 5, 1}, {1, 1, 6}, {1, 5, 6}, {}, {}}}) {
    SCOPED_TRACE(ir::ToString(c.y));
    Agreement<fused::BatchMatMul>({Random(c.a, 1), Random(c.b, 2)},
                                  {.perm_a = c.perm_a, .perm_b = c.perm_b}, {FloatResult(c.y)})
        .Of("native");
    Agreement<fused::BatchMatMul>({Random(c.a, 1), Random(c.b, 2), Random({c.y.back()}, 3)},
                                  {.perm_a = c.perm_a, .perm_b = c.perm_b, .scale = 0.125f},
                                  {FloatResult(c.y)})
        .Of("native");
  }
}

}  // namespace
}  // namespace weft::kernels
