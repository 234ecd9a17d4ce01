"""Rules written in Python: what their functions record becomes the text of a rule (drr/text/rule_text.h), which is
read, judged, printed and explained as any other."""
import inspect
import numbers
import re

from . import _vocabulary as v
from ._errors import InvalidArgumentError
from ._record import Block, Record
from ._rule import Rule
from ._values import Attr, ResultValue, Value


class _Pattern:
    """What an attribute of the source may be, but for a literal or a variable."""

    def __init__(self, word, values=()):
        self._word, self._values = word, values

    def text(self, field):
        if not self._values:
            return self._word
        return f"{self._word}({', '.join(_pattern_text(value, field) for value in self._values)})"


def _pattern_text(value, field):
    if value is ...:
        return "any"
    if isinstance(value, _Pattern):
        return value.text(field)
    if isinstance(value, Attr):
        return value.pattern()
    return v.literal_text(value, field)


class Op:
    """An operator, to be applied to operands; `a | b` is one of several."""

    def __init__(self, side, definition, attributes=None, is_open=False):
        self.side, self.definition = side, definition
        self.attributes, self.is_open = attributes or {}, is_open

    def attrs(self, *more, **attributes):
        """This operator with these attributes; a last `...`: all that are not named may be anything."""
        return Op(self.side, self.definition, {**self.attributes, **attributes}, self.is_open or more == (...,))

    def __or__(self, other):
        return Ops(self.side, [self]) | other

    def field(self, name):
        return next((field for field in self.definition["attributes"] if field["name"] == name), None)

    def text(self):
        parts = [f"{name}: {_pattern_text(value, self.field(name))}" for name, value in self.attributes.items()]
        parts += ["..."] if self.is_open else []
        return self.definition["name"] + ("{" + ", ".join(parts) + "}" if parts else "")

    def __call__(self, *operands, results=None, regions=None, **attributes):
        open_ = operands[-1:] == (...,)
        op = self.attrs(*operands[-1:] if open_ else (), **attributes)
        return self.side.apply(op, operands[:-1] if open_ else operands, results, regions)


class Ops:
    """One of several operators."""

    def __init__(self, side, ops):
        self.side, self.ops, self.definition = side, ops, ops[0].definition

    def __or__(self, other):
        return Ops(self.side, self.ops + (other.ops if isinstance(other, Ops) else [other]))

    def text(self):
        return " | ".join(op.text() for op in self.ops)

    def __call__(self, *operands, results=None, regions=None):
        return self.side.apply(self, operands, results, regions)


class _Words:  # an operator that the vocabulary does not have
    definition = None

    def __init__(self, side, words):
        self.side, self._words = side, words

    def text(self):
        return self._words

    def __call__(self, *operands, results=None, regions=None):
        return self.side.apply(self, operands, results, regions)


class _Dialect:
    def __init__(self, side, prefix):
        self._side, self._prefix = side, prefix

    def __getattr__(self, name):
        return self._side.find(self._prefix + name)


