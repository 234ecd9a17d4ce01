#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using fused::Activation;

class Fused : public InferTest {
 protected:
  // Builds the op and its reference body side by side; both must verify and give the same type.
  template <class O>
  std::string RunBoth(std::vector<Value> operands,
                      const typename O::template Attrs<BuilderSlot>& attrs = {}) {
    const std::string direct = Run<O>(operands, attrs);
    const OpDef& def = *context.FindOp(O::kInfo.name);
    const std::vector<Value> body = def.decompose(b, operands, MakeAttrs<O>(context, attrs), 1);
    EXPECT_EQ(body.size(), 1u);
    EXPECT_EQ(Verify(program).message(), "");
    std::string text = body[0].type().ToString();
    std::erase(text, '"');
    EXPECT_EQ(text, direct);
    return direct;
  }
};

TEST_F(Fused, LinearMultipliesByAMatrix) {
  EXPECT_EQ(RunBoth<fused::Linear>({X({n, 7, 3}), X({3, 5})}), "tensor<Nx7x5xf32>");
  EXPECT_EQ(RunBoth<fused::Linear>({X({7, 3}), X({5, 3}), X({5}), X({7, 5})},
                                   {.transpose_w = true, .activation = Activation::kRelu}),
            "tensor<7x5xf32>");
  EXPECT_EQ(RunBoth<fused::Linear>({X({7, 3}), X({3, 5}), Value(), X({7, 5})}), "tensor<7x5xf32>");
  EXPECT_EQ(RunBoth<fused::Linear>({X({3}), X({3, 5})}), "tensor<5xf32>");
  EXPECT_EQ(Run<fused::Linear>({Unranked(), X({3, 5}), Value(), X({n, 5})}), "tensor<Nx5xf32>");
  EXPECT_EQ(Run<fused::Linear>({Unranked(), X({3, 5})}), "tensor<*xf32>");
}

TEST_F(Fused, LinearNamesWhatDoesNotFit) {
  const Value x = X({7, 3}), w = X({3, 5});
  EXPECT_EQ(Run<fused::Linear>({x, X({4, 5})}), "fused.linear: x has 3 columns but w has 4 rows");
  EXPECT_EQ(Run<fused::Linear>({x, X({4, 5})}, {.transpose_w = true}),
            "fused.linear: x has 3 columns but w has 5 rows (transposed)");
  EXPECT_EQ(Run<fused::Linear>({x, w, X({1})}), "fused.linear: bias is [1] but must be [5]");
  EXPECT_EQ(Run<fused::Linear>({x, w, Value(), X({5})}),
            "fused.linear: residual is [5] but must be [7,5]");
  EXPECT_EQ(Run<fused::Linear>({x, X({2, 3, 5})}), "fused.linear: w has rank 3 but must have 2");
  EXPECT_EQ(Run<fused::Linear>({X({}), w}), "fused.linear: x has rank 0 but must have 1 or more");
  EXPECT_EQ(Run<fused::Linear>({x, w}, {.activation = Activation::kClip}),
            "fused.linear: activation clip takes 2 activation_params but has 0");
  EXPECT_EQ(Run<fused::Linear>({x, w, X({5}, DataType::kF16)}),
            "fused.linear: x is f32 but bias is f16");
  EXPECT_EQ(Run<fused::Linear>({X({2, 3}, DataType::kI8), X({3, 5}, DataType::kI8)}),
            "fused.linear: x is i8 but must be a float");
}

TEST_F(Fused, EveryActivationHasABody) {
  const Value x = X({7, 3}), w = X({3, 5});
  const auto names = EnumNames(Activation());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto activation = static_cast<Activation>(i);
    Floats params = {0.25f, 0.5f};
    params.resize(NumActivationParams(activation));
    EXPECT_EQ(
        RunBoth<fused::Linear>({x, w}, {.activation = activation, .activation_params = params}),
        "tensor<7x5xf32>")
        << names[i];
    if (activation != Activation::kNone) {
      EXPECT_NE(program.body().back().name(), "onnx.MatMul") << names[i];
    }
  }
}

