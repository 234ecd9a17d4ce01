#include "kernels/native/simd/dot_products.h"

#define WEFT_ISA_BODY "kernels/native/simd/dot_products_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

DotProducts DotProductsFor(Isa isa) { return WEFT_DISPATCH_ON(isa, DotProductsOf); }

}  // namespace weft::kernels::simd
