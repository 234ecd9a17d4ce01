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

}  // namespace
}  // namespace weft::onnx
