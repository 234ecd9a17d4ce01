// Local functions of others, which are inlined.
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

pb::FunctionProto* AddFunction(ModelBuilder& m, const std::string& name,
                               const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs, int64_t opset = 17) {
  auto* function = m.model.add_functions();
  function->set_domain("com.example");
  function->set_name(name);
  for (const auto& input : inputs) function->add_input(input);
  for (const auto& output : outputs) function->add_output(output);
  auto* import = function->add_opset_import();
  import->set_version(opset);
  auto* own = function->add_opset_import();
  own->set_domain("com.example");
  own->set_version(1);
  return function;
}

ModelBuilder ForeignModel() {
  ModelBuilder m;
  m.Import("com.example", 1);
  m.Input("x", {2, 2});
  m.Output("y");
  return m;
}

TEST(ForeignFunctions, AreInlinedWithTheirAttributes) {
  ModelBuilder m = ForeignModel();
  auto* f = AddFunction(m, "Leaky", {"in"}, {"out"});
  f->add_attribute("slope");
  auto* inner = ModelBuilder::AddNode(f->mutable_node(), "LeakyRelu", {"in"}, {"out"});
  auto* ref = AddAttribute(inner, "alpha", pb::AttributeProto::FLOAT);
  ref->set_ref_attr_name("slope");
  auto* call = m.Node("com.example.Leaky", {"x"}, {"a"});
  SetFloat(call, "slope", 0.5f);
  m.Node("com.example.Leaky", {"a"}, {"y"});  // without the attribute: the operator's default
  EXPECT_EQ(ImportAndDescribe(m),
            "a: f32[2,2] = onnx.LeakyRelu(x) {alpha=0.5f}\n"
            "y: f32[2,2] = onnx.LeakyRelu(a) {alpha=0.01f}\n"
            "builtin.return(y)\n");
}

TEST(ForeignFunctions, HaveOpsetsOfTheirOwn) {
  ModelBuilder m = ForeignModel();
  auto* f = AddFunction(m, "Cap", {"in"}, {"out"}, 7);
  SetFloat(ModelBuilder::AddNode(f->mutable_node(), "Clip", {"in"}, {"out"}), "max", 6);
  m.Node("com.example.Cap", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2,2] = onnx.Clip(x, f32[](-3.4028234663852886e+38), f32[](6))\n"
            "builtin.return(y)\n");
}

TEST(ForeignFunctions, MayCallEachOtherAndLeaveInputsOut) {
  ModelBuilder m = ForeignModel();
  auto* inner = AddFunction(m, "Inner", {"in", "low", "high"}, {"out"});
  ModelBuilder::AddNode(inner->mutable_node(), "Clip", {"in", "low", "high"}, {"out"});
  auto* outer = AddFunction(m, "Outer", {"in"}, {"out"});
  ModelBuilder::AddNode(outer->mutable_node(), "Relu", {"in"}, {"t"});
  ModelBuilder::AddNode(outer->mutable_node(), "com.example.Inner", {"t"}, {"out"});
  m.Node("com.example.Outer", {"x"}, {"y"})->set_name("call");
  EXPECT_EQ(ImportAndDescribe(m),
            "call/t: f32[2,2] = onnx.Relu(x)\n"
            "y: f32[2,2] = onnx.Clip(call/t)\n"
            "builtin.return(y)\n");
}

TEST(ForeignFunctions, TakeTheirDefaultAttributesFromIrVersion9) {
  ModelBuilder m = ForeignModel();
  auto* f = AddFunction(m, "Leaky", {"in"}, {"out"});
  auto* inner = ModelBuilder::AddNode(f->mutable_node(), "LeakyRelu", {"in"}, {"out"});
  AddAttribute(inner, "alpha", pb::AttributeProto::FLOAT)->set_ref_attr_name("slope");
  pb::AttributeProto* fallback = f->add_attribute_proto();
  fallback->set_name("slope");
  fallback->set_type(pb::AttributeProto::FLOAT);
  fallback->set_f(0.25f);
  m.Node("com.example.Leaky", {"x"}, {"t"});
  SetFloat(m.Node("com.example.Leaky", {"t"}, {"y"}), "slope", 0.5f);
  EXPECT_EQ(ImportAndDescribe(m),
            "t: f32[2,2] = onnx.LeakyRelu(x) {alpha=0.25f}\n"
            "y: f32[2,2] = onnx.LeakyRelu(t) {alpha=0.5f}\n"
            "builtin.return(y)\n");
}