TEST_F(Fused, ActivationParamsReachTheBody) {
  RunBoth<fused::Linear>({X({7, 3}), X({3, 5})}, {.activation = Activation::kHardSigmoid,
                                                  .activation_params = {0.125f, 0.75f}});
  const auto attrs = program.body().back().attrs_of<ops::HardSigmoid>();
  EXPECT_EQ(attrs.alpha, 0.125f);
  EXPECT_EQ(attrs.beta, 0.75f);
}

TEST_F(Fused, Conv2dWorksOnNhwc) {
  EXPECT_EQ(RunBoth<fused::Conv2d>({X({1, 224, 224, 3}), X({64, 3, 7, 7}), X({64})},
                                   {.strides = {2, 2},
                                    .pads = {3, 3, 3, 3},
                                    .activation = Activation::kClip,
                                    .activation_params = {0, 6}}),
            "tensor<1x112x112x64xf32>");
  EXPECT_EQ(RunBoth<fused::Conv2d>({X({n, 9, m, 4}), X({4, 1, 3, 3}), Value(), X({n, 5, m, 4})},
                                   {.pads = {0, 1, 0, 1}, .dilations = {2, 1}, .group = 4}),
            "tensor<Nx5xMx4xf32>");
  EXPECT_EQ(Run<fused::Conv2d>({Unranked(), X({8, 3, 1, 1})}), "tensor<-1x-1x-1x8xf32>");
  EXPECT_EQ(Run<fused::Conv2d>({X({n, 9, 9, 3}), Unranked()}), "tensor<Nx-1x-1x-1xf32>");
}

TEST_F(Fused, Conv2dNamesWhatDoesNotFit) {
  const Value x = X({1, 5, 5, 4}), w = X({6, 4, 3, 3});
  EXPECT_EQ(Run<fused::Conv2d>({X({1, 4, 5, 5}), w}),
            "fused.conv2d: x has 5 channels but w reads 4 in each of 1 groups");
  EXPECT_EQ(Run<fused::Conv2d>({x, w, X({5})}), "fused.conv2d: bias is [5] but must be [6]");
  EXPECT_EQ(Run<fused::Conv2d>({x, w, X({6}), X({1, 6, 3, 3})}),
            "fused.conv2d: residual is [1,6,3,3] but must be [1,3,3,6]");
  EXPECT_EQ(Run<fused::Conv2d>({x, w}, {.strides = {1}}),
            "fused.conv2d: strides has 1 entries but needs 2");
  EXPECT_EQ(Run<fused::Conv2d>({x, w}, {.pads = {1, 1}}),
            "fused.conv2d: pads has 2 entries but needs 4");
  EXPECT_EQ(Run<fused::Conv2d>({x, w}, {.pads = Ints()}),
            "fused.conv2d: strides, dilations or pads has no entries");
  // Also where the sizes of the window are not known.
  EXPECT_EQ(Run<fused::Conv2d>({x, X({6, 4, n, m})}, {.pads = {1, 1}}),
            "fused.conv2d: pads has 2 entries but needs 4");
  EXPECT_EQ(Run<fused::Conv2d>({X({1, 2, 2, 4}), w}),
            "fused.conv2d: a window of 3 does not fit the padded size 2");
  EXPECT_EQ(Run<fused::Conv2d>({x, w}, {.activation = Activation::kRelu, .activation_params = {1}}),
            "fused.conv2d: activation relu takes 0 activation_params but has 1");
  EXPECT_EQ(Run<fused::Conv2d>({X({1, 5, 4}), w}), "fused.conv2d: x has rank 3 but must have 4");
}

