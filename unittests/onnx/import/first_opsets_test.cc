// What nodes of opsets 1 to 6 mean.
#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

// The text of y = node(x, z) in that opset; edit() has the node.
template <class Edit>
std::string Import(int64_t opset, const std::string& type, const ModelBuilder::Dims& x,
                   const ModelBuilder::Dims& z, const Edit& edit) {
  ModelBuilder m(opset);
  m.Input("x", x);
  m.Output("y");
  auto* node = m.Node(type, {"x"}, {"y"});
  if (!z.empty()) {
    m.Input("z", z);
    node->add_input("z");
  }
  edit(node);
  return ImportAndDescribe(m);
}

TEST(FirstOpsets, OperandsAreBroadcastFromTheAxisOn) {
  const auto add = [](int64_t broadcast, int64_t axis, const ModelBuilder::Dims& z) {
    return Import(6, "Add", {2, 3, 4, 5}, z, [&](pb::NodeProto* node) {
      SetInt(node, "broadcast", broadcast);
      SetInt(node, "axis", axis);
    });
  };
  const std::string text = add(1, 1, {3, 4});
  EXPECT_NE(text.find("f32[3,4,1] = onnx.Unsqueeze(z, i64[1](2))"), std::string::npos) << text;
  EXPECT_NE(text.find("y: f32[2,3,4,5] = onnx.Add(x, "), std::string::npos) << text;
  EXPECT_EQ(add(1, 2, {4, 5}), "y: f32[2,3,4,5] = onnx.Add(x, z)\nbuiltin.return(y)\n");
  EXPECT_EQ(add(1, -1, {5}), "y: f32[2,3,4,5] = onnx.Add(x, z)\nbuiltin.return(y)\n");
  EXPECT_EQ(
      add(1, 3, {4, 5}),
      "INVALID_ARGUMENT: node of 'y' ('Add'): axis is 3 but the operands have the ranks 4 and "
      "2");
  EXPECT_EQ(add(1, -9, {5}),
            "INVALID_ARGUMENT: node of 'y' ('Add'): axis is -9 but the operands have the ranks 4 "
            "and 1");
}

TEST(FirstOpsets, ASlopePerChannelSpreadsOverTheRest) {
  const std::string text = Import(6, "PRelu", {2, 3, 4, 5}, {3}, [](pb::NodeProto*) {});
  EXPECT_NE(text.find("f32[3,1,1] = onnx.Unsqueeze(z, i64[2](1,2))"), std::string::npos) << text;
}

TEST(FirstOpsets, TrainingIsUnsupported) {
  EXPECT_EQ(Import(6, "Dropout", {2}, {}, [](pb::NodeProto*) {}),
            "UNIMPLEMENTED: node of 'y' ('Dropout'): Dropout in training mode");
  const std::string text =
      Import(6, "Dropout", {2}, {}, [](pb::NodeProto* node) { SetInt(node, "is_test", 1); });
  EXPECT_EQ(text, "y: f32[2] = onnx.Dropout(x)\nbuiltin.return(y)\n");
}

TEST(FirstOpsets, AttributesOfTheFirstVersions) {
  EXPECT_EQ(
      Import(1, "Cast", {2}, {}, [](pb::NodeProto* node) { SetString(node, "to", "DOUBLE"); }),
      "y: f64[2] = onnx.Cast(x) {to=f64}\nbuiltin.return(y)\n");
  EXPECT_EQ(Import(1, "Cast", {2}, {}, [](pb::NodeProto* node) { SetString(node, "to", "HALF"); }),
            "INVALID_ARGUMENT: node of 'y' ('Cast'): attribute to is 'HALF', no element type");
  EXPECT_EQ(Import(1, "Relu", {2}, {},
                   [](pb::NodeProto* node) { SetInts(node, "consumed_inputs", {0}); }),
            "y: f32[2] = onnx.Relu(x)\nbuiltin.return(y)\n");
  EXPECT_EQ(Import(4, "Reshape", {2, 3}, {},
                   [](pb::NodeProto* node) {
                     SetInts(node, "shape", {3, 2});
                   }),
            "y: f32[3,2] = onnx.Reshape(x, i64[2](3,2)) {allowzero=0}\nbuiltin.return(y)\n");
  EXPECT_EQ(Import(3, "Concat", {2, 3}, {2, 1}, [](pb::NodeProto*) {}),
            "y: f32[2,4] = onnx.Concat(x, z) {axis=1}\nbuiltin.return(y)\n");
}

