// Nodes in no order, as some exporters list them.
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

TEST(NodeOrder, NodesAreSortedByWhatTheyRead) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("d");
  m.Node("Add", {"b", "c"}, {"d"});
  m.Node("Relu", {"a"}, {"b"});
  m.Node("Neg", {"x"}, {"a"});
  m.Node("Abs", {"a"}, {"c"});
  EXPECT_EQ(ImportAndDescribe(m),
            "a: f32[2] = onnx.Neg(x)\n"
            "b: f32[2] = onnx.Relu(a)\n"
            "c: f32[2] = onnx.Abs(a)\n"
            "d: f32[2] = onnx.Add(b, c)\n"
            "builtin.return(d)\n");
}

TEST(NodeOrder, NodesInOrderStayAsTheyAre) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("c");
  m.Node("Neg", {"x"}, {"a"});
  m.Node("Abs", {"x"}, {"unread"});
  m.Node("Relu", {"a"}, {"c"});
  EXPECT_EQ(ImportAndDescribe(m),
            "a: f32[2] = onnx.Neg(x)\n"
            "unread: f32[2] = onnx.Abs(x)\n"
            "c: f32[2] = onnx.Relu(a)\n"
            "builtin.return(c)\n");
}

TEST(NodeOrder, WhatASubgraphCapturesComesBeforeIt) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Input("c", {}, pb::TensorProto::BOOL);
  m.Output("y", {2});
  auto* node = m.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto* graph = AddAttribute(node, name, pb::AttributeProto::GRAPH)->mutable_g();
    ModelBuilder::AddNode(graph->mutable_node(), "Add", {"own", "late"}, {"r"});
    ModelBuilder::AddNode(graph->mutable_node(), "Neg", {"late"}, {"own"});
    graph->add_output()->set_name("r");
  }
  m.Node("Abs", {"x"}, {"late"});
  const std::string text = ImportAndDescribe(m);
  EXPECT_TRUE(text.starts_with("late: f32[2] = onnx.Abs(x)\ny: f32[2] = onnx.If(c)")) << text;
  EXPECT_NE(text.find("own: f32[2] = onnx.Neg(late)\n  r: f32[2] = onnx.Add(own, late)"),
            std::string::npos)
      << text;
}

TEST(NodeOrder, ASubgraphThatReadsWhatItsNodeComputesIsACycle) {
  ModelBuilder m;
  m.Input("c", {}, pb::TensorProto::BOOL);
  m.Output("y", {2});
  auto* node = m.Node("If", {"c"}, {"y"});
  pb::GraphProto* graph = AddAttribute(node, "then_branch", pb::AttributeProto::GRAPH)->mutable_g();
  graph->add_output()->set_name("y");
  EXPECT_EQ(ImportAndDescribe(m),
            "INVALID_ARGUMENT: 'y' is computed from itself: the nodes are in a cycle");
}

TEST(NodeOrder, AChainOfAnyLengthMayBeListedBackwards) {
  constexpr int kLength = 50000;
  ModelBuilder m;
  m.Input("v0", {2});
  m.Output(fmt::format("v{}", kLength));
  for (int i = kLength; i > 0; --i)
    m.Node("Relu", {fmt::format("v{}", i - 1)}, {fmt::format("v{}", i)});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  EXPECT_EQ((*program)->body().front().result().name(), "v1");
}

}  // namespace
}  // namespace weft::onnx
