// Every rule of the library prints as text, and is read back where it has no native code.
#include "drr/text/rule_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/rule_file.h"
#include "ir/base/source_path.h"
#include "passes/rule_registry.h"
#include "unittests/drr/engine/toy_ops.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

TEST(PrintedRuleLibrary, IsReadBackWhereThereIsNoNativeCode) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  drr::toy::Load(context);  // other tests of this program register rules on it
  std::vector<std::string> native;
  for (const RegisteredRule& registered : RegisteredRules()) {
    const drr::BuildResult built = registered.build(&context);
    ASSERT_TRUE(built.ok()) << registered.name;
    const std::string text = drr::text::PrintRule(*built.rule);
    const drr::text::RuleFile file = drr::text::ReadRules(text, "printed", &context);
    if (text.find("native") != std::string::npos) {
      ASSERT_EQ(file.errors.size(), 1u) << text;
      EXPECT_THAT(file.errors[0], testing::HasSubstr("native code")) << text;
      if (ir::SourcePath(registered.loc.file).starts_with("passes/"))
        native.emplace_back(registered.name);
      continue;
    }
    ASSERT_EQ(file.rules.size(), 1u) << text << testing::PrintToString(file.errors);
    EXPECT_EQ(drr::text::PrintRule(*file.rules[0]), text);
    EXPECT_EQ(file.rules[0]->benefit, built.rule->benefit);
    EXPECT_EQ(file.rules[0]->graph.ops.size(), built.rule->graph.ops.size());
  }
  // One that is added here must say why no word of the vocabulary will do.
  EXPECT_THAT(native,
              testing::UnorderedElementsAre(
                  // Numbers of a normalisation, by channels that lie elsewhere in each.
                  "fold-batch-norm-into-conv", "fold-batch-norm-into-conv-transpose",
                  "fold-batch-norm-into-gemm", "fold-batch-norm-through-transposes",
                  // A type by its size.
                  "fuse-dequantize-matmul",
                  // Constants of a quantisation.
                  "fuse-quantized-conv", "fuse-quantized-gemm", "fuse-quantized-matmul",
                  "fuse-quantized-conv-for-ort", "fuse-quantized-gemm-for-ort",
                  "fuse-quantized-global-average-pool-for-ort",
                  // One thing or the other.
                  "fuse-matmul-into-gemm", "fuse-term-into-gemm", "lower-attention-mask",
                  "fuse-quantized-matmul-for-ort", "fuse-matmul-integer-to-float-for-ort",
                  // What only this rule asks or computes.
                  "split-average-pool", "merge-slices", "merge-clamps", "fuse-pd-multihead-matmul",
                  "lower-wide-conv-block", "lower-to-multi-head-attention",
                  "fuse-packed-attention-transposes", "lower-attention-keep",
                  "sink-transpose-through-pad", "sink-transpose-through-channel-shuffle",
                  "sink-transpose-through-batch-norm", "sink-transpose-through-reduce",
                  "sink-transpose-through-resize", "sink-transpose-through-slice",
                  // What an equation says.
                  "lower-einsum-to-matmul", "lower-einsum-to-product", "lower-einsum-to-sum",
                  "lower-einsum-to-transpose", "lower-einsum-to-transposes", "lower-swapped-einsum",
                  // Numbers and sums of weights, by rows or columns or channels of groups.
                  "merge-weight-matrices", "fold-batch-norm-into-matmul", "fold-term-before-conv",
                  "fold-term-before-gemm", "fold-term-before-matmul", "fold-factor-before-conv",
                  "fold-factor-into-gemm",
                  // Numbers of a constant, each by itself.
                  "fold-sign-into-term", "fold-divisor-into-weights"));
}

}  // namespace
}  // namespace weft::passes
