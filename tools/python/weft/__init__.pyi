"""Weft: optimises ONNX models and runs them. Whatever fails raises an Error of one line."""
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import onnx

_Path = str | os.PathLike[str]
_Source = Model | onnx.ModelProto | bytes | bytearray | memoryview | _Path

__version__: str
__all__: list[str]

class Error(Exception):
    details: str  # lines: programs that show why a rule is refuted, other mistakes

class InvalidArgumentError(Error, ValueError): ...  # a model, option, input or file is wrong
class UnimplementedError(Error, NotImplementedError): ...  # right, but not supported
class CheckFailedError(Error): ...  # a rule is refuted, or outputs differ
class CancelledError(Error): ...  # by `stop`
class ResourceExhaustedError(Error, MemoryError): ...  # not enough memory
class InternalError(Error, RuntimeError): ...  # a fault of Weft's

class Model:
    """A model in memory. Its functions and those of its sessions may be called by several threads."""

    # Of .onnx (opsets 1 to 27, any size) or .ir. Large weights stay in the file, which must not be changed in place.
    @classmethod
    def load(cls, path: _Path, *, fold_default_inputs: bool = ..., allow_hard_links: bool = ...) -> Model: ...
    # Of ONNX; external data is refused.
    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, *, fold_default_inputs: bool = ...) -> Model: ...
    # Of less than 2 GiB.
    @classmethod
    def from_onnx(cls, proto: onnx.ModelProto, *, fold_default_inputs: bool = ...) -> Model: ...
    # Of Weft's text.
    @classmethod
    def from_text(cls, text: str, *, fold_default_inputs: bool = ...) -> Model: ...
    def clone(self) -> Model: ...  # shares the weights

    # This model itself; **options are those of `optimize`. After an error it is what it was.
    def optimize(self, pipeline: str | None = ..., **options: Any) -> Result: ...
    def explain(self, rule: str | Rule, pipeline: str | None = ..., *, at: str | None = ..., **options: Any) -> str: ...
    # By the suffix of the path. The file is complete or untouched.
    def save(self, path: _Path, *, full_weights: bool = ..., inline_functions: bool = ...,
             target_opset: int = ...) -> None: ...
    def to_bytes(self, *, inline_functions: bool = ..., target_opset: int = ...) -> bytes: ...
    def to_onnx(self, *, inline_functions: bool = ..., target_opset: int = ...) -> onnx.ModelProto: ...
    @property
    def num_operations(self) -> int: ...
    # Inputs and outputs [{name, type}], operators [{name, count}]; notebooks show it as tables.
    def summary(self) -> dict[str, Any]: ...

class Result:
    """A model that was optimised, and what was done; str() is a line per rule, one of the whole, those of the check."""

    model: Model
    report: dict[str, Any]  # as weft/c_api.h has it at weft_report_json
    @property
    def stats(self) -> list[dict[str, Any]]: ...  # of every rule that matched
    @property
    def rewrites(self) -> list[dict[str, Any]]: ...  # empty with record_rewrites=False
    # A page for a browser. Unless picture=True made it during the run, the first call does that once more, on the model
    # as it was (whose weights a Result keeps), its check too; files of rules must still be there.
    def report_html(self) -> str: ...
    # operations, parameters, parameter_bytes, flops, uncounted_operations, arena_bytes (None where sizes are open)
    @property
    def size_before(self) -> dict[str, Any]: ...
    @property
    def size_after(self) -> dict[str, Any]: ...
    @property
    def ops_before(self) -> int: ...
    @property
    def ops_after(self) -> int: ...

# A Model that is given stays what it was. ^C ends it between passes.
#   pipeline       simplify (ONNX to ONNX, the default), fuse (for Weft's kernels), ort (for ONNX Runtime), ...
#   passes         instead of the pipeline
#   rules          files and rules in memory that run before all passes, once judged; with trust_rules not judged.
#                  Those in memory come behind those of files
#   numerics       what rules may do to numbers: exact, reassociates (the default), approximate, changes-meaning
#   dims           sizes of symbolic dimensions; input_shapes: of inputs, where the model leaves sizes open
#   check          sets of random inputs on which outputs before and after are compared, to 1000
#   check_tolerance  of the largest element, instead of what `numerics` allows
#   target_opset   of the ONNX model to be written; 0: that of the model that was read
#   record_rewrites  Result.rewrites, for a tenth of the time of passes
#   picture        the page of report_html() is made during the run: both graphs, and what became what
#   progress       called before every pass: its name, its number from 1, how many there are, operations before it;
#                  True: a line of it on a terminal (stderr) or in a notebook
#   stop           asked around passes and runs of the check, and while rules are judged; True raises CancelledError
def optimize(model: _Source, pipeline: str | None = ..., *, passes: Sequence[str] = ...,
             rules: _Path | RuleText | Sequence[_Path | RuleText] = ...,
             trust_rules: bool = ..., enable_rules: Sequence[str] = ..., disable_rules: Sequence[str] = ...,
             numerics: str | None = ..., dims: Mapping[str, int] | None = ...,
             input_shapes: Mapping[str, Sequence[int]] | None = ..., check: int = ...,
             check_tolerance: float | None = ..., target_opset: int = ..., record_rewrites: bool = ...,
             picture: bool = ..., progress: Callable[[str, int, int, int], object] | bool | None = ...,
             stop: Callable[[], bool] | None = ...) -> Result: ...

