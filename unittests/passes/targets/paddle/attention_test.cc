// fuse-pd-multihead-matmul: the same numbers for distinct random weights, and one near miss for each
// constraint.
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "ir/rewriter.h"
#include "unittests/passes/pd/evaluate.h"
#include "unittests/passes/targets/paddle/rule_test_util.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::DataType;
using ir::Ints;
using ir::Operation;
using ir::Shape;
using ir::Value;
using testing::HasSubstr;

constexpr std::string_view kRule = "fuse-pd-multihead-matmul";
constexpr int64_t kBatch = 2, kSeq = 5, kIn = 3, kHeads = 2, kEach = 4, kWidth = kHeads * kEach;

// Attention as exporters write it; each member may be spoilt.
struct Listing {
  Shape x = {kBatch, kSeq, kIn};
  Ints perm = {0, 2, 1, 3}, merge_perm = {0, 2, 1, 3};
  Ints split = {0, 0, kHeads, kEach}, split_of_v = split, merge = {0, 0, kWidth};
  Shape alpha_shape = {1};
  float scale_bias = 0;
  bool bias_after_scale = true;
  int64_t softmax_axis = -1;
  bool transpose_of_q = false;
  bool computed_weight = false;
  bool bias_per_row = false;
  std::optional<Shape> mask = Shape{kBatch, kHeads, kSeq, kSeq};
  bool bias_first = false;  // operands of the additions swapped
  bool probabilities_read = false;
};

class FusePdMultiheadMatmul : public PdRuleTest {
 protected:
  Value Random(const Shape& dims) {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(uniform(random_));
    return b.ConstantFloats(values, dims);
  }
  Value Add(Value x, Value y, bool swapped) {
    return swapped ? b.Make<pd::Add>({y, x}) : b.Make<pd::Add>({x, y});
  }
  Value Project(const Listing& l, Value x, const Ints& split, bool is_q) {
    Value w = Random(is_q && l.transpose_of_q ? Shape{kWidth, kIn} : Shape{kIn, kWidth});
    if (l.computed_weight) w = b.Make<pd::Add>({w, w});
    const Value product = b.Make<pd::MatMul>({x, w}, {.transpose_y = is_q && l.transpose_of_q});
    const Value bias = Random(l.bias_per_row ? Shape{kSeq, 1} : Shape{kWidth});
    return Transpose(Reshape(Add(product, bias, l.bias_first), split), l.perm);
  }
  Operation Build(const Listing& l) {
    const Value x = Input("x", l.x);
    Value q = Project(l, x, l.split, true);
    const Value k = Project(l, x, l.split, false), v = Project(l, x, l.split_of_v, false);
    q = b.Make<pd::Scale>({q, Full(l.alpha_shape, 0.3f)},
                          {.bias = l.scale_bias, .bias_after_scale = l.bias_after_scale});
    Value logits = b.Make<pd::MatMul>({q, k}, {.transpose_y = true});
    if (l.mask) logits = Add(logits, Random(*l.mask), l.bias_first);
    const Value probabilities = b.Make<pd::Softmax>({logits}, {.axis = l.softmax_axis});
    const Value heads = b.Make<pd::MatMul>({probabilities, v});
    const Value out = Reshape(Transpose(heads, l.merge_perm), l.merge);
    if (l.probabilities_read) {
      b.Return({{"out", out}, {"probabilities", probabilities}});
    } else {
      b.Return({{"out", out}});
    }
    return out.DefiningOp();
  }
  PdTensor RandomInput() {
    std::uniform_real_distribution<double> uniform(-1, 1);
    PdTensor x{{kBatch, kSeq, kIn}, {}};
    for (int64_t i = 0; i < kBatch * kSeq * kIn; ++i) x.data.push_back(uniform(random_));
    return x;
  }
  // Builds, fuses, and compares what the program computes before and after.
  void ExpectFused(const Listing& l) {
    const Operation root = Build(l);
    const PdTensor x = RandomInput();
    const PdTensor before = EvaluatePd(program, {x})[0];
    ASSERT_EQ(Apply(kRule, root), "");
    ASSERT_TRUE(Output(0).Is<pd::MultiheadMatmul>());
    EXPECT_EQ(Output(0).HasOperand(3), l.mask.has_value());
    const PdTensor after = EvaluatePd(program, {x})[0];
    ASSERT_EQ(after.dims, before.dims);
    for (size_t i = 0; i < before.data.size(); ++i)
      ASSERT_NEAR(after.data[i], before.data[i], 1e-12) << "element " << i;
  }
  void ExpectRefused(const Listing& l, std::string_view reason) {
    const Operation root = Build(l);
    EXPECT_THAT(Apply(kRule, root), HasSubstr(std::string(reason)));
  }

  std::mt19937 random_{7};
};

