// Graphs as attributes: regions, captured values, and back.
#include <gmock/gmock.h>

#include <functional>

#include "ir/walk.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using Attr = pb::AttributeProto;

// If(cond) { y = x + w } else { y = -x }, with x from outside and w in the branch.
ModelBuilder IfModel() {
  ModelBuilder m;
  m.Input("cond", {}, pb::TensorProto::BOOL);
  m.Input("x", {2});
  m.Output("y", {2});
  auto* node = m.Node("If", {"cond"}, {"y"});
  node->set_name("choice");
  auto* then_graph = AddAttribute(node, "then_branch", Attr::GRAPH)->mutable_g();
  then_graph->set_name("then graph");
  ModelBuilder::SetTensor<float>(then_graph->add_initializer(), "w", {2}, {1, 2});
  ModelBuilder::AddNode(then_graph->mutable_node(), "Add", {"x", "w"}, {"sum"});
  ModelBuilder::SetInfo(then_graph->add_output(), "sum", {2});
  auto* else_graph = AddAttribute(node, "else_branch", Attr::GRAPH)->mutable_g();
  else_graph->set_name("else graph");
  ModelBuilder::AddNode(else_graph->mutable_node(), "Neg", {"x"}, {"minus"});
  ModelBuilder::SetInfo(else_graph->add_output(), "minus", {2});
  return m;
}

TEST(Subgraph, BranchesAreRegionsThatUseOuterValues) {
  EXPECT_EQ(RoundTrip(IfModel()),
            "y: f32[2] = onnx.If(cond) {onnx.subgraph_names=['then graph','else graph']}\n"
            " ():\n"
            "  sum: f32[2] = onnx.Add(x, f32[2](1,2))\n"
            "  builtin.return(sum)\n"
            " ():\n"
            "  minus: f32[2] = onnx.Neg(x)\n"
            "  builtin.return(minus)\n"
            "builtin.return(y)\n");
}

