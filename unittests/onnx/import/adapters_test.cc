// Each row of the adapter table against what the node means, worked out by hand.
#include "tools/onnx/import/adapters.h"

#include "unittests/onnx/model_builder.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

TEST(Adapters, ClipAttributesBecomeScalarInputs) {
  ModelBuilder m(7);
  m.Input("x", {2});
  m.Output("y");
  auto* node = m.Node("Clip", {"x"}, {"y"});
  SetFloat(node, "max", 6);
  SetFloat(node, "min", 0);
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2] = onnx.Clip(x, f32[](0), f32[](6))\n"
            "builtin.return(y)\n");
}

TEST(Adapters, SliceAttributesBecomeInputs) {
  ModelBuilder m(9);
  m.Input("x", {4, 6});
  m.Output("y", {4, 2});
  auto* node = m.Node("Slice", {"x"}, {"y"});
  SetInts(node, "starts", {1});
  SetInts(node, "ends", {3});
  SetInts(node, "axes", {1});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[4,2] = onnx.Slice(x, i64[1](1), i64[1](3), i64[1](1))\n"
            "builtin.return(y)\n");
}

TEST(Adapters, AxesOfSqueezeAndUnsqueezeBecomeInputs) {
  ModelBuilder m(12);
  m.Input("x", {2, 1, 3});
  m.Output("b");
  SetInts(m.Node("Squeeze", {"x"}, {"a"}), "axes", {1});
  SetInts(m.Node("Unsqueeze", {"a"}, {"b"}), "axes", {0});
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const std::string text = Describe(**program);
  EXPECT_NE(text.find("onnx.Squeeze(x, i64[1](1))"), std::string::npos) << text;
  EXPECT_NE(text.find("onnx.Unsqueeze(a, i64[1](0))"), std::string::npos) << text;
}

TEST(Adapters, AxesOfReductionsThatAreKnownAreAnAttribute) {
  for (const std::string type : {"ReduceSum", "ReduceMean", "ReduceLogSumExp"}) {
    for (int64_t opset : {12, 13, 17, 18, 27}) {
      SCOPED_TRACE(fmt::format("{} of opset {}", type, opset));
      ModelBuilder m(opset);
      m.Input("x", {2, 3});
      m.Output("y");
      m.Initializer<int64_t>("axes", {1}, {-1});
      const bool is_operand = opset >= (type == "ReduceSum" ? 13 : 18);
      auto* node = m.Node(type, {"x"}, {"y"});
      if (is_operand) {
        node->add_input("axes");
      } else {
        SetInts(node, "axes", {-1});
      }
      SetInt(node, "keepdims", 0);
      EXPECT_EQ(ImportAndDescribe(m), fmt::format("y: f32[2] = onnx.{}(x) {{axes=[-1], keepdims=0, "
                                                  "noop_with_empty_axes=0}}\nbuiltin.return(y)\n",
                                                  type));
    }
  }
}

