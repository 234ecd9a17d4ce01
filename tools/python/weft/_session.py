"""Running a model on arrays of numpy's."""
import ctypes
import dataclasses

import numpy as np

from . import _html
from . import _library as c
from ._dtypes import CODES, DTYPES, FIRST_OF_BITS, ML_DTYPES, STRING, UNKNOWN
from ._errors import InvalidArgumentError
from ._model import model_of


@dataclasses.dataclass(frozen=True)
class ValueInfo:
    """An input or output of a session."""
    name: str
    dtype: str | None  # "f32", ...; None where unknown, as of what an operator makes that nobody knows
    shape: tuple       # None where open
    type: str          # 'tensor<"N"x8xf32>'
    has_default: bool  # an input that may be left out
    numpy_dtype: np.dtype
    is_tensor: bool    # no sequence (a list), no optional (None, or what it holds); the dtype is of its tensors


class Session:
    """A model made ready to run, which keeps what it needs of it. Any number of threads may run it at once.

    threads        that run, the caller among them; 0: as many as there are CPUs for us
    isa            "portable", "avx2", "avx512" or "amx"; None: the best of the machine
    provider       kernels: "auto", "native", "xnnpack", "reference"
    pipeline       what is done to a copy of the model first; "none" is nothing; None: "fuse"
    numerics       what that may do to numbers, see optimize
    matmul_precision  of products on amx: "float32"; where numerics are "approximate", "bf16x2" or "bf16", too
    oversubscribe  more threads than CPUs
    threads_of     a session of any model, whose threads this one uses, too; sessions of all CPUs share theirs anyway
    bound_outputs  names of outputs, and of the inputs where they lie, {"present": "past"}: a cache that grows, or
                   changes, in place, given as run({"past": cache[:n]}, {"present": cache[:n + 1]})"""

    def __init__(self, model, *, threads=0, isa=None, provider=None, pipeline=None, numerics=None,
                 oversubscribe=False, threads_of=None, bound_outputs=None, matmul_precision=None):
        if not isinstance(threads_of, (Session, type(None))):
            raise TypeError(f"threads_of is a weft.Session or None, found {type(threads_of).__name__}")
        bound = [c.BoundOutput(c.utf8(output), c.utf8(input_)) for output, input_ in (bound_outputs or {}).items()]
        options = c.SessionOptions(
            isa=c.text(isa), provider=c.text(provider), pipeline=c.text(pipeline), numerics=c.text(numerics),
            threads=c.integer("threads", threads, 32), oversubscribe=bool(oversubscribe),
            threads_of=None if threads_of is None else threads_of._handle.value,
            bound_outputs=(c.BoundOutput * len(bound))(*bound), num_bound_outputs=len(bound),
            matmul_precision=c.text(matmul_precision))
        model = model_of(model)  # which lives until the session is made
        self._handle = c.Handle("session", c.make("weft_session_create", model._handle, ctypes.byref(options)))
        self.threads = c.library.weft_session_num_threads(self._handle)
        self.isa = c.library.weft_session_isa(self._handle).decode()
        self._codes = {}
        self.inputs = self._infos(c.library.weft_session_input, c.library.weft_session_num_inputs)
        self.outputs = self._infos(c.library.weft_session_output, c.library.weft_session_num_outputs)
        self._lists = {value.name for value in self.inputs if value.type.startswith(("seq<", "optional<seq<"))}
        self._has_values = not all(value.is_tensor for value in self.inputs + self.outputs)

    def _infos(self, at, count):
        infos = []
        for i in range(count(self._handle)):
            info = at(self._handle, i).contents
            name, dtype = DTYPES.get(info.dtype, UNKNOWN)
            infos.append(ValueInfo(
                info.name.decode(errors="surrogateescape"), name,
                tuple(None if dim < 0 else dim for dim in info.dims[:info.rank]),
                info.type.decode(errors="replace"), bool(info.has_default), np.dtype(dtype),
                not info.is_value))
            self._codes[infos[-1].name] = info.dtype
        return infos

    def run(self, inputs, outputs=None, *, stop=None):
        """The outputs by name. On the main thread ^C ends a run before its next operation.

        inputs   arrays by name, which are not copied where they are contiguous; a sequence is a list of arrays, an
                 optional None or what it holds
        outputs  arrays that kernels write into: all of them; one that is bound begins where its input does, else none
                 may overlap an input or another one
        stop     asked before each operation; True raises CancelledError"""
        if self._has_values and outputs is None:
            return self._run_values(inputs, stop)
        given = [_Given(name, array, self._codes) for name, array in inputs.items()]
        tensors = (c.Tensor * len(given))(*(one.tensor for one in given))
        arguments = [self._handle, tensors, len(given)]
        if outputs is not None:
            into = [_Given(name, array, self._codes, is_written=True) for name, array in outputs.items()]
            arguments += [(c.Tensor * len(into))(*(one.tensor for one in into)), len(into)]
        if outputs is None:
            made = _run(lambda options: c.make("weft_session_run", *arguments, options), stop)
            return _Outputs(made).arrays()
        _run(lambda options: c.call("weft_session_run_into", *arguments, options), stop)
        return dict(outputs)

    def _run_values(self, inputs, stop):
        given = [_GivenValue(name, value, self._codes, name in self._lists) for name, value in inputs.items()]
        values = (c.Value * len(given))(*(one.value for one in given))
        made = _run(lambda options: c.make("weft_session_run_values", self._handle, values, len(given), options), stop)
        return _Values(made).values()

    def __repr__(self):
        names = [", ".join(f"{v.name}: {v.type}" for v in values) for values in (self.inputs, self.outputs)]
        return f"<weft.Session: {names[0]} -> {names[1]}>"

    def _repr_html_(self):
        return _html.of_session(self)


