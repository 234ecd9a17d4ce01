// What nodes, values and graphs say beside what they compute.
#include "tools/onnx/proto/notes.h"

#include <map>

#include "ir/rewriter.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tools/onnx/part_notes.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

// The model as it is written after it was read.
pb::ModelProto Rewritten(const ModelBuilder& m) {
  ir::IrContext context;
  auto program = m.Import(context);
  EXPECT_EQ(program.status().message(), "");
  return program.ok() ? ExportToProto(**program) : pb::ModelProto();
}

void AddProp(MetadataField* props, const char* key, const char* value) {
  auto* entry = props->Add();
  entry->set_key(key);
  entry->set_value(value);
}

// y = relu(relu(x)) + relu(x), where all have something to say.
void AddNotes(ModelBuilder& m) {
  m.Input("x", {2});
  m.Output("y", {2});
  for (const auto& [from, to] : {std::pair("x", "a"), {"a", "b"}}) {
    auto* node = m.Node("Relu", {from}, {to});
    node->set_doc_string(std::string("makes ") + to);
    AddProp(node->mutable_metadata_props(), "of", from);
    AddProp(node->mutable_metadata_props(), "empty", "");
  }
  auto* sum = m.Node("Add", {"a", "b"}, {"y"});
  AddProp(sum->mutable_metadata_props(), "namespace", "top/\"sum\"");
  ModelBuilder::SetInfo(m.graph()->add_value_info(), "a", {2}, pb::TensorProto::FLOAT);
  for (auto* value : {m.graph()->mutable_input(0), m.graph()->mutable_output(0),
                      m.graph()->mutable_value_info(0)}) {
    value->set_doc_string("what is " + value->name());
    AddProp(value->mutable_metadata_props(), "range", "[0, 1]");
  }
  m.graph()->set_doc_string("a graph");
  AddProp(m.graph()->mutable_metadata_props(), "graph key", "1");
  AddProp(m.model.mutable_metadata_props(), "model key", "2");
}

void ExpectNotes(const pb::GraphProto& given, const pb::GraphProto& out) {
  ASSERT_EQ(out.node_size(), given.node_size());
  for (int i = 0; i < out.node_size(); ++i) {
    EXPECT_EQ(out.node(i).doc_string(), given.node(i).doc_string());
    EXPECT_EQ(MetadataOf(out.node(i).metadata_props()), MetadataOf(given.node(i).metadata_props()));
  }
  EXPECT_EQ(ValueNotes(out), ValueNotes(given));
  EXPECT_EQ(out.doc_string(), given.doc_string());
  EXPECT_EQ(MetadataOf(out.metadata_props()), MetadataOf(given.metadata_props()));
}

TEST(Notes, OfNodesValuesAndGraphsAreWrittenBack) {
  ModelBuilder m;
  AddNotes(m);
  const pb::ModelProto out = Rewritten(m);
  ExpectNotes(*m.graph(), out.graph());
  EXPECT_EQ(ValueNotes(out.graph()).size(), 15u);  // of three values
  EXPECT_EQ(MetadataOf(out.metadata_props()), (ir::Strings{"model key", "2"}));
}

// A part of a model is as small as what is in it.
TEST(Notes, AreNotThoseOfNodesThatAreGone) {
  ModelBuilder m;
  AddNotes(m);
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_TRUE(program.ok()) << program.status();
  DropNotesOfOthers(**program);
  ExpectNotes(*m.graph(), ExportToProto(**program).graph());
  ir::Operation sum;
  for (const ir::Operation op : (*program)->body())
    if (op.name() == "onnx.Add") sum = op;
  const ir::Value a = sum.operand(0), b = sum.operand(1);
  ir::Rewriter rewriter(program->get());
  rewriter.SetOperands(sum, {a, a});
  rewriter.Erase(b.DefiningOp());
  const std::string before = ir::PrintProgram(**program);
  EXPECT_NE(before.find("makes b"), std::string::npos);
  const pb::ModelProto written = ExportToProto(**program);
  DropNotesOfOthers(**program);
  const std::string after = ir::PrintProgram(**program);
  EXPECT_NE(after.find("makes a"), std::string::npos);
  EXPECT_EQ(after.find("makes b"), std::string::npos);
  EXPECT_EQ(ExportToProto(**program).SerializeAsString(), written.SerializeAsString());
}

// In text and in a copy of the program they are too.
TEST(Notes, AreOfTheProgram) {
  ModelBuilder m;
  AddNotes(m);
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_TRUE(program.ok()) << program.status();
  auto parsed = ir::ParseProgram(context, ir::PrintProgram(**program));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectNotes(*m.graph(), ExportToProto(**parsed).graph());
  ExpectNotes(*m.graph(), ExportToProto(*(*program)->Clone()).graph());
}

// By output: what the node that computes it says.
using NodeDocs = std::map<std::string, std::string>;
NodeDocs Docs(ir::Program& program) {
  NodeDocs docs;
  const pb::ModelProto model = ExportToProto(program);
  for (const auto& node : model.graph().node()) docs[node.output(0)] = node.doc_string();
  return docs;
}