TEST(FirstOpsets, TheExponentOfPoolsWasAFloat) {
  const auto pool = [](const std::string& type, float p) {
    return Import(1, type, {1, 2, 4, 4}, {}, [&](pb::NodeProto* node) {
      SetFloat(node, "p", p);
      if (type == "LpPool") SetInts(node, "kernel_shape", {2, 2});
    });
  };
  EXPECT_EQ(pool("GlobalLpPool", 3),
            "y: f32[1,2,1,1] = onnx.GlobalLpPool(x) {p=3}\nbuiltin.return(y)\n");
  const std::string text = pool("LpPool", 1);
  EXPECT_NE(text.find("p=1"), std::string::npos) << text;
  EXPECT_EQ(
      pool("GlobalLpPool", 2.5f),
      "UNIMPLEMENTED: node of 'y' ('GlobalLpPool'): GlobalLpPool of opset 1 whose p is 2.5, no "
      "whole number from 1 to 1e6");
}

TEST(FirstOpsets, SizesOfASplitWereAnInputOfItsElementType) {
  const auto split = [](const std::vector<float>& sizes) {
    ModelBuilder m(1);
    m.Input("x", {2, 5});
    m.Output("y");
    if (!sizes.empty()) m.Initializer<float>("s", {2}, sizes);
    if (sizes.empty()) m.Input("s", {2});
    SetInt(m.Node("Split", {"x", "s"}, {"y", "z"}), "axis", 1);
    return ImportAndDescribe(m);
  };
  const std::string text = split({2, 3});
  EXPECT_NE(text.find("y: f32[2,2], z: f32[2,3] = onnx.Split(x, i64[2](2,3)) {axis=1}"),
            std::string::npos)
      << text;
  EXPECT_EQ(split({2.5, 2.5}), "INVALID_ARGUMENT: node of 'y' ('Split'): split has 2.5");
  EXPECT_EQ(split({}),
            "UNIMPLEMENTED: node of 'y' ('Split'): Split of opset 1 with sizes that are not known");
}

// ONNX's checker: a model of these IR versions has no opset_import, and is of opset 1.
TEST(FirstOpsets, ModelsOfIrVersions1And2NameNone) {
  const auto import = [](int64_t ir_version) {
    ModelBuilder m(1);
    m.model.set_ir_version(ir_version);
    m.model.clear_opset_import();
    m.Input("x", {2});
    m.Output("y");
    SetString(m.Node("Cast", {"x"}, {"y"}), "to", "DOUBLE");
    return ImportAndDescribe(m);
  };
  EXPECT_EQ(import(1), "y: f64[2] = onnx.Cast(x) {to=f64}\nbuiltin.return(y)\n");
  EXPECT_EQ(import(2), import(1));
  EXPECT_EQ(import(3),
            "INVALID_ARGUMENT: node of 'y' ('Cast'): operator set 'ai.onnx' is not imported");
}

TEST(FirstOpsets, TilesRepeatOneAxis) {
  ModelBuilder m(5);
  m.Input("x", {2, 3});
  m.Output("y");
  m.Initializer<float>("tiles", {}, {4});
  m.Initializer<float>("axis", {}, {1});
  m.Node("Tile", {"x", "tiles", "axis"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m), "y: f32[2,12] = onnx.Tile(x, i64[2](1,4))\nbuiltin.return(y)\n");
}

}  // namespace
}  // namespace weft::onnx
