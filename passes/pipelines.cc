// The named pipelines and the rule groups they run, in order.
#include "passes/pipelines.h"

#include <algorithm>

#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"

namespace weft::passes {
namespace {

class Canonicalize : public PatternRewritePass {
 public:
  Canonicalize()
      : PatternRewritePass("canonicalize",
                           "identities, redundant transposes, reshapes and casts, "
                           "batch normalization folded into convolutions",
                           {"canonicalize"}) {}
};
WEFT_REGISTER_PASS(Canonicalize);

class FuseQuantizedPass : public PatternRewritePass {
 public:
  FuseQuantizedPass()
      : PatternRewritePass("fuse-quantized",
                           "operations between DequantizeLinear and QuantizeLinear on integers",
                           {"fuse-quantized", "quantized-moves", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(FuseQuantizedPass);

class FuseCompositePass : public PatternRewritePass {
 public:
  FuseCompositePass()
      : PatternRewritePass("fuse-composite",
                           "layer normalization, GELU and attention from their parts",
                           {"fuse-composite", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(FuseCompositePass);

class NamedOperatorsPass : public PatternRewritePass {
 public:
  NamedOperatorsPass()
      : PatternRewritePass(
            "named-operators",
            "operators that ONNX has by name, from the parts they are spelled out in",
            {"named-operators"}) {}
};
WEFT_REGISTER_PASS(NamedOperatorsPass);

class LayoutPass : public PatternRewritePass {
 public:
  LayoutPass()
      : PatternRewritePass("layout",
                           "convolutions and pools in NHWC, transposes pushed through and "
                           "cancelled",
                           {"layout", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(LayoutPass);

class LayoutCleanupPass : public PatternRewritePass {
 public:
  LayoutCleanupPass()
      : PatternRewritePass("layout-cleanup",
                           "transposes that move only dimensions of size 1 become reshapes",
                           {"layout-cleanup", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(LayoutCleanupPass);

class FuseEpiloguePass : public PatternRewritePass {
 public:
  FuseEpiloguePass()
      : PatternRewritePass("fuse-epilogue",
                           "bias, residual and activation into convolutions and matrix products",
                           {"fuse-epilogue", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(FuseEpiloguePass);

class PaddlePass : public PatternRewritePass {
 public:
  PaddlePass() : PatternRewritePass("paddle", "rules on the pd dialect", {"paddle"}) {}
};
WEFT_REGISTER_PASS(PaddlePass);

class OnnxRuntimePass : public PatternRewritePass {
 public:
  OnnxRuntimePass()
      : PatternRewritePass("onnxruntime", "operators that ONNX Runtime adds to ONNX",
                           {"onnxruntime", "quantized-moves", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(OnnxRuntimePass);

class AscendPass : public PatternRewritePass {
 public:
  AscendPass()
      : PatternRewritePass("ascend", "rewrites for Ascend NPUs", {"ascend", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(AscendPass);

class LitertPass : public PatternRewritePass {
 public:
  LitertPass() : PatternRewritePass("litert", "rewrites for LiteRT", {"litert", "canonicalize"}) {}
};
WEFT_REGISTER_PASS(LitertPass);

}  // namespace

const std::vector<std::string>& CommonPasses() {
  static const auto* passes =
      new std::vector<std::string>{"constant-folding",       "loop-unrolling",
                                   "constant-folding",       "loop-invariant-code-motion",
                                   "sequence-forwarding",    "concat-forwarding",
                                   "canonicalize",           "shape-arithmetic",
                                   "constant-folding",       "rebuild-sizes",
                                   "fuse-slices-into-split", "common-subexpression-elimination",
                                   "dead-code-elimination"};
  return *passes;
}

bool BeginsWithCommonPasses(std::span<const std::string> passes) {
  const std::vector<std::string>& common = CommonPasses();
  return passes.size() >= common.size() && std::equal(common.begin(), common.end(), passes.begin());
}

const std::vector<Pipeline>& Pipelines() {
  static const auto* pipelines = [] {
    const std::vector<std::string>& common = CommonPasses();
    auto simplify = common, layout = common, fuse = common, ascend = common, litert = common,
         ort = common, superopt = common;
    for (const char* pass : {"named-operators", "cancel-transposes", "constant-folding",
                             "common-subexpression-elimination", "dead-code-elimination"})
      simplify.emplace_back(pass);
    for (const char* pass : {"layout", "layout-cleanup", "constant-folding",
                             "common-subexpression-elimination", "dead-code-elimination"})
      layout.emplace_back(pass);
    fuse.insert(fuse.begin(), {"lower-microsoft", "lower-attention"});
    for (const char* pass :
         {"fuse-quantized", "fuse-quantized-lookup", "fuse-composite", "layout", "layout-cleanup",
          "fuse-quantized-lookup",  // where a transpose stood between
          "fuse-epilogue", "constant-folding", "common-subexpression-elimination",
          "dead-code-elimination", "fuse-elementwise"})
      fuse.emplace_back(pass);
    for (const char* pass : {"split-qkv-matmul", "gather-to-split", "conv1d-to-conv2d",
                             "split-large-kernel-conv", "typecast", "ascend", "constant-folding",
                             "common-subexpression-elimination", "dead-code-elimination"})
      ascend.emplace_back(pass);
    for (const char* pass :
         {"masked-softmax-select-to-add", "mha-to-sha-decode", "mha-to-sha-prefill", "litert",
          "constant-folding", "common-subexpression-elimination", "dead-code-elimination"})
      litert.emplace_back(pass);
    ort.insert(ort.begin(), "lower-fused");  // fused anew, as ONNX Runtime has it
    for (const char* pass :
         {"fuse-composite", "onnxruntime", "fuse-quantized-concat-for-ort", "lower-fused",
          "constant-folding", "shape-arithmetic", "rebuild-sizes", "onnxruntime",
          "cancel-transposes", "layout-cleanup", "constant-folding",
          "common-subexpression-elimination", "dead-code-elimination"})
      ort.emplace_back(pass);
    for (const char* pass : {"superopt", "constant-folding", "common-subexpression-elimination",
                             "dead-code-elimination"})
      superopt.emplace_back(pass);
    return new std::vector<Pipeline>{
        {"none", "no pass at all", {}},
        {"simplify", "ONNX to ONNX: fold, canonicalize, merge equal operations, drop dead ones",
         simplify},
        {"layout", "simplify, then NHWC convolutions and pools", layout},
        {"fuse",
         "lowers attention and operators of ONNX Runtime, simplifies, then fused operations in "
         "NHWC",
         fuse},
        {"paddle", "the rules on the pd dialect", {"paddle", "dead-code-elimination"}, true},
        {"ascend", "simplify, then rewrites for Ascend NPUs", ascend, true},
        {"litert", "simplify, then rewrites for LiteRT", litert, true},
        {"ort", "simplify, then operators that ONNX Runtime adds; see --export ort", ort, true},
        {"superopt", "simplify, then a search for a cheaper program", superopt, true},
    };
  }();
  return *pipelines;
}

}  // namespace weft::passes
