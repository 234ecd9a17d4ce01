// Nodes of older opsets that mean something else than the same nodes of today's.
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

// Clip-6: "min: default is -3.402823466e+38", "max: default is 3.402823466e+38".
TEST(ChangedMeaning, ClipOfOpset6To10HasTheBoundsOfF32) {
  for (const auto& [type, name] :
       {std::pair(pb::TensorProto::FLOAT, "f32"), std::pair(pb::TensorProto::DOUBLE, "f64")}) {
    for (int64_t opset : {6, 10}) {
      ModelBuilder m(opset);
      m.Input("x", {2}, type);
      m.Output("y");
      SetFloat(m.Node("Clip", {"x"}, {"a"}), "max", 6);
      SetFloat(m.Node("Clip", {"a"}, {"y"}), "min", 0);
      EXPECT_EQ(ImportAndDescribe(m),
                fmt::format("a: {0}[2] = onnx.Clip(x, {0}[](-3.4028234663852886e+38), {0}[](6))\n"
                            "y: {0}[2] = onnx.Clip(a, {0}[](0), {0}[](3.4028234663852886e+38))\n"
                            "builtin.return(y)\n",
                            name));
    }
  }
}

TEST(ChangedMeaning, ClipBeforeOpset6AndOfNarrowFloatsStaysUnbounded) {
  for (const auto& [opset, type, name] : {std::tuple(5, pb::TensorProto::FLOAT, "f32"),
                                          std::tuple(6, pb::TensorProto::FLOAT16, "f16"),
                                          std::tuple(6, pb::TensorProto::BFLOAT16, "bf16")}) {
    ModelBuilder m(opset);
    m.Input("x", {2}, type);
    m.Output("y");
    SetFloat(m.Node("Clip", {"x"}, {"y"}), "max", 6);
    EXPECT_EQ(ImportAndDescribe(m),
              fmt::format("y: {0}[2] = onnx.Clip(x, -, {0}[](6))\nbuiltin.return(y)\n", name));
  }
}

// A model of y = Attention(q, k, v, mask[, past_k, past_v]) with S queries and `keys` new keys.
std::string ImportAttention(int64_t opset, int64_t keys, const ModelBuilder::Dims& mask,
                            int64_t past = 0) {
  ModelBuilder m(opset);
  m.Input("q", {1, 1, 2, 4});
  m.Input("k", {1, 1, keys, 4});
  m.Input("v", {1, 1, keys, 4});
  m.Input("mask", mask);
  m.Output("y");
  auto* node = m.Node("Attention", {"q", "k", "v", "mask"}, {"y"});
  if (past != 0) {
    for (const char* name : {"past_k", "past_v"}) {
      m.Input(name, {1, 1, past, 4});
      node->add_input(name);
    }
  }
  return ImportAndDescribe(m);
}

TEST(ChangedMeaning, AMaskOfOpset23IsBroadcastToTheKeys) {
  const std::string attention = "y: f32[1,1,2,4] = onnx.Attention(q, k, v, ";
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(ImportAttention(23, 3, {2, 1}), "f32[2,3] = onnx.Expand(mask, i64[1](3))");
  has(ImportAttention(23, 3, {1}, 2), "f32[5] = onnx.Expand(mask, i64[1](5))");
  const std::string unknown = ImportAttention(23, -2, {2, 1});
  has(unknown, "onnx.Shape(k) {end=-1, start=-2}");
  has(unknown, "onnx.Expand(mask, ");
  const std::string cached = ImportAttention(23, -2, {2, -3}, -4);
  has(cached, "onnx.Shape(past_k) {end=-1, start=-2}");
  has(cached, "onnx.Add(");
  // As many for sure, more than one for sure, or of an opset that pads.
  has(ImportAttention(23, 3, {2, 3}), attention + "mask)");
  has(ImportAttention(23, 1, {2, 1}), attention + "mask)");
  has(ImportAttention(23, -2, {2, -2}), attention + "mask)");
  has(ImportAttention(23, -2, {2, 3}), attention + "mask)");
  has(ImportAttention(24, 3, {2, 1}), attention + "mask)");
}

}  // namespace
}  // namespace weft::onnx
