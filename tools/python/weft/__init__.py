"""Weft: optimises ONNX models and runs them.

    result = weft.optimize("bert.onnx", "fuse", check=3)
    print(result)
    result.model.save("fused.onnx")
    logits = weft.Session(result.model).run({"ids": ids})["logits"]
"""
from . import _library, _vocabulary
from ._errors import (CancelledError, CheckFailedError, Error, InternalError, InvalidArgumentError,
                      ResourceExhaustedError, UnimplementedError)
from ._match import MatchedValue
from ._model import Model, Result, explain, optimize
from ._rule import Judgement, Rule, RuleText, judge, rules_from_text
from ._rules import rule
from ._session import Session, ValueInfo

__version__ = _library.library.weft_version().decode()
__all__ = ["CancelledError", "CheckFailedError", "Error", "InternalError", "InvalidArgumentError", "Judgement",
           "MatchedValue", "Model", "ResourceExhaustedError", "Result", "Rule", "RuleText", "Session",
           "UnimplementedError", "ValueInfo", "explain", "judge", "optimize", "rule", "rules_from_text"]


def __getattr__(name):
    """Constraints and computed attributes of rules, which the library knows: weft.rank_is(x, 3)."""
    made = None if name.startswith("__") else _vocabulary.word(name)
    if made is None:
        near = "" if name.startswith("__") else _vocabulary.did_you_mean(name, _vocabulary.words())
        raise AttributeError(f"module 'weft' has no '{name}', nor have rules such a word{near}")
    return made


def __dir__():
    return sorted([*globals(), *_vocabulary.words()])
