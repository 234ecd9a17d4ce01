"""The options of optimize: what they may be, and as a struct of C's for a call."""
import ctypes
import dataclasses
import functools
import inspect
import numbers
import os
import warnings
from collections.abc import Callable, Mapping

from . import _library as c
from ._progress import Progress
from ._record import where
from ._rule import RuleText, Texts
from ._vocabulary import did_you_mean

DOCUMENTATION = """\
pipeline         what is done: "simplify" (ONNX to ONNX, the default), "fuse" (for Weft's kernels), "ort" (for ONNX
                 Runtime), ...; `ir-opt --list-passes` tells of all
passes           names of passes, instead of the pipeline
rules            rules that run before all passes, once judged: files of them, those of @weft.rule and
                 weft.rules_from_text; files come first
trust_rules      they are not judged
enable_rules     names of rules that only run where they are asked for
disable_rules    names of rules that are left out
numerics         what rules may do to numbers: "exact", "reassociates" (the default), "approximate",
                 "changes-meaning"
dims             sizes of symbolic dimensions: {"N": 8}
input_shapes     shapes of inputs, where the model leaves sizes open: {"x": [8, 3]}
check            on how many sets of random inputs outputs before and after are compared, to 1000
check_tolerance  how much of the largest element they may differ by, instead of what `numerics` allows
target_opset     of the ONNX model to be written, 13 to 27; 0: that of the model that was read
record_rewrites  Result.rewrites has every single one, for a tenth of the time of passes
picture          the page of Result.report_html() is made during the run, which that would do once more
progress         called before every pass with its name, its number from 1, how many there are, and the operations
                 before it; True: a line of it on a terminal (stderr) or in a notebook
stop             asked around passes and runs of the check, and while rules are judged; True raises CancelledError
"""
_NAME = (str, bytes)
_PATH = (str, bytes, os.PathLike)


def warn(line):
    """As of whoever called the module."""
    file, number = where()
    warnings.warn_explicit(line, UserWarning, file, number)


def _checked(value, kinds, what):
    if not isinstance(value, kinds):
        raise TypeError(f"{what}, found {type(value).__name__}")
    return value


def _list(given, kinds, what):
    """Of one or several."""
    try:
        found = [given] if isinstance(given, kinds) else list(given)
    except TypeError:
        found = [given]
    return [_checked(one, kinds, what) for one in found]


@dataclasses.dataclass(kw_only=True)
class Options:
    """Of optimize, each of the right type and the caller's no more."""
    pipeline: str = None
    passes: list = ()
    rules: list = ()
    trust_rules: bool = False
    enable_rules: list = ()
    disable_rules: list = ()
    numerics: str = None
    dims: dict = None
    input_shapes: dict = None
    check: int = 0
    check_tolerance: float = None
    target_opset: int = 0
    record_rewrites: bool = True
    picture: bool = False
    progress: object = None
    stop: object = None

    def __post_init__(self):
        for name in ("pipeline", "numerics"):
            _checked(getattr(self, name), (str, bytes, type(None)), f"{name} is a name or None")
        for name in ("passes", "enable_rules", "disable_rules"):
            setattr(self, name, _list(getattr(self, name), _NAME, f"{name} are names"))
        self.rules = _list(self.rules, (*_PATH, RuleText),
                           "rules are files, or made by @weft.rule or weft.rules_from_text")
        for name in ("trust_rules", "record_rewrites", "picture"):
            setattr(self, name, bool(c.integer(name, getattr(self, name), 64)))
        self.check = c.integer("check", self.check, 32)
        self.target_opset = c.integer("target_opset", self.target_opset, 64)
        _checked(self.check_tolerance, (numbers.Real, type(None)), "check_tolerance is a number or None")
        self.dims = dict(_checked(self.dims or {}, Mapping, "dims are {name: size}"))
        for name, size in self.dims.items():
            self.dims[name] = c.integer(f"the size of dimension '{name}'", size, 64)
        self.input_shapes = dict(_checked(self.input_shapes or {}, Mapping, "input_shapes are {name: [size, ...]}"))
        for name, shape in self.input_shapes.items():
            sizes = _list(shape, numbers.Integral, f"the shape of input '{name}' is a list of numbers")
            self.input_shapes[name] = [c.integer(f"a size of input '{name}'", size, 64) for size in sizes]
        _checked(self.progress, (bool, Callable, type(None)), "progress is a function, True or None")
        _checked(self.stop, (Callable, type(None)), "stop is a function or None")

    def call(self, function, warned=warn):
        """What function(options of C's, Texts) returns."""
        def tell(_, step):
            step = step.contents
            told(step.pass_.decode(), step.number, step.count, step.operations)

        texts = Texts(rule for rule in self.rules if isinstance(rule, RuleText))
        with Progress(self.progress) as told, texts:
            options = self._struct(texts)
            options.notice = texts.notice(warned)
            options.progress, options.stop = c.PROGRESS(texts.guard(tell)), texts.stop(self.stop)
            return function(ctypes.byref(options), texts)

    def _struct(self, texts):
        options = c.OptimizeOptions(
            pipeline=c.text(self.pipeline), numerics=c.text(self.numerics), check=self.check,
            trust_rules=self.trust_rules, target_opset=self.target_opset, record_rewrites=self.record_rewrites,
            rules=texts.array, num_rules=len(texts.rules), picture=self.picture)
        files = [rule for rule in self.rules if not isinstance(rule, RuleText)]
        options.passes, options.num_passes = c.texts(self.passes)
        options.rules_files, options.num_rules_files = c.texts(files)
        options.enabled_rules, options.num_enabled_rules = c.texts(self.enable_rules)
        options.disabled_rules, options.num_disabled_rules = c.texts(self.disable_rules)
        dims = [c.Dim(c.utf8(name), size) for name, size in self.dims.items()]
        options.dims, options.num_dims = (c.Dim * len(dims))(*dims), len(dims)
        shapes = [c.InputShape(c.utf8(name), (ctypes.c_int64 * len(shape))(*shape), len(shape))
                  for name, shape in self.input_shapes.items()]
        options.input_shapes, options.num_input_shapes = (c.InputShape * len(shapes))(*shapes), len(shapes)
        if self.check_tolerance is not None:
            options.check_tolerance = ctypes.pointer(ctypes.c_double(float(self.check_tolerance)))
        return options


def takes_options(function):
    """Its **options are those of optimize, which its signature and documentation then name; it refuses others."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
    named = {p.name for p in own}
    options = [p.replace(annotation=p.empty) for p in inspect.signature(Options).parameters.values()
               if p.name not in named]
    known = [p.name for p in (*own, *options)]

    @functools.wraps(function)
    def checked(*given, **others):
        for name in others:
            if name not in known:
                raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument '{name}'"
                                f"{did_you_mean(name, known)}")
        return function(*given, **others)
    checked.__signature__ = signature.replace(parameters=[*own, *options])
    documentation = inspect.cleandoc(function.__doc__)
    checked.__doc__ = documentation + ("\n" if "\n\n" in documentation else "\n\n") + DOCUMENTATION
    return checked