class _Side:
    """Operators by name: those of ONNX alone, others behind their dialect (src.fused.linear)."""

    def __init__(self, record, make):
        self.record, self._make = record, make

    def op(self, name):
        """By its whole name, "fused.linear"."""
        operators = v.vocabulary()["operators"]
        if name not in operators:
            raise InvalidArgumentError(f"no op is called '{name}'{v.did_you_mean(name, operators)}")
        return self._make(self, operators[name])

    def find(self, name):
        operators = v.vocabulary()["operators"]
        if name not in operators and any(known.startswith(name + ".") for known in operators):
            return _Dialect(self, name + ".")
        return self.op(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        operators = v.vocabulary()["operators"]
        if "onnx." + name in operators:
            return self._make(self, operators["onnx." + name])
        try:
            return self.find(name)
        except InvalidArgumentError:
            near = v.did_you_mean(name, [known.removeprefix("onnx.") for known in operators])
            raise AttributeError(f"neither a function nor an operator is called '{name}'{near}") from None

    def results_of(self, op, results, make):
        known = op.definition["results"] if op.definition else ()
        count = sum(result["arity"] == "one" for result in known) or 1 if results is None else results
        made = tuple(make() for _ in range(count))
        return made, made[0] if results is None and count == 1 else made


class Source(_Side):
    """What is to be found."""

    def __init__(self, record):
        super().__init__(record, Op)
        self.absent = _Pattern("absent")  # an attribute that is not written out
        self.named_values = {}

    # --- values

    def _keep(self, name, value):
        if name:
            self.named_values[name] = value
        return value

    def tensor(self, name=""):
        """Any value; of one name the same."""
        return self._keep(name, Value(self, name))

    def tensors(self, name=""):
        """All operands that are left."""
        return self._keep(name, self.record.flag("list", Value(self, name, is_list=True)))

    def attr(self, name="", given=False):
        """A variable; with `given` the attribute must be written out."""
        return self._keep(name, Attr(self, name, given))

    def optional(self, value):
        """An operand that may be absent: a value, or the name of a new one."""
        value = self.tensor(value) if isinstance(value, str) else value
        return self.record.flag("optional", value)

    def splat(self, number, tolerance=None):
        """A constant that is this number everywhere: exactly where f32 has the number, else to 1e-6 of it,
        or to the tolerance."""
        value = Value(self)
        self.require(v.word("splat_is")(value, number, *([] if tolerance is None else [tolerance])))
        return value

    def keep(self, value):
        """It may have users outside, for which its operation stays."""
        return self.record.flag("keep", value)

    def recompute(self, value):
        """As keep, with all that is matched below it; what the result needs of that is made again."""
        return self.record.flag("recompute", value)

    def outside(self, value):
        """It may be made in a block around its user."""
        return self.record.flag("outside", value)

    def not_(self, value, pattern):
        """The value is not made by that pattern."""
        self.record.line(Block.FLAGS, lambda: f"not {value.label()} {pattern.label()}")
        return value

    def either(self, *values):
        """What matches one of these."""
        made = Value(self)
        self.record.line(Block.DERIVED, lambda: f"{made.label()} = either({', '.join(x.label() for x in values)})")
        return made

    def skip(self, value, *ops, same_type=()):
        """The value, or it with such operations in between; those of `same_type` must keep the type."""
        made = Value(self)
        words = [op.definition["name"] for op in ops] + [op.definition["name"] + " same_type" for op in same_type]
        self.record.line(Block.DERIVED, lambda: f"{made.label()} = skip({', '.join([value.label(), *words])})")
        return made

    # --- attributes

    @staticmethod
    def one_of(*values):
        """An attribute that is one of these."""
        return _Pattern("in", values)

    @staticmethod
    def given(*values):
        """One of these, and written out."""
        return _Pattern("given", values)

    # --- operators

    def any_op(self, *traits):
        """An operator of those traits."""
        return _Words(self, f"any[{' '.join(traits)}]")

    def named(self, name):
        """An operator that no dialect defines."""
        return _Words(self, "named " + v.quoted(name))

    def repeat(self, op, least, most):
        """A chain of such operations."""
        return _Words(self, f"repeat {least}..{most} {op.text()}")

    def each(self, op):
        """One such operation for each value of a list."""
        def apply(values):
            made = Value(self, is_list=True)
            self.record.line(Block.SOURCE, lambda: f"{made.label()} = each {op.text()}({values.label()})")
            return made
        return apply

    def apply(self, op, operands, results, regions):
        made, given = self.results_of(op, results, lambda: Value(self))
        operands = [self.splat(x) if isinstance(x, numbers.Real) else x for x in operands]
        for operand in operands:
            if operand is not None and not isinstance(operand, Value):
                raise TypeError(f"an operand of the source is a value of the source, not {operand!r}")

        def text():
            line = f"{', '.join(x.label() for x in made)} = {op.text()}({_labels(operands, 'none')})"
            for number, returned in (regions or {}).items():
                line += f" region {number} ({_labels(returned, '_')})"
            return line
        self.record.line(Block.SOURCE, text)
        return given

    # --- constraints

    def require(self, constraint, why="", *arguments):
        """A constraint of weft's vocabulary; or a function, which is given what the match has for the arguments, or
        for the values and variables that are called as its parameters are."""
        self._constrain("require", constraint, why, arguments)

    def profitable(self, constraint, why="", *arguments):
        """Without it the rewrite would be right, but no gain."""
        self._constrain("profitable", constraint, why, arguments)

    def _constrain(self, word, constraint, why, arguments):
        if isinstance(constraint, v.Formula):
            if arguments:
                raise TypeError("the arguments of a constraint are in it already")
            text = constraint.text
        elif callable(constraint):
            if not why:
                raise InvalidArgumentError("a function says nothing of itself: say what must hold")
            arguments = arguments or self._called_as(constraint)
            name = self.record.function(constraint)
            text = lambda: f"native {name}({', '.join(v.literal_text(x, None) for x in arguments)})"
        else:
            raise TypeError(f"expected a constraint, as weft.rank_is(x, 2), or a function, found {constraint!r}")
        self.record.line(Block.CONSTRAINTS, lambda: f"{word} {v.quoted(why)} {text()}")

    def _called_as(self, function):
        parameters = list(inspect.signature(function).parameters)
        for name in parameters:
            if name not in self.named_values:
                raise InvalidArgumentError(f"no value or variable of the rule is called '{name}', as the function's "
                                           f"parameter is{v.did_you_mean(name, self.named_values)}")
        return [self.named_values[name] for name in parameters]


def _labels(values, absent):
    return ", ".join(absent if value is None else value.label() for value in values)


class ResultOp:
    """An operator that is to be made. attrs_of: all attributes of the operation that made that value, but for those
    given; at: the location, of a value or as text."""

    def __init__(self, res, definition, like=None, each=False):
        self._res, self.definition, self._like, self._each = res, definition, like, each

    def __call__(self, *operands, results=None, attrs_of=None, at=None, **attributes):
        fields = {field["name"]: field for field in self.definition["attributes"]} if self.definition else {}
        made, given = self._res.results_of(self, results, lambda: ResultValue(self._res, self._each))

        def text():
            parts = [f"attrs of {attrs_of.label()}"] if attrs_of is not None else []
            parts += [f"{name}: {_result_text(value, fields.get(name))}" for name, value in attributes.items()]
            line = ", ".join(x.label() for x in made) + " = " + ("each " if self._each else "")
            line += f"like {self._like.label()}" if self._like is not None else self.definition["name"]
            line += "{" + ", ".join(parts) + "}" if parts else ""
            line += f"({', '.join('none' if x is None else x.operand() for x in operands)})"
            if at is not None:
                line += f" named {v.quoted(at)}" if isinstance(at, str) else f" at {at.label()}"
            return line
        self._res.record.line(Block.RESULT, text)
        return given


def _result_text(value, field):
    return "= " + value.text() if isinstance(value, v.Formula) else v.literal_text(value, field)


class Result(_Side):
    """What stands in its place."""

    def __init__(self, record):
        super().__init__(record, ResultOp)

    def like(self, value):
        """The operation, or chain of operations, that made the value again."""
        return ResultOp(self, None, like=value)

    def each(self, op):
        """One such operation for each value of a list."""
        return ResultOp(self, op.definition, like=op._like, each=True)

    def constant(self, value):
        """A tensor of numpy's of 16 elements at most, or what a computed attribute gives."""
        if not isinstance(value, (v.Formula, Attr)):
            v.tensor_text(value)  # which says what is wrong
        return self.op("builtin.constant")(value=value)


def rule(numerics, *, name=None, benefit=None, algebra=None):
    """Makes a rule of a function, which gets the source and the result, and returns what is to be replaced and with
    what; or pairs of those.

        @weft.rule("exact")
        def relu_relu(src, res):
            x = src.tensor("x")
            return src.Relu(src.Relu(x)), res.Relu(x)
    """
    if callable(numerics):
        raise TypeError('say what the rule does to numbers: @weft.rule("exact"), "reassociates", ...')

    def make(function):
        return Rule(*_record(function, numerics, name, benefit, algebra))
    return make


def _record(function, numerics, name, benefit, algebra):
    code = function.__code__
    record = Record((code.co_filename, code.co_firstlineno))
    source, result = Source(record), Result(record)
    returned = function(source, result)
    pairs = returned if isinstance(returned, list) else [returned]
    for pair in pairs:
        is_pair = isinstance(pair, tuple) and len(pair) == 2
        if not (is_pair and isinstance(pair[0], Value) and isinstance(pair[1], (Value, ResultValue))):
            raise TypeError(f"{function.__name__} returned {returned!r}, expected (source value, what stands in its "
                            "place), or a list of such pairs")
        record.line(Block.REPLACEMENTS, lambda p=pair: f"replace {p[0].label()} with {p[1].operand()}")
    name = name or re.sub("_+", "-", function.__name__.strip("_"))
    text = record.text(name, numerics, benefit, algebra)
    return name, text, record
