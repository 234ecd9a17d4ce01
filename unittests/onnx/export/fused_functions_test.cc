// Local functions of ours: one for each variant of an op that ONNX has not.
#include <set>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

enum class Direction : uint8_t { kUp, kDown };
constexpr std::array<std::string_view, 2> EnumNames(Direction) { return {"up", "down"}; }

// t.scale(x, bias) = factor * x + bias, or - bias when the direction is down.
struct TestScale {
  static constexpr ir::OpInfo kInfo = {
      .name = "t.scale",
      .operands = {"x", ir::Optional("bias"), ir::Optional("more")},
      .doc = "scales and shifts"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> factor{};
    Slot<Direction> direction{};
    Slot<ir::Floats> unused{};
    static constexpr auto Fields() {
      return std::tuple(ir::Field{"factor", &Attrs::factor},
                        ir::Field{"direction", &Attrs::direction, Direction::kUp},
                        ir::Field{"unused", &Attrs::unused});
    }
  };
  static bool Infer(ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
  static std::vector<ir::Value> Decompose(ir::Builder& b, std::span<const ir::Value> operands,
                                          const Attrs<ir::Plain>& attrs) {
    const ir::Value factor = b.ConstantScalar(ir::DataType::kF32, attrs.factor);
    ir::Value y = b.Make<ir::ops::Mul>({operands[0], factor});
    for (size_t i = 1; i < operands.size(); ++i) {
      if (!operands[i]) continue;
      y = attrs.direction == Direction::kUp ? b.Make<ir::ops::Add>({y, operands[i]})
                                            : b.Make<ir::ops::Sub>({y, operands[i]});
    }
    return {y};
  }
};

class FusedFunctions : public testing::Test {
 protected:
  FusedFunctions() {
    ir::LoadOnnxDialect(context);
    ir::AddOps<TestScale>(context);
  }

  // Two ops of one variant and one of another, the last with its middle operand left out.
  std::unique_ptr<ir::Program> Scales() {
    auto program = std::make_unique<ir::Program>(&context);
    ir::Builder b(program.get());
    const ir::Type type = context.TensorType(ir::DataType::kF32, {2});
    const ir::Value x = b.AddInput("x", type), bias = b.AddInput("bias", type);
    const ir::Value a =
        b.Make<TestScale>({x, bias}, {.factor = 0.25f, .unused = ir::Floats{1e-9f}});
    const ir::Value c =
        b.Make<TestScale>({a, bias}, {.factor = 0.25f, .unused = ir::Floats{1e-9f}});
    const ir::Value d =
        b.Make<TestScale>({c, ir::Value(), bias},
                          {.factor = 2.0f, .direction = Direction::kDown, .unused = ir::Floats{}});
    b.Return({{"y", d}});
    return program;
  }

  absl::StatusOr<std::unique_ptr<ir::Program>> Reimport(const pb::ModelProto& model) {
    const std::string bytes = model.SerializeAsString();
    return ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  }

