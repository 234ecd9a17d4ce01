// Files made to do harm. Every one must give an InvalidArgument of one line, without a crash and
// without taking memory that its size does not explain.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "unittests/onnx/model_builder.h"

namespace weft::tools {
namespace {

using Attr = onnx::AttributeProto;
using Tensor = onnx::TensorProto;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kLimitMemory = false;  // the sanitizer's own maps are larger than any limit
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kLimitMemory = false;
#else
constexpr bool kLimitMemory = true;
#endif
#else
constexpr bool kLimitMemory = true;
#endif

constexpr size_t kMemory = size_t{48} << 20;  // beyond what the process has

size_t AddressSpaceInUse() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// What importing the file says, in a process of its own: "CODE: message", or how it died.
std::string ImportInChild(const std::string& path, const ImportOptions& options) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    if (kLimitMemory) {
      const rlimit limit{AddressSpaceInUse() + kMemory, RLIM_INFINITY};
      setrlimit(RLIMIT_AS, &limit);
    }
    ir::IrContext context;
    const std::string text = ImportOnnx(context, path, options).status().ToString();
    const ssize_t written = write(pipe_ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fmt::format("died with status {}: {}", status, text);
  return text;
}

void ExpectRefused(const std::string& path, const std::string& expected,
                   const ImportOptions& options = {}) {
  const std::string text = ImportInChild(path, options);
  EXPECT_TRUE(text.starts_with("INVALID_ARGUMENT: ")) << text;
  EXPECT_NE(text.find(expected), std::string::npos) << text << "\nexpected: " << expected;
  EXPECT_GT(text.size(), std::string_view("INVALID_ARGUMENT: ").size() + 5) << text;
  EXPECT_LT(text.size(), 500u);
  for (char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
}

void ExpectBytesRefused(const std::string& bytes, const std::string& expected,
                        const ImportOptions& options = {}) {
  TempDir dir;
  WriteFile(dir / "m.onnx", bytes);
  ExpectRefused(dir / "m.onnx", expected, options);
}

// y = Relu(x): valid until `spoil` is done with it.
ModelBuilder Small() {
  ModelBuilder m;
  m.Input("x", {2});
  m.Output("y", {2});
  m.Node("Relu", {"x"}, {"y"})->set_name("relu");
  return m;
}
void ExpectModelRefused(const std::function<void(ModelBuilder&)>& spoil,
                        const std::string& expected, const ImportOptions& options = {}) {
  ModelBuilder m = Small();
  spoil(m);
  ExpectBytesRefused(m.Bytes(), expected, options);
}

TEST(Hostile, TheModelThatTheOthersSpoilIsValid) {
  EXPECT_EQ(ImportAndDescribe(Small()),
            "y: f32[2] = onnx.Relu(x)\n"
            "builtin.return(y)\n");
}

// --- bytes ----------------------------------------------------------------------------

TEST(HostileBytes, NothingAndNonsense) {
  ExpectBytesRefused("", "the file is empty");
  ExpectBytesRefused("#!/bin/sh\necho not a model\n", "not a valid model");
  ExpectBytesRefused(std::string(1000, '\xff'), "a number has more than 64 bits");
  ExpectBytesRefused(std::string(1000, '\0'), "bad field number");
}

TEST(HostileBytes, TruncatedAnywhere) {
  const std::string whole = Small().Bytes();
  for (size_t size = 1; size < whole.size(); size += 7)
    ExpectBytesRefused(whole.substr(0, size), "");
}

TEST(HostileBytes, ALargeModelTruncatedAnywhere) {
  const std::string whole = ReadFile(std::string(WEFT_TEST_DATA_DIR) + "/models/bert_tiny.onnx");
  for (size_t i = 1; i < 12; ++i) ExpectBytesRefused(whole.substr(0, whole.size() * i / 12), "");
  ExpectBytesRefused(whole.substr(0, whole.size() - 1), "");
}

TEST(HostileBytes, LengthsBeyondTheFile) {
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";  // 2^63 - 1
  const std::string largest = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  ExpectBytesRefused("\x3a" + huge + "x", "field 7 needs 9223372036854775807 bytes");
  ExpectBytesRefused("\x3a" + largest + "x", "needs 18446744073709551615 bytes but 1 are left");
  ExpectBytesRefused("\x3a\x02\x0a\x7f", "needs 127 bytes but 0 are left");  // inside the graph
  ExpectBytesRefused("\x3a" + largest.substr(0, 9) + "\xff\x01", "more than 64 bits");
}

TEST(HostileBytes, WireTypesThatOnnxHasNot) {
  ExpectBytesRefused("\x3b\x3c", "unknown wire type 3");  // a group
  ExpectBytesRefused("\x3e", "unknown wire type 6");
  ExpectBytesRefused("\x0d\x01", "needs 4 bytes");  // a fixed32 that is cut off
  // The graph as a number: protobuf puts it aside, and then there is no graph.
  ExpectBytesRefused(std::string("\x08\x08\x38\x01", 4), "the model has no graph");
}

TEST(HostileBytes, PartsWithoutContents) {
  ExpectBytesRefused(std::string("\x3a\x02\x0a\x00", 4), "field 1 is empty");  // a node
  std::string nodes;
  for (int i = 0; i < 100000; ++i) nodes += std::string("\x0a\x00", 2);
  onnx::ModelProto model;
  std::string length;
  for (size_t n = nodes.size(); n > 0; n >>= 7)
    length += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
  ExpectBytesRefused("\x3a" + length + nodes, "field 1 is empty");
}

TEST(HostileBytes, MorePartsThanTheLimits) {
  ImportOptions few_nodes, few_parts, few_bytes, small_file;
  few_nodes.limits.max_nodes = 3;
  few_parts.limits.max_messages = 20;
  few_bytes.limits.max_graph_bytes = 100;
  small_file.limits.max_file_bytes = 50;
  const auto more = [](ModelBuilder& m) {
    for (int i = 0; i < 4; ++i) m.Node("Relu", {"x"}, {fmt::format("y{}", i)});
  };
  ExpectModelRefused(more, "more than 3 nodes", few_nodes);
  ExpectModelRefused(more, "more than 20 parts", few_parts);
  ExpectModelRefused(more, "more than 100 bytes without its weights", few_bytes);
  ExpectModelRefused(more, "more than the limit of 50", small_file);
}

TEST(HostileBytes, FilesThatAreNone) {
  TempDir dir;
  std::filesystem::create_directory(dir / "folder.onnx");
  ASSERT_EQ(mkfifo((dir / "pipe.onnx").c_str(), 0600), 0);
  ExpectRefused(dir / "folder.onnx", "is not a regular file");
  ExpectRefused(dir / "pipe.onnx", "is not a regular file");
  ExpectRefused(dir / "missing.onnx", "No such file or directory");
  ExpectRefused("/dev/zero", "is not a regular file");
}

// --- headers and names ------------------------------------------------------------------

TEST(HostileModel, HeadersThatSayNothingValid) {
  ExpectModelRefused([](auto& m) { m.model.clear_graph(); }, "the model has no graph");
  ExpectModelRefused([](auto& m) { m.model.clear_ir_version(); }, "ir_version is 0");
  ExpectModelRefused([](auto& m) { m.model.set_ir_version(-1); }, "ir_version is -1");
  ExpectModelRefused([](auto& m) { m.model.clear_opset_import(); }, "is not imported");
  ExpectModelRefused([](auto& m) { m.Import("ai.onnx", 17); }, "is imported twice");
  ExpectModelRefused([](auto& m) { m.Import("a", 0); }, "operator set 'a' has version 0");
  ExpectModelRefused([](auto& m) { m.Import("\xff", 1); }, "is not UTF-8");
}

TEST(HostileModel, Names) {
  ExpectModelRefused([](auto& m) { m.Input("", {1}); }, "a value has no name");
  ExpectModelRefused([](auto& m) { m.Input("x", {2}); }, "input 'x' appears twice");
  ExpectModelRefused([](auto& m) { m.Output("y", {2}); }, "output 'y' appears twice");
  ExpectModelRefused([](auto& m) { m.Output("", {2}); }, "an output has no name");
  ExpectModelRefused([](auto& m) { m.template Initializer<float>("", {1}, {1}); }, "has no name");
  ExpectModelRefused(
      [](auto& m) {
        m.template Initializer<float>("w", {1}, {1});
        m.template Initializer<float>("w", {1}, {1});
      },
      "'w' is defined twice");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {"y"}); }, "'y' is defined twice");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {"x"}); }, "'x' is defined twice");
  ExpectModelRefused([](auto& m) { m.Node("Split", {"x"}, {"z", "z"}); }, "'z' is defined twice");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {"\xc3("}); }, "'\\xc3(' is not UTF-8");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"a\nb"}, {"z"}); }, "'a\\x0ab' is not defined");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {std::string(100000, 'a')}, {"z"}); },
                     "aaa...' is not defined");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {"z"})->set_name("\xed\xa0\x80"); },
                     "its name is not UTF-8");
}