TEST(Adapters, AxesOfReductionsThatARunComputesStayAnInput) {
  ModelBuilder m(18);
  m.Input("x", {2, 3});
  m.Input("axes", {1}, pb::TensorProto::INT64);
  m.Output("y");
  m.Node("ReduceMax", {"x", "axes"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[?,?] = onnx.ReduceMax(x, axes) {keepdims=1, noop_with_empty_axes=0}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, AxesOfReductionsComeAsTheOpsetHasThem) {
  const auto import = [](int64_t opset, bool input, bool attribute) {
    ModelBuilder m(opset);
    m.Input("x", {2, 3});
    m.Output("y");
    m.Initializer<int64_t>("axes", {1}, {0});
    auto* node = m.Node("ReduceMax", {"x"}, {"y"});
    if (input) node->add_input("axes");
    if (attribute) SetInts(node, "axes", {0});
    return ImportAndDescribe(m);
  };
  EXPECT_EQ(import(18, false, true),
            "INVALID_ARGUMENT: node of 'y' ('ReduceMax'): attribute axes became an input before "
            "opset 18");
  EXPECT_EQ(import(17, true, false),
            "INVALID_ARGUMENT: node of 'y' ('ReduceMax'): has 2 inputs in opset 17");
}

TEST(Adapters, PadsOfSomeAxesBecomePadsOfAll) {
  ModelBuilder m(18);
  m.Input("x", {2, 3, 4});
  m.Output("y");
  m.Initializer<int64_t>("pads", {4}, {1, 2, 3, 4});
  m.Initializer<int64_t>("axes", {2}, {2, -3});
  m.Node("Pad", {"x", "pads", "", "axes"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[8,3,8] = onnx.Pad(x, i64[6](2,0,1,4,0,3), -) {mode='constant'}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, SaturatingIsDroppedWhereNothingSaturates) {
  ModelBuilder m(24);
  m.Input("x", {2});
  m.Output("y");
  auto* node = m.Node("Cast", {"x"}, {"y"});
  SetInt(node, "to", pb::TensorProto::INT32);
  SetInt(node, "saturate", 0);
  SetString(node, "round_mode", "down");
  EXPECT_EQ(ImportAndDescribe(m),
            "y: i32[2] = onnx.Cast(x) {to=i32}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, AnAttributeThatIsAnInputTooIsAnError) {
  ModelBuilder m(12);
  m.Input("x", {2, 1, 3});
  m.Input("axes", {1}, pb::TensorProto::INT64);
  m.Output("y");
  SetInts(m.Node("Squeeze", {"x", "axes"}, {"y"}), "axes", {1});
  EXPECT_EQ(ImportAndDescribe(m),
            "INVALID_ARGUMENT: node of 'y' ('Squeeze'): has input 1 although attribute axes stands "
            "for it");
}

TEST(Adapters, SplitSizesBecomeAnInput) {
  ModelBuilder m(11);
  m.Input("x", {6});
  m.Output("a");
  m.Output("b");
  SetInts(m.Node("Split", {"x"}, {"a", "b"}), "split", {2, 4});
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("onnx.Split(x, i64[2](2,4)) {axis=0}"), std::string::npos) << text;
}

TEST(Adapters, PadAttributesBecomeInputs) {
  ModelBuilder m(10);
  m.Input("x", {2, 3});
  m.Output("y");
  auto* node = m.Node("Pad", {"x"}, {"y"});
  SetInts(node, "pads", {0, 1, 0, 1});
  SetFloat(node, "value", 0.5f);
  SetString(node, "mode", "constant");
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("onnx.Pad(x, i64[4](0,1,0,1), f32[](0.5)) {mode='constant'}"),
            std::string::npos)
      << text;
}

TEST(Adapters, DropoutRatioBecomesAnInput) {
  ModelBuilder m(10);
  m.Input("x", {2});
  m.Output("y");
  SetFloat(m.Node("Dropout", {"x"}, {"y"}), "ratio", 0.25f);
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2] = onnx.Dropout(x, f32[](0.25))\n"
            "builtin.return(y)\n");
}

TEST(Adapters, TheMaskOfAnOldDropoutMayBeNamedButNotRead) {
  for (const int64_t opset : {7, 9}) {
    ModelBuilder m(opset);
    m.Input("x", {2});
    m.Output("y");
    m.Node("Dropout", {"x"}, {"d", "mask"});
    m.Node("Relu", {"d"}, {"y"});
    EXPECT_EQ(ImportAndDescribe(m),
              "d: f32[2] = onnx.Dropout(x)\n"
              "y: f32[2] = onnx.Relu(d)\n"
              "builtin.return(y)\n");
    ModelBuilder returned = m;
    returned.Output("mask");
    EXPECT_EQ(ImportAndDescribe(returned),
              "UNIMPLEMENTED: output: 'mask' is the mask of a Dropout before opset 10");
    m.Output("z");
    m.Node("Neg", {"mask"}, {"z"});
    EXPECT_EQ(
        ImportAndDescribe(m),
        "UNIMPLEMENTED: node of 'z' ('Neg'): 'mask' is the mask of a Dropout before opset 10");
  }
}

TEST(Adapters, OneAxisMayBeAScalar) {
  ModelBuilder m;
  m.Input("x", {1, 3});
  m.Initializer<int64_t>("axis", {}, {0});
  m.Output("z");
  m.Node("Squeeze", {"x", "axis"}, {"y"});
  m.Node("Unsqueeze", {"y", "axis"}, {"z"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[3] = onnx.Squeeze(x, i64[1](0))\n"
            "z: f32[1,3] = onnx.Unsqueeze(y, i64[1](0))\n"
            "builtin.return(z)\n");
}

TEST(Adapters, OneAxisMayBeAScalarThatIsComputed) {
  ModelBuilder m;
  m.Input("x", {1, 3});
  m.Input("axis", {}, pb::TensorProto::INT64);
  m.Output("y");
  m.Node("Unsqueeze", {"x", "axis"}, {"y"});
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("%0: i64[1] = onnx.Reshape(axis, i64[1](1))"), std::string::npos) << text;
  EXPECT_NE(text.find("y: f32[?,?,?] = onnx.Unsqueeze(x, %0)"), std::string::npos) << text;
}

TEST(Adapters, SoftmaxOverTheLastAxisStaysASoftmax) {
  ModelBuilder m(11);
  m.Input("x", {2, 3});
  m.Output("y");
  m.Node("Softmax", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2,3] = onnx.Softmax(x) {axis=-1}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, SoftmaxBefore13FlattensFromItsAxis) {
  ModelBuilder m(12);
  m.Input("x", {2, 3, 4});
  m.Output("y", {2, 3, 4});
  m.Node("Softmax", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "%0: f32[2,12] = onnx.Flatten(x) {axis=1}\n"
            "%1: f32[2,12] = onnx.Softmax(%0) {axis=-1}\n"
            "y: f32[2,3,4] = onnx.Reshape(%1, i64[3](2,3,4)) {allowzero=0}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, SoftmaxOfUnknownShapeIsReshapedByItsInput) {
  ModelBuilder m(12);
  m.Input("x", {-2, 3, 4});
  m.Output("y");
  SetInt(m.Node("Softmax", {"x"}, {"y"}), "axis", -2);
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("= onnx.Flatten(x) {axis=1}"), std::string::npos) << text;
  EXPECT_NE(text.find("%2: i64[3] = onnx.Shape(x) {start=0}"), std::string::npos) << text;
  EXPECT_NE(text.find("= onnx.Reshape(%1, %2) {allowzero=1}"), std::string::npos) << text;
}

TEST(Adapters, HardmaxBefore13Flattens) {
  ModelBuilder m(12);
  m.Input("x", {2, 3, 4});
  m.Output("y", {2, 3, 4});
  m.Node("Hardmax", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m),
            "%0: f32[2,12] = onnx.Flatten(x) {axis=1}\n"
            "%1: f32[2,12] = onnx.Hardmax(%0) {axis=-1}\n"
            "y: f32[2,3,4] = onnx.Reshape(%1, i64[3](2,3,4)) {allowzero=0}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, SoftmaxSince13IsLeftAlone) {
  ModelBuilder m(13);
  m.Input("x", {2, 3, 4});
  m.Output("y");
  SetInt(m.Node("Softmax", {"x"}, {"y"}), "axis", 1);
  EXPECT_EQ(ImportAndDescribe(m),
            "y: f32[2,3,4] = onnx.Softmax(x) {axis=1}\n"
            "builtin.return(y)\n");
}

TEST(Adapters, BatchNormalizationLosesSpatial) {
  ModelBuilder m(7);
  m.Input("x", {1, 2, 3, 3});
  for (const char* name : {"s", "b", "m", "v"}) m.Initializer<float>(name, {2}, {1, 2});
  m.Output("y", {1, 2, 3, 3});
  SetInt(m.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}), "spatial", 1);
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("{epsilon=1e-05f, momentum=0.9f, training_mode=0}"), std::string::npos)
      << text;
}