TEST(Subgraph, BranchesComeBackAsTheyWere) {
  const ModelBuilder m = IfModel();
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  EXPECT_EQ((*program)->body().argument(1).use_count(), 2u);
  const pb::ModelProto out = ExportToProto(**program);
  const pb::NodeProto& given = m.model.graph().node(0);
  const pb::NodeProto& written = out.graph().node(0);
  ASSERT_EQ(written.attribute_size(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(written.attribute(i).name(), given.attribute(i).name());
    EXPECT_EQ(written.attribute(i).g().name(), given.attribute(i).g().name());
    EXPECT_EQ(written.attribute(i).g().output(0).name(), given.attribute(i).g().output(0).name());
    EXPECT_EQ(written.attribute(i).g().node(0).op_type(), given.attribute(i).g().node(0).op_type());
  }
  EXPECT_EQ(written.attribute(0).g().initializer(0).raw_data(),
            given.attribute(0).g().initializer(0).raw_data());
}

TEST(Subgraph, LoopBodiesHaveArguments) {
  ModelBuilder m;
  m.Input("n", {}, pb::TensorProto::INT64);
  m.Input("x", {2});
  m.Output("y", {2});
  auto* node = m.Node("Loop", {"n", "", "x"}, {"y"});
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  body->set_name("body");
  ModelBuilder::SetInfo(body->add_input(), "i", {}, pb::TensorProto::INT64);
  ModelBuilder::SetInfo(body->add_input(), "go", {}, pb::TensorProto::BOOL);
  ModelBuilder::SetInfo(body->add_input(), "state", {2});
  ModelBuilder::AddNode(body->mutable_node(), "Identity", {"go"}, {"go_on"});
  ModelBuilder::AddNode(body->mutable_node(), "Add", {"state", "x"}, {"next"});
  ModelBuilder::SetInfo(body->add_output(), "go_on", {}, pb::TensorProto::BOOL);
  ModelBuilder::SetInfo(body->add_output(), "next", {2});
  EXPECT_EQ(RoundTrip(m),
            "y: f32[2] = onnx.Loop(n, -, x) {onnx.subgraph_names=['body']}\n"
            " (i, go, state):\n"
            "  go_on: bool[] = onnx.Identity(go)\n"
            "  next: f32[2] = onnx.Add(state, x)\n"
            "  builtin.return(go_on, next)\n"
            "builtin.return(y)\n");
}

TEST(Subgraph, ScansInsideOfBranchesCaptureThroughTwoLevels) {
  ModelBuilder m;
  m.Input("cond", {}, pb::TensorProto::BOOL);
  m.Input("x", {3, 2});
  m.Input("s", {2});
  m.Output("y", {3, 2});
  auto* branch = m.Node("If", {"cond"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* graph = AddAttribute(branch, name, Attr::GRAPH)->mutable_g();
    graph->set_name(name);
    auto* scan =
        ModelBuilder::AddNode(graph->mutable_node(), "Scan", {"x"}, {std::string("ys_") + name});
    SetInt(scan, "num_scan_inputs", 1);
    auto* body = AddAttribute(scan, "body", Attr::GRAPH)->mutable_g();
    body->set_name("body");
    ModelBuilder::SetInfo(body->add_input(), "row", {2});
    ModelBuilder::AddNode(body->mutable_node(), "Mul", {"row", "s"}, {"scaled"});
    ModelBuilder::SetInfo(body->add_output(), "scaled", {2});
    ModelBuilder::SetInfo(graph->add_output(), std::string("ys_") + name, {3, 2});
  }
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  EXPECT_EQ((*program)->body().argument(2).use_count(), 2u);
  const pb::ModelProto out = ExportToProto(**program);
  const auto& inner = out.graph().node(0).attribute(1).g().node(0);
  EXPECT_EQ(inner.op_type(), "Scan");
  EXPECT_EQ(inner.attribute(0).i() + inner.attribute(1).i(), 1);
  // Both bodies call their argument and result alike; names are unique when they are written.
  EXPECT_NE(out.graph().node(0).attribute(0).g().node(0).attribute(1).g().input(0).name(),
            out.graph().node(0).attribute(1).g().node(0).attribute(1).g().input(0).name());
  const std::string bytes = out.SerializeAsString();
  auto again = ImportOnnxBytes(context, std::as_bytes(std::span(bytes)));
  ASSERT_EQ(again.status().message(), "");
  EXPECT_EQ((*again)->num_operations(), (*program)->num_operations());
}

TEST(Subgraph, ReturningAnOuterValueOrAConstantMakesACopy) {
  ModelBuilder m;
  m.Input("cond", {}, pb::TensorProto::BOOL);
  m.Input("x", {2});
  m.Output("y", {2});
  auto* node = m.Node("If", {"cond"}, {"y"});
  auto* then_graph = AddAttribute(node, "then_branch", Attr::GRAPH)->mutable_g();
  ModelBuilder::SetInfo(then_graph->add_output(), "x", {2});
  auto* else_graph = AddAttribute(node, "else_branch", Attr::GRAPH)->mutable_g();
  ModelBuilder::SetTensor<float>(else_graph->add_initializer(), "w", {2}, {1, 2});
  ModelBuilder::SetInfo(else_graph->add_output(), "w", {2});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const pb::ModelProto out = ExportToProto(**program);
  for (const auto& attribute : out.graph().node(0).attribute()) {
    ASSERT_EQ(attribute.g().node_size(), 1);
    EXPECT_EQ(attribute.g().node(0).op_type(), "Identity");
    EXPECT_EQ(attribute.g().node(0).output(0), attribute.g().output(0).name());
  }
}

TEST(Subgraph, ListsOfGraphsStayLists) {
  ModelBuilder m;
  m.Import("com.example", 1);
  m.Input("x", {2});
  m.Output("y", {2});
  auto* node = m.Node("com.example.Switch", {"x"}, {"y"});
  SetInt(node, "default", 1);
  auto* list = AddAttribute(node, "cases", Attr::GRAPHS);
  for (int i = 0; i < 3; ++i) {
    auto* graph = list->add_graphs();
    graph->set_name(fmt::format("case{}", i));
    ModelBuilder::AddNode(graph->mutable_node(), "Relu", {"x"}, {fmt::format("r{}", i)});
    ModelBuilder::SetInfo(graph->add_output(), fmt::format("r{}", i), {2});
  }
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const pb::ModelProto out = ExportToProto(**program);
  ASSERT_EQ(out.graph().node(0).attribute_size(), 2);
  const auto& written = out.graph().node(0).attribute(1);
  EXPECT_EQ(written.type(), Attr::GRAPHS);
  ASSERT_EQ(written.graphs_size(), 3);
  EXPECT_EQ(written.graphs(2).name(), "case2");
  EXPECT_EQ(written.graphs(2).output(0).name(), "r2");
}

TEST(Subgraph, ADefinedOperatorTakesNone) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y");
  auto* node = m.Node("Relu", {"x"}, {"y"});
  AddAttribute(node, "body", Attr::GRAPH)->mutable_g()->set_name("g");
  EXPECT_EQ(ImportAndDescribe(m),
            "INVALID_ARGUMENT: node of 'y' ('Relu'): attribute 'body' is a graph");
}

TEST(Subgraph, BranchesMayComeInAnyOrder) {
  ModelBuilder m = IfModel();
  m.graph()->mutable_node(0)->mutable_attribute()->SwapElements(0, 1);
  EXPECT_EQ(ImportAndDescribe(m), ImportAndDescribe(IfModel()));
}

TEST(Subgraph, ResultsHaveTheTypesThatBranchesReturn) {
  ModelBuilder m = IfModel();
  m.graph()->mutable_output(0)->clear_type();
  EXPECT_THAT(ImportAndDescribe(m), testing::StartsWith("y: f32[2] = onnx.If(cond)"));
}

// What is wrong with the model once `spoil` is done with the graph of then_branch.
std::string Spoilt(const std::function<void(pb::NodeProto&, pb::GraphProto&)>& spoil) {
  ModelBuilder m = IfModel();
  pb::NodeProto& node = *m.graph()->mutable_node(0);
  spoil(node, *node.mutable_attribute(0)->mutable_g());
  return ImportAndDescribe(m);
}

TEST(Subgraph, BranchesFitTheNode) {
  const std::string where = "INVALID_ARGUMENT: node 'choice' ('If'): ";
  EXPECT_EQ(Spoilt([](auto& node, auto&) { node.mutable_attribute()->RemoveLast(); }),
            where + "attribute 'else_branch' is required but not given");
  EXPECT_EQ(Spoilt([](auto& node, auto&) { node.mutable_attribute(0)->set_name("then"); }),
            where + "attribute 'then_branch' is required but not given");
  EXPECT_EQ(Spoilt([](auto& node, auto&) {
              AddAttribute(&node, "more", Attr::GRAPH)->mutable_g()->set_name("g");
            }),
            where + "attribute 'more' is a graph");
  EXPECT_EQ(Spoilt([](auto&, auto& graph) { graph.clear_output(); }),
            where + "onnx.If: then_branch returns 0 values but 1 are needed");
  EXPECT_EQ(Spoilt([](auto&, auto& graph) { ModelBuilder::SetInfo(graph.add_input(), "a", {2}); }),
            where + "onnx.If: then_branch has 1 arguments but needs 0");
  EXPECT_EQ(Spoilt([](auto& node, auto&) { node.set_input(0, "x"); }),
            where + "onnx.If: cond is f32 but must be bool");
}

TEST(Subgraph, CapturedValuesComeFromSomewhere) {
  const std::string where = "INVALID_ARGUMENT: node 'choice' ('If'): node of 'sum' ('Add'): ";
  EXPECT_EQ(Spoilt([](auto&, auto& graph) { graph.mutable_node(0)->set_input(0, "nowhere"); }),
            where + "'nowhere' is not defined");
  EXPECT_EQ(Spoilt([](auto&, auto& graph) { graph.mutable_node(0)->set_input(0, "minus"); }),
            where + "'minus' is not defined");
}

TEST(Subgraph, ACycleThroughABranchIsFound) {
  ModelBuilder m = IfModel();
  auto* branch = m.graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch->mutable_node(0)->set_input(0, "later");
  m.Node("Neg", {"y"}, {"later"});
  EXPECT_THAT(ImportAndDescribe(m),
              testing::EndsWith("'y' is computed from itself: the nodes are in a cycle"));
  branch->mutable_node(0)->set_input(0, "y");
  EXPECT_THAT(ImportAndDescribe(m),
              testing::EndsWith("'y' is computed from itself: the nodes are in a cycle"));
}

}  // namespace
}  // namespace weft::onnx
