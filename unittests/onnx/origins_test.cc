// Where the nodes of a written model come from, and what is read of it again.
#include "tools/onnx/origins.h"

#include <gmock/gmock.h>

#include "ir/dialects/fused.h"
#include "ir/origin/origin.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tools/onnx/proto/origin_metadata.h"
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Names = std::vector<ir::Name>;

std::vector<std::string> Texts(const Names& names) {
  std::vector<std::string> texts;
  for (const ir::Name name : names) texts.emplace_back(name.str());
  return texts;
}

std::string Metadata(const pb::NodeProto& node, std::string_view key) {
  std::string found;
  for (const auto& entry : node.metadata_props())
    if (entry.key() == key) found += entry.value();
  return found;
}

void AddProp(pb::NodeProto* node, std::string_view key, const std::string& value) {
  auto* entry = node->add_metadata_props();
  entry->set_key(std::string(key));
  entry->set_value(value);
}

class NodeOrigins : public testing::Test {
 protected:
  // relu(matmul(x, w) + b), and tanh of it.
  NodeOrigins() {
    m.Input("x", {4, 3});
    m.Output("y", {4, 2});
    m.Initializer<float>("w", {3, 2}, {1, 2, 3, 4, 5, 6});
    m.Initializer<float>("b", {2}, {1, 2});
    AddNode("MatMul", {"x", "w"}, "p", "mm")->set_doc_string("a product");
    AddNode("Add", {"p", "b"}, "s", "plus");
    AddNode("Relu", {"s"}, "r", "")->set_doc_string("at least 0");
    AddNode("Softmax", {"r"}, "y", "soft")->set_doc_string("sums to 1");
  }
  pb::NodeProto* AddNode(const char* op, const std::vector<std::string>& inputs,
                         const std::string& output, const char* name) {
    pb::NodeProto* node = m.Node(op, inputs, {output});
    node->set_name(name);
    return node;
  }
  std::unique_ptr<ir::Program> Import(const ModelBuilder& model) {
    auto program = model.Import(context);
    EXPECT_EQ(program.status().message(), "");
    return program.ok() ? *std::move(program) : std::make_unique<ir::Program>(&context);
  }
  // What was written, read again.
  std::unique_ptr<ir::Program> ImportAgain(const pb::ModelProto& written) {
    ModelBuilder again;
    again.model = written;
    return Import(again);
  }
  pb::ModelProto Fused() {
    const auto program = Import(m);
    RecordNodeOrigins(*program);
    Optimise(*program, "fuse");
    return ExportToProto(*program);
  }
  ir::Origin OriginOf(ir::Program& program, std::string_view op_name) {
    for (const ir::Operation op : program.body())
      if (op.name() == op_name) return ir::OriginOf(op);
    ADD_FAILURE() << "no " << op_name;
    return {};
  }

  ModelBuilder m;
  ir::IrContext context;
};

TEST_F(NodeOrigins, OfAFusedNodeAreItsNameItsMetadataAndItsDoc) {
  const pb::ModelProto model = Fused();
  ASSERT_EQ(model.graph().node_size(), 2);
  const pb::NodeProto &linear = model.graph().node(0), &softmax = model.graph().node(1);
  EXPECT_EQ(linear.domain(), "ai.weft.fused");
  EXPECT_EQ(linear.name(), "mm+plus+%r");
  EXPECT_EQ(Metadata(linear, kSourcesKey), R"(["mm","plus","%r"])");
  EXPECT_THAT(Metadata(linear, kRulesKey), HasSubstr(R"("fuse-gemm")"));
  EXPECT_EQ(linear.doc_string(), "a product\nat least 0");
  EXPECT_EQ(softmax.name(), "soft");
  EXPECT_EQ(softmax.metadata_props_size(), 0);
  EXPECT_EQ(softmax.doc_string(), "sums to 1");
}

TEST_F(NodeOrigins, AreNotWrittenUnlessTheyAreRecorded) {
  const auto program = Import(m);
  Optimise(*program, "fuse");
  const pb::ModelProto model = ExportToProto(*program);
  for (const pb::NodeProto& node : model.graph().node()) EXPECT_EQ(node.metadata_props_size(), 0);
  EXPECT_THAT(model.graph().node(0).name(), IsEmpty());  // that of the Relu
}

TEST_F(NodeOrigins, AreReadAndWrittenAgain) {
  const pb::ModelProto once = Fused();
  const auto program = ImportAgain(once);
  EXPECT_FALSE(ir::RecordsOrigins(*program));
  EXPECT_THAT(Texts(OriginOf(*program, "fused.linear").sources), ElementsAre("mm", "plus", "%r"));
  EXPECT_EQ(ExportToProto(*program).SerializeAsString(), once.SerializeAsString());
  RecordNodeOrigins(*program);
  Optimise(*program, "fuse");
  EXPECT_EQ(ExportToProto(*program).SerializeAsString(), once.SerializeAsString());
}

