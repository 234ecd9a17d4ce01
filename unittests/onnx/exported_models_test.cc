// What benchmarks/models/export.py makes. Eleven benchmark models: what the fuse pipeline leaves of them
// (on narrow copies, always run: unittests/passes/fusion/fuse_pipeline_test.cc). Eight networks with dynamic
// axes, each in three spellings: what they compute, under several pipelines, is what torch computed.
// They are looked for in $WEFT_MODELS, else in models/ beside the build folder; without them the tests are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "ir/walk.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/specialize.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "tools/onnx/export.h"
#include "tools/onnx/import.h"
#include "tools/onnx/tensor_file.h"
#include "unittests/onnx/run_program.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

std::string ModelsFolder() {
  if (const char* folder = std::getenv("WEFT_MODELS")) return folder;
  return fixtures::BuildPath("/../models");
}

struct Expected {
  const char* model;
  std::map<std::string, int> counts;  // of ops after fuse; ops not listed may be there too
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.model; }

// By name; "gelu" are those of their own and those that an op applies to its result.
std::map<std::string, int> CountOps(ir::Program& program) {
  std::map<std::string, int> counts;
  ir::Walk(program, [&](ir::Operation op) {
    ++counts[std::string(op.name())];
    const ir::Attribute activation = op.attr("activation");
    if (activation && activation.AsString() == "gelu") ++counts["gelu"];
  });
  counts["gelu"] += counts["fused.gelu"];
  return counts;
}

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

  std::map<std::string, int> counts = CountOps(**program);
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
                 {{"fused.attention", 12},
                  {"fused.embed_layer_norm", 1},
                  {"fused.layer_norm", 24},
                  {"gelu", 12}}},
        Expected{"bert_tiny", {{"fused.attention", 2}, {"fused.layer_norm", 5}, {"gelu", 2}}},
        Expected{"vit_block", {{"fused.attention", 1}, {"fused.layer_norm", 2}, {"gelu", 1}}},
        Expected{"paddle_attn", {{"fused.attention", 1}, {"onnx.Transpose", 0}}},
        Expected{"gemma_prefill", {{"fused.masked_softmax", 1}}},
        Expected{"gemma_decode", {{"fused.masked_softmax", 1}}}),
    [](const auto& info) { return std::string(info.param.model); });

// --- dynamic axes -------------------------------------------------------------------

kernels::Tensor ReadTensor(ir::IrContext& context, const std::string& path) {
  const auto dense = ReadTensorFile(context, path);
  EXPECT_EQ(dense.status().message(), "");
  if (!dense.ok()) return {};
  const ir::Type type = dense->dense_type();
  kernels::Tensor tensor = *kernels::Tensor::Create(type.dtype(), type.shape());
  if (!dense->bytes().empty())
    std::memcpy(tensor.view().data, dense->bytes().data(), dense->bytes().size());
  return tensor;
}

std::vector<kernels::Tensor> ReadTensors(ir::IrContext& context, const std::string& prefix) {
  std::vector<kernels::Tensor> tensors;
  for (int i = 0; std::filesystem::exists(prefix + std::to_string(i) + ".pb"); ++i)
    tensors.push_back(ReadTensor(context, prefix + std::to_string(i) + ".pb"));
  return tensors;
}

// Floats may differ by 1e-5 of the largest, twice what ir-run allows; integers may not.
void ExpectEqual(const kernels::TensorView& actual, const kernels::TensorView& expected) {
  ASSERT_EQ(actual.dtype, expected.dtype);
  ASSERT_THAT(actual.dims, testing::ElementsAreArray(expected.dims));
  if (expected.dtype != ir::DataType::kF32) {
    EXPECT_EQ(std::memcmp(actual.data, expected.data, expected.NumBytes()), 0);
    return;
  }
  float largest = 0, difference = 0;
  for (size_t i = 0; i < expected.values<float>().size(); ++i) {
    const float value = expected.values<float>()[i];
    ASSERT_FALSE(std::isnan(actual.values<float>()[i]));
    largest = std::max(largest, std::abs(value));
    difference = std::max(difference, std::abs(value - actual.values<float>()[i]));
  }
  EXPECT_LE(difference, 1e-5f * largest);
}

struct DataSet {
  std::vector<kernels::Tensor> inputs, outputs;
};

// test_data_set_0, 1, ... of the folder.
std::vector<DataSet> ReadDataSets(ir::IrContext& context, const std::string& folder) {
  std::vector<DataSet> sets;
  for (;;) {
    const std::string data = folder + "/test_data_set_" + std::to_string(sets.size());
    if (!std::filesystem::exists(data)) return sets;
    sets.push_back(
        {ReadTensors(context, data + "/input_"), ReadTensors(context, data + "/output_")});
  }
}

// In one session: its plans are of different shapes.
void ExpectComputes(ir::Program& program, std::span<const DataSet> sets) {
  auto session = kernels::Session::Create(program, {});
  ASSERT_EQ(session.status().message(), "");
  for (const DataSet& set : sets) {
    SCOPED_TRACE("set " + std::to_string(&set - sets.data()));
    std::vector<kernels::TensorView> views;
    for (const kernels::Tensor& input : set.inputs) views.push_back(input.view());
    const auto outputs = (*session)->Run(views);
    ASSERT_EQ(outputs.status().message(), "");
    ASSERT_EQ(outputs->size(), set.outputs.size());
    for (size_t i = 0; i < outputs->size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      ExpectEqual((*outputs)[i].view(), set.outputs[i].view());
    }
  }
}