TEST_F(Fused, ConvTranspose2dWorksOnNhwc) {
  EXPECT_EQ(RunBoth<fused::ConvTranspose2d>({X({1, 16, 20, 8}), X({8, 4, 2, 2}), X({4})},
                                            {.strides = {2, 2}, .activation = Activation::kRelu}),
            "tensor<1x32x40x4xf32>");
  EXPECT_EQ(RunBoth<fused::ConvTranspose2d>(
                {X({n, 5, m, 6}), X({6, 2, 3, 2})},
                {.strides = {2, 2}, .pads = {1, 0, 0, 1}, .output_padding = {1, 1}, .group = 3}),
            "tensor<Nx11x2*Mx6xf32>");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({Unranked(), X({8, 3, 1, 1})}), "tensor<-1x-1x-1x3xf32>");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({X({n, 9, 9, 3}), Unranked()}), "tensor<Nx-1x-1x-1xf32>");
}

TEST_F(Fused, ConvTranspose2dNamesWhatDoesNotFit) {
  const Value x = X({1, 5, 5, 4}), w = X({4, 6, 3, 3});
  EXPECT_EQ(Run<fused::ConvTranspose2d>({X({1, 4, 5, 5}), w}),
            "fused.conv_transpose2d: x has 5 channels but w reads 4");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({x, w, X({5})}),
            "fused.conv_transpose2d: bias is [5] but must be [6]");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({x, w}, {.strides = {1}}),
            "fused.conv_transpose2d: strides has 1 entries but needs 2");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({x, w}, {.group = 3}),
            "fused.conv_transpose2d: w reads 4 channels, no multiple of group 3");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({x, w}, {.pads = {4, 0, 4, 0}}),
            "fused.conv_transpose2d: pads leave nothing of spatial dimension 0");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({x, w}, {.activation = Activation::kClip}),
            "fused.conv_transpose2d: activation clip takes 2 activation_params but has 0");
  EXPECT_EQ(Run<fused::ConvTranspose2d>({X({1, 5, 4}), w}),
            "fused.conv_transpose2d: x has rank 3 but must have 4");
}

TEST_F(Fused, PoolsWorkOnNhwc) {
  EXPECT_EQ(
      RunBoth<fused::MaxPool2d>({X({1, 112, 112, 64})},
                                {.kernel_shape = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}),
      "tensor<1x56x56x64xf32>");
  EXPECT_EQ(
      RunBoth<fused::MaxPool2d>(
          {X({n, 7, 7, m})},
          {.kernel_shape = {2, 3}, .strides = {2, 1}, .dilations = {2, 1}, .ceil_mode = true}),
      "tensor<Nx3x5xMxf32>");
  EXPECT_EQ(RunBoth<fused::AveragePool2d>({X({1, 8, 8, 3})}, {.kernel_shape = {3, 3},
                                                              .strides = {2, 2},
                                                              .pads = {0, 0, 1, 1},
                                                              .ceil_mode = true,
                                                              .count_include_pad = true}),
            "tensor<1x4x4x3xf32>");
  EXPECT_EQ(RunBoth<fused::GlobalAveragePool2d>({X({n, 7, m, 3})}), "tensor<Nx1x1x3xf32>");
  EXPECT_EQ(Run<fused::MaxPool2d>({X({1, 8, 8})}, {.kernel_shape = {3, 3}}),
            "fused.max_pool2d: x has rank 3 but must have 4");
  EXPECT_EQ(Run<fused::AveragePool2d>({X({1, 8, 8, 3})}, {.kernel_shape = {3}}),
            "fused.average_pool2d: kernel_shape has 1 entries but needs 2");
  EXPECT_EQ(Run<fused::GlobalAveragePool2d>({X({1, 8, 8, 3}, DataType::kI64)}),
            "fused.global_average_pool2d: x is i64 but must be a float");
}

