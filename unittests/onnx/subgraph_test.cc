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

// y = x; n times: y = concat(y, z), w = w + w, with a branch that sees both. Dimensions -2 and so on are
// symbols n2 and so on: exporters state the type that a carried value has at first.
ModelBuilder GrowingModel() {
  ModelBuilder m;
  m.Input("n", {}, pb::TensorProto::INT64);
  m.Input("x", {-2});
  m.Input("z", {1});
  m.Input("w", {-3});
  m.Output("y", {-4});
  auto* node = m.Node("Loop", {"n", "", "x", "w"}, {"y", "w_end"});
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  body->set_name("body");
  ModelBuilder::SetInfo(body->add_input(), "i", {}, pb::TensorProto::INT64);
  ModelBuilder::SetInfo(body->add_input(), "go", {}, pb::TensorProto::BOOL);
  ModelBuilder::SetInfo(body->add_input(), "y_now", {-2});
  ModelBuilder::SetInfo(body->add_input(), "w_now", {-3});
  auto* choice = ModelBuilder::AddNode(body->mutable_node(), "If", {"go"}, {"y_kept"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* branch = AddAttribute(choice, name, Attr::GRAPH)->mutable_g();
    branch->set_name(name);
    const std::string result = std::string("of_") + name;
    ModelBuilder::AddNode(branch->mutable_node(), "Relu", {"y_now"}, {result});
    ModelBuilder::SetInfo(branch->add_output(), result, {-2});
  }
  ModelBuilder::AddNode(body->mutable_node(), "Identity", {"go"}, {"go_on"});
  SetInt(ModelBuilder::AddNode(body->mutable_node(), "Concat", {"y_kept", "z"}, {"y_next"}), "axis",
         0);
  ModelBuilder::AddNode(body->mutable_node(), "Add", {"w_now", "w_now"}, {"w_next"});
  ModelBuilder::SetInfo(body->add_value_info(), "y_kept", {-2});
  ModelBuilder::SetInfo(body->add_output(), "go_on", {}, pb::TensorProto::BOOL);
  ModelBuilder::SetInfo(body->add_output(), "y_next", {-4});
  ModelBuilder::SetInfo(body->add_output(), "w_next", {-3});
  return m;
}

TEST(Subgraph, ASizeThatGrowsInALoopIsNotWhatItsNameMeansOutside) {
  EXPECT_EQ(
      ImportAndDescribe(GrowingModel()),
      "y: f32[\"n4\"], w_end: f32[\"n3\"] = onnx.Loop(n, -, x, w) {onnx.subgraph_names=['body']}\n"
      " (i, go, y_now, w_now):\n"
      "  y_kept: f32[?] = onnx.If(go) "
      "{onnx.subgraph_names=['then_branch','else_branch']}\n"
      "   ():\n"
      "    of_then_branch: f32[?] = onnx.Relu(y_now)\n"
      "    builtin.return(of_then_branch)\n"
      "   ():\n"
      "    of_else_branch: f32[?] = onnx.Relu(y_now)\n"
      "    builtin.return(of_else_branch)\n"
      "  go_on: bool[] = onnx.Identity(go)\n"
      "  y_next: f32[?] = onnx.Concat(y_kept, z) {axis=0}\n"
      "  w_next: f32[\"n3\"] = onnx.Add(w_now, w_now)\n"
      "  builtin.return(go_on, y_next, w_next)\n"
      "builtin.return(y)\n");
}

// p: where x is not zero, q: where z is not, each in branches that call that size n2; and the sizes of both.
ModelBuilder TwoSizesOfOneName() {
  ModelBuilder m;
  m.Input("cond", {}, pb::TensorProto::BOOL);
  m.Input("x", {5});
  m.Input("z", {5});
  m.Output("y", {4}, pb::TensorProto::INT64);
  for (const auto& [of, result] : {std::pair("x", "p"), std::pair("z", "q")}) {
    auto* node = m.Node("If", {"cond"}, {result});
    for (const char* name : {"then_branch", "else_branch"}) {
      auto* branch = AddAttribute(node, name, Attr::GRAPH)->mutable_g();
      branch->set_name(name);
      const std::string places = std::string(result) + "_of_" + name;
      ModelBuilder::AddNode(branch->mutable_node(), "NonZero", {of}, {places});
      ModelBuilder::SetInfo(branch->add_output(), places, {1, -2}, pb::TensorProto::INT64);
    }
    m.Node("Shape", {result}, {std::string(result) + "_shape"});
  }
  SetInt(m.Node("Concat", {"p_shape", "q_shape"}, {"y"}), "axis", 0);
  return m;
}

TEST(Subgraph, OneNameInTwoGraphsMayBeTwoSizes) {
  ir::IrContext context;
  auto program = TwoSizesOfOneName().Import(context);
  ASSERT_EQ(program.status().message(), "");
  Optimise(**program, "simplify");
  auto session = kernels::Session::Create(**program, {});
  ASSERT_EQ(session.status().message(), "");
  kernels::Tensor cond = *kernels::Tensor::Create(ir::DataType::kBool, {});
  cond.view().data[0] = std::byte{1};
  const kernels::Tensor x = F32({5}, {1, 0, 1, 0, 1}), z = F32({5}, {0, 0, 0, 0, 1});
  auto results = (*session)->Run({cond.view(), x.view(), z.view()});
  ASSERT_EQ(results.status().message(), "");
  const auto sizes = results->front().values<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(sizes.begin(), sizes.end()), (std::vector<int64_t>{1, 3, 1, 1}));
}

