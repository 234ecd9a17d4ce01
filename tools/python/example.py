"""Optimises a model, runs it, and says what comes out. From the root of the repository."""
import numpy as np
import weft

result = weft.optimize("unittests/models/bert_tiny.onnx", "fuse", check=3)
print(result)
session = weft.Session(result.model, pipeline="none")
inputs = {x.name: np.ones(x.shape, x.numpy_dtype) for x in session.inputs}
for name, array in session.run(inputs).items():
    print(name, array.dtype, array.shape)