TEST_F(Fused, AttentionHasOneResultRowPerQuery) {
  EXPECT_EQ(RunBoth<fused::Attention>(
                {X({n, 8, 5, 32}), X({n, 8, m, 32}), X({n, 8, m, 16}), X({1, 1, 5, m})},
                {.scale = 0.125f}),
            "tensor<Nx8x5x16xf32>");
  EXPECT_EQ(RunBoth<fused::Attention>(
                {X({2, 5, 8, 32}), X({2, 7, 8, 32}), X({2, 7, 8, 16}), X({2, 8, 5, 7})},
                {.scale = 0.125f, .layout = fused::AttentionLayout::kBshd}),
            "tensor<2x5x8x16xf32>");
  EXPECT_EQ(Run<fused::Attention>({X({2, 8, 5, 32}), Unranked(), Unranked()}, {.scale = 1.0f}),
            "tensor<2x8x5x-1xf32>");
  EXPECT_EQ(RunBoth<fused::Attention>({X({n, 8, 5, 32}), X({n, 2, m, 32}), X({n, 2, m, 16}),
                                       Value(), X({5, m}, DataType::kBool)},
                                      {.scale = 0.125f, .fill = -1.0f}),
            "tensor<Nx8x5x16xf32>");
  EXPECT_EQ(RunBoth<fused::Attention>({X({n, 5, 8, 32}), X({n, m, 2, 32}), X({n, m, 2, 16})},
                                      {.scale = 0.1f, .layout = fused::AttentionLayout::kBshd}),
            "tensor<Nx5x8x16xf32>");
}

TEST_F(Fused, WhatAttentionKeepsIsToldByBooleans) {
  EXPECT_EQ(Run<fused::Attention>({X({1, 2, 3, 4}), X({1, 2, 5, 4}), X({1, 2, 5, 4}), Value(),
                                   X({3, 5}, DataType::kI64)},
                                  {.scale = 1.0f}),
            "fused.attention: keep is i64 but must be bool");
  EXPECT_EQ(Run<fused::Attention>({X({1, 2, 3, 4}), X({1, 2, 5, 4}), X({1, 2, 5, 4}), Value(),
                                   X({3, 4}, DataType::kBool)},
                                  {.scale = 1.0f}),
            "fused.attention: keep [3,4] does not broadcast to [1,2,3,5]");
}

TEST_F(Fused, AttentionNamesWhatDoesNotFit) {
  const auto run = [&](Shape q, Shape k, Shape v, Shape mask = {}) {
    return Run<fused::Attention>({X(q), X(k), X(v), X(mask)}, {.scale = 1.0f});
  };
  EXPECT_EQ(run({2, 8, 5, 4}, {3, 8, 7, 4}, {2, 8, 7, 4}),
            "fused.attention: q has 2 batches but k has 3");
  EXPECT_EQ(run({2, 8, 5, 4}, {2, 8, 7, 4}, {2, 1, 7, 4}),
            "fused.attention: k has 8 heads but v has 1");
  EXPECT_EQ(run({2, 8, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 4}),
            "fused.attention: q has 8 heads, not a multiple of the 3 of k");
  EXPECT_EQ(run({2, 8, 5, 4}, {2, 0, 7, 4}, {2, 0, 7, 4}),
            "fused.attention: q has 8 heads, not a multiple of the 0 of k");
  EXPECT_EQ(run({2, 8, 5, 4}, {2, 8, 7, 4}, {2, 8, 6, 4}),
            "fused.attention: k has 7 keys but v has 6");
  EXPECT_EQ(run({2, 8, 5, 4}, {2, 8, 7, 3}, {2, 8, 7, 4}),
            "fused.attention: q has 4 columns but k has 3");
  EXPECT_EQ(run({2, 8, 5, 4}, {2, 8, 7, 4}, {2, 8, 7, 4}, {7, 1}),
            "fused.attention: mask [7,1] does not broadcast to [2,8,5,7]");
  EXPECT_EQ(run({8, 5, 4}, {2, 8, 7, 4}, {2, 8, 7, 4}),
            "fused.attention: q has rank 3 but must have 4");
}