// The sums of a batch of two sequences of three numbers, in opset 8.
std::vector<std::vector<float>> BatchedSums(const std::vector<int64_t>& lengths,
                                            int64_t direction) {
  ModelBuilder m(8);
  m.Input("n", {2}, pb::TensorProto::INT64);
  m.Input("first", {2});
  m.Input("x", {2, 3});
  m.Output("last", {2});
  m.Output("sums", {2, 3});
  auto* node = m.Node("Scan", {lengths.empty() ? "" : "n", "first", "x"}, {"last", "sums"});
  AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(1);
  AddAttribute(node, "directions", Attr::INTS)->add_ints(direction);
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  ModelBuilder::SetInfo(body->add_input(), "sum", {});
  ModelBuilder::SetInfo(body->add_input(), "next", {});
  ModelBuilder::AddNode(body->mutable_node(), "Add", {"sum", "next"}, {"more"});
  ModelBuilder::AddNode(body->mutable_node(), "Identity", {"more"}, {"out"});
  ModelBuilder::SetInfo(body->add_output(), "more", {});
  ModelBuilder::SetInfo(body->add_output(), "out", {});
  ir::IrContext context;
  auto program = m.Import(context);
  EXPECT_EQ(program.status().message(), "");
  if (!program.ok()) return {};
  auto session = kernels::Session::Create(**program, {.provider = "reference"});
  EXPECT_EQ(session.status().message(), "");
  if (!session.ok()) return {};
  const std::vector<int64_t> given = lengths.empty() ? std::vector<int64_t>{3, 3} : lengths;
  kernels::Tensor n = *kernels::Tensor::Create(ir::DataType::kI64, {2});
  std::copy(given.begin(), given.end(), n.values<int64_t>().begin());
  const kernels::Tensor first = F32({2}, {100, 200}), x = F32({2, 3}, {1, 2, 4, 8, 16, 32});
  const std::vector<kernels::TensorView> views = {n.view(), first.view(), x.view()};
  auto results = (*session)->Run(views);
  EXPECT_EQ(results.status().message(), "");
  std::vector<std::vector<float>> values;
  for (const auto& result : *results) {
    const auto floats = result.values<float>();
    values.emplace_back(floats.begin(), floats.end());
  }
  EXPECT_EQ(onnx::TargetOpset(**program), lengths.empty() ? kOldestTargetOpset : 18)
      << "Pad with axes";
  return values;
}

TEST(Subgraph, ScanOfOpset8RunsForEachEntryOfABatch) {
  using Values = std::vector<std::vector<float>>;
  EXPECT_EQ(BatchedSums({}, 0), (Values{{107, 256}, {101, 103, 107, 208, 224, 256}}));
  EXPECT_EQ(BatchedSums({}, 1), (Values{{107, 256}, {104, 106, 107, 232, 248, 256}}));
  EXPECT_EQ(BatchedSums({2, 3}, 0), (Values{{103, 256}, {101, 103, 0, 208, 224, 256}}));
  EXPECT_EQ(BatchedSums({1, 2}, 1), (Values{{101, 224}, {101, 0, 0, 216, 224, 0}}));
}

TEST(Subgraph, ScanOfOpset8IsRefusedWithWhatDoesNotFit) {
  const auto refusal = [](const std::vector<std::string>& inputs, int64_t count) {
    ModelBuilder m(8);
    m.Input("n", {2}, pb::TensorProto::INT64);
    m.Input("x", {2});
    m.Output("y", {2});
    auto* node = m.Node("Scan", inputs, {"y"});
    AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(count);
    auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
    ModelBuilder::SetInfo(body->add_input(), "a", {});
    ModelBuilder::AddNode(body->mutable_node(), "Neg", {"a"}, {"b"});
    ModelBuilder::SetInfo(body->add_output(), "b", {});
    ir::IrContext context;
    return std::string(m.Import(context).status().message());
  };
  const std::string node = "node of 'y' ('Scan'): ";
  EXPECT_EQ(refusal({"", "x"}, 1), node + "operand 1 has rank 1, expected at least 2");
  EXPECT_EQ(refusal({"x", "x"}, 1), node + "sequence_lens must be i64 numbers");
  EXPECT_EQ(refusal({"n", "", "x"}, 1), node + "operand 1 is required but not given");
  EXPECT_EQ(refusal({"", "x"}, 2),
            node + "num_scan_inputs is 2 but there are 1 states and scan inputs");
}

