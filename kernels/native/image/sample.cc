#include "kernels/native/image/sample.h"

#include <cfloat>

#define WEFT_ISA_BODY "kernels/native/image/sample_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

SampleFunction SampleFor() { return WEFT_DISPATCH(Sample); }
SampleLargestFunction SampleLargestFor() { return WEFT_DISPATCH(SampleLargest); }
MovedTapsFunction MovedTapsFor() { return WEFT_DISPATCH(MovedTaps); }

}  // namespace weft::kernels::simd
