"""Weft: optimises ONNX models and runs them.

    result = weft.optimize("bert.onnx", "fuse", check=3)
    print(result)
    result.model.save("fused.onnx")
    logits = weft.Session(result.model).run({"ids": ids})["logits"]
"""
from . import _library
from ._errors import (CancelledError, CheckFailedError, Error, InternalError, InvalidArgumentError,
                      ResourceExhaustedError, UnimplementedError)
from ._model import Model, Result, optimize
from ._session import Session, ValueInfo

__version__ = _library.library.weft_version().decode()
__all__ = ["CancelledError", "CheckFailedError", "Error", "InternalError", "InvalidArgumentError", "Model",
           "ResourceExhaustedError", "Result", "Session", "UnimplementedError", "ValueInfo", "optimize"]
