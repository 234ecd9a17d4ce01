// The operators of ONNX Runtime against its own results, which standard/microsoft.tsv holds:
//
//   WEFT_WRITE_MODELS=DIR onnx_tests --gtest_filter='Microsoft.*'
//   node benchmarks/peers/ort/results.js DIR > unittests/onnx/standard/microsoft.tsv
#include "ir/dialects/microsoft.h"

#include <cstdlib>
#include <functional>

#include "ir/analysis/reference_body.h"
#include "ir/walk.h"
#include "unittests/kernels/run_op.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

namespace ms = ir::microsoft;
using kernels::Bool;
using kernels::F32;
using kernels::I32;
using kernels::I64;
using kernels::Operand;
using kernels::Random;
using kernels::Tensor;

struct Case {
  std::string name;
  std::vector<Operand> operands;
  // Adds the op; its results.
  std::function<std::vector<ir::Value>(ir::Builder&, const std::vector<ir::Value>&)> add;
};

template <class O>
Case Of(std::string name, std::vector<Operand> operands,
        const typename O::template Attrs<ir::BuilderSlot>& attrs = {}, size_t num_results = 1) {
  return {std::move(name), std::move(operands), [=](ir::Builder& b, const auto& values) {
            return b.Create<O>(values, attrs, static_cast<int>(num_results)).results().vec();
          }};
}

Tensor Bytes(ir::Shape dims, uint32_t seed) {
  Tensor t = *Tensor::Create(ir::DataType::kU8, std::move(dims));
  for (uint8_t& byte : t.values<uint8_t>())
    byte = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  return t;
}
// The group of each of n columns, in no order.
std::vector<int32_t> Groups(int32_t n, int32_t count) {
  std::vector<int32_t> groups;
  for (int32_t i = 0; i < n; ++i) groups.push_back((i * 7 + i / 5) % count);
  return groups;
}
Operand Fixed(Tensor t) { return {std::move(t), true}; }