void BindShapes(ir::Program& program, const DataSet& set) {
  std::vector<ir::Type> types;
  for (const kernels::Tensor& input : set.inputs)
    types.push_back(program.context()->TensorType(input.dtype(), input.view().dims));
  auto evaluator = kernels::KernelEvaluator::Create("reference");
  ASSERT_EQ(evaluator.status().message(), "");
  ASSERT_EQ(kernels::Specialize(program, types, **evaluator).message(), "");
}

class DynamicModel : public testing::TestWithParam<std::tuple<Expected, const char*>> {
 protected:
  // Imports the model into `original_`; false when there is none.
  bool Import() {
    const auto& [expected, spelling] = GetParam();
    const std::string folder = ModelsFolder() + "/" + expected.model;
    const std::string path = folder + "/" + spelling + ".onnx";
    if (!std::filesystem::exists(path)) return false;
    auto program = ImportOnnx(context_, path);
    EXPECT_EQ(program.status().message(), "");
    if (!program.ok()) return false;
    original_ = *std::move(program);
    sets_ = ReadDataSets(context_, folder);
    EXPECT_GE(sets_.size(), 2u);
    return true;
  }
  std::string TemporaryFile(const std::string& pipeline) const {
    const auto& [expected, spelling] = GetParam();
    return testing::TempDir() + "/" + expected.model + "_" + spelling + "_" + pipeline + ".onnx";
  }

  ir::IrContext context_;
  std::unique_ptr<ir::Program> original_;
  std::vector<DataSet> sets_;
};

TEST_P(DynamicModel, ComputesWhatTorchDidUnderEveryPipelineAndAfterExport) {
  if (!Import()) GTEST_SKIP() << "no such model";
  for (const char* pipeline : {"none", "simplify", "fuse"}) {
    SCOPED_TRACE(pipeline);
    const auto program = original_->Clone();
    Optimise(*program, pipeline);
    ExpectComputes(*program, sets_);
    const std::string written = TemporaryFile(pipeline);
    ASSERT_EQ(ExportOnnx(*program, written).message(), "");
    const auto read = ImportOnnx(context_, written);
    ASSERT_EQ(read.status().message(), "");
    SCOPED_TRACE("exported");
    ExpectComputes(**read, sets_);
  }
}

TEST_P(DynamicModel, ComputesWhatTorchDidWhenShapesAreKnownBefore) {
  if (!Import()) GTEST_SKIP() << "no such model";
  for (const DataSet& set : sets_) {
    const auto program = original_->Clone();
    BindShapes(*program, set);
    Optimise(*program, "fuse");
    ExpectComputes(*program, {&set, 1});
  }
}

// In each of the three spellings alike.
TEST_P(DynamicModel, IsSimplifiedAndFusedAsExpected) {
  if (!Import()) GTEST_SKIP() << "no such model";
  const auto simplified = original_->Clone();
  Optimise(*simplified, "simplify");
  EXPECT_LT(simplified->num_operations(), original_->num_operations());
  Optimise(*original_, "fuse");
  std::map<std::string, int> counts = CountOps(*original_);
  for (const char* gone : {"onnx.CastLike", "onnx.Erf", "onnx.Gelu", "onnx.LayerNormalization",
                           "onnx.Gemm", "onnx.Identity", "onnx.Dropout"})
    EXPECT_EQ(counts[gone], 0) << gone;
  for (const auto& [op, count] : std::get<0>(GetParam()).counts) EXPECT_EQ(counts[op], count) << op;
}

INSTANTIATE_TEST_SUITE_P(
    Big, DynamicModel,
    testing::Combine(
        testing::Values(Expected{"llama",
                                 {{"fused.attention", 2},
                                  {"fused.rms_norm", 5},
                                  {"fused.linear", 15},
                                  {"onnx.Softmax", 0},
                                  {"onnx.Expand", 1}}},  // no longer of heads
                        Expected{"gpt2",
                                 {{"fused.attention", 2},
                                  {"fused.layer_norm", 5},
                                  {"fused.linear", 9},
                                  {"gelu", 2},
                                  {"onnx.Softmax", 0},
                                  {"onnx.Transpose", 0}}},
                        Expected{"t5",
                                 {{"fused.attention", 6},
                                  {"fused.rms_norm", 12},
                                  {"fused.linear", 33},
                                  {"onnx.Softmax", 0}}},
                        Expected{"whisper_encoder",
                                 {{"fused.attention", 2},
                                  {"fused.layer_norm", 5},
                                  {"fused.linear", 12},
                                  {"gelu", 4},
                                  {"onnx.Softmax", 0}}},
                        Expected{"unet",
                                 {{"fused.attention", 6},
                                  {"fused.conv2d", 27},
                                  {"fused.layer_norm", 9},
                                  {"fused.linear", 38},
                                  {"gelu", 3},
                                  {"onnx.Softmax", 0}}},
                        Expected{"detector", {{"fused.conv2d", 13}}},
                        Expected{"lstm_tagger", {{"fused.linear", 1}, {"onnx.LSTM", 2}}},
                        Expected{"generator", {{"fused.layer_norm", 3}, {"fused.linear", 5}}}),
        testing::Values("model", "opset18", "opset22")),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).model) + "_" + std::get<1>(info.param);
    });

}  // namespace
}  // namespace weft::onnx
