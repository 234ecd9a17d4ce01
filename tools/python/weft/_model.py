"""Models, and optimising them."""
import ctypes
import json
import os
import warnings
import weakref

from . import _library as c
from ._errors import Error


class Model:
    """A model in memory. Made by load, from_bytes, from_onnx and from_text."""

    def __init__(self, handle):
        self._handle = handle
        weakref.finalize(self, c.library.weft_model_free, handle).atexit = False

    @classmethod
    def load(cls, path, *, fold_default_inputs=False, allow_hard_links=False):
        return cls(_make("weft_model_load", [c.text(path)], fold_default_inputs, allow_hard_links))

    @classmethod
    def from_bytes(cls, data, *, fold_default_inputs=False):
        data = bytes(data)
        return cls(_make("weft_model_from_bytes", [data, len(data)], fold_default_inputs))

    @classmethod
    def from_onnx(cls, proto, *, fold_default_inputs=False):
        return cls.from_bytes(proto.SerializeToString(), fold_default_inputs=fold_default_inputs)

    @classmethod
    def from_text(cls, text, *, fold_default_inputs=False):
        return cls(_make("weft_model_from_text", [text.encode()], fold_default_inputs))

    def clone(self):
        return Model(c.make("weft_model_clone", self._handle))

    def optimize(self, pipeline=None, **options):
        report = _optimize(self._handle, pipeline=pipeline, **options)
        return Result(self, *report)

    def save(self, path, *, full_weights=False, inline_functions=False, target_opset=0):
        options = c.SaveOptions(full_weights=full_weights, inline_functions=inline_functions,
                                target_opset=target_opset)
        c.call("weft_model_save", self._handle, c.text(path), ctypes.byref(options))

    def to_bytes(self, *, inline_functions=False, target_opset=0):
        options = c.SaveOptions(inline_functions=inline_functions, target_opset=target_opset)
        return c.take_bytes(c.make("weft_model_to_bytes", self._handle, ctypes.byref(options)))

    def to_onnx(self, **options):
        import onnx  # pylint: disable=import-outside-toplevel
        return onnx.ModelProto.FromString(self.to_bytes(**options))

    @property
    def num_operations(self):
        count = ctypes.c_size_t()
        c.call("weft_model_num_operations", self._handle, ctypes.byref(count))
        return count.value

    def __str__(self):
        return c.take_bytes(c.make("weft_model_to_text", self._handle)).decode(errors="replace")

    def __repr__(self):
        return f"<weft.Model: {self.num_operations} operations>"


class Result:
    """A model that was optimised, and what was done to it."""

    def __init__(self, model, report, text):
        self.model = model
        self.report = report
        self._text = text

    stats = property(lambda self: self.report["rules"])
    rewrites = property(lambda self: self.report["rewrites"])
    ops_before = property(lambda self: self.report["ops_before"])
    ops_after = property(lambda self: self.report["ops_after"])

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<weft.Result: operations {self.ops_before} -> {self.ops_after}>"


def optimize(model, pipeline=None, **options):
    """Of a Model, an onnx.ModelProto, bytes or a path; a Model stays what it was."""
    model = model.clone() if isinstance(model, Model) else model_of(model)
    return model.optimize(pipeline, **options)


def model_of(source):
    if isinstance(source, Model):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Model.from_bytes(source)
    if isinstance(source, (str, os.PathLike)):
        return Model.load(source)
    if hasattr(source, "SerializeToString"):
        return Model.from_onnx(source)
    raise TypeError(f"expected a weft.Model, an onnx.ModelProto, bytes or a path, found {type(source).__name__}")


def _make(function, arguments, fold_default_inputs, allow_hard_links=False):
    with c.Callbacks() as callbacks:
        notice = c.NOTICE(callbacks.guard(_show_notice))
        options = c.LoadOptions(fold_default_inputs=fold_default_inputs, allow_hard_links=allow_hard_links,
                                notice=notice)
        return c.make(function, *arguments, ctypes.byref(options))


def _show_notice(_, kind, text):
    if kind == c.NOTICE_WARNING:
        warnings.warn(text.decode(errors="replace"), stacklevel=5)


def _shapes(input_shapes):
    shapes = (c.InputShape * len(input_shapes))()
    for shape, (name, dims) in zip(shapes, input_shapes.items()):
        shape.input, shape.dims, shape.rank = name.encode(), (ctypes.c_int64 * len(dims))(*dims), len(dims)
    return shapes, len(input_shapes)


def _dims(dims):
    return (c.Dim * len(dims))(*((name.encode(), size) for name, size in dims.items())), len(dims)


def _optimize(handle, *, pipeline, passes=(), rules=(), trust_rules=False, enable_rules=(), disable_rules=(),
              numerics=None, dims=None, input_shapes=None, check=0, check_tolerance=None, target_opset=0,
              record_rewrites=False, progress=None, stop=None):
    """The report as (dict, text)."""
    details = []  # of an error, beside its line

    def add_notice(_, kind, text):
        if kind == c.NOTICE_WARNING:
            return _show_notice(_, kind, text)
        return details.append(text.decode(errors="replace").rstrip("\n"))

    def tell(_, step):
        if progress:
            step = step.contents
            progress(step.pass_.decode(), step.number, step.count, step.operations)

    with c.Callbacks() as callbacks:
        options = c.OptimizeOptions(
            pipeline=c.text(pipeline), numerics=c.text(numerics), check=check, trust_rules=trust_rules,
            target_opset=target_opset, record_rewrites=record_rewrites,
            notice=c.NOTICE(callbacks.guard(add_notice)), progress=c.PROGRESS(callbacks.guard(tell)),
            stop=callbacks.stop(stop))
        options.passes, options.num_passes = c.texts(passes)
        options.rules_files, options.num_rules_files = c.texts(rules)
        options.enabled_rules, options.num_enabled_rules = c.texts(enable_rules)
        options.disabled_rules, options.num_disabled_rules = c.texts(disable_rules)
        options.dims, options.num_dims = _dims(dims or {})
        options.input_shapes, options.num_input_shapes = _shapes(input_shapes or {})
        if check_tolerance is not None:
            options.check_tolerance = ctypes.pointer(ctypes.c_double(check_tolerance))
        try:
            report = c.make("weft_model_optimize", handle, ctypes.byref(options))
        except Error as error:
            error.details = "\n".join(details)
            raise
    try:
        return (json.loads(c.library.weft_report_json(report)),
                c.library.weft_report_text(report).decode(errors="replace"))
    finally:
        c.library.weft_report_free(report)