# Why a rule does not apply in a run with these options of `optimize`, or where it does, as ir-opt --explain says:
# before the first pass that has it, and after the run. `at` is a value by name, or %N as the program after the run
# numbers it. A Rule need not be among `rules`.
def explain(model: _Source, rule: str | Rule, pipeline: str | None = ..., *, at: str | None = ...,
            **options: Any) -> str: ...

class RuleText:
    """Rules as text, read and found right, and functions that their constraints name."""

    text: str  # as they were understood: of any spelling the same
    source: str  # as they were given
    origin: str  # in messages, as the name of a file is
    functions: dict[str, Callable[..., object]]
    # `native NAME(%x, $p)` asks a function of `functions`. It must be quick, say the same of the same, and may be
    # called in several threads.
    def __init__(self, source: str, origin: str, functions: Mapping[str, Callable[..., object]]) -> None: ...
    def place(self, line: int, column: int) -> str: ...  # where that of `source` comes from

class Rule(RuleText):
    """A rule written in Python."""

    name: str
    def __init__(self, name: str, source: str, record: Any) -> None: ...
    # As the function.
    def judge(self, *, seconds: float = ..., seed: int = ..., stop: Callable[[], bool] | None = ...) -> Judgement: ...

def rules_from_text(text: str, *, origin: str = ...,
                    functions: Mapping[str, Callable[..., object]] | None = ...) -> RuleText: ...

class _Value:
    """A value of the source; `+ - * /` are those of ONNX, also with numbers."""

    # As an argument of a constraint: which holds, too, where this optional operand is absent.
    @property
    def if_given(self) -> Any: ...
    def __add__(self, other: _Value | float) -> _Value: ...
    def __radd__(self, other: float) -> _Value: ...
    def __sub__(self, other: _Value | float) -> _Value: ...
    def __rsub__(self, other: float) -> _Value: ...
    def __mul__(self, other: _Value | float) -> _Value: ...
    def __rmul__(self, other: float) -> _Value: ...
    def __truediv__(self, other: _Value | float) -> _Value: ...
    def __rtruediv__(self, other: float) -> _Value: ...

