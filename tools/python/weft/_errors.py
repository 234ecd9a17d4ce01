"""What goes wrong, as exceptions with one line."""


class Error(Exception):
    """Of Weft; the kinds are below."""
    details = ""  # lines: why a rule is refuted, other mistakes


class InvalidArgumentError(Error, ValueError):
    """A model, option, input or file is wrong."""


class UnimplementedError(Error, NotImplementedError):
    """Right, but not supported."""


class CheckFailedError(Error):
    """A rule is refuted, or outputs differ."""


class CancelledError(Error):
    """By `stop`."""


class ResourceExhaustedError(Error, MemoryError):
    """Not enough memory."""


class InternalError(Error, RuntimeError):
    """A fault of Weft's."""


_KINDS = {1: InvalidArgumentError, 2: UnimplementedError, 3: CheckFailedError, 4: CancelledError,
          5: ResourceExhaustedError}


def error_of(code, message):
    return _KINDS.get(code, InternalError)(message)