TEST(HostileModel, OperatorNames) {
  ExpectModelRefused([](auto& m) { m.Node("", {"x"}, {"z"}); }, "has no op_type");
  ExpectModelRefused([](auto& m) { m.Node("a\"b", {"x"}, {"z"}); }, "bad operator name");
  ExpectModelRefused([](auto& m) { m.Node("a\nb", {"x"}, {"z"}); }, "bad operator name");
  ExpectModelRefused([](auto& m) { m.Node("nowhere.Op", {"x"}, {"z"}); },
                     "operator set 'nowhere' is not imported");
}

TEST(HostileModel, CyclesAndUndefinedValues) {
  ExpectModelRefused(
      [](auto& m) {
        m.Node("Relu", {"b"}, {"a"});
        m.Node("Relu", {"a"}, {"b"});
      },
      "in no order, or in a cycle");
  ExpectModelRefused([](auto& m) { m.Node("Add", {"x", "a"}, {"a"}); }, "in a cycle");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"nothing"}, {"z"}); },
                     "'nothing' is not defined");
  ExpectModelRefused([](auto& m) { m.Output("nothing", {2}); }, "output: 'nothing' is not defined");
}

TEST(HostileModel, NodesOfTheWrongShape) {
  ExpectModelRefused([](auto& m) { m.Node("Relu", {}, {"z"}); }, "onnx.Relu");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x", "x"}, {"z"}); }, "onnx.Relu");
  ExpectModelRefused([](auto& m) { m.Node("Add", {"x", ""}, {"z"}); }, "onnx.Add");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {"z", "q"}); }, "onnx.Relu");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("s", {2}, Tensor::STRING);
        m.Node("Add", {"x", "s"}, {"z"});
      },
      "onnx.Add");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("a", {2, 3});
        m.Node("MatMul", {"a", "a"}, {"z"});
      },
      "onnx.MatMul");
}

