"""Rules of one's own. From the root of the repository."""
import math

import weft


# x * 1/2 * (1 + erf(x / sqrt(2))) => gelu(x)
@weft.rule("reassociates")
def erf_gelu(src, res):
    x = src.tensor("x")
    erf = src.Erf(x / src.splat(math.sqrt(2), 1e-6))
    gelu = x * 0.5 * (erf + 1)
    src.require(weft.same_type(x, gelu), "no constant makes it larger")
    src.require(weft.dtype_is(x, "f32"))
    src.require(lambda x: x.shape[-1] % 16 == 0, "the last size of x is a multiple of 16")
    return gelu, res.fused.gelu(x)


print(erf_gelu.text, weft.judge(erf_gelu))
print(weft.optimize("unittests/models/bert_tiny.onnx", rules=[erf_gelu], check=3))
print(weft.explain("unittests/models/bert_tiny.onnx", erf_gelu, at="/layers.0/Erf_output_0"))
