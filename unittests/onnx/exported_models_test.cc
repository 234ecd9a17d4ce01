// The eleven real networks that benchmarks/models/export.py makes: what the fuse pipeline leaves of them.
// They are looked for in $WEFT_MODELS, else in models/ beside the build folder; without them the tests are
// skipped. (The same counts on narrow copies, always run: unittests/passes/fusion/fuse_pipeline_test.cc.)
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "ir/walk.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "tools/onnx/import.h"

namespace weft::onnx {
namespace {

std::string ModelsFolder() {
  if (const char* folder = std::getenv("WEFT_MODELS")) return folder;
  return WEFT_BINARY_DIR "/../models";
}

struct Expected {
  const char* model;
  std::map<std::string, int> counts;  // of ops after fuse; ops not listed may be there too
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.model; }

class ExportedModel : public testing::TestWithParam<Expected> {};

TEST_P(ExportedModel, IsFusedAsExpected) {
  const std::string path = ModelsFolder() + "/" + GetParam().model + ".onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  ir::IrContext context;
  auto program = ImportOnnx(context, path);
  ASSERT_TRUE(program.ok()) << program.status();
  auto evaluator = kernels::KernelEvaluator::Create("auto");
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  passes::PassManager pm(&context);
  pm.pass_context().evaluator = evaluator->get();
  pm.set_verify_each(true);
  for (const std::string& pass : passes::FindPipeline("fuse")->passes)
    pm.AddPass(passes::MakePass(pass));
  const absl::Status status = pm.Run(**program);
  ASSERT_TRUE(status.ok()) << status;

  std::map<std::string, int> counts;
  ir::Walk(**program, [&](ir::Operation op) {
    ++counts[std::string(op.name())];
    const ir::Attribute activation = op.attr("activation");
    if (activation && activation.AsString() == "gelu") ++counts["gelu"];
  });
  counts["gelu"] += counts["fused.gelu"];
  for (const char* gone : {"onnx.BatchNormalization", "onnx.Erf", "onnx.Pow", "onnx.Conv",
                           "onnx.Identity", "onnx.HardSigmoid"})
    EXPECT_EQ(counts[gone], 0) << gone;
  for (const auto& [op, count] : GetParam().counts) EXPECT_EQ(counts[op], count) << op;
  if (GetParam().counts.count("fused.conv2d")) {
    EXPECT_LE(counts["onnx.Transpose"], 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Big, ExportedModel,
    testing::Values(
        Expected{"resnet50", {{"fused.conv2d", 53}, {"fused.linear", 1}}},
        Expected{"mobilenet_v2", {{"fused.conv2d", 52}, {"fused.linear", 1}}},
        Expected{"mobilenet_v3_large", {{"fused.conv2d", 62}, {"fused.linear", 2}}},
        Expected{"squeezenet", {{"fused.conv2d", 26}}},
        Expected{"bert_base", {{"fused.attention", 12}, {"fused.layer_norm", 25}, {"gelu", 12}}},
        Expected{"bert_base_ids",
                 {{"fused.attention", 12}, {"fused.layer_norm", 25}, {"gelu", 12}}},
        Expected{"bert_tiny", {{"fused.attention", 2}, {"fused.layer_norm", 5}, {"gelu", 2}}},
        Expected{"vit_block", {{"fused.attention", 1}, {"fused.layer_norm", 2}, {"gelu", 1}}},
        Expected{"paddle_attn", {{"fused.attention", 1}, {"onnx.Transpose", 0}}},
        Expected{"gemma_prefill", {{"onnx.Softmax", 1}}},
        Expected{"gemma_decode", {{"onnx.Softmax", 1}}}),
    [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace weft::onnx