// --- tensors --------------------------------------------------------------------------

void ExpectTensorRefused(int type, const std::vector<int64_t>& dims,
                         const std::function<void(Tensor*)>& fill, const std::string& expected) {
  ExpectModelRefused(
      [&](ModelBuilder& m) {
        Tensor* tensor = m.graph()->add_initializer();
        tensor->set_name("w");
        tensor->set_data_type(type);
        for (int64_t d : dims) tensor->add_dims(d);
        fill(tensor);
      },
      "initializer 'w': " + expected);
}

TEST(HostileTensor, Dims) {
  const auto none = [](Tensor*) {};
  const int64_t large = int64_t{1} << 40;
  ExpectTensorRefused(Tensor::FLOAT, {-1}, none, "has a dimension of size -1");
  ExpectTensorRefused(Tensor::FLOAT, {INT64_MIN}, none, "has a dimension of size -92");
  ExpectTensorRefused(Tensor::FLOAT, {large, large}, none, "has more than 2^63 bytes");
  ExpectTensorRefused(Tensor::FLOAT, {0, large, large}, none, "has more than 2^63 bytes");
  ExpectTensorRefused(Tensor::FLOAT, {INT64_MAX}, none, "has more than 2^63 bytes");
  ExpectTensorRefused(Tensor::FLOAT, {large}, none,
                      "holds 0 elements of f32 but its type needs 1099511627776");
  ExpectTensorRefused(Tensor::FLOAT, std::vector<int64_t>(65, 1), none,
                      "has rank 65, more than the limit of 64");
}