class NodeNotes : public testing::Test {
 protected:
  NodeNotes() {
    m.Input("x", {2, 2});
    m.Initializer<float>("w", {1}, {2});
    m.Output("y", {2, 2});
    m.Node("Relu", {"x"}, {"a"})->set_doc_string("of a");
    SetInts(m.Node("Transpose", {"a"}, {"b"}), "perm", {1, 0});
    m.graph()->mutable_node(1)->set_doc_string("of b");
    m.Node("Mul", {"b", "w"}, {"y"})->set_doc_string("of y");
    auto imported = m.Import(context);
    EXPECT_TRUE(imported.ok()) << imported.status();
    program = *std::move(imported);
    rewriter = std::make_unique<ir::Rewriter>(program.get());
    for (const ir::Operation op : program->body())
      if (op.num_results() > 0) ops[std::string(op.result().name())] = op;
  }
  // In the place of an operation: another one of that name.
  void Replace(const std::string& name, const char* opcode, std::vector<ir::Value> operands,
               ir::AttrDict attrs = {}) {
    const ir::Operation op = ops[name];
    rewriter->SetInsertionPoint(op);
    rewriter->Replace(op, {rewriter
                               ->Create({.opcode = ir::Opcode::FindOrAdd(opcode),
                                         .operands = std::move(operands),
                                         .attrs = attrs,
                                         .result_types = {op.result().type()}})
                               .result()});
  }
  ModelBuilder m;
  ir::IrContext context;
  std::unique_ptr<ir::Program> program;
  std::unique_ptr<ir::Rewriter> rewriter;
  std::map<std::string, ir::Operation> ops;
};

TEST_F(NodeNotes, StayWhereAnOperandIsReplaced) {
  Replace("a", "onnx.Abs", {program->body().argument(0)});
  EXPECT_EQ(Docs(*program), (NodeDocs{{"a", ""}, {"b", "of b"}, {"y", "of y"}}));
}

TEST_F(NodeNotes, AreNotThoseOfOtherAttributes) {
  const ir::Attribute perm = context.IntsAttr(ir::Ints{0, 1});
  Replace("b", "onnx.Transpose", {ops["a"].result()}, context.Dict({{ir::Name("perm"), perm}}));
  EXPECT_EQ(Docs(*program), (NodeDocs{{"a", "of a"}, {"b", ""}, {"y", "of y"}}));
}

TEST_F(NodeNotes, AreNotThoseOfOperandsThatARuleMade) {
  rewriter->SetInsertionPoint(ops["y"]);
  const ir::Value three = rewriter->ConstantScalar(ir::DataType::kF32, 3);
  Replace("y", "onnx.Mul", {ops["b"].result(), three});
  EXPECT_EQ(Docs(*program), (NodeDocs{{"a", "of a"}, {"b", "of b"}, {"y", ""}}));
}

// A body is copied once per call.
TEST(Notes, OfNodesInFunctionsAreDropped) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2});
  m.Import("f", 1);
  auto* function = m.model.add_functions();
  function->set_domain("f");
  function->set_name("Twice");
  function->add_input("in");
  function->add_output("out");
  function->add_opset_import()->set_version(17);
  ModelBuilder::AddNode(function->mutable_node(), "Add", {"in", "in"}, {"out"})
      ->set_doc_string("said once");
  m.Node("Twice", {"x"}, {"a"})->set_domain("f");
  m.Node("Twice", {"a"}, {"y"})->set_domain("f");
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(Docs(**program), (NodeDocs{{"a", ""}, {"y", ""}}));
}

// Names of a branch may be those of another.
TEST(Notes, OfNodesInBranchesAreDropped) {
  ModelBuilder m;
  m.Input("cond", {}, pb::TensorProto::BOOL);
  m.Input("x", {2});
  m.Output("y", {2});
  auto* node = m.Node("If", {"cond"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto* graph = AddAttribute(node, branch, pb::AttributeProto::GRAPH)->mutable_g();
    graph->set_name(branch);
    auto* relu = ModelBuilder::AddNode(graph->mutable_node(), "Relu", {"x"}, {"t"});
    if (branch[0] == 't') relu->set_doc_string("of then");
    ModelBuilder::SetInfo(graph->add_output(), "t", {2});
  }
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(ExportToProto(**program).DebugString().find("of then"), std::string::npos);
}

// Equal operations are, whatever is said of them.
TEST(Notes, DoNotKeepEqualNodesApart) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2});
  m.Node("Exp", {"x"}, {"a"})->set_doc_string("of a");
  m.Node("Exp", {"x"}, {"b"})->set_doc_string("of b");
  m.Node("Mul", {"a", "b"}, {"y"})->set_doc_string("of y");
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_TRUE(program.ok()) << program.status();
  Optimise(**program, "simplify");
  EXPECT_EQ(Docs(**program), (NodeDocs{{"a", "of a"}, {"y", "of y"}}));
}

TEST(Notes, OfAnyContentsAreRead) {
  pb::GraphProto graph;
  graph.add_input()->set_name("x");
  for (const ir::Strings& list :
       {ir::Strings{"x"}, {"x", "", "18446744073709551615", "k"}, {"x", "", "-1", "k", "v"}})
    Notes(list).AddToValues(&graph);
  EXPECT_EQ(graph.input(0).metadata_props_size(), 0);
  Notes({"x", "one", "0", "x", "two", "0"}).AddToValues(&graph);
  EXPECT_FALSE(graph.input(0).has_doc_string());
  Notes({"x", "one", "1", "k", "v"}).AddToValues(&graph);
  EXPECT_EQ(graph.input(0).doc_string(), "one");
  EXPECT_EQ(MetadataOf(graph.input(0).metadata_props()), (ir::Strings{"k", "v"}));
}

}  // namespace
}  // namespace weft::onnx