TEST_F(NodeOrigins, GoBackToTheFirstModelThroughSeveralRuns) {
  const auto program = Import(m);
  RecordNodeOrigins(*program);
  Optimise(*program, "simplify");
  const auto second = ImportAgain(ExportToProto(*program));
  RecordNodeOrigins(*second);
  Optimise(*second, "fuse");
  EXPECT_EQ(OriginOf(*second, "fused.linear").sources,
            (Names{ir::Name("mm"), ir::Name("plus"), ir::Name("%r")}));
}

TEST_F(NodeOrigins, AreThoseOfPlainNodesToo) {
  const auto program = Import(m);
  RecordNodeOrigins(*program);
  Optimise(*program, "fuse");
  TempDir dir;
  const std::string path = dir / "m.onnx";
  ASSERT_EQ(ExportOnnx(*program, path, {.inline_functions = true}).message(), "");
  auto plain = ImportOnnx(context, path);
  ASSERT_TRUE(plain.ok()) << plain.status();
  size_t count = 0;
  for (const ir::Operation op : (*plain)->body()) {
    if (!ir::IsRewritten(op)) continue;
    EXPECT_THAT(Texts(ir::OriginOf(op).sources), ElementsAre("mm", "plus", "%r"));
    ++count;
  }
  EXPECT_GE(count, 2u);
}

TEST_F(NodeOrigins, OfOpaqueNodesAreRead) {
  m.Import("acme", 1);
  pb::NodeProto* node = AddNode("Gadget", {"y"}, "z", "g");
  node->set_domain("acme");
  AddProp(node, kSourcesKey, R"(["one","two"])");
  AddProp(node, kRulesKey, R"(["made-it"])");
  AddProp(node, "other", "stays");
  m.Output("z");
  const auto program = Import(m);
  EXPECT_THAT(Texts(OriginOf(*program, "acme.Gadget").rules), ElementsAre("made-it"));
  const pb::ModelProto model = ExportToProto(*program);
  const pb::NodeProto& written = model.graph().node(4);
  EXPECT_EQ(written.metadata_props_size(), 3);
  EXPECT_EQ(Metadata(written, kSourcesKey), R"(["one","two"])");
  EXPECT_EQ(Metadata(written, "other"), "stays");
}

// Under these keys may be anything.
TEST_F(NodeOrigins, ThatAreNoListsStayAsTheyAre) {
  const std::string bad[] = {
      "",          "[",          "{}",        "[1]",  "[\"a\",]",      "\"a\"",
      "[[\"a\"]]", "[\"\xff\"]", "[\"a\"] x", "null", "[\"a\" \"b\"]", std::string(100000, '[')};
  for (const std::string& value : bad) {
    ModelBuilder other;
    other.Input("x", {2});
    other.Output("y", {2});
    AddProp(other.Node("Relu", {"x"}, {"y"}), kSourcesKey, value);
    const auto program = Import(other);
    EXPECT_EQ(OriginOf(*program, "onnx.Relu"), ir::Origin()) << value.substr(0, 20);
    const pb::ModelProto model = ExportToProto(*program);
    ASSERT_EQ(model.graph().node(0).metadata_props_size(), 1);
    EXPECT_EQ(Metadata(model.graph().node(0), kSourcesKey), value);
  }
}

TEST_F(NodeOrigins, AreOfTheProgramAsText) {
  const auto program = ImportAgain(Fused());
  const std::string text = ir::PrintProgram(*program, {.full_weights = true, .locations = true});
  EXPECT_THAT(text, HasSubstr(R"( from("mm", "plus", "%r") by()"));
  auto parsed = ir::ParseProgram(context, text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ExportToProto(**parsed).graph().SerializeAsString(),
            Fused().graph().SerializeAsString());
}

TEST(OriginJson, GoesThereAndBack) {
  const Names names = {ir::Name("plain"), ir::Name("\"q\" \\ /slash"), ir::Name("tab\there\n\x01"),
                       ir::Name("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), ir::Name("")};
  Names read;
  ASSERT_TRUE(FromJson(ToJson(names), &read)) << ToJson(names);
  EXPECT_EQ(read, names);
  EXPECT_EQ(ToJson({ir::Name("a"), ir::Name("b\n")}), R"(["a","b\n"])");
  ASSERT_TRUE(FromJson(" [ \"a\\u00e9\" ,\"\\/\"] ", &read));
  EXPECT_EQ(Texts(read), (std::vector<std::string>{"a\xc3\xa9", "/"}));
  ASSERT_TRUE(FromJson(ToJson({ir::Name("\xff")}), &read));  // not UTF-8, which is what JSON is
  EXPECT_EQ(Texts(read), (std::vector<std::string>{"\xef\xbf\xbd"}));
  EXPECT_FALSE(FromJson("{\"a\":1}", &read));
  EXPECT_EQ(read.size(), 1u);
}

}  // namespace
}  // namespace weft::onnx
