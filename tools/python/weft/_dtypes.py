"""Types of elements."""
import numpy as np

# By weft_dtype: its name, and the type of an array. Types that numpy lacks come and go as their bits.
STRING, FIRST_OF_BITS = 8, 16
DTYPES = {
    1: ("f32", np.float32), 2: ("u8", np.uint8), 3: ("i8", np.int8), 4: ("u16", np.uint16), 5: ("i16", np.int16),
    6: ("i32", np.int32), 7: ("i64", np.int64), STRING: ("string", np.object_), 9: ("bool", np.bool_),
    10: ("f16", np.float16), 11: ("f64", np.float64), 12: ("u32", np.uint32), 13: ("u64", np.uint64),
    14: ("c64", np.complex64), 15: ("c128", np.complex128), 16: ("bf16", np.uint16),
    **{code: (name, np.uint8) for code, name in enumerate(
        ("f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1", "f8e8m0", "u2", "i2"), 17)},
}
# What the package ml_dtypes calls those that numpy lacks.
ML_DTYPES = {"bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
             "f8e5m2fnuz": "float8_e5m2fnuz", "u4": "uint4", "i4": "int4", "f4e2m1": "float4_e2m1fn",
             "f8e8m0": "float8_e8m0fnu", "u2": "uint2", "i2": "int2"}
UNKNOWN = (None, np.object_)
CODES = {np.dtype(dtype): code for code, (_, dtype) in reversed(DTYPES.items())}
