// Masks of Attention that have less columns than there are keys, in opset 23.
#include <cmath>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Value;
using kernels::Tensor;

Tensor Varied(const ir::Shape& dims, float first) {
  size_t size = 1;
  for (const int64_t d : dims) size *= static_cast<size_t>(d);
  std::vector<float> values(size);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(first + 1.7f * float(i));
  return F32(dims, values);
}

// y = Attention(x, x, x, mask, cache, cache) of two tokens and three before them.
class AttentionMask : public ::testing::Test {
 protected:
  AttentionMask() { ir::LoadOnnxDialect(context_); }

  std::unique_ptr<ir::Program> ProgramWith(DataType dtype, const ir::Shape& mask, int64_t tokens,
                                           int64_t past) {
    auto program = std::make_unique<ir::Program>(&context_);
    ir::Builder b(program.get());
    const Value x = b.AddInput("x", context_.TensorType(DataType::kF32, {1, 1, tokens, 4}));
    const Value cache = b.AddInput("cache", context_.TensorType(DataType::kF32, {1, 1, past, 4}));
    const Value m = b.AddInput("mask", context_.TensorType(DataType::kF32, mask));
    b.Return({{"y", b.Make<ops::Attention>(
                        {x, x, x, b.Make<ops::Cast>({m}, {.to = dtype}), cache, cache})}});
    return program;
  }
  std::vector<float> Run(ir::Program& program, int64_t columns) {
    const Tensor x = Varied({1, 1, 2, 4}, 0), cache = Varied({1, 1, 3, 4}, 9);
    Tensor mask = Varied({2, columns}, 5);
    mask.values<float>()[0] = 0;  // false
    return RunProgram(program, {x.view(), cache.view(), mask.view()});
  }
  // The operators of opset 23; checks that they compute the same.
  std::string Exported(ir::Program& program, int64_t columns) {
    const pb::ModelProto model = ExportToProto(program, {.target_opset = 23});
    ir::IrContext context;
    const std::string bytes = model.SerializeAsString();
    auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
    EXPECT_EQ(again.status().message(), "");
    if (!again.ok()) return "";
    EXPECT_EQ(Run(**again, columns), Run(program, columns));
    std::string text;
    for (const pb::NodeProto& node : model.graph().node()) text += node.op_type() + " ";
    return text;
  }

  ir::IrContext context_;
};

TEST_F(AttentionMask, IsPaddedForOpset23) {
  for (int64_t columns : {1, 3}) {
    EXPECT_EQ(Exported(*ProgramWith(DataType::kF32, {2, columns}, 2, 3), columns),
              "Cast Constant CastLike Pad Attention ");
    EXPECT_EQ(Exported(*ProgramWith(DataType::kBool, {2, columns}, 2, 3), columns),
              "Cast Pad Attention ");
  }
  EXPECT_EQ(Exported(*ProgramWith(DataType::kF32, {2, 5}, 2, 3), 5), "Cast Attention ");
}

TEST_F(AttentionMask, IsPaddedByWhatARunFindsMissing) {
  const int64_t unknown = ir::kUnknownDim;
  for (int64_t columns : {1, 4, 5})
    EXPECT_EQ(Exported(*ProgramWith(DataType::kBool, {2, unknown}, unknown, unknown), columns),
              "Cast Shape Shape Add Shape Sub Concat Pad Attention ");
}

// Reading expands the mask, for it may have one column, and writing knows that it is expanded.
TEST_F(AttentionMask, GrowsNoNodesFromFileToFile) {
  const int64_t unknown = ir::kUnknownDim;
  std::string bytes = ExportToProto(*ProgramWith(DataType::kBool, {2, unknown}, unknown, unknown),
                                    {.target_opset = 23})
                          .SerializeAsString();
  std::vector<int> nodes;
  for (int i = 0; i < 3; ++i) {
    ir::IrContext context;
    auto program = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
    ASSERT_EQ(program.status().message(), "");
    const pb::ModelProto model = ExportToProto(**program);
    EXPECT_EQ(model.opset_import(0).version(), 23);
    nodes.push_back(model.graph().node_size());
    bytes = model.SerializeAsString();
  }
  EXPECT_EQ(nodes[1], nodes[0]);
  EXPECT_EQ(nodes[2], nodes[0]);
}

TEST_F(AttentionMask, OfIntegersIsNotPadded) {
  const auto program = ProgramWith(DataType::kI32, {2, 1}, 2, 3);
  TempDir dir;
  EXPECT_EQ(ExportOnnx(*program, dir / "out.onnx", {.target_opset = 23}).message(),
            "onnx.Attention: an attn_mask of i32 that is shorter than the keys came with opset 24 "
            "and the model is written for 23");
}

}  // namespace
}  // namespace weft::onnx