TEST_F(Fused, LayerNormalizationHasABodyOfPrimitiveOps) {
  const Value x = X({n, 7, 3});
  EXPECT_EQ(RunBoth<ops::LayerNormalization>({x, X({3}), X({3})}), "tensor<Nx7x3xf32>");
  EXPECT_EQ(RunBoth<ops::LayerNormalization>({x, X({7, 3})}, {.axis = 1}), "tensor<Nx7x3xf32>");
  EXPECT_EQ(RunBoth<ops::LayerNormalization>({Unranked(), X({7, 3})}, {.axis = -2}),
            "tensor<*xf32>");
  const OpDef& def = *context.FindOp("onnx.LayerNormalization");
  const auto size_of_body = [&](std::vector<Value> operands, int64_t axis) {
    const AttrDict attrs = MakeAttrs<ops::LayerNormalization>(context, {.axis = axis});
    return def.decompose(b, operands, attrs, 1).size();
  };
  EXPECT_EQ(size_of_body({x, X({3})}, -1), 1u);
  EXPECT_EQ(size_of_body({Unranked(), X({3})}, 2), 0u);
  EXPECT_EQ(size_of_body({X({7, 3}, DataType::kF16), X({3}, DataType::kF16)}, -1), 1u);
}

TEST_F(Fused, LayerNormAddsItsResidualFirst) {
  EXPECT_EQ(
      RunBoth<fused::LayerNorm>({X({n, 7, 8}), X({8}), X({8}), X({n, 7, 8})}, {.epsilon = 1e-12f}),
      "tensor<Nx7x8xf32>");
  EXPECT_EQ(RunBoth<fused::LayerNorm>({X({2, 7, 8}), X({7, 8})}, {.axis = 1, .epsilon = 1e-5f}),
            "tensor<2x7x8xf32>");
  EXPECT_EQ(program.body().back().attrs_of<ops::LayerNormalization>().epsilon, 1e-5f);
  EXPECT_EQ(program.body().back().attrs_of<ops::LayerNormalization>().axis, 1);
  EXPECT_EQ(Run<fused::LayerNorm>({X({2, 8}), X({1})}, {.epsilon = 0.1f}),
            "fused.layer_norm: scale is [1] but must be [8]");
  EXPECT_EQ(Run<fused::LayerNorm>({X({2, 8}), X({8}), X({2, 8})}, {.epsilon = 0.1f}),
            "fused.layer_norm: bias is [2,8] but must be [8]");
  EXPECT_EQ(Run<fused::LayerNorm>({X({2, 8}), X({8}), Value(), X({8})}, {.epsilon = 0.1f}),
            "fused.layer_norm: residual is [8] but must be [2,8]");
  EXPECT_EQ(
      RunBoth<fused::LayerNorm>({X({n, 8}), X({8}), Value(), X({n, 8}), X({8})}, {.epsilon = 0.1f}),
      "tensor<Nx8xf32>");
  EXPECT_EQ(
      Run<fused::LayerNorm>({X({2, 8}), X({8}), Value(), Value(), X({2, 8})}, {.epsilon = 0.1f}),
      "fused.layer_norm: x_bias is [2,8] but must be [8]");
  EXPECT_EQ(Run<fused::LayerNorm>({X({2, 8}), X({8})}, {.axis = -3, .epsilon = 0.1f}),
            "fused.layer_norm: axis -3 is out of range for rank 2");
}

TEST_F(Fused, RmsNormIsOverTheLastDimension) {
  EXPECT_EQ(RunBoth<fused::RmsNorm>({X({n, 7, 8}), X({8})}, {.epsilon = 1e-6f}),
            "tensor<Nx7x8xf32>");
  EXPECT_EQ(RunBoth<fused::RmsNorm>({Unranked(), X({8})}, {.epsilon = 1e-6f}), "tensor<*xf32>");
  EXPECT_EQ(Run<fused::RmsNorm>({X({2, 8}), X({2, 8})}, {.epsilon = 0.1f}),
            "fused.rms_norm: scale is [2,8] but must be [8]");
}

