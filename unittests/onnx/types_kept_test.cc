// The types that a file states for its outputs are there in what is written, whatever rule replaced
// the value by another.
#include "ir/text/printer.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using Type = pb::TypeProto;

// What the output's type is after the model was optimised and written.
std::string OutputType(const ModelBuilder& m, const std::string& pipeline) {
  ir::IrContext context;
  auto program = m.Import(context);
  if (!program.ok()) return program.status().ToString();
  Optimise(**program, pipeline);
  EXPECT_EQ(ir::PrintProgram(**program).find("NULL TYPE"), std::string::npos);
  const pb::ModelProto out = ExportToProto(**program);
  for (const auto& info : out.graph().value_info()) EXPECT_TRUE(info.has_type()) << info.name();
  const pb::ValueInfoProto& info = out.graph().output(0);
  if (!info.has_type()) return "none";
  std::string text = fmt::format("{}[", info.type().tensor_type().elem_type());
  for (const auto& dim : info.type().tensor_type().shape().dim())
    text += dim.has_dim_value() ? fmt::format("{},", dim.dim_value()) : dim.dim_param() + "?,";
  return text + "]";
}

TEST(TypesKept, OfAnOperatorThatNobodyKnowsBehindAnIdentity) {
  ModelBuilder m;
  m.Import("com.acme", 1);
  m.Input("x", {2, 3});
  m.Output("z", {2, 4});
  m.Node("com.acme.MyOp", {"x"}, {"a"});
  m.Node("Identity", {"a"}, {"z"});
  for (const char* pipeline : {"none", "simplify", "fuse", "ascend"})
    EXPECT_EQ(OutputType(m, pipeline), "1[2,4,]") << pipeline;
}

TEST(TypesKept, OfOperatorsThatNobodyKnows) {
  for (const char* op : {"com.acme.MyOp", "MadeUp"}) {
    ModelBuilder m;
    m.Import("com.acme", 1);
    m.Input("x", {-2, 8});
    m.Output("y", {-2, 8});
    m.Node("Relu", {"x"}, {"r"});
    m.Node(op, {"r"}, {"c"});
    m.Node("Identity", {"c"}, {"y"});
    EXPECT_EQ(OutputType(m, "simplify"), "1[n2?,8,]") << op;
  }
}

TEST(TypesKept, OfAReshapeToAShapeThatIsAnInput) {
  ModelBuilder m;
  m.Input("x", {6});
  m.Input("s", {2}, pb::TensorProto::INT64);
  m.Output("z", {3, 2});
  m.Node("Reshape", {"x", "s"}, {"r"});
  m.Node("Identity", {"r"}, {"z"});
  EXPECT_EQ(OutputType(m, "simplify"), "1[3,2,]");
}

TEST(TypesKept, OfDimensionsThatAreExpressions) {
  ModelBuilder m;
  m.Input("x", {-2, 8});
  m.Output("y", {1, -1});
  SetInt(m.Node("Concat", {"x", "x"}, {"xx"}), "axis", 0);
  SetInt(m.Node("Flatten", {"xx"}, {"y"}), "axis", 0);
  const auto name = [](pb::ValueInfoProto* info, int i, const char* param) {
    info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(i)->set_dim_param(
        param);
  };
  name(m.model.mutable_graph()->mutable_input(0), 0, "past + (1 + seq)*2");
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_TRUE(program.ok()) << program.status();
  const pb::ModelProto out = ExportToProto(**program);
  const auto& dims = out.graph().input(0).type().tensor_type().shape();
  EXPECT_EQ(dims.dim(0).dim_param(), "past + 2*seq + 2");
  EXPECT_EQ(OutputType(m, "none"), "1[1,16*past + 32*seq + 32?,]");
  name(m.model.mutable_graph()->mutable_input(0), 0, "batch-size (any)");
  EXPECT_EQ(OutputType(m, "none"), "1[1,16*'batch-size (any)'?,]");
}

TEST(TypesKept, OfACallOfAFunction) {
  ModelBuilder m;
  m.Import("f", 1);
  m.Import("com.acme", 1);
  pb::FunctionProto* function = m.model.add_functions();
  function->set_domain("f");
  function->set_name("F");
  function->add_input("a");
  function->add_output("b");
  for (const char* domain : {"f", "com.acme"}) {
    auto* import = function->add_opset_import();
    import->set_domain(domain);
    import->set_version(1);
  }
  ModelBuilder::AddNode(function->mutable_node(), "com.acme.MyOp", {"a"}, {"b"});
  m.Input("x", {2});
  m.Output("y", {5});
  m.Node("f.F", {"x"}, {"y"});
  EXPECT_EQ(OutputType(m, "none"), "1[5,]");
}

TEST(TypesKept, OfABranch) {
  ModelBuilder m;
  m.Input("c", {}, pb::TensorProto::BOOL);
  m.Input("x", {3});
  m.Output("y", {3});
  auto* node = m.Node("If", {"c"}, {"i"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto* graph = AddAttribute(node, name, pb::AttributeProto::GRAPH)->mutable_g();
    ModelBuilder::AddNode(graph->mutable_node(), "Neg", {"x"}, {std::string("r") + name});
    graph->add_output()->set_name(std::string("r") + name);
  }
  m.Node("Identity", {"i"}, {"y"});
  EXPECT_EQ(OutputType(m, "simplify"), "1[3,]");
}

TEST(TypesKept, OfTwoEqualOperationsOneOfWhichHasAType) {
  for (const bool first : {true, false}) {
    ModelBuilder m;
    m.Input("x", {6});
    m.Input("s", {2}, pb::TensorProto::INT64);
    m.Output(first ? "a" : "b", {3, 2});
    m.Output("r");
    m.Node("Reshape", {"x", "s"}, {"a"});
    m.Node("Reshape", {"x", "s"}, {"b"});
    m.Node("Relu", {first ? "b" : "a"}, {"r"});
    EXPECT_EQ(OutputType(m, "simplify"), "1[3,2,]") << first;
  }
}

// An input promises its caller no more than it did: the copy stays.
TEST(TypesKept, OfAnInputThatIsReturnedAsMore) {
  ModelBuilder m;
  m.Input("x", {-2});
  m.Output("y", {3});
  m.Node("Identity", {"x"}, {"y"});
  EXPECT_EQ(OutputType(m, "simplify"), "1[3,]");
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  Optimise(**program, "simplify");
  EXPECT_EQ((*program)->body().argument(0).type().ToString(), "tensor<\"n2\"xf32>");
}

}  // namespace
}  // namespace weft::onnx
