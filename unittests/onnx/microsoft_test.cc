// The operators of ONNX Runtime against its own results, which standard/microsoft.tsv holds:
//
//   WEFT_WRITE_MODELS=DIR onnx_tests --gtest_filter='Microsoft.*'
//   node benchmarks/peers/ort/results.js DIR > unittests/onnx/standard/microsoft.tsv
#include <algorithm>
#include <cstdlib>

#include "ir/analysis/reference_body.h"
#include "ir/walk.h"
#include "unittests/onnx/microsoft_cases.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

namespace ms = ir::microsoft;
using kernels::F32;
using kernels::I32;
using kernels::Operand;
using kernels::Random;
using kernels::Tensor;
using microsoft_cases::AllCases;
using microsoft_cases::Bytes;
using microsoft_cases::Case;
using microsoft_cases::Fixed;
using microsoft_cases::Groups;
using microsoft_cases::Of;

std::unique_ptr<ir::Program> ProgramOf(const Case& c, ir::IrContext& context, bool all_constant,
                                       std::vector<kernels::TensorView>* inputs) {
  ir::LoadMicrosoftDialect(context);
  auto program = std::make_unique<ir::Program>(&context);
  ir::Builder b(program.get());
  std::vector<ir::Value> values;
  for (const Operand& operand : c.operands) {
    values.emplace_back();
    if (operand.tensor == nullptr) continue;
    const kernels::TensorView view = operand.tensor->view();
    const ir::Type type = context.TensorType(view.dtype, view.dims);
    if (all_constant || operand.constant) {
      values.back() = b.Constant(context.DenseAttr(type, {view.data, view.NumBytes()}));
    } else {
      values.back() = b.AddInput("x" + std::to_string(inputs->size()), type);
      inputs->push_back(view);
    }
  }
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value result : c.add(b, values))
    outputs.emplace_back("y" + std::to_string(outputs.size()), result);
  b.Return(std::move(outputs));
  return program;
}

// By case and number of the result: the numbers of it.
std::map<std::string, std::vector<std::vector<float>>> ReadResults() {
  std::map<std::string, std::vector<std::vector<float>>> results;
  std::ifstream file(fixtures::TestData("/onnx/standard/microsoft.tsv"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string name;
    cells >> name;
    std::vector<float>& numbers = results[name].emplace_back();
    for (float number = 0; cells >> number;) numbers.push_back(number);
  }
  return results;
}

void ExpectResults(const std::vector<Tensor>& actual,
                   const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    std::vector<float> numbers;
    const auto add = [&](const auto& values) {
      for (const auto number : values) numbers.push_back(static_cast<float>(number));
    };
    switch (actual[i].dtype()) {
      case ir::DataType::kI8:
        add(actual[i].values<int8_t>());
        break;
      case ir::DataType::kU8:
        add(actual[i].values<uint8_t>());
        break;
      case ir::DataType::kI32:
        add(actual[i].values<int32_t>());
        break;
      default:
        add(actual[i].values<float>());
    }
    ASSERT_EQ(numbers.size(), expected[i].size());
    for (size_t k = 0; k < numbers.size(); ++k) {
      const double tolerance = std::max(2e-5, 1e-6 * std::abs(expected[i][k]));
      ASSERT_NEAR(numbers[k], expected[i][k], tolerance) << "element " << k;
    }
  }
}

absl::StatusOr<std::vector<Tensor>> RunOn(ir::Program& program,
                                          const std::vector<kernels::TensorView>& inputs) {
  WEFT_ASSIGN_OR_RETURN(auto session, kernels::Session::Create(program, {}));
  return session->Run(inputs);
}

// Of the case alone, also as `fuse` leaves it.
absl::StatusOr<std::vector<Tensor>> RunCase(const Case& c, bool fused = false) {
  ir::IrContext context;
  std::vector<kernels::TensorView> inputs;
  const auto program = ProgramOf(c, context, false, &inputs);
  if (fused) Optimise(*program, "fuse");
  return RunOn(*program, inputs);
}