TEST_F(Fused, NormsGiveTheSumOfTheirResidual) {
  const Value x = X({n, 7, 8}), scale = X({8});
  EXPECT_EQ(RunBoth<fused::RmsNorm>({x, scale, X({n, 7, 8})}, {.epsilon = 1e-6f}),
            "tensor<Nx7x8xf32>");
  EXPECT_EQ(Run<fused::RmsNorm>({x, scale, X({7, 8})}, {.epsilon = 0.1f}),
            "fused.rms_norm: residual is [7,8] but must be [\"N\",7,8]");
  const auto two = [&](std::string_view name, std::vector<Value> operands, AttrDict attrs) {
    Operation op;
    std::string error;
    OperationState state{
        .opcode = Opcode::FindOrAdd(name), .operands = std::move(operands), .attrs = attrs};
    if (!b.TryCreate(std::move(state), 2, &op, &error)) return error;
    EXPECT_EQ(op.result(0).type(), op.result(1).type());
    const auto body = op.def()->decompose(b, op.operands().vec(), attrs, 2);
    EXPECT_EQ(body.size(), 2u);
    return body[1].type().ToString();
  };
  const AttrDict rms = MakeAttrs<fused::RmsNorm>(context, {.epsilon = 0.1f});
  const AttrDict layer = MakeAttrs<fused::LayerNorm>(context, {.epsilon = 0.1f});
  EXPECT_EQ(two("fused.rms_norm", {x, scale, x}, rms), x.type().ToString());
  EXPECT_EQ(two("fused.layer_norm", {x, scale, Value(), x}, layer), x.type().ToString());
  EXPECT_EQ(two("fused.rms_norm", {x, scale}, rms), "fused.rms_norm: has no residual, so no sum");
  EXPECT_EQ(two("fused.layer_norm", {x, scale}, layer),
            "fused.layer_norm: has no residual, so no sum");
}

TEST_F(Fused, EmbedLayerNormHasARowForEveryId) {
  const Value words = X({9, 8}), positions = X({5, 8}), scale = X({8});
  const Value ids = X({n, 5}, DataType::kI64), one = X({1, 5}, DataType::kI32);
  const auto run = [&](std::vector<Value> operands) {
    return RunBoth<fused::EmbedLayerNorm>(std::move(operands), {.epsilon = 0.1f});
  };
  EXPECT_EQ(run({ids, words, positions, scale}), "tensor<Nx5x8xf32>");
  EXPECT_EQ(run({ids, words, X({7, 8}), scale, scale}), "tensor<Nx5x8xf32>");
  EXPECT_EQ(run({ids, words, positions, scale, scale, one, X({2, 8}), ids}), "tensor<Nx5x8xf32>");
  EXPECT_EQ(run({X({m}, DataType::kI32), words, X({512, 8}), scale}), "tensor<Mx8xf32>");
  EXPECT_EQ(Run<fused::EmbedLayerNorm>({Unranked(DataType::kI64), words, positions, scale},
                                       {.epsilon = 0.1f}),
            "tensor<*xf32>");
}

TEST_F(Fused, EmbedLayerNormNamesWhatDoesNotFit) {
  const Value words = X({9, 8}), positions = X({5, 8}), scale = X({8});
  const Value ids = X({2, 5}, DataType::kI64);
  const auto run = [&](std::vector<Value> operands) {
    const std::string error = Run<fused::EmbedLayerNorm>(std::move(operands), {.epsilon = 0.1f});
    constexpr std::string_view kName = "fused.embed_layer_norm: ";
    return error.starts_with(kName) ? error.substr(kName.size()) : error;
  };
  EXPECT_EQ(run({X({2, 5}), words, positions, scale}), "ids is f32 but must be i32 or i64");
  EXPECT_EQ(run({ids, words, X({4, 8}), scale}), "positions has 4 rows for 5 ids");
  EXPECT_EQ(run({ids, words, X({5, 7}), scale}), "words has 8 columns but positions has 7");
  EXPECT_EQ(run({ids, words, positions, scale, scale, Value(), X({2, 8})}),
            "has only one of segments and segment_ids");
  EXPECT_EQ(run({ids, words, positions, scale, scale, X({3, 5}, DataType::kI64)}),
            "position_ids [3,5] does not broadcast to [2,5]");
  EXPECT_EQ(run({ids, X({9}), positions, scale}), "words has rank 1 but must have 2");
  EXPECT_EQ(run({I({-9, 9}), words, positions, scale}), "ids 9 is out of range for 9 rows");
}

