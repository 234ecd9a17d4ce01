"""Models, and optimising them."""
import ctypes
import dataclasses
import json
import os

from . import _html
from . import _library as c
from ._options import Options, takes_options, warn
from ._rule import Rule


class Model:
    """A model in memory. Made by load, from_bytes, from_onnx and from_text, of which

        fold_default_inputs  makes constants of inputs that may be left out

    Its functions and those of its sessions may be called by several threads."""

    def __init__(self, handle):
        if not isinstance(handle, c.Handle):
            raise TypeError("a weft.Model is made by load, from_bytes, from_onnx or from_text")
        self._handle = handle

    @classmethod
    def load(cls, path, *, fold_default_inputs=False, allow_hard_links=False):
        """Of .onnx (opsets 1 to 27, any size) or .ir, Weft's text. Large weights stay in the file, which must not be
        changed in place. allow_hard_links: external data in files that have other names, too."""
        return cls(_make("weft_model_load", [c.text(path)], fold_default_inputs, allow_hard_links))

    @classmethod
    def from_bytes(cls, data, *, fold_default_inputs=False):
        """Of ONNX in memory; external data is refused."""
        data = bytes(memoryview(data))
        return cls(_make("weft_model_from_bytes", [data, len(data)], fold_default_inputs))

    @classmethod
    def from_onnx(cls, proto, *, fold_default_inputs=False):
        """Of an onnx.ModelProto of less than 2 GiB."""
        return cls.from_bytes(proto.SerializeToString(), fold_default_inputs=fold_default_inputs)

    @classmethod
    def from_text(cls, text, *, fold_default_inputs=False):
        """Of Weft's text, as str() gives it."""
        return cls(_make("weft_model_from_text", [c.utf8(text, "the text of a model")], fold_default_inputs))

    def clone(self):
        """Another model, which shares the weights."""
        return Model(c.Handle("model", c.make("weft_model_clone", self._handle)))

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return self.clone()

    @takes_options
    def optimize(self, pipeline=None, **options):
        """Optimises this model itself, which is what it was after an error. ^C ends it between passes."""
        options = Options(pipeline=pipeline, **options)
        before = None if options.picture else self.clone()
        return Result(self, *_report(self._handle, options), before, options)

    @takes_options
    def explain(self, rule, pipeline=None, *, at=None, **options):
        """Why a rule does not apply in a run with these options, or where it does, in lines: before the first pass that
        has it, and after the run.

        rule             its name, or a Rule, which need not be among `rules`
        at               a value by name, or %N as the program after the run numbers it"""
        options = Options(pipeline=pipeline, **options)
        if isinstance(rule, Rule):
            options.rules += [] if rule in options.rules else [rule]
            rule = rule.name
        what = rule if at is None else f"{rule}@{at}"

        def answer(given, texts):
            made = c.make("weft_model_explain", self._handle, c.text(what), given)
            return texts.place(c.take_bytes(made).decode(errors="replace"))
        return options.call(answer)

    def save(self, path, *, full_weights=False, inline_functions=False, target_opset=0):
        """Writes .onnx or .ir, by the suffix of the path. The file is complete or untouched.

        full_weights      .ir: weights in the text, and in no side file
        inline_functions  .onnx: fused operations as plain ONNX, for runtimes without functions
        target_opset      .onnx: 13 to 27; 0: that of the model that was read"""
        options = _save_options(inline_functions, target_opset, full_weights=bool(full_weights))
        c.call("weft_model_save", self._handle, c.text(path), ctypes.byref(options))

    def to_bytes(self, *, inline_functions=False, target_opset=0):
        """As save writes to .onnx, of less than 2 GiB."""
        options = _save_options(inline_functions, target_opset)
        return c.take_bytes(c.make("weft_model_to_bytes", self._handle, ctypes.byref(options)))

    def to_onnx(self, *, inline_functions=False, target_opset=0):
        """As an onnx.ModelProto."""
        import onnx  # pylint: disable=import-outside-toplevel
        return onnx.ModelProto.FromString(self.to_bytes(inline_functions=inline_functions, target_opset=target_opset))

    @property
    def num_operations(self):
        """At the top and in regions."""
        count = ctypes.c_size_t()
        c.call("weft_model_num_operations", self._handle, ctypes.byref(count))
        return count.value

    def __str__(self):
        return c.take_bytes(c.make("weft_model_to_text", self._handle)).decode(errors="replace")

    def __repr__(self):
        return f"<weft.Model: {self.num_operations} operations>"

    def summary(self):
        """Inputs and outputs [{name, type}], operators [{name, count}]; notebooks show it as tables."""
        return json.loads(c.take_bytes(c.make("weft_model_summary", self._handle)))

    def _repr_html_(self):
        return _html.of_model(self.summary())


