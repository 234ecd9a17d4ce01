"""How far optimising is, as one line: on a terminal, or in a notebook."""
import sys

WIDTH = 20


def line_of(step):
    name, number, count, operations = step
    done = WIDTH * (number - 1) // max(count, 1)
    return f"[{'#' * done}{'.' * (WIDTH - done)}] {number}/{count} {name}, {operations} operations"


class _Terminal:
    def __init__(self, file):
        self._file, self._width = file, 0

    def show(self, line):
        self._file.write("\r" + line.ljust(self._width))
        self._file.flush()
        self._width = len(line)

    def close(self):
        if self._width:
            self._file.write("\r" + " " * self._width + "\r")
            self._file.flush()


class _Notebook:
    def __init__(self, display):
        self._display, self._handle = display, None

    def show(self, line):
        text = {"text/plain": line}
        if self._handle is None:
            self._handle = self._display(text, raw=True, display_id=True)
        else:
            self._handle.update(text, raw=True)

    def close(self):
        if self._handle is not None:
            self._handle.update({"text/plain": "done"}, raw=True)


def _notebook():
    """IPython's display where a notebook shows it, not IPython on a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return ipython.display.display if shell is not None and hasattr(shell, "kernel") else None


class Progress:
    """The function that optimize calls, inside `with`. True: a line where somebody sees it; else a function of the
    caller's, or None."""

    def __init__(self, asked):
        self._line = None
        if asked is True:
            display = _notebook()
            if display is not None:
                self._line = _Notebook(display)
            elif sys.stderr is not None and sys.stderr.isatty():
                self._line = _Terminal(sys.stderr)
        self._function = asked if callable(asked) else None

    def __call__(self, *step):
        if self._line is not None:
            self._line.show(line_of(step))
        if self._function is not None:
            self._function(*step)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self._line is not None:
            self._line.close()