TEST_F(Fused, RotaryEmbeddingTurnsPairsOfColumns) {
  const Value x = X({n, 4, m, 8});
  for (const bool interleaved : {false, true}) {
    const auto run = [&](Value cos, Value sin) {
      return RunBoth<fused::RotaryEmbedding>({x, cos, sin}, {.interleaved = interleaved});
    };
    EXPECT_EQ(run(X({n, 1, m, 8}), X({m, 8})), "tensor<Nx4xMx8xf32>");
    EXPECT_EQ(run(X({m, 4}), X({n, 1, m, 4})), "tensor<Nx4xMx8xf32>");
  }
  EXPECT_EQ(Run<fused::RotaryEmbedding>({Unranked(), X({3, 8}), X({3, 8})}), "tensor<*xf32>");
}

TEST_F(Fused, RotaryEmbeddingHasABodyWhereTheNumbersOfAPairAreKnown) {
  const auto size_of_body = [&](Value angles) {
    return fused::RotaryEmbedding::Decompose(b, std::vector<Value>{X({3, 8}), angles, angles},
                                             {.interleaved = false})
        .size();
  };
  EXPECT_EQ(size_of_body(X({3, 8})), 1u);
  EXPECT_EQ(size_of_body(X({3, 4})), 1u);
  EXPECT_EQ(size_of_body(X({3, n})), 0u);  // 4 or 8
}

TEST_F(Fused, RotaryEmbeddingNamesWhatDoesNotFit) {
  const Value x = X({2, 4, 8});
  EXPECT_EQ(Run<fused::RotaryEmbedding>({X({2, 7}), X({7}), X({7})}),
            "fused.rotary_embedding: 7 columns are no pairs");
  EXPECT_EQ(
      Run<fused::RotaryEmbedding>({x, X({4, 1}), X({4, 8})}),
      "fused.rotary_embedding: cos has shape [4,1], whose last dimension is not 8 or half of it");
  EXPECT_EQ(Run<fused::RotaryEmbedding>({x, X({4, 8}), X({3, 8})}),
            "fused.rotary_embedding: sin [3,8] does not broadcast to [2,4,8]");
  EXPECT_EQ(Run<fused::RotaryEmbedding>({x, X({3, 2, 4, 4}), X({4, 4})}),
            "fused.rotary_embedding: cos [3,2,4,4] does not broadcast to [2,4,4]");
  EXPECT_EQ(Run<fused::RotaryEmbedding>({x, X({}), X({4, 8})}),
            "fused.rotary_embedding: cos has rank 0 but must have 1 or more");
}

TEST_F(Fused, GroupNormHasOneScalePerChannel) {
  const auto run = [&](Value x, Value scale, int64_t groups, Activation a = Activation::kNone) {
    return Run<fused::GroupNorm>({x, scale}, {.groups = groups, .epsilon = 0.1f, .activation = a});
  };
  EXPECT_EQ(RunBoth<fused::GroupNorm>({X({2, 6, 4, 5}), X({6, 1, 1}), X({1, 6, 1, 1})},
                                      {.groups = 3, .epsilon = 1e-5f}),
            "tensor<2x6x4x5xf32>");
  EXPECT_EQ(
      RunBoth<fused::GroupNorm>({X({n, 6, 9}, DataType::kF16), X({6, 1}, DataType::kF16)},
                                {.groups = 2, .epsilon = 1e-5f, .activation = Activation::kSwish}),
      "tensor<Nx6x9xf16>");
  EXPECT_EQ(RunBoth<fused::GroupNorm>({X({2, 0}), X({0})}, {.groups = 2, .epsilon = 1e-5f}),
            "tensor<2x0xf32>");
  EXPECT_EQ(RunBoth<fused::GroupNorm>({X({0, 6, 0}), X({6, 1})}, {.groups = 2, .epsilon = 1e-5f}),
            "tensor<0x6x0xf32>");
  EXPECT_EQ(RunBoth<fused::GroupNorm>({X({n, 0}), X({1, 0})}, {.groups = 3, .epsilon = 1e-5f}),
            "tensor<Nx0xf32>");
  EXPECT_EQ(run(Unranked(), X({6, 1}), 3), "tensor<*xf32>");
  EXPECT_EQ(run(X({2, 6, 4}), X({6}), 3),
            "fused.group_norm: scale has rank 1 but must have one element per channel of an x of "
            "rank 3");
  EXPECT_EQ(run(X({2, 6, 4}), X({1, 4}), 3), "fused.group_norm: scale is [1,4] but must be [6,1]");
  EXPECT_EQ(run(X({2, 6, 4}), X({6, 1}), 4),
            "fused.group_norm: x has 6 channels, which are no 4 groups");
  EXPECT_EQ(run(X({2, 6, 4}), X({6, 1}), 0), "fused.group_norm: groups is 0");
  EXPECT_EQ(run(X({2, 6, 4}), X({6, 1}), 3, Activation::kClip),
            "fused.group_norm: activation clip takes 2 activation_params but has 0");
}

