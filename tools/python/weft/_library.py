"""libweft.so: where it is, and its functions and structs as weft/c_api.h has them."""
import atexit
import ctypes
import operator
import os
import pathlib
import signal
import threading
import weakref
from _signal import getsignal  # without making an enum of it, as signal.getsignal does for microseconds
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint64, c_void_p)

from ._errors import CancelledError, InvalidArgumentError, error_of

API_VERSION = 6  # of weft/c_api.h, as written down here
SONAME = "libweft.so.0"

NOTICE = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
NOTICE_WARNING, NOTICE_ERROR, NOTICE_TEXT = 1, 2, 3
STOP = CFUNCTYPE(c_int, c_void_p)


class Sized(Structure):
    """A struct that begins with its size; all else is zero until it is set."""

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(self), **fields)


class LoadOptions(Sized):
    _fields_ = [("size", c_size_t), ("fold_default_inputs", c_int32), ("allow_hard_links", c_int32),
                ("notice", NOTICE), ("user_data", c_void_p)]


class SaveOptions(Sized):
    _fields_ = [("size", c_size_t), ("full_weights", c_int32), ("inline_functions", c_int32),
                ("target_opset", c_int64)]


class Dim(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class InputShape(Structure):
    _fields_ = [("input", c_char_p), ("dims", POINTER(c_int64)), ("rank", c_size_t)]


class Progress(Structure):
    _fields_ = [("size", c_size_t), ("pass_", c_char_p), ("number", c_size_t), ("count", c_size_t),
                ("operations", c_size_t)]


PROGRESS = CFUNCTYPE(None, c_void_p, POINTER(Progress))


class String(Structure):
    _fields_ = [("data", c_void_p), ("num_bytes", c_size_t)]


class Argument(Structure):
    pass  # of which it has pointers


Argument._fields_ = [
    ("size", c_size_t), ("kind", c_int32), ("dtype", c_int32), ("type", c_char_p), ("has_rank", c_int32),
    ("rank", c_size_t), ("dims", POINTER(c_int64)), ("symbols", POINTER(c_char_p)), ("data", c_void_p),
    ("num_bytes", c_size_t), ("integers", POINTER(c_int64)), ("numbers", POINTER(c_double)),
    ("strings", POINTER(String)), ("elements", POINTER(POINTER(Argument))), ("count", c_size_t)]
FUNCTION = CFUNCTYPE(c_int, c_void_p, POINTER(POINTER(Argument)), c_size_t)


class Function(Structure):
    _fields_ = [("name", c_char_p), ("holds", FUNCTION), ("user_data", c_void_p)]


class RuleText(Sized):
    _fields_ = [("size", c_size_t), ("text", c_char_p), ("origin", c_char_p), ("functions", POINTER(Function)),
                ("num_functions", c_size_t)]


class JudgeOptions(Sized):
    _fields_ = [("size", c_size_t), ("seconds_a_rule", c_double), ("seed", c_uint64), ("notice", NOTICE),
                ("stop", STOP), ("user_data", c_void_p)]


class OptimizeOptions(Sized):
    _fields_ = [("size", c_size_t), ("pipeline", c_char_p),
                ("passes", POINTER(c_char_p)), ("num_passes", c_size_t),
                ("rules_files", POINTER(c_char_p)), ("num_rules_files", c_size_t),
                ("enabled_rules", POINTER(c_char_p)), ("num_enabled_rules", c_size_t),
                ("disabled_rules", POINTER(c_char_p)), ("num_disabled_rules", c_size_t),
                ("numerics", c_char_p), ("dims", POINTER(Dim)), ("num_dims", c_size_t),
                ("input_shapes", POINTER(InputShape)), ("num_input_shapes", c_size_t),
                ("check_tolerance", POINTER(c_double)), ("target_opset", c_int64),
                ("check", c_int32), ("trust_rules", c_int32), ("record_rewrites", c_int32),
                ("notice", NOTICE), ("progress", PROGRESS), ("stop", STOP), ("user_data", c_void_p),
                ("rules", POINTER(RuleText)), ("num_rules", c_size_t), ("picture", c_int32)]


class Tensor(Sized):  # weft_tensor, and weft_buffer, which has the same fields
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("dims", POINTER(c_int64)), ("rank", c_size_t),
                ("data", c_void_p), ("num_bytes", c_size_t), ("dtype", c_int32)]


class BoundOutput(Structure):
    _fields_ = [("output", c_char_p), ("input", c_char_p)]


class SessionOptions(Sized):
    _fields_ = [("size", c_size_t), ("isa", c_char_p), ("provider", c_char_p), ("pipeline", c_char_p),
                ("numerics", c_char_p), ("threads", c_int32), ("oversubscribe", c_int32), ("threads_of", c_void_p),
                ("bound_outputs", POINTER(BoundOutput)), ("num_bound_outputs", c_size_t),
                ("matmul_precision", c_char_p)]


class ValueInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_char_p), ("dims", POINTER(c_int64)),
                ("rank", c_size_t), ("dtype", c_int32), ("has_default", c_int32), ("is_value", c_int32)]


class Value(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("tensors", POINTER(Tensor)), ("num_tensors", c_size_t),
                ("kind", c_int32)]


NOTHING, TENSOR, SEQUENCE = range(3)  # kinds of those


class RunOptions(Sized):
    _fields_ = [("size", c_size_t), ("stop", STOP), ("user_data", c_void_p), ("stop_at_interrupt", c_int32)]


HANDLE, OUT = c_void_p, POINTER(c_void_p)
CALLS = {  # return weft_code
    "weft_model_load": [c_char_p, POINTER(LoadOptions), OUT],
    "weft_model_from_bytes": [c_char_p, c_size_t, POINTER(LoadOptions), OUT],
    "weft_model_from_text": [c_char_p, POINTER(LoadOptions), OUT],
    "weft_model_clone": [HANDLE, OUT],
    "weft_model_num_operations": [HANDLE, POINTER(c_size_t)],
    "weft_model_save": [HANDLE, c_char_p, POINTER(SaveOptions)],
    "weft_model_to_bytes": [HANDLE, POINTER(SaveOptions), OUT],
    "weft_model_to_text": [HANDLE, OUT],
    "weft_model_summary": [HANDLE, OUT],
    "weft_model_optimize": [HANDLE, POINTER(OptimizeOptions), OUT],
    "weft_model_explain": [HANDLE, c_char_p, POINTER(OptimizeOptions), OUT],
    "weft_rules_print": [POINTER(RuleText), NOTICE, c_void_p, OUT],
    "weft_rules_judge": [POINTER(RuleText), POINTER(JudgeOptions), OUT],
    "weft_rules_vocabulary": [OUT],
    "weft_session_create": [HANDLE, POINTER(SessionOptions), OUT],
    "weft_session_run": [HANDLE, POINTER(Tensor), c_size_t, POINTER(RunOptions), OUT],
    "weft_session_run_into": [HANDLE, POINTER(Tensor), c_size_t, POINTER(Tensor), c_size_t,
                              POINTER(RunOptions)],
    "weft_session_run_values": [HANDLE, POINTER(Value), c_size_t, POINTER(RunOptions), OUT],
}
FUNCTIONS = {  # cannot fail
    "weft_error_message": (c_char_p, []),
    "weft_c_api_version": (c_int32, []),
    "weft_version": (c_char_p, []),
    "weft_bytes_data": (c_void_p, [HANDLE]),
    "weft_bytes_size": (c_size_t, [HANDLE]),
    "weft_report_text": (c_char_p, [HANDLE]),
    "weft_report_json": (c_char_p, [HANDLE]),
    "weft_report_html": (c_char_p, [HANDLE]),
    "weft_session_num_inputs": (c_size_t, [HANDLE]),
    "weft_session_num_outputs": (c_size_t, [HANDLE]),
    "weft_session_input": (POINTER(ValueInfo), [HANDLE, c_size_t]),
    "weft_session_output": (POINTER(ValueInfo), [HANDLE, c_size_t]),
    "weft_session_num_threads": (c_int32, [HANDLE]),
    "weft_session_isa": (c_char_p, [HANDLE]),
    "weft_outputs_count": (c_size_t, [HANDLE]),
    "weft_outputs_at": (POINTER(Tensor), [HANDLE, c_size_t]),
    "weft_values_count": (c_size_t, [HANDLE]),
    "weft_values_at": (POINTER(Value), [HANDLE, c_size_t]),
    **{f"weft_{name}_free": (None, [HANDLE])
       for name in ("model", "bytes", "report", "session", "outputs", "values")},
}


def _candidates():
    """Where the library may be, in order: what WEFT_LIBRARY names, beside the module (pip), in the prefix that
    `cmake --install` laid the module into, and where the loader looks."""
    if os.environ.get("WEFT_LIBRARY"):
        return [os.environ["WEFT_LIBRARY"]]
    here = pathlib.Path(__file__).resolve().parent
    found = [here / SONAME]
    if len(here.parents) > 2:  # PREFIX/lib/python3/dist-packages/weft
        found += [here.parents[2] / SONAME, *sorted(here.parents[2].glob(f"*/{SONAME}"))]
    return [str(path) for path in found if path.exists()] + [SONAME]


def _load():
    path = _candidates()[0]
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"weft: cannot load {path}: {error}") from None
    if library.weft_c_api_version() < API_VERSION:  # before all that an older one lacks
        raise ImportError(f"weft: {path} has version {library.weft_c_api_version()} of the C API, "
                          f"at least {API_VERSION} is needed")
    for name, arguments in CALLS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, c_int32
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