// Statistics per element: (x - mean) / sqrt(variance + epsilon) * scale + bias, without the batch.
TEST(Adapters, BatchNormalizationThatIsNotSpatialIsWrittenOut) {
  ModelBuilder m(7);
  m.Input("x", {2, 1, 2});
  m.Initializer<float>("scale", {1, 2}, {2, -1});
  m.Initializer<float>("bias", {1, 2}, {10, 20});
  m.Initializer<float>("mean", {1, 2}, {1, 5});
  m.Initializer<float>("variance", {1, 2}, {4, 0.25f});
  m.Output("y", {2, 1, 2});
  auto* node = m.Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"});
  SetInt(node, "spatial", 0);
  SetFloat(node, "epsilon", 0);
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const kernels::Tensor x = F32({2, 1, 2}, {3, 4, -1, 5.5f});
  EXPECT_EQ(RunProgram(**program, {x.view()}), (std::vector<float>{12, 22, 8, 19}));
}

TEST(Adapters, OldBatchNormalizationTrainsWhenItsStatisticsAreUsed) {
  const auto import = [](int64_t spatial) {
    ModelBuilder m(7);
    m.Input("x", {1, 2, 3, 3});
    for (const char* name : {"s", "b", "m", "v"}) m.Initializer<float>(name, {2}, {1, 2});
    m.Output("y");
    m.Output("mean");
    SetInt(m.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "mean", "var", "saved"}),
           "spatial", spatial);
    return ImportAndDescribe(m);
  };
  EXPECT_NE(import(1).find("training_mode=1"), std::string::npos) << import(1);
  EXPECT_EQ(import(0),
            "UNIMPLEMENTED: node of 'y' ('BatchNormalization'): BatchNormalization in training "
            "mode of each element");
}