TEST_F(Fused, BatchMatMulPermutesItsOperandsFirst) {
  EXPECT_EQ(RunBoth<fused::BatchMatMul>({X({2, 3, n, 5}), X({2, 7, 3, 5}), X({1, 7})},
                                        {.perm_b = Ints{0, 2, 3, 1}, .scale = 0.5f}),
            "tensor<2x3xNx7xf32>");
  EXPECT_EQ(RunBoth<fused::BatchMatMul>({X({5, 4}), X({3, 5, 6})}, {.perm_a = Ints{1, 0}}),
            "tensor<3x4x6xf32>");
  EXPECT_EQ(Run<fused::BatchMatMul>({Unranked(), X({3, 5, 6})}), "tensor<*xf32>");
  EXPECT_EQ(Run<fused::BatchMatMul>({X({5}), X({5, 6})}),
            "fused.batch_matmul: a has rank 1 but must have 2 or more");
  EXPECT_EQ(Run<fused::BatchMatMul>({X({4, 5}), X({5, 6}), X({2, 4, 6})}),
            "fused.batch_matmul: addend [2,4,6] does not broadcast to [4,6]");
}

TEST_F(Fused, MaskedSoftmaxHasTheShapeOfItsScores) {
  EXPECT_EQ(RunBoth<fused::MaskedSoftmax>({X({2, n, 5}), X({n, 5})}), "tensor<2xNx5xf32>");
  EXPECT_EQ(Run<fused::MaskedSoftmax>({Unranked(), X({5})}), "tensor<*xf32>");
  EXPECT_EQ(Run<fused::MaskedSoftmax>({X({}), X({})}),
            "fused.masked_softmax: x has rank 0 but must have 1 or more");
  EXPECT_EQ(Run<fused::MaskedSoftmax>({X({3, 5}), X({2, 3, 5})}),
            "fused.masked_softmax: mask [2,3,5] does not broadcast to [3,5]");
}

TEST_F(Fused, GeluHasTwoForms) {
  EXPECT_EQ(RunBoth<fused::Gelu>({X({n, 8}), X({8})}), "tensor<Nx8xf32>");
  EXPECT_EQ(RunBoth<fused::Gelu>({X({n, 8})}, {.approximate = fused::GeluApproximate::kTanh}),
            "tensor<Nx8xf32>");
  EXPECT_EQ(RunBoth<fused::Gelu>({X({2, 8}, DataType::kF64)}), "tensor<2x8xf64>");
  EXPECT_EQ(Run<fused::Gelu>({X({8}), X({2, 8})}),
            "fused.gelu: bias [2,8] does not broadcast to [8]");
}

TEST_F(Fused, EveryOpHasAReferenceBody) {
  size_t count = 0;
  for (const OpDef* def : context.Ops()) {
    if (!def->name().starts_with("fused.")) continue;
    ++count;
    EXPECT_TRUE(def->decompose || def->Has(kBodyInRegion)) << def->name();
    EXPECT_NE(def->infer, nullptr) << def->name();
  }
  EXPECT_EQ(count, 24u);
}

}  // namespace
}  // namespace weft::ir