  ir::IrContext context;
};

TEST_F(FusedFunctions, AreWrittenOncePerVariant) {
  const pb::ModelProto out = ExportToProto(*Scales());
  ASSERT_EQ(out.functions_size(), 2);
  EXPECT_EQ(out.functions(0).name(), "scale_bias");
  EXPECT_EQ(out.functions(0).domain(), "ai.weft.fused");
  EXPECT_EQ(out.functions(1).name(), "scale_more_down");
  ASSERT_EQ(out.graph().node_size(), 3);
  EXPECT_EQ(out.graph().node(0).op_type(), "scale_bias");
  EXPECT_EQ(out.graph().node(1).op_type(), "scale_bias");
  EXPECT_EQ(out.graph().node(2).op_type(), "scale_more_down");
  EXPECT_EQ(out.graph().node(2).input_size(), 2);
  EXPECT_EQ(out.graph().node(2).attribute_size(), 0);
  EXPECT_GE(out.ir_version(), 8);
  EXPECT_EQ(out.opset_import(1).domain(), "ai.weft.fused");
}

TEST_F(FusedFunctions, HaveTheReferenceBodyInOpset17) {
  const pb::ModelProto out = ExportToProto(*Scales());
  const pb::FunctionProto& function = out.functions(1);
  EXPECT_EQ(function.opset_import(0).version(), 17);
  EXPECT_EQ(function.input(0), "x");
  EXPECT_EQ(function.input(1), "more");
  ASSERT_EQ(function.node_size(), 3);
  EXPECT_EQ(function.node(0).op_type(), "Constant");
  EXPECT_EQ(function.node(1).op_type(), "Mul");
  EXPECT_EQ(function.node(2).op_type(), "Sub");
  EXPECT_EQ(function.node(2).output(0), function.output(0));
}

TEST_F(FusedFunctions, AreReadBackAsTheSameOps) {
  const std::unique_ptr<ir::Program> program = Scales();
  auto again = Reimport(ExportToProto(*program));
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(ir::Verify(**again).message(), "");
  ASSERT_EQ((*again)->num_operations(), program->num_operations());
  auto expected = program->body().begin();
  for (ir::Operation op : (*again)->body()) {
    EXPECT_EQ(op.name(), (*expected).name());
    EXPECT_EQ(op.attrs(), (*expected).attrs());
    EXPECT_EQ(op.num_operands(), (*expected).num_operands());
    ++expected;
  }
  EXPECT_FALSE((*again)->body().back().prev().operand(1));
}

// Which a body may read without looking.
TEST_F(FusedFunctions, AreInlinedWhenTheyLackAnOperand) {
  for (const char* op :
       {"t.scale", "fused.linear", "fused.batch_matmul", "fused.rotary_embedding"}) {
    ModelBuilder m;
    m.Import("ai.weft.fused", 1);
    m.Input("a", {2});
    m.Output("y", {2});
    auto* f = m.model.add_functions();
    f->set_domain("ai.weft.fused");
    f->set_name("f");
    f->set_doc_string(std::string("weft op ") + op);
    f->add_input("x");
    f->add_output("y");
    auto* import = f->add_opset_import();
    import->set_version(17);
    ModelBuilder::AddNode(f->mutable_node(), "Relu", {"x"}, {"y"});
    m.Node("ai.weft.fused.f", {"a"}, {"y"});
    ir::LoadFusedDialect(context);
    const auto program = m.Import(context);
    ASSERT_EQ(program.status().message(), "") << op;
    EXPECT_EQ((*program)->body().front().name(), "onnx.Relu");
  }
}

TEST_F(FusedFunctions, TakeNoNameThatACallOfAMissingFunctionHas) {
  pb::ModelProto model = ExportToProto(*Scales());
  model.mutable_functions(1)->set_name("renamed");
  model.mutable_graph()->mutable_node(1)->set_op_type("renamed");
  const auto program = Reimport(model);  // where node 2 calls what there is not
  ASSERT_TRUE(program.ok()) << program.status();
  const pb::ModelProto out = ExportToProto(**program);
  ASSERT_EQ(out.functions_size(), 2);
  EXPECT_EQ(out.functions(1).name(), "scale_more_down_2");
  EXPECT_EQ(out.graph().node(1).op_type(), "scale_more_down_2");
  EXPECT_EQ(out.graph().node(2).op_type(), "scale_more_down");
}

TEST_F(FusedFunctions, AreInlinedWhenTheirBodyWasChanged) {
  pb::ModelProto model = ExportToProto(*Scales());
  model.mutable_functions(0)->mutable_node(2)->set_op_type("Sub");
  auto again = Reimport(model);
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(Describe(**again),
            "scale_bias/v2: f32[2] = onnx.Mul(x, f32[](0.25))\n"
            "v1: f32[2] = onnx.Sub(scale_bias/v2, bias)\n"
            "scale_bias/v2: f32[2] = onnx.Mul(v1, f32[](0.25))\n"
            "v2: f32[2] = onnx.Sub(scale_bias/v2, bias)\n"
            "y: f32[2] = t.scale(v2, -, bias) {direction='down', factor=2f, unused=[]f}\n"
            "builtin.return(y)\n");
}

TEST_F(FusedFunctions, AreInlinedWhenTheirDocumentationIsGone) {
  pb::ModelProto model = ExportToProto(*Scales());
  for (auto& function : *model.mutable_functions()) function.clear_doc_string();
  auto again = Reimport(model);
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ((*again)->num_operations(), 2 + 2 * 3 + 0 * 2 + 3u);
}

TEST_F(FusedFunctions, CanBeExpandedInPlace) {
  const std::unique_ptr<ir::Program> program = Scales();
  const pb::ModelProto out = ExportToProto(*program, {.inline_functions = true});
  EXPECT_EQ(out.functions_size(), 0);
  std::vector<std::string> types;
  for (const auto& node : out.graph().node()) types.push_back(node.op_type());
  EXPECT_EQ(types, (std::vector<std::string>{"Mul", "Add", "Mul", "Add", "Mul", "Sub"}));
  EXPECT_EQ(program->num_operations(), 5u);  // the program itself is as before
}

// --- the fused dialect --------------------------------------------------------------------

// One op of every kind in the fused dialect, in more than one variant.
std::unique_ptr<ir::Program> EveryFusedOp(ir::IrContext& context) {
  namespace fused = ir::fused;
  const auto f32 = [&](std::initializer_list<int64_t> dims) {
    return context.TensorType(ir::DataType::kF32, dims);
  };
  auto program = std::make_unique<ir::Program>(&context);
  ir::Builder b(program.get());
  const ir::Value x = b.AddInput("x", f32({2, 6, 8})), w = b.AddInput("w", f32({8, 8}));
  const ir::Value bias = b.AddInput("bias", f32({8})),
                  image = b.AddInput("image", f32({1, 8, 8, 4}));
  const ir::Value kernel = b.AddInput("kernel", f32({4, 2, 3, 3}));
  const ir::Value four = b.AddInput("four", f32({4})), q = b.AddInput("q", f32({1, 2, 6, 8}));
  const ir::Value mask = b.AddInput("mask", f32({1, 1, 1, 6})),
                  two = b.AddInput("two", f32({2, 1, 1}));
  const ir::Value head = b.AddInput("head", f32({1, 1, 6, 8}));
  const ir::Value keep = b.AddInput("keep", context.TensorType(ir::DataType::kBool, {6, 6}));
  std::vector<ir::Value> y;
  b.set_location(ir::Name("here"));
  y.push_back(b.Make<fused::Linear>({x, w}));
  y.push_back(b.Make<fused::Linear>({y[0], w, bias, x},
                                    {.transpose_w = true, .activation = fused::Activation::kGelu}));
  y.push_back(b.Make<fused::Linear>(
      {y[1], w, ir::Value(), x},
      {.activation = fused::Activation::kClip, .activation_params = ir::Floats{-0.1f, 6.0f}}));
  y.push_back(b.Make<fused::Gelu>({y[2]}));
  y.push_back(b.Make<fused::Gelu>({y[3], bias}, {.approximate = fused::GeluApproximate::kTanh}));
  y.push_back(b.Make<fused::LayerNorm>({y[4], bias}, {.epsilon = 1e-5f}));
  y.push_back(b.Make<fused::LayerNorm>({y[5], bias, bias, x}, {.epsilon = 1e-12f}));
  y.push_back(
      b.Make<fused::Conv2d>({image, kernel}, {.pads = ir::Ints{1, 1, 1, 1}, .group = int64_t{2}}));
  y.push_back(b.Make<fused::Conv2d>({image, kernel, four, y[7]},
                                    {.pads = ir::Ints{1, 1, 1, 1},
                                     .group = int64_t{2},
                                     .activation = fused::Activation::kHardSwish}));
  y.push_back(b.Make<fused::MaxPool2d>({y[8]}, {.kernel_shape = ir::Ints{2, 2}}));
  y.push_back(b.Make<fused::AveragePool2d>({y[9]}, {.kernel_shape = ir::Ints{2, 2}}));
  y.push_back(b.Make<fused::GlobalAveragePool2d>({y[10]}));
  y.push_back(b.Make<fused::Attention>({q, q, q}, {.scale = 0.35f}));
  y.push_back(b.Make<fused::Attention>({q, q, q, mask}, {.scale = 0.35f}));
  y.push_back(b.Make<fused::Attention>({q, head, head, ir::Value(), keep},
                                       {.scale = 0.35f, .fill = -3.5f}));
  y.push_back(b.Make<fused::Attention>({q, head, head}, {.scale = 0.35f}));
  y.push_back(b.Make<fused::RmsNorm>({x, bias}, {.epsilon = 1e-6f}));
  y.push_back(b.Make<fused::BatchMatMul>({q, q}, {.perm_b = ir::Ints{0, 1, 3, 2}, .scale = 0.5f}));
  y.push_back(b.Make<fused::GroupNorm>(
      {q, two, two},
      {.groups = int64_t{2}, .epsilon = 1e-5f, .activation = fused::Activation::kSwish}));
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (size_t i = 0; i < y.size(); ++i) outputs.emplace_back(fmt::format("y{}", i), y[i]);
  b.Return(std::move(outputs));
  return program;
}

TEST(FusedDialect, EveryOpIsReadBackAsItself) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  const std::unique_ptr<ir::Program> program = EveryFusedOp(context);
  const pb::ModelProto model = ExportToProto(*program);
  EXPECT_EQ(model.functions_size(), 19);
  const std::string bytes = model.SerializeAsString();
  auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ(ir::Verify(**again).message(), "");
  ASSERT_EQ((*again)->num_operations(), program->num_operations());
  auto expected = program->body().begin();
  for (ir::Operation op : (*again)->body()) {
    EXPECT_EQ(op.name(), (*expected).name());
    EXPECT_EQ(op.attrs(), (*expected).attrs());
    for (uint32_t i = 0; i < op.num_results(); ++i)
      EXPECT_EQ(op.result(i).type(), (*expected).result(i).type());
    ++expected;
  }
}