TEST(ForeignFunctions, TakeTensorsAsDefaultAttributes) {
  ModelBuilder m = ForeignModel();
  auto* f = AddFunction(m, "Scale", {"in"}, {"out"});
  auto* constant = ModelBuilder::AddNode(f->mutable_node(), "Constant", {}, {"factor"});
  AddAttribute(constant, "value", pb::AttributeProto::TENSOR)->set_ref_attr_name("by");
  ModelBuilder::AddNode(f->mutable_node(), "Mul", {"in", "factor"}, {"out"});
  pb::AttributeProto* fallback = f->add_attribute_proto();
  fallback->set_name("by");
  fallback->set_type(pb::AttributeProto::TENSOR);
  ModelBuilder::SetTensor<float>(fallback->mutable_t(), "", {2}, {3, 4});
  m.Node("com.example.Scale", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2,2] = onnx.Mul(x, f32[2](3,4))\n"
            "builtin.return(y)\n");
}

TEST(ForeignFunctions, AreToldApartByTheirOverload) {
  ModelBuilder m = ForeignModel();
  const auto add = [&](const std::string& overload, const std::string& op_type) {
    auto* f = AddFunction(m, "Act", {"in"}, {"out"});
    if (!overload.empty()) f->set_overload(overload);
    ModelBuilder::AddNode(f->mutable_node(), op_type, {"in"}, {"out"});
  };
  add("", "Relu");
  add("smooth", "Sigmoid");
  auto* outer = AddFunction(m, "Act", {"in"}, {"out"});  // calls another overload of itself
  outer->set_overload("twice");
  ModelBuilder::AddNode(outer->mutable_node(), "com.example.Act", {"in"}, {"t"});
  ModelBuilder::AddNode(outer->mutable_node(), "com.example.Act", {"t"}, {"out"})
      ->set_overload("smooth");
  m.Node("com.example.Act", {"x"}, {"a"})->set_overload("smooth");
  m.Node("com.example.Act", {"a"}, {"b"});
  auto* last = m.Node("com.example.Act", {"b"}, {"y"});
  last->set_overload("twice");
  last->set_name("last");
  EXPECT_EQ(ImportAndDescribe(m),
            "a: f32[2,2] = onnx.Sigmoid(x)\n"
            "b: f32[2,2] = onnx.Relu(a)\n"
            "last/t: f32[2,2] = onnx.Relu(b)\n"
            "y: f32[2,2] = onnx.Sigmoid(last/t)\n"
            "builtin.return(y)\n");
}

// Those of the model and of the functions are one graph then, for which an operator set has one version.
TEST(ForeignFunctions, BringTheOperatorSetsOfWhatIsNotKnown) {
  const auto model = [](int64_t of_function, int64_t of_model, bool also_outside) {
    ModelBuilder m = ForeignModel();
    m.Import("com.other", of_model);
    auto* f = AddFunction(m, "F", {"in"}, {"out"});
    ModelBuilder::AddNode(f->mutable_node(), "com.other.Op", {"in"}, {"out"});
    auto* import = f->add_opset_import();
    import->set_domain("com.other");
    import->set_version(of_function);
    m.Node("com.example.F", {"x"}, {"t"});
    m.Node(also_outside ? "com.other.Op" : "Relu", {"t"}, {"y"});
    return m;
  };
  const auto version_after = [](const ModelBuilder& m) {
    ir::IrContext context;
    const auto program = m.Import(context);
    EXPECT_EQ(program.status().message(), "");
    const pb::ModelProto written = ExportToProto(**program);
    for (const auto& import : written.opset_import())
      if (import.domain() == "com.other") return import.version();
    return int64_t{0};
  };
  EXPECT_EQ(version_after(model(3, 3, true)), 3);
  EXPECT_EQ(version_after(model(3, 2, false)), 3);
  ir::IrContext context;
  EXPECT_EQ(
      ir::Message(model(3, 2, true).Import(context).status()),
      "node of 'y' ('Op'): operator set 'com.other' of version 2, and elsewhere of version 3");
}

TEST(ForeignFunctions, MayHoldSubgraphs) {
  ModelBuilder m = ForeignModel();
  m.Input("cond", {}, pb::TensorProto::BOOL);
  auto* f = AddFunction(m, "Choose", {"c", "v"}, {"out"});
  auto* branch = ModelBuilder::AddNode(f->mutable_node(), "If", {"c"}, {"out"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* graph = AddAttribute(branch, name, pb::AttributeProto::GRAPH)->mutable_g();
    ModelBuilder::AddNode(graph->mutable_node(), "Neg", {"v"}, {std::string(name) + "_out"});
    graph->add_output()->set_name(std::string(name) + "_out");
  }
  m.Node("com.example.Choose", {"cond", "x"}, {"y"});
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("  Choose/then_branch_out: f32[2,2] = onnx.Neg(x)\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace weft::onnx
