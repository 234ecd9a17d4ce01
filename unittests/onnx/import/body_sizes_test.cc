// Sizes that branches and bodies state by a name: it means what it means there, not outside.
#include <gmock/gmock.h>

#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using Attr = pb::AttributeProto;

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

TEST(BodySizes, OneThatGrowsInALoopIsNotWhatItsNameMeansOutside) {
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

TEST(BodySizes, OneNameInTwoGraphsMayBeTwoSizes) {
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

// Of `name`, in the body of the loop: the one dimension is this.
void StateInBody(ModelBuilder& m, const std::string& name, const std::string& dim) {
  auto* body = m.graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto* info = body->add_value_info();
  ModelBuilder::SetInfo(info, name, {-1});
  info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(dim);
}

TEST(BodySizes, NorIsAnExpressionOfOneThatGrows) {
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
TEST(BodySizes, ASymbolOfAnExpressionThatGrowsIsNotBelievedEither) {
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

}  // namespace
}  // namespace weft::onnx