TEST(AscendDialect, IsReadBackWithTheShapesThatTheModelStates) {
  ir::IrContext context;
  ir::LoadAscendDialect(context);
  ir::Program program(&context);
  ir::Rewriter b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {3, 4}));
  const ir::Value k = b.AddInput("k", context.TensorType(ir::DataType::kI32, {1}));
  const ir::Operation top = b.Create<ir::ascend::TopK>({x, k});
  EXPECT_EQ(top.result(0).type().ToString(), "tensor<3x-1xf32>");
  b.SetType(top.result(0), context.TensorType(ir::DataType::kF32, {3, 2}));
  b.SetType(top.result(1), context.TensorType(ir::DataType::kI32, {3, 2}));
  b.Return({{"values", top.result(0)}, {"indices", top.result(1)}});
  const std::string bytes = ExportToProto(program).SerializeAsString();
  const auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  ASSERT_EQ(again.status().message(), "");
  const ir::Operation read = *(*again)->body().begin();
  EXPECT_EQ(read.name(), "ascend.TopK");
  EXPECT_EQ(read.result(0).type().ToString(), "tensor<3x2xf32>");
  EXPECT_EQ(read.result(1).type().ToString(), "tensor<3x2xi32>");
}

TEST(FusedDialect, FunctionNamesSpellTheVariant) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  const pb::ModelProto model = ExportToProto(*EveryFusedOp(context));
  std::vector<std::string> names;
  for (const auto& function : model.functions()) names.push_back(function.name());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "linear", "linear_bias_residual_transpose_w_gelu", "linear_residual_clip",
                       "gelu", "gelu_bias_tanh", "layer_norm", "layer_norm_bias_residual", "conv2d",
                       "conv2d_bias_residual_hard_swish", "max_pool2d", "average_pool2d",
                       "global_average_pool2d", "attention", "attention_mask", "attention_keep",
                       "attention_2", "rms_norm", "batch_matmul", "group_norm_bias_swish"}));
}

