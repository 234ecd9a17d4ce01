// The seed's RemoveRedundentTransposePattern, as it stands.
#include <gtest/gtest.h>

#include "drr/paddle/string_spelling.h"
#include "ir/dialects/pd.h"
#include "unittests/drr/engine/rewrite_test_util.h"

// clang-format off
class RemoveRedundentTransposePattern
    : public ir::drr::DrrPatternBase<RemoveRedundentTransposePattern> {
 public:
  void operator()(ir::drr::DrrPatternContext *ctx) const override {
    // Source pattern: 待匹配的子图
    ir::drr::SourcePattern pat = ctx->SourcePattern();
    const auto &transpose1 =
        pat.Op("pd.transpose", {{"perm", pat.Attr("perm_1")}});
    const auto &transpose2 =
        pat.Op("pd.transpose", {{"perm", pat.Attr("perm_2")}});

    pat.Tensor("ret") = transpose2(transpose1(pat.Tensor("arg_transpose")));

    // Result patterns: 要替换的子图
    ir::drr::ResultPattern res = pat.ResultPattern();
    const auto &new_perm_attr = res.Attr(
        [](const ir::drr::MatchContext &match_ctx) -> std::vector<int> {
          const auto &perm1 = match_ctx.Attr<std::vector<int>>("perm_1");
          const auto &perm2 = match_ctx.Attr<std::vector<int>>("perm_2");
          std::vector<int> new_perm;
          for (int v : perm2) {
            new_perm.emplace_back(perm1[v]);
          }
          return new_perm;
        });
    const auto &tranpose_continuous =
        res.Op("pd.transpose", {{"perm", new_perm_attr}});

    res.Tensor("ret") = tranpose_continuous(res.Tensor("arg_transpose"));
  }
};  // clang-format on

namespace weft::drr {
namespace {

using ir::Ints;
using ir::Operation;
using ir::Value;
namespace pd = ir::pd;

class SeedTranspose : public RewriteTest {
 protected:
  SeedTranspose() { ir::LoadPdDialect(context); }
  Value Transpose(Value v, Ints perm, ir::Shape dims) {
    return Make<pd::Transpose>({v}, {.perm = perm}, dims);
  }
};

TEST_F(SeedTranspose, BuildsWithoutAWarningUnderItsOwnName) {
  const BuildResult built = RemoveRedundentTransposePattern().Build(&context);
  ASSERT_TRUE(built.ok()) << testing::PrintToString(built.errors);
  EXPECT_TRUE(built.warnings.empty()) << testing::PrintToString(built.warnings);
  EXPECT_EQ(built.rule->name, "remove-redundent-transpose");
}

TEST_F(SeedTranspose, ComposesTheTransposesOfItsListing) {
  const Value x = Input("x", {16, 3, 4, 16});
  const Value inner = Transpose(x, {0, 2, 1, 3}, {16, 4, 3, 16});
  const Value outer = Transpose(inner, {1, 0, 2, 3}, {4, 16, 3, 16});
  b.Return({{"out", outer}});
  EXPECT_EQ(Rewrite<RemoveRedundentTransposePattern>(outer.DefiningOp()), "");
  const Operation left = Output(0);
  EXPECT_TRUE(left.Is<pd::Transpose>());
  EXPECT_EQ(left.attrs_of<pd::Transpose>().perm, (Ints{2, 0, 1, 3}));
  EXPECT_EQ(left.operand(0), x);
  EXPECT_EQ(left.result().type().ToString(), "tensor<4x16x3x16xf32>");
  EXPECT_EQ(program.body().num_ops(), 2u);
}

TEST_F(SeedTranspose, LeavesAnInnerTransposeWithTwoReadersAlone) {
  const Value x = Input("x", {2, 3});
  const Value inner = Transpose(x, {1, 0}, {3, 2});
  const Value outer = Transpose(inner, {1, 0}, {2, 3});
  b.Return({{"out", outer}, {"inner", inner}});
  EXPECT_EQ(Rewrite<RemoveRedundentTransposePattern>(outer.DefiningOp()),
            "an intermediate value, result 0 of pd.transpose, is also used by builtin.return");
}

}  // namespace
}  // namespace weft::drr