class _Source:
    """What is to be found. Operators are attributes: src.Relu(x, ...), src.fused.linear(x, w); a last operand `...`
    frees all attributes that are not named, `results=n` gives n of an operator's, `regions={0: [t]}` is what they
    return; `src.Relu | src.Tanh` is one of several, op.attrs(axis=1) one with attributes."""

    absent: Any  # of an attribute: not written out
    def tensor(self, name: str = ...) -> _Value: ...
    def tensors(self, name: str = ...) -> _Value: ...  # all operands that are left
    def attr(self, name: str = ..., given: bool = ...) -> Any: ...  # a variable; written out
    def optional(self, value: str | _Value) -> _Value: ...  # may be absent
    def splat(self, number: float, tolerance: float | None = ...) -> _Value: ...
    def keep(self, value: _Value) -> _Value: ...  # may have users outside, for which its operation stays
    def recompute(self, value: _Value) -> _Value: ...  # and all below it
    def outside(self, value: _Value) -> _Value: ...  # may be made in a block around its user
    def not_(self, value: _Value, pattern: _Value) -> _Value: ...  # is not made by that
    def either(self, *values: _Value) -> _Value: ...
    def skip(self, value: _Value, *ops: Any, same_type: Sequence[Any] = ...) -> _Value: ...
    @staticmethod
    def one_of(*values: Any) -> Any: ...  # of an attribute
    @staticmethod
    def given(*values: Any) -> Any: ...  # likewise, and written out
    def op(self, name: str) -> Any: ...  # "fused.linear"
    def any_op(self, *traits: str) -> Any: ...
    def named(self, name: str) -> Any: ...  # an operator that no dialect defines
    def repeat(self, op: Any, least: int, most: int) -> Any: ...
    def each(self, op: Any) -> Callable[[_Value], _Value]: ...
    # What must hold: a word, weft.rank_is(x, 3), or a function, which is given what the match has for the arguments, or
    # for the values and variables that are called as its parameters are. profitable: for the rewrite to gain something.
    def require(self, constraint: Any, why: str = ..., *arguments: Any) -> None: ...
    def profitable(self, constraint: Any, why: str = ..., *arguments: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class _Replacement:
    """What stands in its place. Operators as those of the source, with `attrs_of=y`: all attributes of the operation
    that made y, but for those given; `at=y` or text: their location. An attribute is a literal, a variable or computed:
    perm=weft.compose(p, q)."""

    def op(self, name: str) -> Any: ...
    def like(self, value: _Value) -> Any: ...  # the operation, or chain, that made it again
    def each(self, op: Any) -> Any: ...
    def constant(self, value: Any) -> Any: ...  # an array of at most 16 elements, or computed
    def __getattr__(self, name: str) -> Any: ...

# Makes a rule of a function that returns what is to be replaced and with what, or a list of such pairs. A wrong rule is
# an InvalidArgumentError with its line.
#   numerics  what it does to numbers: exact, reassociates, approximate, changes-meaning
#   name      the function's, with dashes
#   benefit   larger is tried first: the number of operations of the source
#   algebra   a line, before => after
def rule(numerics: str, *, name: str | None = ..., benefit: int | None = ...,
         algebra: str | None = ...) -> Callable[[Callable[[_Source, _Replacement], Any]], Rule]: ...

@dataclass(frozen=True)
class Judgement:
    rule: str
    numerics: str
    verdict: str  # "tested", "refuted", "unjudged"
    badge: str  # "tested 24", "native: tested 8"
    why: str  # one line: why it is refuted or unjudged
    counterexample: str  # of a refuted one, in lines: the program, the inputs, both results
    programs: int  # that were compared
    comparisons: int  # of results on one set of inputs

# On programs that are made from it, without Z3: what `ir-opt --verify-rules` proves is "tested" here. Of a Rule; of
# texts and files, all of theirs.
#   seconds  of CPU time, each
@overload
def judge(rule: Rule, *, seconds: float = ..., seed: int = ..., stop: Callable[[], bool] | None = ...) -> Judgement: ...
@overload
def judge(rule: RuleText | _Path, *, seconds: float = ..., seed: int = ...,
          stop: Callable[[], bool] | None = ...) -> list[Judgement]: ...

class MatchedValue:
    """What a function of a rule's is given for a value, during its call. What it asks of a size that is not known, but
    whether that is equal to itself, makes the constraint not hold."""

    type: str  # 'tensor<"N"x8xf32>'
    dtype: str | None  # "f32"
    has_rank: bool
    is_constant: bool
    def __init__(self, argument: Any) -> None: ...
    @property
    def shape(self) -> tuple[Any, ...]: ...
    @property
    def rank(self) -> int: ...
    @property
    def array(self) -> np.ndarray[Any, Any] | None: ...  # a copy; None of what is no constant
    def forget(self) -> None: ...

# Constraints and computed attributes of rules, as `ir-opt --list-constraints` lists them: weft.rank_is(x, 3).
def __getattr__(name: str) -> Callable[..., Any]: ...

@dataclass(frozen=True)
class ValueInfo:
    name: str
    dtype: str | None  # "f32", ...; None where unknown, as of what an operator makes that nobody knows
    shape: tuple[int | None, ...]  # None where open; () for an unknown rank, too
    type: str  # 'tensor<"N"x8xf32>'
    has_default: bool  # an input that may be left out
    numpy_dtype: np.dtype[Any]  # of arrays: of types that numpy lacks (bf16, i4, ...) the bits
    is_tensor: bool  # else a sequence or an optional, of whose tensors the dtype is

class Session:
    """A model made ready to run, which keeps what it needs of it. Any number of threads may run it at once."""

    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    threads: int  # that run, the caller among them
    isa: str  # of our own kernels: "avx2", ...
    #   threads   that run, the caller among them; 0: as many as there are CPUs for us
    #   isa       portable, avx2, avx512, amx; None: the best of the machine
    #   provider  kernels: auto, native, xnnpack, reference
    #   pipeline  what is done to a copy of the model first; "none" is nothing; None: fuse
    #   threads_of  a session of any model, whose threads this one uses too
    #   bound_outputs  outputs that lie where an input lies, {"present": "past"}: run is given arrays that begin at one
    #                  address for both, with memory for the larger, and so `outputs`
    #   matmul_precision  of products on amx: float32; where numerics are approximate, bf16x2 or bf16, too
    def __init__(self, model: _Source, *, threads: int = ..., isa: str | None = ..., provider: str | None = ...,
                 pipeline: str | None = ..., numerics: str | None = ..., oversubscribe: bool = ...,
                 threads_of: Session | None = ..., bound_outputs: Mapping[str, str] | None = ...,
                 matmul_precision: str | None = ...) -> None: ...
    # Inputs that are contiguous are not copied, and outputs are memory of the library's, which lives as long as an
    # array of it; with `outputs`, kernels write into those arrays, which must be all of them and overlap nothing but
    # the input that they are bound to. No type is converted.
    # The GIL is released; `stop` takes it before each operation. On the main thread ^C ends the run before its next
    # operation, in loops too, unless SIGINT has a handler other than Python's own: that runs behind the run.
    # A sequence is a list of arrays, given (and then copied) and returned, an optional None or what it holds.
    def run(self, inputs: Mapping[str, Any], outputs: Mapping[str, np.ndarray[Any, Any]] | None = ..., *,
            stop: Callable[[], bool] | None = ...) -> dict[str, Any]: ...
