// Every rule of the library prints as text, and is read back where it has no native code.
#include "drr/text/rule_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/rule_file.h"
#include "ir/base/source_path.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/pd.h"
#include "passes/rule_registry.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::passes {
namespace {

TEST(PrintedRuleLibrary, IsReadBackWhereThereIsNoNativeCode) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadMicrosoftDialect(context);
  ir::LoadPdDialect(context);
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
  EXPECT_THAT(
      native,
      testing::UnorderedElementsAre(
          "drop-expanded-operand", "drop-expanded-second-operand", "drop-full-clip",
          "drop-noop-gather", "drop-repeated-op", "fold-batch-norm-into-conv-transpose",
          "fold-batch-norm-into-gemm", "fold-cast-into-constant-of-shape",
          "fold-factor-before-conv", "fold-factor-before-matmul", "fold-factor-into-conv",
          "fold-factor-into-matmul", "fold-pad-into-average-pool", "fold-pad-into-conv",
          "fold-pad-into-conv-integer", "fold-pad-into-max-pool", "fold-term-into-conv",
          "fold-term-through-transpose", "fold-transpose-into-gemm", "fold-unsqueeze-into-reduce",
          "fuse-attention-scale", "fuse-group-norm", "fuse-group-normalization",
          "fuse-matmul-into-gemm", "lower-default-transpose", "merge-clamps",
          "merge-constant-factors", "merge-constant-terms", "merge-extrema", "merge-squeezes",
          "merge-unsqueezes", "fold-batch-norm-into-conv", "fold-batch-norm-through-transposes",
          "fold-dynamic-reshape", "fold-static-shape", "fuse-attention", "fuse-batched-attention",
          "fuse-conv-activation", "fuse-gelu", "fuse-layer-norm", "fuse-layer-norm-for-onnx",
          "fuse-layer-normalization", "fuse-linear-activation", "fuse-masked-fill-attention",
          "fuse-pd-multihead-matmul", "fuse-quantized-add-clip", "fuse-quantized-average-pool",
          "fuse-quantized-conv", "fuse-quantized-conv-clip", "fuse-quantized-gemm",
          "fuse-quantized-linear-clip", "fuse-quantized-matmul", "fuse-quantized-mul-clip",
          "lower-absent-zero-point", "lower-cast-like", "lower-average-pool-to-nhwc",
          "lower-max-pool-to-nhwc", "lower-resize-to-nearest", "lower-wide-conv-block",
          "merge-dequantize-quantize", "merge-slices", "sink-clip-through-quantize",
          "sink-concat-through-quantize", "sink-max-pool-through-quantize", "split-average-pool",
          // Of another op's form, of two slices, of what a mask lacks, and ones of a size.
          "fuse-matmul-scale", "fuse-matmul-scaled-operand", "fuse-transpose-a", "fuse-transpose-b",
          "fuse-conv-activation-for-ort", "fuse-slices-into-split", "lower-attention-mask",
          "fuse-cast-rms-norm",
          // What an equation says, sizes that are computed, axes of two lists, sums over weights.
          "lower-einsum-to-matmul", "lower-einsum-to-product", "lower-einsum-to-sum",
          "lower-einsum-to-transpose", "lower-einsum-to-transposes", "lower-swapped-einsum",
          "fold-dynamic-expand", "merge-reductions", "merge-weight-matrices",
          "fold-batch-norm-into-matmul", "fold-divisor-into-factor", "fold-term-before-conv"));
}

}  // namespace
}  // namespace weft::passes