class Result:
    """A model that was optimised, and what was done to it.

    model   the optimised one
    report  what weft/c_api.h has at weft_report_json, as a dict"""

    def __init__(self, model, report, text, page, before, options):
        self.model = model
        self.report = report
        self._text = text
        self._page = page
        self._before = before  # without a page
        self._options = dataclasses.replace(options, picture=True, trust_rules=True, progress=None, stop=None)

    @property
    def stats(self):
        """Of every rule that matched somewhere: pass, rule, matched, applied, ops_erased, ops_created, declines."""
        return self.report["rules"]

    @property
    def rewrites(self):
        """Every single one, in order: number, pass, rule, site, removed, added, which are names of operations. Empty
        with record_rewrites=False."""
        return self.report["rewrites"]

    @property
    def size_before(self):
        """operations, parameters, parameter_bytes, flops, uncounted_operations, arena_bytes (None where unknown)."""
        return self.report["before"]

    @property
    def size_after(self):
        """The same of the model as it is."""
        return self.report["after"]

    @property
    def ops_before(self):
        """How many operations there were."""
        return self.report["ops_before"]

    @property
    def ops_after(self):
        """How many there are."""
        return self.report["ops_after"]

    def report_html(self):
        """A page for a browser that needs nothing else, with both graphs and what became what. Unless picture=True made
        it during the run, the first call does that once more, on the model as it was, its check too; files of rules
        must still be there."""
        if self._page is None:
            model = self._before.clone()
            report, _, self._page = _report(model._handle, self._options, lambda line: None)
            if _applied(report) != _applied(self.report):
                warn("the picture is of another run, in which other rules were applied; picture=True draws the first")
        return self._page

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<weft.Result: operations {self.ops_before} -> {self.ops_after}>"

    def _repr_html_(self):
        return _html.of_result(self.report)


@takes_options
def optimize(model, pipeline=None, **options):
    """Optimises a model, and says what was done: a Result. ^C ends it between passes.

    model            an onnx.ModelProto, bytes, a path of any size, or a Model, which stays what it was"""
    model = model.clone() if isinstance(model, Model) else model_of(model)
    return model.optimize(pipeline, **options)


@takes_options
def explain(model, rule, pipeline=None, *, at=None, **options):
    """Why a rule does not apply in a run with these options, or where it does, in lines: before the first pass that has
    it, and after the run.

    model            an onnx.ModelProto, bytes, a path or a Model
    rule             its name, or a Rule, which need not be among `rules`
    at               a value by name, or %N as the program after the run numbers it"""
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
        options = c.LoadOptions(fold_default_inputs=bool(fold_default_inputs),
                                allow_hard_links=bool(allow_hard_links), notice=notice)
        return c.Handle("model", c.make(function, *arguments, ctypes.byref(options)))


def _save_options(inline_functions, target_opset, **others):
    return c.SaveOptions(inline_functions=bool(inline_functions),
                         target_opset=c.integer("target_opset", target_opset, 64), **others)


def _show_notice(_, kind, text):
    if kind == c.NOTICE_WARNING:
        warn(text.decode(errors="replace"))


def _applied(report):
    return [(rule["pass"], rule["rule"], rule["applied"]) for rule in report["rules"] if rule["applied"]]


def _report(handle, options, warned=warn):
    """As (dict, text, page or None)."""
    report = options.call(lambda given, _: c.make("weft_model_optimize", handle, given), warned)
    try:
        page = c.library.weft_report_html(report)
        return (json.loads(c.library.weft_report_json(report)),
                c.library.weft_report_text(report).decode(errors="replace"), page and page.decode())
    finally:
        c.library.weft_report_free(report)