TEST(Microsoft, ComputesWhatOnnxRuntimeDoes) {
  const auto expected = ReadResults();
  for (const Case& c : AllCases()) {
    SCOPED_TRACE(c.name);
    if (const char* folder = std::getenv("WEFT_WRITE_MODELS")) {
      ir::IrContext context;
      std::vector<kernels::TensorView> inputs;
      const auto constant = ProgramOf(c, context, true, &inputs);
      ASSERT_TRUE(ExportOnnx(*constant, std::string(folder) + "/" + c.name + ".onnx").ok());
      continue;
    }
    const auto results = RunCase(c);
    ASSERT_TRUE(results.ok()) << results.status();
    const auto row = expected.find(c.name);
    ASSERT_NE(row, expected.end());
    ExpectResults(*results, row->second);
  }
}

// With fused ops too, and then nothing of ONNX Runtime's is left but the products with few bits, whose
// weights would grow.
TEST(Microsoft, ComputesTheSameFused) {
  const auto expected = ReadResults();
  for (const Case& c : AllCases()) {
    SCOPED_TRACE(c.name);
    ir::IrContext context;
    std::vector<kernels::TensorView> inputs;
    const auto program = ProgramOf(c, context, false, &inputs);
    Optimise(*program, "fuse");
    ir::Walk(*program, [](ir::Operation op) {
      EXPECT_NE(op.name(), "onnx.SimplifiedLayerNormalization");
      EXPECT_TRUE(!op.name().starts_with("com.microsoft.") || op.Is<ms::MatMulNBits>())
          << op.name();
    });
    const auto results = RunOn(*program, inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    const auto row = expected.find(c.name);
    ASSERT_NE(row, expected.end());
    ExpectResults(*results, row->second);
  }
}

// Files have the op as it was.
TEST(Microsoft, IsReadAndWritten) {
  for (const Case& c : AllCases()) {
    SCOPED_TRACE(c.name);
    ir::IrContext context, other;
    std::vector<kernels::TensorView> inputs;
    const auto program = ProgramOf(c, context, false, &inputs);
    const pb::ModelProto model = ExportToProto(*program);
    const pb::NodeProto& node = model.graph().node(0);
    const bool is_standard = node.op_type() == "SimplifiedLayerNormalization";
    EXPECT_EQ(model.graph().node_size(), 1);
    EXPECT_EQ(node.domain(), is_standard ? "" : "com.microsoft");
    const std::string bytes = model.SerializeAsString();
    auto again = ImportOnnxBytes(other, std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_NE((*again)->body().Terminator().operand(0).DefiningOp().def(), nullptr);
    const auto expected = RunOn(*program, inputs), actual = RunOn(**again, inputs);
    ASSERT_TRUE(expected.ok() && actual.ok());
    for (size_t i = 0; i < expected->size(); ++i)
      EXPECT_EQ(kernels::RelativeDifference((*actual)[i].view(), (*expected)[i].view()), 0);
  }
}

// Once there are groups, ONNX Runtime 1.30 takes zero points of 4 bits for half the range, whatever they
// are, and knows no 8 bits.
TEST(Microsoft, PackedZeroPointsOfGroupsAreTheirNumbers) {
  for (const int64_t bits : {4, 8}) {
    const Tensor packed = Bytes({5 * (bits == 4 ? 2 : 3)}, 4);  // of 3 blocks in 5 rows
    std::vector<float> numbers;
    for (size_t row = 0; row < 5; ++row)
      for (size_t block = 0; block < 3; ++block) {
        const uint8_t byte =
            packed.values<uint8_t>()[bits == 4 ? row * 2 + block / 2 : row * 3 + block];
        numbers.push_back(static_cast<float>(bits == 8 ? byte : block % 2 ? byte >> 4 : byte & 15));
      }
    std::vector<Tensor> results;
    for (const Operand& zero_points :
         {Operand(F32({5, 3}, numbers)), Fixed(Bytes(packed.dims(), 4))}) {
      const Case c = Of<ms::MatMulNBits>(
          "groups",
          {Random({3, 48}, 1), Fixed(Bytes({5, 3, 2 * bits}, 2)), Fixed(Random({15}, 3)),
           zero_points, Fixed(I32({48}, Groups(48, 3)))},
          {.K = 48, .N = 5, .bits = bits, .block_size = 16});
      auto run = RunCase(c);
      ASSERT_TRUE(run.ok()) << run.status();
      results.push_back(std::move(run->front()));
    }
    EXPECT_EQ(kernels::RelativeDifference(results[1].view(), results[0].view()), 0);
  }
}

// How long the longest sequence is may be known at run time only, and so the sizes of caches.
TEST(Microsoft, TheNumberOfKeysMayBeAnInput) {
  const auto expected = ReadResults();
  const Case decode = {
      "gqa_buffer",
      {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2), Random({2, 1, 32}, 3),
       Random({2, 2, 6, 16}, 4), Random({2, 2, 6, 16}, 5), I32({2}, {4, 2}), I32({}, {5})},
      {}};
  const Case prompt = {"gqa_prompt",
                       {Random({2, 3, 32}, 1), Random({2, 3, 16}, 2), Random({2, 3, 16}, 3),
                        Operand(), Operand(), I32({2}, {2, 2}), I32({}, {3})},
                       {}};
  for (const Case& given : {decode, prompt})
    for (const bool fused : {false, true}) {
      SCOPED_TRACE(given.name + (fused ? " fused" : ""));
      const Case c = Of<ms::GroupQueryAttention>(given.name, given.operands,
                                                 {.kv_num_heads = 2, .num_heads = 4}, 3);
      const auto results = RunCase(c, fused);
      ASSERT_TRUE(results.ok()) << results.status();
      ExpectResults(*results, expected.at(c.name));
    }
}

// ONNX Runtime knows packed operands on other devices than the CPU.
TEST(Microsoft, PackedOperandsOfMultiHeadAttentionAreTheirParts) {
  const Tensor packed = Random({2, 3, 2, 3, 4}, 1);  // [B, S, heads, parts, D]
  std::vector<Operand> parts;
  for (int64_t part = 0; part < 3; ++part) {
    std::vector<float> numbers;
    for (int64_t row = 0; row < 2 * 3 * 2; ++row)
      for (int64_t d = 0; d < 4; ++d)
        numbers.push_back(packed.values<float>()[(row * 3 + part) * 4 + d]);
    parts.emplace_back(F32({2, 3, 8}, numbers));
  }
  std::vector<float> pairs;  // [B, S, heads, 2, D]
  for (int64_t row = 0; row < 2 * 3 * 2; ++row)
    for (int64_t i = 4; i < 12; ++i) pairs.push_back(packed.values<float>()[row * 12 + i]);
  const ms::MultiHeadAttention::Attrs<ir::BuilderSlot> attrs{.num_heads = 2};
  std::vector<Tensor> results;
  for (const Case& c :
       {Of<ms::MultiHeadAttention>("parts", parts, attrs),
        Of<ms::MultiHeadAttention>("packed",
                                   {F32({2, 3, 2, 3, 4}, kernels::ValuesOf<float>(packed))}, attrs),
        Of<ms::MultiHeadAttention>("pairs", {parts[0], F32({2, 3, 2, 2, 4}, pairs)}, attrs)}) {
    SCOPED_TRACE(c.name);
    auto run = RunCase(c);
    ASSERT_TRUE(run.ok()) << run.status();
    results.push_back(std::move(run->front()));
    EXPECT_EQ(kernels::RelativeDifference(results.back().view(), results.front().view()), 0);
  }
}

}  // namespace
}  // namespace weft::onnx
