"""What a match has for the arguments of a rule's function."""
import contextlib
import ctypes

import numpy as np

from . import _library as c
from ._dtypes import DTYPES, STRING

VALUE, LIST, BOOL, INT, FLOAT, TEXT, INTS, FLOATS, TEXTS, DTYPE, TENSOR = range(1, 12)


class NotKnown(Exception):
    """A size or a rank was asked for that is not known: then the constraint is not proved."""


class Dim:
    """A size that is not a number: what is asked of it is not known, but that it is equal to itself."""

    def __init__(self, symbol):
        self.symbol = symbol  # "N", "2*N", or None

    def __eq__(self, other):
        if isinstance(other, Dim) and self.symbol is not None and self.symbol == other.symbol:
            return True
        raise NotKnown

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def _refuse(self, *_):
        raise NotKnown

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = __float__ = __neg__ = __abs__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refuse
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _refuse

    def __repr__(self):
        return self.symbol or "?"


class Shape(tuple):
    """Sizes; that of an axis that there is not is not known either."""

    def __getitem__(self, axis):
        try:
            return super().__getitem__(axis)
        except IndexError:
            raise NotKnown from None


class MatchedValue:
    """A value that was matched, during the call of the function that it is given to."""

    def __init__(self, argument):
        self.type = argument.type.decode(errors="replace")  # 'tensor<"N"x8xf32>'
        self.dtype = DTYPES[argument.dtype][0] if argument.dtype else None
        self.has_rank = bool(argument.has_rank)
        self.is_constant = bool(argument.data) or (self.has_rank and 0 in argument.dims[:argument.rank])
        self._dims = Shape(dim if dim >= 0 else Dim(symbol and symbol.decode())
                           for dim, symbol in zip(argument.dims[:argument.rank], argument.symbols[:argument.rank]))
        self._argument, self._array = argument, None

    @property
    def shape(self):
        """Sizes that are ints, or else know nothing but that they are equal to themselves."""
        if not self.has_rank:
            raise NotKnown
        return self._dims

    @property
    def rank(self):
        """How many sizes there are."""
        return len(self.shape)

    @property
    def array(self):
        """A copy of the contents of a constant; None of what is none."""
        if self._array is None and self.is_constant:
            if self._argument is None:
                raise ValueError("the contents of a matched value are there during the call only")
            self._array = _array(self._argument, self._dims)
        return self._array

    def forget(self):
        """The call is over."""
        self._argument = None

    def __repr__(self):
        return f"<weft.MatchedValue {self.type}>"


def _array(argument, shape):
    dtype = np.dtype(DTYPES[argument.dtype][1])
    if argument.dtype == STRING:
        strings = ctypes.cast(argument.data, ctypes.POINTER(c.String))
        count = argument.num_bytes // ctypes.sizeof(c.String)
        texts = [ctypes.string_at(strings[i].data, strings[i].num_bytes).decode(errors="surrogateescape")
                 for i in range(count)]
        return np.array(texts, dtype).reshape(shape)
    data = ctypes.string_at(argument.data, argument.num_bytes) if argument.num_bytes else b""
    return np.frombuffer(data, dtype).reshape(shape)


class _Values:
    def __init__(self, arguments, count):
        self._matched = []
        self._values = [self._value(arguments[i].contents) for i in range(count)]

    def _value(self, argument):
        kind = argument.kind
        if kind in (VALUE, TENSOR):
            self._matched.append(MatchedValue(argument))
            return self._matched[-1] if kind == VALUE else self._matched[-1].array
        if kind == LIST:
            return [self._value(argument.elements[i].contents) for i in range(argument.count)]
        if kind == DTYPE:
            return DTYPES[argument.dtype][0]
        if kind in (BOOL, INT, INTS):
            found = argument.integers[:argument.count]
        elif kind in (FLOAT, FLOATS):
            found = argument.numbers[:argument.count]
        elif kind in (TEXT, TEXTS):
            found = [ctypes.string_at(s.data, s.num_bytes).decode(errors="surrogateescape")
                     for s in argument.strings[:argument.count]]
        else:
            return argument.type and argument.type.decode(errors="replace")  # None of what is absent
        if kind in (INTS, FLOATS, TEXTS):
            return list(found)
        return bool(found[0]) if kind == BOOL else found[0]

    def ask(self, function):
        try:
            return 1 if function(*self._values) else 0
        except NotKnown:
            return 0

    def forget(self):
        for value in self._matched:
            value.forget()


@contextlib.contextmanager
def arguments_of(arguments, count):
    """They are what the library has, until the end of `with`."""
    values = _Values(arguments, count)
    try:
        yield values
    finally:
        values.forget()