TEST(HostileTensor, ContentsThatDoNotFit) {
  const int64_t large = int64_t{1} << 40;
  ExpectTensorRefused(
      Tensor::FLOAT, {2}, [](auto* t) { t->set_raw_data("1234567"); },
      "holds 7 bytes but its type needs 8");
  ExpectTensorRefused(
      Tensor::FLOAT, {1}, [](auto* t) { t->set_raw_data("12345678"); },
      "holds 8 bytes but its type needs 4");
  ExpectTensorRefused(
      Tensor::FLOAT, {large}, [](auto* t) { t->set_raw_data("1234"); },
      "holds 4 bytes but its type needs 4398046511104");
  ExpectTensorRefused(
      Tensor::FLOAT, {2}, [](auto* t) { t->add_float_data(1); }, "holds 1 elements of f32");
  ExpectTensorRefused(
      Tensor::COMPLEX64, {1}, [](auto* t) { t->add_float_data(1); }, "holds -1 elements of c64");
  ExpectTensorRefused(
      Tensor::FLOAT, {1}, [](auto* t) { t->add_int32_data(1); }, "holds 0 elements of f32");
  ExpectTensorRefused(
      Tensor::INT8, {1}, [](auto* t) { t->add_int32_data(300); }, "holds a value that is no i8");
  ExpectTensorRefused(
      Tensor::UINT32, {1}, [](auto* t) { t->add_uint64_data(UINT64_MAX); },
      "holds a value that is no u32");
  ExpectTensorRefused(
      Tensor::BOOL, {2}, [](auto* t) { t->set_raw_data("\x01\x07"); },
      "a bool is 7, expected 0 or 1");
  ExpectTensorRefused(
      Tensor::FLOAT, {1},
      [](auto* t) {
        t->set_raw_data("1234");
        t->add_float_data(1);
      },
      "has its data in more than one field");
}

TEST(HostileTensor, Types) {
  const auto none = [](Tensor*) {};
  ExpectTensorRefused(0, {1}, none, "element type 0 does not exist");
  ExpectTensorRefused(99, {1}, none, "element type 99 does not exist");
  ExpectTensorRefused(-1, {1}, none, "element type -1 does not exist");
  ExpectTensorRefused(
      Tensor::STRING, {1}, [](auto* t) { t->set_raw_data("abcd"); },
      "a string tensor has raw_data");
  ExpectTensorRefused(
      Tensor::STRING, {2}, [](auto* t) { t->add_string_data("a"); },
      "holds 1 strings but its type needs 2");
  ExpectTensorRefused(Tensor::STRING, {int64_t{1} << 40}, none, "holds 0 strings");
}

// --- types and attributes ---------------------------------------------------------------

