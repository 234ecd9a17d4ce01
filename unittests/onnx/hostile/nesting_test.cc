// Graphs and functions that nest, call each other or grow without end.
#include "unittests/onnx/hostile/refusal.h"

namespace weft::onnx {
namespace {

using Attr = pb::AttributeProto;

TEST(HostileNesting, GraphsInGraphs) {
  for (int depth : {70, 2000}) {
    ExpectModelRefused(
        [depth](auto& m) {
          auto* graph = m.graph();
          m.Input("c", {}, pb::TensorProto::BOOL);
          for (int i = 0; i < depth; ++i) {
            auto* node =
                ModelBuilder::AddNode(graph->mutable_node(), "If", {"c"}, {fmt::format("z{}", i)});
            AddAttribute(node, "else_branch", Attr::GRAPH)->mutable_g()->set_name("g");
            graph = AddAttribute(node, "then_branch", Attr::GRAPH)->mutable_g();
            graph->set_name("g");
          }
        },
        "graphs are nested deeper than 64");
  }
}

pb::FunctionProto* AddFunction(ModelBuilder& m, const std::string& name) {
  auto* function = m.model.add_functions();
  function->set_domain("f");
  function->set_name(name);
  function->add_input("in");
  function->add_output("out");
  for (const char* domain : {"", "f"}) {
    auto* import = function->add_opset_import();
    import->set_domain(domain);
    import->set_version(domain[0] ? 1 : 17);
  }
  return function;
}
void AddCall(pb::FunctionProto* function, const std::string& callee, const std::string& in,
             const std::string& out) {
  ModelBuilder::AddNode(function->mutable_node(), "f." + callee, {in}, {out});
}

TEST(HostileFunction, Recursion) {
  ExpectModelRefused(
      [](auto& m) {
        AddCall(AddFunction(m, "A"), "A", "in", "out");
        m.Node("f.A", {"x"}, {"z"});
      },
      "function 'f.A' calls itself");
  ExpectModelRefused(
      [](auto& m) {
        AddCall(AddFunction(m, "A"), "B", "in", "out");
        AddCall(AddFunction(m, "B"), "A", "in", "out");
      },
      "calls itself");
  ExpectModelRefused(
      [](auto& m) {  // through the graph of an attribute
        auto* function = AddFunction(m, "A");
        auto* node = ModelBuilder::AddNode(function->mutable_node(), "If", {"in"}, {"out"});
        auto* graph = AddAttribute(node, "then_branch", Attr::GRAPH)->mutable_g();
        ModelBuilder::AddNode(graph->mutable_node(), "f.A", {"in"}, {"t"});
      },
      "function 'f.A' calls itself");
}

TEST(HostileFunction, RecursionThroughADefaultAttributeOrAnOverload) {
  ExpectModelRefused(
      [](auto& m) {
        auto* fallback = AddFunction(m, "A")->add_attribute_proto();
        fallback->set_name("body");
        fallback->set_type(Attr::GRAPH);
        ModelBuilder::AddNode(fallback->mutable_g()->mutable_node(), "f.A", {"in"}, {"t"});
      },
      "function 'f.A' calls itself");
  ExpectModelRefused(
      [](auto& m) {
        auto* function = AddFunction(m, "A");
        function->set_overload("o");
        AddCall(function, "A", "in", "out");
        function->mutable_node(0)->set_overload("o");
      },
      "function 'f.A', overload 'o' calls itself");
}

TEST(HostileFunction, TypesThatNestInItsValues) {
  ExpectModelRefused(
      [](auto& m) {
        auto* info = AddFunction(m, "A")->add_value_info();
        info->set_name("v");
        pb::TypeProto* type = info->mutable_type();
        for (int i = 0; i < 50; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
      },
      "types are nested deeper than 16");
}

TEST(HostileFunction, ChainsThatAreTooLong) {
  for (bool backwards : {false, true}) {
    ExpectModelRefused(
        [backwards](auto& m) {
          for (int i = 0; i < 100; ++i) {
            const int number = backwards ? 99 - i : i;
            AddCall(AddFunction(m, fmt::format("F{}", number)), fmt::format("F{}", number + 1),
                    "in", "out");
          }
          auto* last = AddFunction(m, "F100");
          ModelBuilder::AddNode(last->mutable_node(), "Relu", {"in"}, {"out"});
          m.Node("f.F0", {"x"}, {"z"});
        },
        "functions call each other deeper than 64");
  }
}

TEST(HostileFunction, GrowthByRepetition) {
  ImportOptions options;  // each function calls the next one four times: 4^20 nodes in 20 functions
  options.limits.max_nodes = 20000;
  ExpectModelRefused(
      [](auto& m) {
        m.Import("f", 1);
        for (int i = 0; i < 20; ++i) {
          auto* function = AddFunction(m, fmt::format("F{}", i));
          std::string value = "in";
          for (int j = 0; j < 4; ++j) {
            const std::string next = j == 3 ? "out" : fmt::format("t{}", j);
            AddCall(function, fmt::format("F{}", i + 1), value, next);
            value = next;
          }
        }
        auto* last = AddFunction(m, "F20");
        ModelBuilder::AddNode(last->mutable_node(), "Relu", {"in"}, {"out"});
        m.Node("f.F0", {"x"}, {"z"});
      },
      "more than 20000 nodes", options);
}

TEST(HostileFunction, ManyInputsOfSmallBodiesCalledOften) {
  ExpectModelRefused(
      [](auto& m) {
        m.Import("f", 1);
        auto* function = AddFunction(m, "F");
        for (int i = 0; i < 20000; ++i) function->add_input(fmt::format("i{}", i));
        ModelBuilder::AddNode(function->mutable_node(), "Relu", {"in"}, {"out"});
        for (int i = 0; i < 3000; ++i)
          m.Node("f.F", {i == 0 ? "x" : fmt::format("z{}", i - 1)}, {fmt::format("z{}", i)});
      },
      "more than 2097152 nodes");
}

TEST(HostileFunction, LargeNamesInSmallBodiesCalledOften) {
  // 2,000 calls of a body whose names have 100 kB: 400 MB if every copy got names of its own.
  ModelBuilder m = Small();
  m.Import("f", 1);
  auto* function = AddFunction(m, "F");
  const std::string name(100000, 'n');
  ModelBuilder::AddNode(function->mutable_node(), "Relu", {"in"}, {name})->set_name(name);
  ModelBuilder::AddNode(function->mutable_node(), "Relu", {name}, {"out"});
  for (int i = 0; i < 2000; ++i) m.Node("f.F", {"x"}, {fmt::format("z{}", i)});
  TempDir dir;
  WriteFile(dir / "m.onnx", m.Bytes());
  EXPECT_EQ(ImportInChild(dir / "m.onnx", {}), "OK");
}

TEST(HostileFunction, Signatures) {
  ExpectModelRefused([](auto& m) { AddFunction(m, ""); }, "has a bad name");
  ExpectModelRefused(
      [](auto& m) {
        AddFunction(m, "A");
        AddFunction(m, "A");
      },
      "function 'f.A' is defined twice");
  ExpectModelRefused(
      [](auto& m) {
        for (int i = 0; i < 2; ++i) AddFunction(m, "A")->set_overload("\n");
      },
      "function 'f.A', overload '\\x0a' is defined twice");
  ExpectModelRefused([](auto& m) { AddFunction(m, "A")->set_overload("\xff"); }, "has a bad name");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {"z"})->set_overload("o"); },
                     "the model has no function '.Relu', overload 'o'");
  ExpectModelRefused(
      [](auto& m) {
        auto* function = AddFunction(m, "A");
        function->add_attribute("a");
        function->add_attribute_proto()->set_name("a");
      },
      "function 'f.A': repeats the name 'a'");
  ExpectModelRefused(
      [](auto& m) {
        auto* fallback = AddFunction(m, "A")->add_attribute_proto();
        fallback->set_name("a");
        fallback->set_ref_attr_name("b");
      },
      "the default of attribute 'a' refers to another one");
  ExpectModelRefused([](auto& m) { AddFunction(m, "A")->add_input("in"); },
                     "function 'f.A': repeats the name 'in'");
  ExpectModelRefused(
      [](auto& m) {
        AddFunction(m, "A");
        m.Node("f.A", {"x"}, {"z"});
      },
      "'out' is not defined");
  ExpectModelRefused(
      [](auto& m) {
        AddFunction(m, "A");
        m.Node("f.A", {"x", "x"}, {"z"});
      },
      "has 2 inputs and 1 outputs but the function has 1 and 1");
  ExpectModelRefused(
      [](auto& m) {  // the body sees nothing of the graph around the call
        auto* function = AddFunction(m, "A");
        ModelBuilder::AddNode(function->mutable_node(), "Relu", {"x"}, {"out"});
        m.Node("f.A", {"x"}, {"z"});
      },
      "'x' is not defined");
}

}  // namespace
}  // namespace weft::onnx