// Scale and bias per group: 2 and 3, 10 and 20.
TEST(Adapters, GroupNormalizationBefore21RepeatsItsScalesPerChannel) {
  if (kOpset < 21) GTEST_SKIP() << "needs models of opset 18";
  ModelBuilder m(18);
  m.Input("x", {1, 4, 1});
  m.Initializer<float>("scale", {2}, {2, 3});
  m.Initializer<float>("bias", {2}, {10, 20});
  m.Output("y", {1, 4, 1});
  auto* node = m.Node("GroupNormalization", {"x", "scale", "bias"}, {"y"});
  SetInt(node, "num_groups", 2);
  SetFloat(node, "epsilon", 0);
  ir::IrContext context;
  auto program = m.Import(context);
  ASSERT_EQ(program.status().message(), "");
  const kernels::Tensor x = F32({1, 4, 1}, {1, 5, 30, 10});
  EXPECT_EQ(RunProgram(**program, {x.view()}), (std::vector<float>{8, 12, 23, 17}));
}

TEST(Adapters, TopKTakesItsCountAsAnInput) {
  ModelBuilder m(9);
  m.Input("x", {2, 5});
  m.Output("values");
  m.Output("indices");
  SetInt(m.Node("TopK", {"x"}, {"values", "indices"}), "k", 3);
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("onnx.TopK(x, i64[1](3))"), std::string::npos) << text;
}

TEST(Adapters, ScatterIsScatterElements) {
  ModelBuilder m(9);
  m.Input("x", {2});
  m.Input("i", {1}, pb::TensorProto::INT64);
  m.Input("u", {1});
  m.Output("y");
  m.Node("Scatter", {"x", "i", "u"}, {"y"});
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("onnx.ScatterElements(x, i, u)"), std::string::npos) << text;
}

TEST(Adapters, UpsampleIsAResizeWithoutHalfPixels) {
  ModelBuilder m(7);
  m.Input("x", {2, 3});
  m.Output("y");
  auto* node = m.Node("Upsample", {"x"}, {"y"});
  SetFloats(node, "scales", {1, 2});
  SetString(node, "mode", "nearest");
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("y: f32[2,6] = onnx.Resize(x, -, f32[2](1,2)) "), std::string::npos) << text;
  EXPECT_NE(text.find("coordinate_transformation_mode='asymmetric'"), std::string::npos) << text;
  EXPECT_NE(text.find("nearest_mode='floor'"), std::string::npos) << text;
}

// As ONNX Runtime rounds.
TEST(Adapters, AnOldResizeRoundsUpWhereItShrinks) {
  const auto import = [](const std::vector<float>& scales, const std::string& mode) {
    ModelBuilder m(10);
    m.Input("x", {4, 4});
    m.Initializer<float>("s", {2}, scales);
    m.Output("y");
    SetString(m.Node("Resize", {"x", "s"}, {"y"}), "mode", mode);
    return ImportAndDescribe(m);
  };
  EXPECT_NE(import({0.5f, 1}, "nearest").find("nearest_mode='ceil'"), std::string::npos);
  EXPECT_NE(import({2, 1}, "nearest").find("nearest_mode='floor'"), std::string::npos);
  EXPECT_NE(import({0.5f, 2}, "linear").find("mode='linear'"), std::string::npos);
}