TEST(HostileType, ShapesOfValues) {
  ExpectModelRefused(
      [](auto& m) {
        m.Input("z", {});
        auto* shape =
            m.graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
        shape->add_dim()->set_dim_value(-5);
      },
      "type of 'z': has a dimension of size -5");
  ExpectModelRefused([](auto& m) { m.Input("z", std::vector<int64_t>(65, 1)); },
                     "a shape has more than 64 dimensions");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("z", {INT64_MAX, INT64_MAX});
      },
      "type of 'z': has more than 2^63 bytes");
  ExpectModelRefused([](auto& m) { m.Input("z", {1}, 77); }, "element type 77 does not exist");
}

TEST(HostileType, NestedTooDeep) {
  ExpectModelRefused(
      [](auto& m) {
        auto* type = m.graph()->add_input()->mutable_type();
        m.graph()->mutable_input(1)->set_name("z");
        for (int i = 0; i < 40; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
      },
      "types are nested deeper than 16");
}

void ExpectAttributeRefused(const std::function<void(onnx::NodeProto*)>& set,
                            const std::string& expected) {
  ExpectModelRefused(
      [&](ModelBuilder& m) {
        auto* node = m.Node("LeakyRelu", {"x"}, {"z"});
        set(node);
      },
      expected);
}

TEST(HostileAttribute, ThatContradictItself) {
  ExpectAttributeRefused([](auto* n) { SetFloat(n, "", 1); }, "bad name ''");
  ExpectAttributeRefused(
      [](auto* n) {
        SetFloat(n, "alpha", 1);
        SetFloat(n, "alpha", 1);
      },
      "attribute 'alpha' is given twice");
  ExpectAttributeRefused([](auto* n) { AddAttribute(n, "alpha", Attr::FLOAT)->set_i(1); },
                         "attribute 'alpha' is tagged as FLOAT but holds INT");
  ExpectAttributeRefused(
      [](auto* n) {
        auto* attribute = AddAttribute(n, "alpha", Attr::FLOAT);
        attribute->set_f(1);
        attribute->set_s("1");
      },
      "attribute 'alpha' has more than one value");
  ExpectAttributeRefused([](auto* n) { n->add_attribute()->set_name("alpha"); },
                         "attribute 'alpha' has no value");
  ExpectAttributeRefused([](auto* n) { AddAttribute(n, "alpha", Attr::TENSOR); },
                         "attribute 'alpha' has no value");
  ExpectAttributeRefused([](auto* n) { AddAttribute(n, "alpha", Attr::GRAPH); },
                         "attribute 'alpha' has no value");
  ExpectAttributeRefused(
      [](auto* n) { AddAttribute(n, "alpha", Attr::FLOAT)->set_ref_attr_name("a"); },
      "refers to 'a' outside of a function");
}

TEST(HostileAttribute, OfTheWrongKind) {
  ExpectAttributeRefused([](auto* n) { SetInt(n, "alpha", 1); },
                         "attribute alpha is 1, expected float");
  ExpectModelRefused([](auto& m) { SetInt(m.Node("Cast", {"x"}, {"z"}), "to", 99); },
                     "attribute to is 99, expected element type");
  ExpectModelRefused([](auto& m) { m.Node("Cast", {"x"}, {"z"}); },
                     "attribute to is required but not given");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("i", {1, 1, 4, 4});
        auto* node = m.Node("MaxPool", {"i"}, {"z"});
        SetInts(node, "kernel_shape", {2, 2});
        SetString(node, "auto_pad", "SAME_UPPERMOST");
      },
      "attribute auto_pad is 'SAME_UPPERMOST', expected one of NOTSET");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("i", {1, 1, 4, 4});
        auto* node = m.Node("MaxPool", {"i"}, {"z"});
        SetInts(node, "kernel_shape", {2, 2});
        SetInts(node, "strides", {0, 0});
      },
      "onnx.MaxPool");
  ExpectModelRefused([](auto& m) { m.Node("Constant", {}, {"z"}); },
                     "a constant has 0 values, expected 1");
  ExpectModelRefused([](auto& m) { SetInt(m.Node("Constant", {}, {"z"}), "value", 3); },
                     "attribute 'value' is no constant");
}

