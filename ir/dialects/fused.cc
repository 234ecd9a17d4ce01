#include "ir/dialects/fused.h"

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/infer.h"

namespace weft::ir {

void LoadFusedDialect(IrContext& context) {
  LoadOnnxDialect(context);
  AddOps<fused::Linear, fused::BatchMatMul, fused::Conv2d, fused::ConvTranspose2d, fused::MaxPool2d,
         fused::AveragePool2d, fused::GlobalAveragePool2d, fused::Attention, fused::RotaryEmbedding,
         fused::MaskedSoftmax, fused::EmbedLayerNorm, fused::LayerNorm, fused::RmsNorm,
         fused::GroupNorm, fused::Gelu, fused::Elementwise, fused::QConv2d, fused::QLinear,
         fused::DequantizeMatmul, fused::QAdd, fused::QMul, fused::QLookup, fused::QAveragePool2d,
         fused::QGlobalAveragePool2d>(context);
}

}  // namespace weft::ir
