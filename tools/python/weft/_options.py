"""The options of optimize, as a struct of C's for a call."""
import ctypes
import os
import warnings

from . import _library as c
from ._progress import Progress
from ._record import where
from ._rule import RuleText, Texts


def list_of(rules):
    return [rules] if isinstance(rules, (str, bytes, os.PathLike, RuleText)) else list(rules)


def warn(line):
    """As of whoever called the module."""
    file, number = where()
    warnings.warn_explicit(line, UserWarning, file, number)


def _shapes(input_shapes):
    shapes = (c.InputShape * len(input_shapes))()
    for shape, (name, dims) in zip(shapes, input_shapes.items()):
        shape.input, shape.dims, shape.rank = name.encode(), (ctypes.c_int64 * len(dims))(*dims), len(dims)
    return shapes, len(input_shapes)


def _dims(dims):
    return (c.Dim * len(dims))(*((name.encode(), size) for name, size in dims.items())), len(dims)


def with_options(call, *, pipeline=None, passes=(), rules=(), trust_rules=False, enable_rules=(), disable_rules=(),
                 numerics=None, dims=None, input_shapes=None, check=0, check_tolerance=None, target_opset=0,
                 record_rewrites=False, picture=False, progress=None, stop=None):
    """What call(options) returns."""
    rules = list_of(rules)

    def tell(_, step):
        step = step.contents
        told(step.pass_.decode(), step.number, step.count, step.operations)

    with Progress(progress) as told, Texts(rule for rule in rules if isinstance(rule, RuleText)) as texts:
        options = c.OptimizeOptions(
            pipeline=c.text(pipeline), numerics=c.text(numerics), check=check, trust_rules=trust_rules,
            target_opset=target_opset, record_rewrites=record_rewrites, rules=texts.array, num_rules=len(texts.rules),
            notice=texts.notice(warn), picture=picture,
            progress=c.PROGRESS(texts.guard(tell)), stop=texts.stop(stop))
        options.passes, options.num_passes = c.texts(passes)
        options.rules_files, options.num_rules_files = c.texts(r for r in rules if not isinstance(r, RuleText))
        options.enabled_rules, options.num_enabled_rules = c.texts(enable_rules)
        options.disabled_rules, options.num_disabled_rules = c.texts(disable_rules)
        options.dims, options.num_dims = _dims(dims or {})
        options.input_shapes, options.num_input_shapes = _shapes(input_shapes or {})
        if check_tolerance is not None:
            options.check_tolerance = ctypes.pointer(ctypes.c_double(check_tolerance))
        return call(ctypes.byref(options), texts)
