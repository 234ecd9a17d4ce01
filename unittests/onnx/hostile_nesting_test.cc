// Graphs and functions that nest, call each other or grow without end.
#include "unittests/onnx/hostile_test_util.h"

namespace weft::onnx {
namespace {

using Attr = ::onnx::AttributeProto;

TEST(HostileNesting, GraphsInGraphs) {
  for (int depth : {70, 2000}) {
    ExpectModelRefused(
        [depth](auto& m) {
          auto* graph = m.graph();
          for (int i = 0; i < depth; ++i) {
            auto* node =
                ModelBuilder::AddNode(graph->mutable_node(), "If", {"x"}, {fmt::format("z{}", i)});
            graph = AddAttribute(node, "then_branch", Attr::GRAPH)->mutable_g();
            graph->set_name("g");
          }
        },
        "graphs are nested deeper than 64");
  }
}

::onnx::FunctionProto* AddFunction(ModelBuilder& m, const std::string& name) {
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
void AddCall(::onnx::FunctionProto* function, const std::string& callee, const std::string& in,
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