// --- nesting and functions ----------------------------------------------------------------

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

onnx::FunctionProto* AddFunction(ModelBuilder& m, const std::string& name) {
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
void AddCall(onnx::FunctionProto* function, const std::string& callee, const std::string& in,
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

// --- external data --------------------------------------------------------------------------

class HostileExternalData : public testing::Test {
 protected:
  HostileExternalData() {
    WriteFile(dir / "secret.bin", std::string(64, 's'));
    std::filesystem::create_directory(dir / "model");
    std::filesystem::create_directory(dir / "model/folder");
    WriteFile(dir / "model/w.bin", std::string(64, 'w'));
    std::filesystem::create_symlink(dir / "secret.bin", dir / "model/link.bin");
    std::filesystem::create_symlink(dir / "model", dir / "model/loop");
    std::filesystem::create_symlink("/dev/zero", dir / "model/zero");
    EXPECT_EQ(mkfifo((dir / "model/pipe").c_str(), 0600), 0);
  }

  void Expect(const std::vector<std::pair<std::string, std::string>>& entries,
              const std::string& expected, const std::vector<int64_t>& dims = {4}) {
    ModelBuilder m = Small();
    Tensor* tensor = m.graph()->add_initializer();
    tensor->set_name("w");
    for (int64_t d : dims) tensor->add_dims(d);
    tensor->set_data_type(Tensor::FLOAT);
    tensor->set_data_location(Tensor::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    WriteFile(dir / "model/m.onnx", m.Bytes());
    ExpectRefused(dir / "model/m.onnx", expected);
  }

  TempDir dir;
};

TEST_F(HostileExternalData, PathsThatLeaveTheFolder) {
  Expect({{"location", "../secret.bin"}}, "leaves the folder of the model");
  Expect({{"location", "folder/../../secret.bin"}}, "leaves the folder of the model");
  Expect({{"location", "folder/.."}}, "leaves the folder of the model");
  Expect({{"location", dir / "secret.bin"}}, "is absolute");
  Expect({{"location", "/etc/passwd"}}, "is absolute");
  Expect({{"location", ""}}, "is empty");
  Expect({}, "is empty");
  Expect({{"location", "./."}}, "names no file");
  Expect({{"location", std::string("w.bin\0x", 7)}}, "holds a zero byte");
  std::string deep = "w.bin";
  for (int i = 0; i < 100; ++i) deep = "folder/" + deep;
  Expect({{"location", deep}}, "is too deep");
}

TEST_F(HostileExternalData, ThatIsNoRegularFile) {
  Expect({{"location", "link.bin"}}, "symbolic link");
  Expect({{"location", "loop/w.bin"}}, "symbolic link");
  Expect({{"location", "zero"}}, "symbolic link");
  Expect({{"location", "w.bin/x"}}, "a file that is no folder");
  Expect({{"location", "folder"}}, "is not a regular file");
  Expect({{"location", "pipe"}}, "is not a regular file");
  Expect({{"location", "missing"}}, "No such file or directory");
}

TEST_F(HostileExternalData, RangesBeyondTheFile) {
  const std::string location = "w.bin";
  Expect({{"location", location}, {"offset", "49"}}, "which has 64 bytes");
  Expect({{"location", location}, {"offset", "9223372036854775807"}}, "which has 64 bytes");
  Expect({{"location", location}, {"offset", "-1"}}, "expected a number");
  Expect({{"location", location}, {"offset", "99999999999999999999"}}, "expected a number");
  Expect({{"location", location}, {"length", "15"}}, "holds 15 bytes but its type needs 16");
  Expect({{"location", location}, {"length", "a lot"}}, "expected a number");
  Expect({{"location", location}}, "which has 64 bytes", {int64_t{1} << 40});
}

}  // namespace
}  // namespace weft::tools