TEST_F(FusePdMultiheadMatmul, ComputesTheSame) { ExpectFused({}); }
TEST_F(FusePdMultiheadMatmul, ComputesTheSameWithoutAMask) { ExpectFused({.mask = std::nullopt}); }
TEST_F(FusePdMultiheadMatmul, ComputesTheSameWithAMaskThatBroadcasts) {
  ExpectFused({.mask = Shape{kBatch, 1, 1, kSeq}});
}
TEST_F(FusePdMultiheadMatmul, ComputesTheSameWithSumsTheOtherWayRound) {
  ExpectFused({.bias_first = true});
}
TEST_F(FusePdMultiheadMatmul, DoesNotMindWhereNoBiasIsAdded) {
  ExpectFused({.bias_after_scale = false});
}
TEST_F(FusePdMultiheadMatmul, KnowsTheLastAxisByNumber) { ExpectFused({.softmax_axis = 3}); }

TEST_F(FusePdMultiheadMatmul, RefusesAnotherSoftmaxAxis) {
  ExpectRefused({.softmax_axis = 2}, "attribute axis of pd.softmax");
}
TEST_F(FusePdMultiheadMatmul, RefusesAScaleWithABias) {
  ExpectRefused({.scale_bias = 0.1f}, "attribute bias of pd.scale");
}
TEST_F(FusePdMultiheadMatmul, RefusesATransposedWeight) {
  ExpectRefused({.transpose_of_q = true}, "attribute transpose_y of pd.matmul");
}
TEST_F(FusePdMultiheadMatmul, RefusesAnotherMergingPermutation) {
  ExpectRefused({.merge_perm = {0, 1, 2, 3}, .merge = {0, 0, kSeq * kEach}},
                "attribute perm of pd.transpose");
}
TEST_F(FusePdMultiheadMatmul, RefusesHeadsThatAreNotSwapped) {
  // [B, H, S, E] by another road: the split itself puts the heads first.
  ExpectRefused({.perm = {0, 1, 2, 3},
                 .split = {0, kHeads, kSeq, kEach},
                 .split_of_v = {0, kHeads, kSeq, kEach}},
                "attribute perm of pd.transpose");
}
TEST_F(FusePdMultiheadMatmul, RefusesAMergeThatKeepsTheHeadsApart) {
  ExpectRefused({.merge = {0, 0, kHeads, kEach}},
                "the heads split the columns and merge undoes it");
}
TEST_F(FusePdMultiheadMatmul, RefusesComputedWeights) {
  ExpectRefused({.computed_weight = true}, "wq is a constant");
}
TEST_F(FusePdMultiheadMatmul, RefusesABiasPerRow) {
  ExpectRefused({.bias_per_row = true}, "bq has one element for each index of axis 1 of wq");
}
TEST_F(FusePdMultiheadMatmul, RefusesProbabilitiesThatAreReadElsewhere) {
  ExpectRefused({.probabilities_read = true}, "also used by builtin.return");
}
TEST_F(FusePdMultiheadMatmul, RefusesAMaskThatWidensTheLogits) {
  ExpectRefused({.x = {1, kSeq, kIn}}, "mask, if given, broadcasts to");
}
TEST_F(FusePdMultiheadMatmul, RefusesHeadsThatAreSplitUnlike) {
  ExpectRefused({.split_of_v = {0, kSeq, kHeads, kEach}}, "attribute value of pd.full_int_array");
}
TEST_F(FusePdMultiheadMatmul, RefusesAnInputOfRankFour) {
  ExpectRefused({.x = {kBatch, kSeq, 1, kIn}}, "x has rank 3");
}
TEST_F(FusePdMultiheadMatmul, RefusesAlphaOfAnotherShape) {
  ExpectRefused({.alpha_shape = {1, 1}}, "alpha is one number");
}

// The join on axis 0 that the seed publishes: the evaluator must tell it from the right one.
TEST_F(FusePdMultiheadMatmul, JoiningRowsWouldComputeSomethingElse) {
  const Operation root = Build({});
  const PdTensor x = RandomInput();
  const PdTensor before = EvaluatePd(program, {x})[0];
  ASSERT_EQ(Apply(kRule, root), "");
  const Operation concat = Output(0).operand(1).DefiningOp().operand(0).DefiningOp();
  ir::Rewriter rewriter(&program);
  rewriter.SetInsertionPoint(concat);
  const Value axis = rewriter.Make<pd::Full>({}, {.dtype = DataType::kI32, .shape = {1}});
  const Value rows = rewriter.Make<pd::Concat>({concat.operand(0), axis});
  rewriter.Replace(concat, {rows});
  const PdTensor after = EvaluatePd(program, {x})[0];
  double worst = 0;
  for (size_t i = 0; i < before.data.size(); ++i)
    worst = std::max(worst, std::abs(after.data[i] - before.data[i]));
  EXPECT_GT(worst, 0.1);
}

}  // namespace
}  // namespace weft::passes
