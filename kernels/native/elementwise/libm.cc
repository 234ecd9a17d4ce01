// Functions of f32 that are calls of the C library: one for each element, by all threads.
#include <cmath>

#include "ir/dialects/onnx/math.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

template <class Function>
Made MakeCalls(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("elementwise", {.may_overwrite = 1}, [n](const KernelArgs& args) {
    const float* const x = args.input<float>(0);
    float* const y = args.output<float>(0);
    constexpr int64_t kCost = 16;  // a call, in units of TileFor
    args.pool->ParallelFor(n, TileFor(n, kCost), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = Function()(x[i]);
    });
  });
}

#define WEFT_CALLS(Op, function)                            \
  struct Op##Function {                                     \
    float operator()(float x) const { return function(x); } \
  };                                                        \
  const RegisterKernel<ops::Op> k##Op("native", &MakeCalls<Op##Function>)
WEFT_CALLS(Acos, std::acos);
WEFT_CALLS(Acosh, std::acosh);
WEFT_CALLS(Asin, std::asin);
WEFT_CALLS(Asinh, std::asinh);
WEFT_CALLS(Atan, std::atan);
WEFT_CALLS(Atanh, std::atanh);
WEFT_CALLS(Cos, std::cos);
WEFT_CALLS(Cosh, std::cosh);
WEFT_CALLS(Sin, std::sin);
WEFT_CALLS(Sinh, std::sinh);
WEFT_CALLS(Tan, std::tan);
#undef WEFT_CALLS

}  // namespace
}  // namespace weft::kernels::native