TEST(Subgraph, ScanOfOpset8MayNameNothingThatIsNot) {
  ModelBuilder m(8);
  m.Input("x", {2, 3});
  m.Output("y", {2, 3});
  auto* node = m.Node("Scan", {"", "x"}, {"y"});
  AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(1);
  auto* body = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
  ModelBuilder::SetInfo(body->add_input(), "a", {});
  ModelBuilder::AddNode(body->mutable_node(), "Neg", {"nowhere"}, {"b"});
  ModelBuilder::SetInfo(body->add_output(), "b", {});
  ir::IrContext context;
  EXPECT_EQ(m.Import(context).status().message(),
            "node of 'y' ('Scan'): node of 'b' ('Neg'): 'nowhere' is not defined");
}

// Each becomes two scans.
TEST(Subgraph, ScansOfOpset8AreNotNestedTooDeep) {
  const auto import = [](int depth) {
    ModelBuilder m(8);
    m.Input("x", {1, 1});
    m.Output("y");
    auto* graph = m.graph();
    for (int i = 0; i < depth; ++i) {
      const std::string x = i == 0 ? "x" : "x" + std::to_string(i);
      auto* node = ModelBuilder::AddNode(graph->mutable_node(), "Scan", {"", x}, {"y"});
      AddAttribute(node, "num_scan_inputs", Attr::INT)->set_i(1);
      graph = AddAttribute(node, "body", Attr::GRAPH)->mutable_g();
      graph->add_input()->set_name("x" + std::to_string(i + 1));
      graph->add_output()->set_name("y");
    }
    const std::string x = "x" + std::to_string(depth);
    ModelBuilder::AddNode(graph->mutable_node(), "Neg", {x}, {"y"});
    ir::IrContext context;
    return std::string(m.Import(context).status().message());
  };
  EXPECT_EQ(import(8), "");
  EXPECT_THAT(import(40), ::testing::HasSubstr("graphs are nested deeper than 64"));
}

// Of `name`, in the body of the loop: the one dimension is this.
void StateInBody(ModelBuilder& m, const std::string& name, const std::string& dim) {
  auto* body = m.graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto* info = body->add_value_info();
  ModelBuilder::SetInfo(info, name, {-1});
  info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(dim);
}

TEST(Subgraph, NorIsAnExpressionOfASizeThatGrows) {
  ModelBuilder m = GrowingModel();
  auto* body = m.graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  for (const char* name : {"y", "w"}) {
    const std::string now = std::string(name) + "_now", twice = std::string(name) + "_twice";
    ModelBuilder::AddNode(body->mutable_node(), "Tile", {now, "times"}, {twice});
  }
  m.Input("times", {1}, pb::TensorProto::INT64);
  StateInBody(m, "y_twice", "2*n2");
  StateInBody(m, "w_twice", "2*n3");
  const std::string text = ImportAndDescribe(m);
  EXPECT_THAT(text, testing::HasSubstr("y_twice: f32[?] = onnx.Tile"));
  EXPECT_THAT(text, testing::HasSubstr("w_twice: f32[\"2*n3\"] = onnx.Tile"));
}

// The first dimension of what is carried may be an expression itself.
TEST(Subgraph, ASymbolOfAnExpressionThatGrowsIsNotBelievedEither) {
  ModelBuilder m = GrowingModel();
  auto* body = m.graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  const auto set = [](pb::ValueInfoProto* info, const std::string& dim) {
    info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
        dim);
  };
  set(m.graph()->mutable_input(1), "past + 1");
  set(body->mutable_input(2), "past + 1");
  set(body->mutable_output(1), "past + 2");
  set(body->mutable_value_info(0), "past");
  for (auto& node : *body->mutable_node())
    if (node.op_type() == "If")
      for (auto& branch : *node.mutable_attribute())
        set(branch.mutable_g()->mutable_output(0), "past");
  const std::string text = ImportAndDescribe(m);
  EXPECT_THAT(text, testing::HasSubstr("of_then_branch: f32[?] = onnx.Relu(y_now)"));
  EXPECT_THAT(text, testing::HasSubstr("y_next: f32[?] = onnx.Concat(y_kept, z)"));
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
