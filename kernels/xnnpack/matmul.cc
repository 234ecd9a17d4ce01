// Products with constant weights, as XNNPACK's fully connected operator.
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/xnnpack/epilogue.h"
#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {
namespace {

namespace ops = ir::ops;
using ir::fused::Activation;

// x [m, k] by operand 1, [k, n] or, if transposed, [n, k].
struct Product {
  int64_t m, k, n;
  bool transposed;
};

absl::StatusOr<SharedOperator> MakeOperator(const KernelContext& context, const Product& p,
                                            const Epilogue& e) {
  const ir::Attribute weights = context.constant(1);
  const std::string key =
      "xnnpack fc k=" + std::to_string(p.k) + (p.transposed ? " transposed" : "") + e.Key();
  return context.packed().Get<Operator>(key, {weights, e.bias_constant()}, [&] {
    const simd::WeightSource source = native::SourceOf(weights);
    const float* const w = source.At(0, weights.dense_type().NumElements());
    return CreateOperator("fully connected", [&](xnn_operator_t* op) {
      return CreateWeighted(&xnn_create_fully_connected_nc_f32, op, p.k, p.n, p.k, p.n, w, e.bias(),
                            e.min(), e.max(), p.transposed ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS);
    });
  });
}

Made MakeProduct(const KernelContext& context, const Product& p, const Epilogue& e) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (!context.constant(1)) return context.Unsupported("weights that are not constant");
  WEFT_ASSIGN_OR_RETURN(SharedOperator op, MakeOperator(context, p, e));
  return MakeXnn("xnnpack fully connected", std::move(op), {.packed = 1u << 1 | 1u << 2},
                 WithSizes(WEFT_XNN(fully_connected_nc_f32), p.m),
                 [e](const KernelArgs& args) { e.Finish(args); });
}

Made MakeLinear(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::Linear>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1);
  if (x.empty() || w.size() != 2) return context.Unsupported("operands of these ranks");
  WEFT_ASSIGN_OR_RETURN(const Epilogue epilogue,
                        Epilogue::Make(context, 2, 3, attrs.activation, attrs.activation_params));
  const Product product = {CountElements(x.first(x.size() - 1)), x.back(),
                           w[attrs.transpose_w ? 0 : 1], attrs.transpose_w};
  return MakeProduct(context, product, epilogue);
}
const RegisterKernel<ir::fused::Linear> kLinear("xnnpack", &MakeLinear, kHidesNan);

Made MakeMatMul(const KernelContext& context) {
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1);
  if (a.empty() || b.size() != 2) return context.Unsupported("operands of these ranks");
  WEFT_ASSIGN_OR_RETURN(const Epilogue epilogue,
                        Epilogue::Make(context, 2, 3, Activation::kNone, {}));
  return MakeProduct(context, {CountElements(a.first(a.size() - 1)), b[0], b[1], false}, epilogue);
}
const RegisterKernel<ops::MatMul> kMatMul("xnnpack", &MakeMatMul, kHidesNan);

Made MakeGemm(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::Gemm>();
  const std::span<const int64_t> a = context.dims(0), y = context.result_dims(0);
  if (attrs.alpha != 1 || attrs.transA != 0) return context.Unsupported("alpha or transA");
  if (context.HasInput(2) &&
      (attrs.beta != 1 || context.dims(2).empty() || context.dims(2).back() != y[1] ||
       context.input_type(2).NumElements() != y[1]))
    return context.Unsupported("an addend that is no bias");
  WEFT_ASSIGN_OR_RETURN(const Epilogue epilogue,
                        Epilogue::Make(context, 2, 3, Activation::kNone, {}));
  return MakeProduct(context, {y[0], a[1], y[1], attrs.transB != 0}, epilogue);
}
const RegisterKernel<ops::Gemm> kGemm("xnnpack", &MakeGemm, kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack
