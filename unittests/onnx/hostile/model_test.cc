// Files that are not what a model is: damaged bytes, headers, names and nodes.
#include "unittests/onnx/hostile/refusal.h"
#include "unittests/test_paths.h"

namespace weft::onnx {
namespace {

using Tensor = pb::TensorProto;

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
  const std::string whole = ReadFile(fixtures::TestData("/models/bert_tiny.onnx"));
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
  pb::ModelProto model;
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

TEST(HostileBytes, MetadataAndDevicesCountAsParts) {
  ImportOptions options;
  options.limits.max_messages = 90;
  const auto add = [](auto* list) {
    for (int i = 0; i < 40; ++i) list->Add()->set_key("k");
  };
  // 40 entries with a key each, beside 20 parts of the model: too many only with the keys.
  const auto refused = [&](const std::function<void(ModelBuilder&)>& spoil) {
    ExpectModelRefused(spoil, "more than 90 parts", options);
  };
  refused([&](auto& m) { add(m.model.mutable_metadata_props()); });
  refused([&](auto& m) { add(m.graph()->mutable_metadata_props()); });
  refused([&](auto& m) { add(m.graph()->mutable_node(0)->mutable_metadata_props()); });
  refused([&](auto& m) { add(m.graph()->mutable_input(0)->mutable_metadata_props()); });
  refused([&](auto& m) {
    add(m.template Initializer<float>("w", {1}, {1})->mutable_metadata_props());
  });
  refused([&](auto& m) {
    auto* annotation = m.graph()->add_quantization_annotation();
    add(annotation->mutable_quant_parameter_tensor_names());
  });
  refused([&](auto& m) {
    auto* devices = m.graph()->mutable_node(0)->add_device_configurations();
    auto* axis = devices->add_sharding_spec()->add_sharded_dim();
    for (int i = 0; i < 40; ++i) axis->add_simple_sharding()->set_dim_param("n");
  });
}

TEST(HostileBytes, DevicesWithoutContents) {
  ExpectModelRefused([](auto& m) { m.model.add_configuration(); }, "field 26 is empty");
  ExpectModelRefused([](auto& m) { m.graph()->mutable_node(0)->add_device_configurations(); },
                     "field 10 is empty");
  ExpectModelRefused(
      [](auto& m) { m.graph()->mutable_node(0)->add_device_configurations()->add_sharding_spec(); },
      "field 2 is empty");
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
  ExpectModelRefused([](auto& m) { m.model.set_ir_version(14); }, "is 14, expected 1 to 13");
  ExpectModelRefused([](auto& m) { m.model.set_ir_version(INT64_MAX); }, "expected 1 to 13");
  ExpectModelRefused([](auto& m) { m.graph()->Clear(); }, "neither nodes nor outputs");
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

TEST(HostileModel, InputsWithoutAType) {
  ExpectModelRefused([](auto& m) { m.graph()->add_input()->set_name("q"); },
                     "input 'q' has no type");
  ExpectModelRefused([](auto& m) { m.Input("q", {2}, Tensor::UNDEFINED); },
                     "input 'q' has no type");
  ExpectModelRefused(
      [](auto& m) {
        auto* q = m.graph()->add_input();
        q->set_name("q");
        q->mutable_type()->mutable_optional_type()->mutable_elem_type();
      },
      "input 'q' has no type");
  ExpectModelRefused(
      [](auto& m) {
        m.Input("q", {2, -1, 3}), m.graph()
                                      ->mutable_input(1)
                                      ->mutable_type()
                                      ->mutable_tensor_type()
                                      ->mutable_shape()
                                      ->mutable_dim(1)
                                      ->set_dim_value(-2);
      },
      "has a dimension of size -2");
}

// One that scans x, of a body without anything in it.
pb::NodeProto* AddScan(ModelBuilder& m) {
  auto* node = m.Node("Scan", {"x"}, {"z"});
  AddAttribute(node, "body", pb::AttributeProto::GRAPH)->mutable_g()->set_name("body");
  return node;
}

TEST(HostileModel, ScansOfMoreThanTheyAreGiven) {
  for (const int64_t count : {int64_t{-1}, int64_t{0}, int64_t{2}, INT64_MAX})
    ExpectModelRefused([=](auto& m) { SetInt(AddScan(m), "num_scan_inputs", count); },
                       fmt::format("num_scan_inputs is {}, expected 1 to 1", count));
  ExpectModelRefused([](auto& m) { AddScan(m); }, "num_scan_inputs");
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
      "'a' is computed from itself: the nodes are in a cycle");
  ExpectModelRefused([](auto& m) { m.Node("Add", {"x", "a"}, {"a"}); }, "in a cycle");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"nothing"}, {"z"}); },
                     "'nothing' is not defined");
  ExpectModelRefused([](auto& m) { m.Output("nothing", {2}); }, "output: 'nothing' is not defined");
}

TEST(HostileModel, NodesOfTheWrongShape) {
  ExpectModelRefused([](auto& m) { m.Node("Relu", {}, {"z"}); }, "onnx.Relu");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {})->set_name("a"); },
                     "node 'a' ('Relu'): has no output");
  ExpectModelRefused([](auto& m) { m.Node("Relu", {"x"}, {""}); }, "has no output");
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

}  // namespace
}  // namespace weft::onnx
