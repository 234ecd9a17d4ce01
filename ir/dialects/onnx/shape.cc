#include "ir/dialects/onnx/shape.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::ops {

void LoadShapeOps(IrContext& context) {
  AddOps<Reshape, Flatten, Squeeze, Unsqueeze, Shape, Expand, Tile, ConstantOfShape>(context);
}

}  // namespace weft::ir::ops
