"""Models, and optimising them."""
import ctypes
import json
import os
import weakref

from . import _html
from . import _library as c
from ._options import list_of, warn, with_options
from ._rule import Rule


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
        return Result(self, *_report(self._handle, pipeline=pipeline, **options))

    def explain(self, rule, pipeline=None, *, at=None, **options):
        if isinstance(rule, Rule):
            rules = list_of(options.get("rules", ()))
            options["rules"] = rules if rule in rules else [*rules, rule]
            rule = rule.name
        what = rule if at is None else f"{rule}@{at}"

        def answer(given, texts):
            made = c.make("weft_model_explain", self._handle, c.text(what), given)
            return texts.place(c.take_bytes(made).decode(errors="replace"))
        return with_options(answer, pipeline=pipeline, **options)

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

    def summary(self):
        return json.loads(c.take_bytes(c.make("weft_model_summary", self._handle)))

    def _repr_html_(self):
        return _html.of_model(self.summary())


class Result:
    """A model that was optimised, and what was done to it."""

    def __init__(self, model, report, text, page):
        self.model = model
        self.report = report
        self._text = text
        self._page = page

    stats = property(lambda self: self.report["rules"])
    rewrites = property(lambda self: self.report["rewrites"])
    size_before = property(lambda self: self.report["before"])
    size_after = property(lambda self: self.report["after"])
    ops_before = property(lambda self: self.report["ops_before"])
    ops_after = property(lambda self: self.report["ops_after"])

    def report_html(self):
        if self._page is None:
            raise ValueError("no picture was made; optimize(..., picture=True) makes one")
        return self._page

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<weft.Result: operations {self.ops_before} -> {self.ops_after}>"

    def _repr_html_(self):
        return _html.of_result(self.report)


def optimize(model, pipeline=None, **options):
    """Of a Model, an onnx.ModelProto, bytes or a path; a Model stays what it was."""
    model = model.clone() if isinstance(model, Model) else model_of(model)
    return model.optimize(pipeline, **options)


def explain(model, rule, pipeline=None, *, at=None, **options):
    """Why a rule does not apply in such a run, or where it does, in lines."""
    return model_of(model).explain(rule, pipeline, at=at, **options)


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
        warn(text.decode(errors="replace"))


def _report(handle, **options):
    """As (dict, text, page or None)."""
    report = with_options(lambda given, _: c.make("weft_model_optimize", handle, given), **options)
    try:
        page = c.library.weft_report_html(report)
        return (json.loads(c.library.weft_report_json(report)),
                c.library.weft_report_text(report).decode(errors="replace"), page and page.decode())
    finally:
        c.library.weft_report_free(report)