TEST(FusedDialect, ExpandedInPlaceOnlyOnnxIsLeft) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  const pb::ModelProto model = ExportToProto(*EveryFusedOp(context), {.inline_functions = true});
  EXPECT_EQ(model.functions_size(), 0);
  std::set<std::string> names;
  for (const auto& node : model.graph().node()) {
    EXPECT_EQ(node.domain(), "");
    EXPECT_TRUE(node.name().empty() || names.insert(node.name()).second) << node.name();
  }
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(model.opset_import_size(), 1);
  const std::string bytes = model.SerializeAsString();
  auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  ASSERT_EQ(again.status().message(), "");
}

void GroupElementwise(ir::Program& program) {
  passes::PassManager pm(program.context());
  pm.AddPass(passes::MakePass("fuse-elementwise"));
  ASSERT_EQ(pm.Run(program).message(), "");
  ASSERT_EQ(program.body().back().prev().name(), "fused.elementwise");
}

// Its body is another for each, so it makes no function.
TEST(FusedDialect, AnElementwiseGroupBecomesTheOpsOfItsBody) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  const ir::Value w = b.AddInput("w", context.TensorType(ir::DataType::kF32, {3, 3}));
  const ir::Value y = b.Make<ir::fused::Linear>({b.Make<ir::ops::Tanh>({x}), w});
  const ir::Value z = b.Make<ir::ops::Mul>({b.Make<ir::ops::Relu>({y}), x});
  program.SetName(z, "scaled");
  b.Return({{"z", z}});
  ASSERT_NO_FATAL_FAILURE(GroupElementwise(program));

  for (const bool inline_functions : {false, true}) {
    const pb::ModelProto model = ExportToProto(program, {.inline_functions = inline_functions});
    std::vector<std::string> types;
    for (const auto& node : model.graph().node()) types.push_back(node.op_type());
    EXPECT_EQ(types, (std::vector<std::string>{"Tanh", inline_functions ? "MatMul" : "linear",
                                               "Relu", "Mul"}));
    EXPECT_EQ(model.graph().node(3).output(0), "z");
    EXPECT_EQ(model.functions_size(), inline_functions ? 0 : 1);
    const std::string bytes = model.SerializeAsString();
    const auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
    ASSERT_EQ(again.status().message(), "");
    EXPECT_EQ(ir::Verify(**again).message(), "");
  }
  EXPECT_EQ(program.body().back().prev().name(), "fused.elementwise");  // as before
}

// A body in a body, of which the outer one goes first.
TEST(FusedDialect, AGroupOfFusedOpsIsExpandedWithThem) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  b.Return({{"y", b.Make<ir::ops::Mul>({b.Make<ir::fused::Gelu>({x}), x})}});
  ASSERT_NO_FATAL_FAILURE(GroupElementwise(program));
  const pb::ModelProto model = ExportToProto(program, {.inline_functions = true});
  EXPECT_EQ(model.functions_size(), 0);
  EXPECT_GT(model.graph().node_size(), 2);
  for (const auto& node : model.graph().node()) EXPECT_EQ(node.domain(), "") << node.op_type();
}

}  // namespace
}  // namespace weft::onnx