_UNTIL_INTERRUPTED = ctypes.byref(c.RunOptions(stop_at_interrupt=1))


def _run(call, stop):
    """What call(options) returns. `stop` ends it, and ^C, whose KeyboardInterrupt Python raises behind the call."""
    if stop is None:
        return call(_UNTIL_INTERRUPTED if c.is_interruptible() else None)
    with c.Callbacks() as callbacks:
        return call(ctypes.byref(c.RunOptions(stop=callbacks.stop(stop))))


class _Given:
    """An array as a weft_tensor or weft_buffer, and what that needs to live."""

    def __init__(self, name, array, codes, is_written=False):
        if is_written:
            if not isinstance(array, np.ndarray):
                raise TypeError(f"output '{name}' is no numpy.ndarray")
            if not (array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative):
                raise InvalidArgumentError(f"output '{name}' is not contiguous, writable and of native bytes")
        else:
            array = np.asarray(array)
            array = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])  # the same one as a rule
        self.array = array
        self.dims = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.tensor = c.Tensor(name=c.utf8(name), dims=self.dims, rank=array.ndim,
                               dtype=_code(name, array, codes.get(name)))
        if array.dtype.kind in "OUS":
            self.strings = [_bytes(name, item) for item in array.ravel().tolist()]
            data = (c.String * len(self.strings))(*(
                (ctypes.cast(ctypes.c_char_p(item), ctypes.c_void_p), len(item)) for item in self.strings))
            self.data = data
            self.tensor.data, self.tensor.num_bytes = ctypes.addressof(data), ctypes.sizeof(data)
        else:
            self.tensor.data, self.tensor.num_bytes = array.ctypes.data, array.nbytes


class _GivenValue:
    """A list of arrays, an array or None as a weft_value, and what that needs to live."""

    def __init__(self, name, value, codes, is_list):
        kind = c.NOTHING if value is None else c.SEQUENCE if is_list else c.TENSOR
        arrays = [] if value is None else value if is_list else [value]
        self.given = [_Given(name, array, codes) for array in arrays]
        self.tensors = (c.Tensor * len(self.given))(*(one.tensor for one in self.given))
        self.value = c.Value(name=c.utf8(name), tensors=self.tensors,
                             num_tensors=len(self.given), kind=kind)


def _code(name, array, wanted):
    if array.dtype.kind in "OUS":
        return STRING
    if (wanted or 0) >= FIRST_OF_BITS:  # as their bits, or as types of the package ml_dtypes
        text, bits = DTYPES[wanted]
        if array.dtype == bits or array.dtype.name == ML_DTYPES[text]:
            return wanted
    code = CODES.get(array.dtype)
    if code is None:
        raise InvalidArgumentError(f"'{name}' is of {array.dtype}, which no tensor is of")
    return code


def _bytes(name, item):
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode(errors="surrogateescape")
    raise InvalidArgumentError(f"input '{name}' has an element of type {type(item).__name__} among its strings")


class _Outputs:
    """Outputs that the library owns, for as long as an array of them lives."""

    _kind = "outputs"

    def __init__(self, handle):
        self._handle = c.Handle(self._kind, handle)

    def arrays(self):
        arrays = {}
        for i in range(c.library.weft_outputs_count(self._handle)):
            tensor = c.library.weft_outputs_at(self._handle, i).contents
            arrays[tensor.name.decode(errors="surrogateescape")] = self._array(tensor)
        return arrays

    def _array(self, tensor):
        shape = tuple(tensor.dims[:tensor.rank])
        dtype = np.dtype(DTYPES[tensor.dtype][1])
        if tensor.num_bytes == 0:
            return np.empty(shape, dtype)
        if tensor.dtype == STRING:
            strings = ctypes.cast(tensor.data, ctypes.POINTER(c.String))
            array = np.empty(tensor.num_bytes // ctypes.sizeof(c.String), dtype)
            for i in range(array.size):
                array[i] = ctypes.string_at(strings[i].data, strings[i].num_bytes).decode(errors="surrogateescape")
            return array.reshape(shape)
        return np.asarray(_Memory(self, tensor.data, shape, dtype))


class _Values(_Outputs):
    """The same of any kind."""

    _kind = "values"

    def values(self):
        values = {}
        for i in range(c.library.weft_values_count(self._handle)):
            value = c.library.weft_values_at(self._handle, i).contents
            arrays = [self._array(value.tensors[j]) for j in range(value.num_tensors)]
            values[value.name.decode(errors="surrogateescape")] = (
                None if value.kind == c.NOTHING else arrays if value.kind == c.SEQUENCE else arrays[0])
        return values


class _Memory:  # what numpy makes an array of, and keeps
    def __init__(self, owner, address, shape, dtype):
        self.owner = owner
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (address, False), "version": 3}
