"""What rules may name, as the library tells it: operators, constraints, computed attributes; and how values of
Python's stand in the text of a rule (drr/text/rule_text.h)."""
import difflib
import functools
import json
import math
import numbers
import re
import struct

import numpy as np

from . import _library as c
from ._dtypes import CODES, DTYPES
from ._errors import InvalidArgumentError

MAX_ELEMENTS = 16  # of a tensor in a rule's text
_LETTERS = {"bf": "bfloat", "f": "float", "i": "int", "u": "uint", "c": "complex"}


@functools.lru_cache(maxsize=None)
def vocabulary():
    known = json.loads(c.take_bytes(c.make("weft_rules_vocabulary")))
    return {kind: {one["name"]: one for one in known[kind]} for kind in ("operators", "constraints", "computed")}


def did_you_mean(name, names):
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


class Formula:
    """A constraint, or a computed attribute, of the vocabulary: weft.rank_is(x, 3)."""

    def __init__(self, word, arguments):
        self.word, self.arguments = word, arguments
        kinds = word["arguments"]
        if not word["least"] <= len(arguments) <= len(kinds):
            takes = f"{word['least']} to {len(kinds)}" if word["least"] < len(kinds) else str(len(kinds))
            raise TypeError(f"{word['name']}({', '.join(kinds)}) takes {takes} arguments, not {len(arguments)}")

    def text(self):
        kinds = self.word["arguments"]
        return f"{self.word['name']}({', '.join(map(argument_text, self.arguments, kinds))})"

    def __bool__(self):
        raise TypeError(f"{self.word['name']} is known when the rule is matched, not when it is written")


def word(name):
    """The function that makes such a formula, or None."""
    known = vocabulary()
    found = known["constraints"].get(name) or known["computed"].get(name)
    if found is None:
        return None

    def make(*arguments):
        return Formula(found, arguments)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{name}({', '.join(found['arguments'])}): {found['doc']}"
    return make


def words():
    return [*vocabulary()["constraints"], *vocabulary()["computed"]]


# --- text -----------------------------------------------------------------------------------------


def quoted(text):
    out = ['"']
    for ch in text:
        if ch in '"\\':
            out.append("\\" + ch)
        elif ch == "\n":
            out.append("\\n")
        elif ord(ch) < 32:
            raise InvalidArgumentError(f"{text!r} has a control character in it")
        else:
            out.append(ch)
    return "".join(out) + '"'


def argument_text(value, kind):
    """Of a formula."""
    if kind == "element type" and not hasattr(value, "label"):
        return dtype_text(value)
    if isinstance(value, str):
        return quoted(value)
    return literal_text(value, None)


def dtype_text(value):
    """Of "f32", "float32" or a type of numpy's."""
    if not isinstance(value, str):
        code = None if value is None else CODES.get(np.dtype(value))  # of None numpy makes f64
        if code is None:
            raise InvalidArgumentError(f"{value!r} is no element type of a tensor")
        value = DTYPES[code][0]
    # Alone the text form takes long names only, for "i8" and its like are words.
    short = re.fullmatch(r"(bf|f|i|u|c)(\d\w*)", value)
    return _LETTERS[short[1]] + short[2] if short else value


def literal_text(value, field):
    """Of an attribute whose field of the operator is known, or not (None)."""
    kind = field["kind"] if field else None
    if hasattr(value, "label"):
        return value.label()
    if kind == "dtype":
        return dtype_text(value)
    if kind == "tensor" or (isinstance(value, np.ndarray) and value.ndim != 1 and kind is None):
        return tensor_text(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return number_text(float(value), kind)
    if isinstance(value, (list, tuple, range)):
        return list_text(list(value), kind)
    raise InvalidArgumentError(f"{value!r} is no value of an attribute")


def number_text(value, kind):
    if kind in ("float", "double", "floats") or not math.isfinite(value):
        return repr(value)
    is_f32 = abs(value) < 3e38 and struct.unpack("f", struct.pack("f", value))[0] == value
    return repr(value) if is_f32 else repr(value) + "f64"


def list_text(values, kind):
    if kind == "strings" or any(isinstance(value, str) for value in values):
        return f"strings[{','.join(quoted(str(value)) for value in values)}]"
    if kind == "floats" or any(not isinstance(value, numbers.Integral) for value in values):
        return f"floats[{','.join(repr(float(value)) for value in values)}]"
    return f"array[{','.join(str(int(value)) for value in values)}]"


def tensor_text(value):
    array = np.asarray(value, np.float32) if type(value) is float else np.asarray(value)
    code = CODES.get(array.dtype)
    if code is None or array.dtype.kind in "OUS":
        raise InvalidArgumentError(f"a tensor of {array.dtype} cannot stand in the text of a rule")
    if array.size > MAX_ELEMENTS:
        raise InvalidArgumentError(f"a tensor of {array.size} elements cannot stand in the text of a rule, "
                                   f"which takes {MAX_ELEMENTS}")
    dims = "".join(f"{dim}x" for dim in array.shape)
    data = array.astype(array.dtype.newbyteorder("<")).tobytes().hex()
    return f'dense<tensor<{dims}{DTYPES[code][0]}>, hex "{data}">'
