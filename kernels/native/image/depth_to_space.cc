// onnx.DepthToSpace and SpaceToDepth as what they are, transposes between reshapes.
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::Ints;

// reshape(transpose(reshape(x, blocks), order), the shape of the result)
Made MakeBlockTranspose(const KernelContext& context, const Ints& blocks, const Ints& order) {
  return MakeFromBody(
      context, "blocks of an image", {"native", "xnnpack", "reference"},
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        const ir::Value cut = b.Make<ops::Reshape>({operands[0], b.ConstantInts(blocks)});
        return std::vector<ir::Value>{
            b.Make<ops::Reshape>({b.Make<ops::Transpose>({cut}, {.perm = order}),
                                  b.ConstantInts(context.result_dims(0))})};
      });
}

// Whether `deep` has the shape of `wide` with blocks of an image as channels.
bool AreBlocks(std::span<const int64_t> deep, std::span<const int64_t> wide, int64_t block) {
  return deep.size() == 4 && wide.size() == 4 && block > 0 && deep[0] == wide[0] &&
         deep[1] == wide[1] * block * block && deep[2] * block == wide[2] &&
         deep[3] * block == wide[3];
}

Made MakeDepthToSpace(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::DepthToSpace>();
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  const int64_t block = attrs.blocksize;
  if (context.HasEmptyTensor() || !AreBlocks(x, y, block))
    return context.Unsupported("such shapes");
  if (attrs.mode == ops::DepthOrder::kDcr)
    return MakeBlockTranspose(context, {x[0], block, block, y[1], x[2], x[3]}, {0, 3, 4, 1, 5, 2});
  return MakeBlockTranspose(context, {x[0], y[1], block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
}
const RegisterKernel<ops::DepthToSpace> kDepthToSpace("native", &MakeDepthToSpace);

Made MakeSpaceToDepth(const KernelContext& context) {
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  const int64_t block = context.attrs_of<ops::SpaceToDepth>().blocksize;
  if (context.HasEmptyTensor() || !AreBlocks(y, x, block))
    return context.Unsupported("such shapes");
  return MakeBlockTranspose(context, {x[0], x[1], y[2], block, y[3], block}, {0, 3, 5, 1, 2, 4});
}
const RegisterKernel<ops::SpaceToDepth> kSpaceToDepth("native", &MakeSpaceToDepth);

}  // namespace
}  // namespace weft::kernels::native