// y = resize(x) for x = 0, 1, ..., 7 as f32[2,4], with scales that are an input or not.
std::vector<float> OldResize(const std::string& op_type, const std::vector<float>& scales,
                             bool known) {
  ModelBuilder m(op_type == "Upsample" ? 9 : 10);
  m.Input("x", {2, 4});
  if (known) m.Initializer<float>("s", {2}, scales);
  if (!known) m.Input("s", {2});
  m.Output("y");
  m.Node(op_type, {"x", "s"}, {"y"});
  ir::IrContext context;
  auto program = m.Import(context);
  EXPECT_EQ(program.status().message(), "");
  if (!program.ok()) return {};
  const kernels::Tensor x = F32({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}), s = F32({2}, scales);
  std::vector<kernels::TensorView> views = {x.view()};
  if (!known) views.push_back(s.view());
  return RunProgram(**program, views);
}

TEST(Adapters, AnOldResizeThatShrinksAndEnlargesDoesOneAfterTheOther) {
  const std::vector<float> y = {0, 2, 0, 2, 4, 6, 4, 6};
  for (const bool known : {true, false}) {
    EXPECT_EQ(OldResize("Resize", {2, 0.5f}, known), y);
    EXPECT_EQ(OldResize("Resize", {2, 0.75f}, known),
              (std::vector<float>{0, 2, 3, 0, 2, 3, 4, 6, 7, 4, 6, 7}));
    EXPECT_EQ(OldResize("Upsample", {1, 1.5f}, known),
              (std::vector<float>{0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7}));
    EXPECT_EQ(OldResize("Upsample", {1, 0.75f}, known), (std::vector<float>{0, 2, 3, 4, 6, 7}));
  }
}

TEST(Adapters, OpsetsThatAreNewerAreUnsupported) {
  ModelBuilder m(28);
  m.Input("x", {2});
  m.Output("y");
  m.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ImportAndDescribe(m), "UNIMPLEMENTED: opset 28; supported are 1 to 27");
}

// --- windows --------------------------------------------------------------------------

std::string ConvWith(const std::string& auto_pad, int64_t size, int64_t stride) {
  ModelBuilder m(11);
  m.Input("x", {1, 1, size});
  m.Initializer<float>("w", {1, 1, 4}, {1, 2, 3, 4});
  m.Output("y");
  auto* node = m.Node("Conv", {"x", "w"}, {"y"});
  SetString(node, "auto_pad", auto_pad);
  SetInts(node, "strides", {stride});
  const std::string text = ImportAndDescribe(m);
  const size_t pads = text.find("auto_pad=");
  return pads == std::string::npos ? text : text.substr(pads, text.find('\n') - pads);
}

TEST(Windows, SamePaddingIsWrittenOut) {
  // size 7, stride 2: 4 outputs cover 3 * 2 + 4 = 10 elements, so 3 are padded.
  EXPECT_EQ(
      ConvWith("SAME_UPPER", 7, 2),
      "auto_pad='NOTSET', dilations=[1], group=1, kernel_shape=[4], pads=[1,2], strides=[2]}");
  EXPECT_EQ(
      ConvWith("SAME_LOWER", 7, 2),
      "auto_pad='NOTSET', dilations=[1], group=1, kernel_shape=[4], pads=[2,1], strides=[2]}");
}

TEST(Windows, ValidPaddingIsNone) {
  EXPECT_EQ(
      ConvWith("VALID", 7, 1),
      "auto_pad='NOTSET', dilations=[1], group=1, kernel_shape=[4], pads=[0,0], strides=[1]}");
}

TEST(Windows, SamePaddingOfAnUnknownSizeStays) {
  ModelBuilder m(11);
  m.Input("x", {1, 1, -2});
  m.Initializer<float>("w", {1, 1, 4}, {1, 2, 3, 4});
  m.Output("y");
  SetString(m.Node("Conv", {"x", "w"}, {"y"}), "auto_pad", "SAME_UPPER");
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("auto_pad='SAME_UPPER'"), std::string::npos) << text;
  EXPECT_EQ(text.find("pads=["), std::string::npos) << text;
}

TEST(Windows, PoolsGetExplicitSettings) {
  ModelBuilder m(10);
  m.Input("x", {1, 1, 8, 8});
  m.Output("y");
  SetInts(m.Node("AveragePool", {"x"}, {"y"}), "kernel_shape", {2, 3});
  const std::string text = ImportAndDescribe(m);
  EXPECT_NE(text.find("kernel_shape=[2,3], pads=[0,0,0,0], strides=[1,1]}"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace weft::onnx