library = _load()


_callback = threading.local()  # depth: how many callbacks this thread is in


def call(name, *arguments):
    """Calls a function that returns a weft_code, without the GIL; raises what is not WEFT_OK."""
    if getattr(_callback, "depth", 0) and name.startswith(("weft_model_", "weft_session_")):
        # It would wait for the call that it is called by.
        raise InvalidArgumentError("a function that Weft calls must not use models or sessions")
    code = getattr(library, name)(*arguments)
    if code != 0:
        raise error_of(code, library.weft_error_message().decode(errors="replace"))


def make(name, *arguments):
    """The handle that such a function makes."""
    handle = c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle.value


class Handle:
    """One as its only owner, an argument of functions."""

    def __init__(self, kind, value):
        self._kind, self.value = kind, value
        self._as_parameter_ = value
        weakref.finalize(self, getattr(library, f"weft_{kind}_free"), value).atexit = False

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a weft.{self._kind.capitalize()} cannot be pickled, nor copied deeply")


def take_bytes(handle):
    """The bytes of a weft_bytes, which is freed."""
    try:
        return ctypes.string_at(library.weft_bytes_data(handle), library.weft_bytes_size(handle))
    finally:
        library.weft_bytes_free(handle)


def text(value):
    """A str, bytes or path as a C string; None stays."""
    if value is None:
        return None
    return _without_zero(os.fsencode(value))


def utf8(value, what="a name"):
    """A str or bytes, as models have it, as a C string."""
    if isinstance(value, str):
        value = value.encode(errors="surrogateescape")
    if not isinstance(value, bytes):
        raise TypeError(f"{what} is a str, found {type(value).__name__}")
    return _without_zero(value)


def _without_zero(value):
    if b"\0" in value:  # which would end it there
        raise InvalidArgumentError(f"{value[:80]!r}{'...' if len(value) > 80 else ''} has a zero in it")
    return value


def integer(what, value, bits):
    """A number that has so many bits, for ctypes takes any."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a number, found {type(value).__name__}") from None
    if not -2**(bits - 1) <= value < 2**(bits - 1):
        raise InvalidArgumentError(f"{what} is {value}")
    return value


def texts(values):
    """A sequence of those as an array, and its length."""
    values = [text(value) for value in values]
    return (c_char_p * len(values))(*values), len(values)


def is_interruptible():
    """Whether ^C is to be a KeyboardInterrupt of this thread."""
    return (threading.get_ident() == threading.main_thread().ident
            and getsignal(signal.SIGINT) is signal.default_int_handler)


class _Calls:
    """Calls that may call functions of Python's. When the interpreter ends it ends threads where they ask for the GIL, which
    cannot pass through C: such calls of daemon threads are ended before, and none begins any more; the threads wait for
    their end."""
    SECONDS = 10  # that they have for it

    def __init__(self):
        self.ending = False
        self._forget()
        atexit.register(self._end)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self):  # a process that was forked has no other threads
        self._count, self._changed = 0, threading.Condition()

    def begin(self):
        with self._changed:
            must_end = self.must_end()
            self._count += not must_end
        if must_end:
            threading.Event().wait()

    def end(self):
        with self._changed:
            self._count -= 1
            self._changed.notify_all()
        if self.must_end():
            threading.Event().wait()

    def must_end(self):
        return self.ending and threading.get_ident() != threading.main_thread().ident

    def _end(self):
        with self._changed:
            self.ending = True
            self._changed.wait_for(lambda: self._count == 0, self.SECONDS)


_calls = _Calls()


class Callbacks:
    """Functions of Python's as callbacks of a call inside `with`. What they raise, or ^C, ends the call, and is raised
    behind it: no exception can pass through C."""

    def __init__(self):
        self.raised = None
        self._handler = None

    def guard(self, function, otherwise=None):
        def guarded(*arguments):
            if self.raised is None and _calls.must_end():
                self.raised = CancelledError("the interpreter ends")
            if self.raised is not None:
                return otherwise
            _callback.depth = getattr(_callback, "depth", 0) + 1
            try:
                return function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                self.raised = error
                return otherwise
            finally:
                _callback.depth -= 1
        return guarded

    def stop(self, function=None):
        asked = self.guard(function or (lambda: False), True)
        return STOP(lambda _: 1 if asked() or self.raised is not None else 0)

    def __enter__(self):
        _calls.begin()
        # Python's own handler would raise at the begin of a callback, where nothing can catch it.
        if is_interruptible():
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def _interrupt(self, *_):
        self.raised = self.raised or KeyboardInterrupt()

    def __exit__(self, kind, error, trace):
        _calls.end()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if self.raised is not None:
            raise self.raised from None
