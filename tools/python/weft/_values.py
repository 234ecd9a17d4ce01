"""Values and variables of a rule."""
import numbers

from ._record import Label


class _Arithmetic:
    """That of ONNX."""

    def __add__(self, other):
        return self.binary("Add", self, other)

    def __radd__(self, other):
        return self.binary("Add", other, self)

    def __sub__(self, other):
        return self.binary("Sub", self, other)

    def __rsub__(self, other):
        return self.binary("Sub", other, self)

    def __mul__(self, other):
        return self.binary("Mul", self, other)

    def __rmul__(self, other):
        return self.binary("Mul", other, self)

    def __truediv__(self, other):
        return self.binary("Div", self, other)

    def __rtruediv__(self, other):
        return self.binary("Div", other, self)


class Value(_Arithmetic, Label):
    """A value of the source."""
    sigil = "%"

    def __init__(self, src, name="", is_list=False):
        super().__init__(src.record, name)
        self._src, self.is_list = src, is_list

    @property
    def if_given(self):
        """As an argument of a constraint: which holds, too, where this optional operand is absent."""
        return _IfGiven(self)

    def operand(self):
        return self.label() + ("*" if self.is_list else "")

    def binary(self, name, a, b):
        if isinstance(a, ResultValue) or isinstance(b, ResultValue):
            return NotImplemented  # which that one knows
        return getattr(self._src, name)(a, b)


class ResultValue(_Arithmetic, Label):
    """A value of the result."""
    sigil = "!"

    def __init__(self, res, is_list=False):
        super().__init__(res.record, "")
        self._res, self.is_list = res, is_list

    def operand(self):
        return self.label() + ("*" if self.is_list else "")

    def binary(self, name, a, b):
        for value in (a, b):
            if isinstance(value, numbers.Real):
                raise TypeError(f"{value} has no type here: write res.constant(weft.scalar(x, {value})), "
                                "which has that of x")
        return getattr(self._res, name)(a, b)


class Attr(Label):
    """A variable for an attribute: bound twice, it is equal."""
    sigil = "$"

    def __init__(self, src, name="", given=False):
        super().__init__(src.record, name)
        self._given = given

    def pattern(self):
        return self.label() + (" given" if self._given else "")


class _IfGiven:
    def __init__(self, value):
        self._value = value

    def label(self):
        return self._value.label() + "?"