std::vector<Case> SmallCases() {
  const auto x = [] { return Random({2, 3, 8}, 1); };
  const auto v = [](uint64_t seed) { return Random({8}, seed); };
  return {
      Of<ms::Gelu>("gelu", {x()}),
      Of<ms::BiasGelu>("bias_gelu", {x(), v(2)}),
      Of<ms::FastGelu>("fast_gelu", {x()}),
      Of<ms::FastGelu>("fast_gelu_bias", {x(), v(2)}),
      Of<ms::QuickGelu>("quick_gelu", {x()}, {.alpha = 1.5f}),
      Of<ms::SimplifiedLayerNormalization>("simplified_layer_norm", {x(), v(2)},
                                           {.epsilon = 0.01f}),
      Of<ms::SkipLayerNormalization>(
          "skip_layer_norm", {x(), Random({2, 3, 8}, 5), v(2), v(3), v(4)}, {.epsilon = 0.01f}),
      Of<ms::SkipLayerNormalization>("skip_layer_norm_broadcast", {x(), Random({3, 8}, 5), v(2)}),
      Of<ms::SkipSimplifiedLayerNormalization>(
          "skip_simplified", {x(), Random({2, 3, 8}, 5), v(2), v(4)}, {.epsilon = 0.01f}),
      Of<ms::EmbedLayerNormalization>(
          "embed_layer_norm",
          {I32({2, 3}, {1, 0, 4, 2, 2, 3}), I32({2, 3}, {0, 1, 1, 0, 0, 1}), Random({5, 8}, 1),
           Random({6, 8}, 2), Random({2, 8}, 3), v(4), v(5), I32({2, 3}, {1, 1, 0, 1, 1, 1})},
          {.epsilon = 0.01f}, 2),
      Of<ms::FusedMatMul>("fused_matmul", {Random({2, 4, 3}, 1), Random({2, 5, 4}, 2)},
                          {.alpha = 0.5f, .transA = 1, .transB = 1}),
      Of<ms::FusedMatMul>("fused_matmul_batch", {Random({3, 2, 4}, 1), Random({2, 4, 5}, 2)},
                          {.transBatchA = 1}),
      Of<ms::FusedConv>("fused_conv_relu",
                        {Random({1, 2, 5, 5}, 1), Random({3, 2, 3, 3}, 2), Random({3}, 3)},
                        {.activation = ms::ConvActivation::kRelu, .pads = ir::Ints{1, 1, 1, 1}}),
      Of<ms::FusedConv>("fused_conv_sum",
                        {Random({1, 2, 5, 5}, 1), Random({3, 2, 3, 3}, 2), Random({3}, 3),
                         Random({1, 3, 3, 3}, 4)},
                        {.activation = ms::ConvActivation::kRelu}),
      Of<ms::FusedConv>(
          "fused_conv_leaky", {Random({1, 2, 5, 5}, 1), Random({3, 2, 3, 3}, 2), Random({3}, 3)},
          {.activation = ms::ConvActivation::kLeakyRelu, .activation_params = ir::Floats{0.25f}}),
      Of<ms::MatMulNBits>("nbits_4",
                          {Random({3, 40}, 1), Fixed(Bytes({5, 3, 8}, 2)), Fixed(Random({15}, 3))},
                          {.K = 40, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_zero_points",
                          {Random({2, 3, 48}, 1), Fixed(Bytes({5, 3, 8}, 2)),
                           Fixed(Random({15}, 3)), Fixed(Bytes({10}, 4))},
                          {.K = 48, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_float_zero_points",
                          {Random({3, 32}, 1), Fixed(Bytes({5, 2, 8}, 2)), Fixed(Random({10}, 3)),
                           Fixed(Random({10}, 4))},
                          {.K = 32, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_8",
                          {Random({3, 32}, 1), Fixed(Bytes({5, 2, 16}, 2)), Fixed(Random({10}, 3)),
                           Fixed(Bytes({10}, 4))},
                          {.K = 32, .N = 5, .bits = 8, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_groups",
                          {Random({3, 48}, 1), Fixed(Bytes({5, 3, 8}, 2)), Fixed(Random({15}, 3)),
                           Fixed(Random({15}, 4)), Fixed(I32({48}, Groups(48, 3)))},
                          {.K = 48, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_groups_filled_up",
                          {Random({3, 40}, 1), Fixed(Bytes({5, 3, 8}, 2)), Fixed(Random({15}, 3)),
                           Operand(), Fixed(I32({48}, Groups(48, 3)))},
                          {.K = 40, .N = 5, .block_size = 16}),
      Of<ms::RotaryEmbedding>("rotary", {Random({2, 2, 3, 8}, 1), I64({2, 3}, {0, 1, 2, 4, 5, 6}),
                                         Random({7, 4}, 2), Random({7, 4}, 3)}),
      Of<ms::RotaryEmbedding>(
          "rotary_merged",
          {Random({2, 3, 16}, 1), I64({1}, {3}), Random({7, 4}, 2), Random({7, 4}, 3)},
          {.interleaved = 1}),
      Of<ms::RotaryEmbedding>("rotary_part",
                              {Random({2, 3, 16}, 1), I64({2, 3}, {0, 1, 2, 4, 5, 6}),
                               Random({7, 2}, 2), Random({7, 2}, 3)},
                              {.num_heads = 2, .rotary_embedding_dim = 4}),
  };
}

std::vector<Case> QuantizedCases() {
  const auto scale = [](float number) { return F32({}, {number}); };
  const auto zero = [](uint8_t number) {
    return kernels::MakeTensor(ir::DataType::kU8, {}, std::vector<uint8_t>{number});
  };
  const auto i8 = [](ir::Shape dims, const std::vector<int8_t>& values) {
    return kernels::MakeTensor(ir::DataType::kI8, std::move(dims), values);
  };
  const Operand a = Bytes({2, 3, 8}, 1), b = Bytes({3, 8}, 2);
  const Operand c = i8({5}, {-128, -3, 0, 17, 127});
  return {
      Of<ms::QLinearAdd>("qlinear_add", {a, scale(0.02f), zero(131), b, scale(0.013f), zero(29),
                                         scale(0.021f), zero(117)}),
      Of<ms::QLinearAdd>("qlinear_add_signed", {c, scale(0.02f), i8({}, {7}), c, scale(0.013f),
                                                i8({}, {-90}), scale(0.023f)}),
      Of<ms::QGemm>("qgemm", {Bytes({3, 8}, 1), scale(0.02f), zero(131), Bytes({8, 5}, 2),
                              scale(0.013f), zero(120), Operand(), scale(0.5f), zero(117)}),
      Of<ms::QGemm>("qgemm_transposed",
                    {Bytes({8, 3}, 1), scale(0.02f), zero(131), Bytes({5, 8}, 2),
                     F32({5}, {0.01f, 0.02f, 0.03f, 0.04f, 0.05f}), Bytes({5}, 3),
                     I32({5}, {100, -2000, 0, 30, 4000})},
                    {.alpha = 0.5f, .transA = 1, .transB = 1}),
      Of<ms::QLinearGlobalAveragePool>(
          "qlinear_global_average_pool",
          {Bytes({2, 3, 4, 5}, 1), scale(0.02f), zero(131), scale(0.013f), zero(29)}),
      Of<ms::QLinearGlobalAveragePool>(
          "qlinear_global_average_pool_channels_last",
          {Bytes({2, 4, 5, 3}, 1), scale(0.02f), zero(131), scale(0.013f), zero(29)},
          {.channels_last = 1}),
      Of<ms::QLinearMul>("qlinear_mul", {a, scale(0.02f), zero(131), b, scale(0.013f), zero(29),
                                         scale(0.021f), zero(117)}),
      Of<ms::QLinearMul>("qlinear_mul_signed", {c, scale(0.02f), i8({}, {7}), c, scale(0.013f),
                                                i8({}, {-90}), scale(0.023f)}),
  };
}

std::vector<Case> AttentionCases() {
  const auto x = [] { return Random({2, 3, 6}, 1); };
  const auto w = [] { return Random({6, 24}, 2); };
  const auto b = [] { return Random({24}, 3); };
  const auto rows = [](int64_t n, uint64_t seed) { return Random({2, n, 8}, seed); };
  const auto past = [](int64_t n, uint64_t seed) { return Random({2, 2, n, 4}, seed); };
  return {
      Of<ms::Attention>("attention", {x(), w(), b()}, {.num_heads = 2}),
      Of<ms::Attention>("attention_causal", {x(), w(), b()}, {.num_heads = 2, .unidirectional = 1}),
      Of<ms::Attention>("attention_mask_rows", {x(), w(), b(), I32({2, 3}, {1, 1, 0, 1, 0, 1})},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_mask_lengths", {x(), w(), b(), I32({2}, {2, 3})},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_mask_ends", {x(), w(), b(), I32({4}, {2, 3, 0, 1})},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_past", {x(), w(), b(), Operand(), Random({2, 2, 2, 4, 4}, 4)},
                        {.num_heads = 2, .scale = 0.25f, .unidirectional = 1}, 2),
      Of<ms::Attention>("attention_bias",
                        {x(), w(), b(), Operand(), Operand(), Random({1, 2, 3, 3}, 5)},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_sizes", {x(), Random({6, 20}, 2), Random({20}, 3)},
                        {.num_heads = 2, .qkv_hidden_sizes = ir::Ints{8, 8, 4}}),
      Of<ms::MultiHeadAttention>("mha", {rows(3, 1), rows(5, 2), rows(5, 3)}, {.num_heads = 2}),
      Of<ms::MultiHeadAttention>(
          "mha_bias_mask",
          {rows(3, 1), rows(5, 2), rows(5, 3), b(), I32({2, 5}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 0}),
           Random({1, 2, 3, 5}, 5)},
          {.num_heads = 2}),
      Of<ms::MultiHeadAttention>("mha_heads", {rows(3, 1), past(5, 2), past(5, 3)},
                                 {.num_heads = 2, .scale = 0.75f}),
      Of<ms::MultiHeadAttention>("mha_past",
                                 {rows(1, 1), rows(1, 2), rows(1, 3), Operand(), Operand(),
                                  Operand(), past(4, 4), past(4, 5)},
                                 {.num_heads = 2, .unidirectional = 1}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_prompt",
          {Random({2, 3, 32}, 1), Random({2, 3, 16}, 2), Random({2, 3, 16}, 3), Operand(),
           Operand(), I32({2}, {2, 2}), Fixed(I32({}, {3}))},
          {.kv_num_heads = 2, .num_heads = 4}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_decode",
          {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2), Random({2, 1, 32}, 3),
           Random({2, 2, 4, 16}, 4), Random({2, 2, 4, 16}, 5), I32({2}, {4, 4}),
           Fixed(I32({}, {5})), Random({9, 8}, 6), Random({9, 8}, 7)},
          {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4}, 3),
      Of<ms::GroupQueryAttention>("gqa_buffer",  // of more places than are used
                                  {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2),
                                   Random({2, 1, 32}, 3), Random({2, 2, 6, 16}, 4),
                                   Random({2, 2, 6, 16}, 5), I32({2}, {4, 2}), Fixed(I32({}, {5}))},
                                  {.kv_num_heads = 2, .num_heads = 4}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_window",
          {Random({1, 6, 32}, 1), Random({1, 6, 16}, 2), Random({1, 6, 16}, 3), Operand(),
           Operand(), I32({1}, {5}), Fixed(I32({}, {6}))},
          {.kv_num_heads = 2, .local_window_size = 2, .num_heads = 4, .softcap = 5.0f}),
      Of<ms::GroupQueryAttention>(
          "gqa_packed",
          {Random({1, 3, 128}, 1), Operand(), Operand(), Operand(), Operand(), I32({1}, {2}),
           Fixed(I32({}, {3})), Random({9, 8}, 6), Random({9, 8}, 7)},
          {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4, .rotary_interleaved = 1}),
      Of<ms::GroupQueryAttention>(
          "gqa_smooth",
          {Random({2, 3, 32}, 1), Random({2, 3, 16}, 2), Random({2, 3, 16}, 3), Operand(),
           Operand(), I32({2}, {2, 2}), Fixed(I32({}, {3}))},
          {.kv_num_heads = 2, .num_heads = 4, .smooth_softmax = 1}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_sinks",
          {Random({1, 6, 32}, 1), Random({1, 6, 16}, 2), Random({1, 6, 16}, 3), Operand(),
           Operand(), I32({1}, {5}), Fixed(I32({}, {6})), Operand(), Operand(), Operand(),
           Operand(), Random({4}, 8)},
          {.kv_num_heads = 2, .local_window_size = 2, .num_heads = 4, .softcap = 5.0f}),
      Of<ms::GroupQueryAttention>(
          "gqa_sinks_decode",
          {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2), Random({2, 1, 32}, 3),
           Random({2, 2, 6, 16}, 4), Random({2, 2, 6, 16}, 5), I32({2}, {4, 2}),
           Fixed(I32({}, {5})), Random({9, 8}, 6), Random({9, 8}, 7), Operand(), Operand(),
           Random({4}, 8)},
          {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4, .smooth_softmax = 1}, 3),
  };
}

std::vector<Case> AllCases() {
  std::vector<Case> all = SmallCases();
  for (Case& c : QuantizedCases()) all.push_back(std::move(c));
  for (Case& c : AttentionCases()) all.push_back(std::move(c));
  return all;
}

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
    for (size_t k = 0; k < numbers.size(); ++k)
      ASSERT_NEAR(numbers[k], expected[i][k], 2e-5) << "element " << k;
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
